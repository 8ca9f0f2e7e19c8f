// SPDX-License-Identifier: Apache-2.0
// tests/cpp/no_memory_test.cc: where memory ends in the middle, nothing is left behind and
// the process goes on.
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <new>
#include <string>
#include <thread>
#include <vector>

#include "c_api/boundary.h"
#include "check.h"
#include "scheduler/trace.h"
#include "scheduler_helpers.h"

using namespace pkg;

namespace {

thread_local int t_left = -1;           // allocations before the one that fails; -1: none
std::atomic<size_t> g_refused_size{0};  // of allocations of this size all fail
std::atomic<int64_t> g_live{0};

void* allocate(size_t size, size_t alignment) {
  if (size == g_refused_size.load()) throw std::bad_alloc();
  if (t_left >= 0 && t_left-- == 0) throw std::bad_alloc();
  void* memory = std::aligned_alloc(alignment, (size + alignment - 1) & -alignment);
  if (!memory) throw std::bad_alloc();
  g_live.fetch_add(1);
  return memory;
}
void release(void* memory) {
  if (!memory) return;
  g_live.fetch_sub(1);
  std::free(memory);
}

}  // namespace

void* operator new(size_t size) { return allocate(size, 16); }
// Those of a sanitizer do not call the one above.
void* operator new[](size_t size) { return allocate(size, 16); }
void operator delete[](void* memory) noexcept { release(memory); }
void operator delete[](void* memory, size_t) noexcept { release(memory); }
void* operator new(size_t size, std::align_val_t alignment) {
  return allocate(size, size_t(alignment));
}
void* operator new(size_t size, const std::nothrow_t&) noexcept {
  try {
    return allocate(size, 16);
  } catch (const std::bad_alloc&) { return nullptr; }
}
void operator delete(void* memory) noexcept { release(memory); }
void operator delete(void* memory, const std::nothrow_t&) noexcept { release(memory); }
void operator delete(void* memory, size_t) noexcept { release(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { release(memory); }
void operator delete(void* memory, size_t, std::align_val_t) noexcept { release(memory); }

// Each allocation fails once, those that start the first worker too: who submits hears of it,
// or does the work.  In children, none of which has a worker yet.
TEST(work_is_done_after_memory_ended_while_some_was_submitted) {
  if (!children_have_threads()) return;
  constexpr int kThrew = 1, kDid = 2, kWell = 3;
  int threw = 0, did = 0, how = 0;
  for (int refused = 0; how != kWell; ++refused) {
    CHECK(refused < 100);
    const pid_t child = fork();
    if (child == 0) {
      alarm(20);
      (void)num_threads();  // the scheduler is there, without a worker
      std::atomic<int> ran{0};
      int submitted = 2;
      t_left = refused;
      try {
        submit([&] { ++ran; });
      } catch (const std::bad_alloc&) { --submitted; }
      const bool failed = t_left < 0;
      t_left = -1;
      const Ref<Event> next = submit([&] { ++ran; });
      while (!next->done()) std::this_thread::sleep_for(1ms);  // it is no worker
      synchronize();
      _exit(ran != submitted ? 0 : !failed ? kWell : submitted == 1 ? kThrew : kDid);
    }
    int status = -1;
    waitpid(child, &status, 0);
    CHECK(WIFEXITED(status));
    how = WEXITSTATUS(status);
    CHECK(how == kThrew || how == kDid || how == kWell);
    threw += how == kThrew;
    did += how == kDid;
  }
  CHECK(threw > 0 && did > 0);
}

// A list of strings for C is an array and its strings: each of these allocations fails once.
TEST(what_c_shall_own_is_there_as_a_whole_or_not_at_all) {
  const Value texts(std::vector<std::string>{"one", "two", "three"});
  int refused = 0;
  for (bool failed = true; failed && refused < 100; refused += failed) {
    const int64_t before = g_live.load();
    failed = false;
    t_left = refused;
    try {
      pkg_value made = c::own_value(texts);
      t_left = -1;
      CHECK(made.length == 3 && std::string(made.as.strings[2]) == "three");
      pkg_value_clear(&made);
    } catch (const std::bad_alloc&) { failed = true; }
    t_left = -1;
    CHECK(g_live.load() == before);
  }
  CHECK(refused == 4);
}

// What a trace notes of a task is noted on a worker, where nobody could catch anything.
TEST(a_task_whose_name_finds_no_memory_runs) {
  const std::string name(777, 'n');
  const uint64_t number = trace::open({.waits = false});
  Gate gate;
  std::atomic<bool> ran{false};
  const Ref<Event> event = submit([&] { ran = true; }, {gate.event},
                                  {.name = name.c_str()});
  g_refused_size = name.size() + 1;
  gate.set();
  event->wait();
  g_refused_size = 0;
  CHECK(ran);
  const trace::Found found = trace::close(number);
  CHECK(!found.spans.empty());
  for (const trace::Span& span : found.spans) CHECK(span.name != name);
}
