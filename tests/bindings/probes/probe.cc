// SPDX-License-Identifier: Apache-2.0
// tests/bindings/probes/probe.cc: what the contract test needs beside the bindings: work
// that takes a while, and live objects counted when the interpreter is gone.  A plain C
// interface for ctypes, linked to the same core.
#include <chrono>
#include <cstdio>
#include <thread>

#include "base/thread_local.h"
#include "scheduler/scheduler.h"

/// Submits work that sleeps, so that what waits for the scheduler has to block.
extern "C" [[gnu::visibility("default")]] void probe_submit_sleep(double seconds) {
  pkg::submit(
      [seconds] { std::this_thread::sleep_for(std::chrono::duration<double>(seconds)); });
}

namespace {

// The process unloads this library before the core, which it depends on.
struct AtExit {
  ~AtExit() {
    using pkg::Live;
    const auto count = [](Live kind) {
      return static_cast<long long>(pkg::live_count(kind));
    };
    std::printf("live at exit: %lld tensors, %lld nodes, %lld events, %lld streams\n",
                count(Live::Tensors), count(Live::Nodes), count(Live::Events),
                count(Live::Streams));
  }
} at_exit;

}  // namespace
