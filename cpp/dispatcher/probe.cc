// SPDX-License-Identifier: Apache-2.0
// dispatcher/probe.cc: see probe.h.
//
// Note [Probe]
// An exception that leaves a constructor ends the process: the loader, which called it, lets
// nothing through.  So the constructors run elsewhere first, in a small program into which
// the loader puts the library before it begins.  That takes some milliseconds.  It is a new
// program and no fork(), as fork() would have to wait for all work of this process.
// The first program is a shell that forbids core files, which a fault of a constructor would
// leave in the caller's folder, and becomes the second, a shell with the library in it.
// That one kills itself: no destructor runs, as none would here.  So the
// signal KILL, which no fault of a library sends, means that the constructors have returned,
// or that somebody else has ended the program.
// What only this process could say stays unsaid: where the program cannot be started, or does
// not have the symbols that the library takes from its host, the library is simply opened.
// Ctrl-C, which a terminal sends to all of a group of processes, is this process's to answer:
// the program has a group of its own.  A terminal would stop such a group where it is used,
// so the program ignores that.  Where the wait ends first, its group ends with it; where this
// thread does, as its process was killed, the system ends the program.  posix_spawn() can ask
// for neither: hence vfork(), which waits for no work of this process either.
// The program is what is waited for, not the end of its stderr, which a process that a
// constructor starts may hold open for ever.
#include "dispatcher/probe.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <string_view>
#include <thread>
#include <vector>

#include "base/text.h"
#include "scheduler/hooks.h"

extern char** environ;

namespace pkg::detail {
namespace {

constexpr const char* kProgram = "/bin/sh";
// $0 is the library.
constexpr const char* kCommand =
    "ulimit -c 0; LD_PRELOAD=$0; LD_BIND_NOW=1; export LD_PRELOAD LD_BIND_NOW; "
    "exec /bin/sh -c 'kill -9 $$'";

// Those of this process but for the loader's, which kCommand sets.
std::vector<char*> other_variables() {
  std::vector<char*> variables;
  for (char** entry = environ; entry && *entry; ++entry) {
    const std::string_view text(*entry);
    if (!text.starts_with("LD_PRELOAD=") && !text.starts_with("LD_BIND_NOW=")) {
      variables.push_back(*entry);
    }
  }
  variables.push_back(nullptr);
  return variables;
}

// What is between vfork() and the program: this process's memory, so nothing but system calls.
[[noreturn]] void become(char* const* arguments, char* const* variables, pid_t parent,
                         int nothing, int to_stderr, const sigset_t& mask) {
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(1);  // it has ended before that
  // No handler of this process may run here when signals come again.
  for (int number = 1; number < NSIG; ++number) {
    struct sigaction now;
    if (sigaction(number, nullptr, &now) != 0 || now.sa_handler == SIG_IGN) continue;
    signal(number, SIG_DFL);
  }
  signal(SIGTTIN, SIG_IGN);
  signal(SIGTTOU, SIG_IGN);
  dup2(nothing, 0);
  dup2(nothing, 1);
  dup2(to_stderr, 2);
  sigprocmask(SIG_SETMASK, &mask, nullptr);
  execve(kProgram, arguments, variables);
  _exit(1);
}

// Starts the program with nothing to read and stdout thrown away; its number, or -1.
pid_t start(const std::string& path, int to_stderr) {
  const std::vector<char*> variables = other_variables();
  std::string name = kProgram, option = "-c", command = kCommand, library = path;
  char* const arguments[] = {name.data(), option.data(), command.data(), library.data(),
                             nullptr};
  if (access(kProgram, X_OK) != 0) return -1;
  // Above those that they take the place of.
  const int opened = open("/dev/null", O_RDWR | O_CLOEXEC);
  const int nothing = fcntl(opened, F_DUPFD_CLOEXEC, 3);
  const int errors = fcntl(to_stderr, F_DUPFD_CLOEXEC, 3);
  pid_t child = -1;
  if (nothing >= 0 && errors >= 0) {
    const pid_t parent = getpid();
    sigset_t all, mask;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &mask);
    child = vfork();
    if (child == 0) { become(arguments, variables.data(), parent, nothing, errors, mask); }
    pthread_sigmask(SIG_SETMASK, &mask, nullptr);
  }
  for (const int end : {opened, nothing, errors}) {
    if (end >= 0) close(end);
  }
  return child;
}

// How long the constructors may take.
std::chrono::duration<double> time_limit() {
  const char* text = std::getenv("PKG_LIBRARY_PROBE_SECONDS");
  const double seconds = text ? std::strtod(text, nullptr) : 0;
  return std::chrono::duration<double>(seconds > 0 && seconds < 1e6 ? seconds : 60);
}

// What can be read now, cut off where it is long; false at its end.
bool read_more(int from, std::string* text) {
  constexpr size_t kMost = 2000;
  char part[512];
  for (;;) {
    const ssize_t n = read(from, part, sizeof part);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return errno == EAGAIN;
    if (n == 0) return false;
    if (text->size() < kMost) text->append(part, size_t(n));
  }
}

enum class End { Unknown, Late, Status };

// With all that it has started.
void end(pid_t child, int* status) {
  kill(-child, SIGKILL);
  while (waitpid(child, status, 0) < 0 && errno == EINTR) continue;
}

// Waits for the program, and reads meanwhile what it writes, so that it need not wait.  What
// check_interrupt() throws ends both.
End wait_for(pid_t child, int from, int* status, std::string* said) {
  const auto start = std::chrono::steady_clock::now();
  const auto limit = time_limit();
  bool more = true;
  for (;;) {
    const pid_t ended = waitpid(child, status, WNOHANG);
    if (more) more = read_more(from, said);
    if (ended == child) return End::Status;
    if (ended < 0 && errno != EINTR) return End::Unknown;  // this process ignores children
    if (std::chrono::steady_clock::now() - start > limit) {
      end(child, status);
      return End::Late;
    }
    try {
      check_interrupt();
    } catch (...) {
      end(child, status);
      throw;
    }
    pollfd what{from, POLLIN, 0};
    if (more) {
      poll(&what, 1, 5);
    } else {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }
}

}  // namespace

std::string fault_of_constructors(const std::string& path) {
  // The loader takes both for the end of a name.
  if (path.find_first_of(": \t\n") != path.npos) return "";
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return "";
  // This end alone: what is written must not find the other one full and go on.
  fcntl(ends[0], F_SETFL, O_NONBLOCK);
  const pid_t child = start(path, ends[1]);
  close(ends[1]);
  int status = 0;
  std::string said;
  End end = End::Unknown;
  try {
    if (child >= 0) end = wait_for(child, ends[0], &status, &said);
  } catch (...) {
    close(ends[0]);
    throw;
  }
  close(ends[0]);
  while (!said.empty() && said.back() == '\n') said.pop_back();
  if (end == End::Late) {
    return str("its constructors have not returned after ", time_limit().count(),
               " seconds. PKG_LIBRARY_PROBE_SECONDS gives them more.");
  }
  if (end == End::Unknown || !WIFSIGNALED(status) || WTERMSIG(status) == SIGKILL) return "";
  return str("its constructors end the process by signal ", WTERMSIG(status), " (",
             strsignal(WTERMSIG(status)), ")", said.empty() ? "" : ": ", said);
}

}  // namespace pkg::detail
