// SPDX-License-Identifier: Apache-2.0
// tests/cpp/check.h: the whole test harness of the C++ tests.  A test program is one
// .cc file that includes this once; arguments select tests whose names contain them.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <vector>

namespace check {

struct Test {
  const char* name;
  void (*run)();
};
inline std::vector<Test> tests;
inline bool failed = false;
struct Register {
  Register(const char* name, void (*run)()) { tests.push_back({name, run}); }
};

inline void fail(const char* file, int line, const char* what, const char* detail = "") {
  std::printf("  %s:%d: %s %s\n", file, line, what, detail);
  failed = true;
}

/// The seed of random tests: PKG_TEST_SEED or 0; printed, so that a failure repeats.
inline unsigned seed() {
  const char* text = std::getenv("PKG_TEST_SEED");
  return text ? static_cast<unsigned>(std::strtoul(text, nullptr, 10)) : 0u;
}

inline bool selected(const char* name, int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    if (std::strstr(name, argv[i])) return true;
  }
  return argc <= 1;
}

inline int run_all(int argc, char** argv) {
  int passed = 0, bad = 0;
  std::printf("seed %u\n", seed());
  std::fflush(stdout);  // before a test forks
  for (const Test& test : tests) {
    if (!selected(test.name, argc, argv)) continue;
    failed = false;
    try {
      test.run();
    } catch (const std::exception& error) {
      fail(test.name, 0, "unexpected exception:", error.what());
    }
    std::printf("%s %s\n", failed ? "FAIL" : "ok  ", test.name);
    std::fflush(stdout);
    ++(failed ? bad : passed);
  }
  std::printf("%d passed, %d failed\n", passed, bad);
  return bad ? 1 : 0;
}

}  // namespace check

#define TEST(name)                                                  \
  static void test_##name();                                        \
  static const check::Register register_##name(#name, test_##name); \
  static void test_##name()

#define CHECK(condition)                                           \
  do {                                                             \
    if (!(condition)) check::fail(__FILE__, __LINE__, #condition); \
  } while (0)

/// `expression` throws `Type`, whose what() contains `text`.
#define CHECK_THROWS(expression, Type, text)                                       \
  do {                                                                             \
    try {                                                                          \
      expression;                                                                  \
      check::fail(__FILE__, __LINE__, #expression, "did not throw");               \
    } catch (const Type& error) {                                                  \
      if (!std::strstr(error.what(), text))                                        \
        check::fail(__FILE__, __LINE__, #expression ": message is", error.what()); \
    }                                                                              \
  } while (0)

#ifndef CHECK_NO_MAIN
int main(int argc, char** argv) { return check::run_all(argc, argv); }
#endif
