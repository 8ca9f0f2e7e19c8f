// SPDX-License-Identifier: Apache-2.0
// What cannot be loaded, each for its own reason.  No header of the core: it compiles at once.
#include <cstdio>
#include <cstdlib>
#include <stdexcept>

#if defined(MISSING)
namespace elsewhere {
int wanted(double, const char*);
}
struct Runs {
  Runs() { std::puts("a constructor ran"); }
} runs;
int value = elsewhere::wanted(1.0, "x");
#elif defined(MISSING_CORE)
namespace pkg {
void no_such_function(int);
}
void call() { pkg::no_such_function(1); }
#elif defined(STAMPED)
[[gnu::used, gnu::section(".pkg_stamp")]] static const char stamp[] =
    "C++ interface 999, dispatch keys 3";
struct Runs {
  Runs() { std::puts("a constructor ran"); }
} runs;
#elif defined(ODD)
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <termios.h>
#include <unistd.h>

#include <string>

// Does what ODD says in the process where it is tried first, and only there.
static const bool tried = program_invocation_short_name == std::string("sh");
static const char* const wanted = "ODD";
static const std::string odd = tried && std::getenv(wanted) ? std::getenv(wanted) : "";
struct Odd {
  Odd() {
    if (odd == "daemon" && fork() == 0) {
      sleep(20);
      _exit(0);
    }
    if (odd == "loud") {
      for (int i = 0; i < 20000; ++i) std::fputs("a line for the log\n", stderr);
    }
    if (odd == "killed") kill(getpid(), SIGKILL);
    if (odd == "hangs") sleep(1000);
    if (odd == "terminal") {
      const int terminal = open("/dev/tty", O_RDWR);
      termios how;
      if (tcgetattr(terminal, &how) != 0) std::abort();
      tcsetattr(terminal, TCSANOW, &how);
      char key;
      if (read(terminal, &key, 1) > 0) std::abort();
    }
    if (odd == "tells") {
      std::FILE* file = std::fopen("new", "w");
      std::fprintf(file, "%d", int(getpid()));
      std::fclose(file);
      std::rename("new", "number");
      sleep(1000);
    }
    if (odd == "replaced") std::rename("next.so", "here.so");
  }
  ~Odd() {
    if (odd == "ends") std::abort();
  }
} odd_object;
#elif defined(ABORTS)
struct Ends {
  Ends() { std::abort(); }
} ends;
#elif defined(CRASHES)
struct Ends {
  Ends() { *static_cast<volatile int*>(nullptr) = 1; }
} ends;
#else
struct Throws {
  Throws() { throw std::runtime_error("the constructor threw"); }
} throws;
#endif
