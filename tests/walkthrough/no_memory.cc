// SPDX-License-Identifier: Apache-2.0
// no_memory.cc: a queue whose submit finds no memory, at each of its allocations in turn.
// Ends with an error where a refused job stays pending, or runs.
#include <array>
#include <cstdio>
#include <cstdlib>
#include <new>
#include <vector>

#include "scheduler/scheduler.h"
#include "shared/job_queue.h"

namespace {
thread_local int t_left = -1;  // allocations before the one that fails; -1: none does

void* allocate(size_t size, size_t alignment) {
  if (t_left >= 0 && t_left-- == 0) throw std::bad_alloc();
  if (void* memory = std::aligned_alloc(alignment, (size + alignment - 1) & -alignment)) {
    return memory;
  }
  throw std::bad_alloc();
}
}  // namespace

void* operator new(size_t size) { return allocate(size, 16); }
void* operator new(size_t size, std::align_val_t alignment) {
  return allocate(size, size_t(alignment));
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, size_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete(void* memory, size_t, std::align_val_t) noexcept { std::free(memory); }

// At how many allocations submit was refused; 0 and less: what went wrong.
static int refused(double seconds) {
  stages::JobQueue jobs(false);
  const auto hold = pkg::Ref<pkg::ManualEvent>::make();
  for (int failing = 0;; ++failing) {
    const auto gate = pkg::Ref<pkg::ManualEvent>::make();
    bool ran = false, failed = false;
    // What the scheduler has in reserve is used up, so that it must allocate.
    std::vector<pkg::Ref<pkg::Event>> pending(1000);
    for (auto& each : pending) each = pkg::submit([] {}, {hold});
    t_left = failing;
    try {
      jobs.schedule([&ran] { ran = true; }, std::array{pkg::Ref<pkg::Event>(gate)},
                    seconds);
    } catch (const std::bad_alloc&) { failed = true; }
    t_left = -1;
    if (failed && jobs.pending() != 0) return -failing;
    gate->set();
    jobs.submit([] {}).result();  // it can be used as before
    jobs.flush(true);
    if (ran == failed) return -failing;
    if (!failed) return hold->set(), failing;
  }
}

int main() {
  for (double seconds : {0.0, 0.001}) {  // one push; one for the device, one for the rest
    const int found = refused(seconds);
    std::printf("%d\n", found);
    if (found < 1) return 1;
  }
}
