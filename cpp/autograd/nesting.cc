// SPDX-License-Identifier: Apache-2.0
// autograd/nesting.cc: see nesting.h.
#include "autograd/nesting.h"

#include <exception>
#include <thread>

#include "dispatcher/dispatcher.h"
#include "scheduler/event.h"
#include "scheduler/stream.h"

namespace pkg {
namespace {

// With the frames of Python between them, so many passes need some 200 KB of stack.
constexpr int kMostNested = 50;

thread_local int t_nested = 0;

void run_on_fresh_stack(FunctionRef<void()> pass) {
  const auto done = Ref<ManualEvent>::make("backward", std::string());
  std::exception_ptr error, interrupt;
  std::thread thread([&, keys = t_local_keys, stream = current_stream()] {
    t_local_keys = keys;
    set_current_stream(stream);
    try {
      pass();
    } catch (...) { error = std::current_exception(); }
    set_current_stream(nullptr);
    done->set();
  });
  try {
    done->wait();  // not join(): while a worker waits here, another takes its place
  } catch (...) { interrupt = std::current_exception(); }
  thread.join();
  if (interrupt) std::rethrow_exception(interrupt);
  if (error) std::rethrow_exception(error);
}

}  // namespace

void run_nested(FunctionRef<void()> pass) {
  if (t_nested >= kMostNested) return run_on_fresh_stack(pass);
  struct Counted {
    Counted() { ++t_nested; }
    ~Counted() { --t_nested; }
  } counted;
  pass();
}

}  // namespace pkg
