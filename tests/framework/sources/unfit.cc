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
