// SPDX-License-Identifier: Apache-2.0
// collectives/process_engine.cc: the engine of the process, over MPI or alone, and its end.
#include <unistd.h>

#include <cstdlib>

#include "collectives/engine.h"
#include "collectives/local_transport.h"
#include "collectives/mpi_transport.h"

namespace pkg::collectives {
namespace {

std::unique_ptr<Transport> open_transport(const Settings& settings,
                                          const std::function<void()>& waiting) {
  if (settings.library.empty()) {
    return std::make_unique<LocalTransport>(std::make_shared<LocalHub>(1), 0);
  }
  return std::make_unique<MpiTransport>(mpi::open_library(settings.library), waiting);
}

}  // namespace

Engine& Engine::get() {
  // Never destroyed: its thread may outlive static objects.
  static std::atomic<Engine*> engine = new Engine(open_transport, finalize_mpi);
  Engine* current = engine;
  if (current->begun_ || current->process_ == getpid()) return *current;
  // A child of fork() whose parent has only looked at it gets its own: locks may be held.
  auto made = std::make_unique<Engine>(open_transport, finalize_mpi);
  if (!engine.compare_exchange_strong(current, made.get())) return *current;
  return *made.release();
}

// MPI_Finalize waits for all ranks, which may have work of their own for long.  MPI's launcher
// takes the end of a process that did not come so far for a failure and ends the others; ours
// does not, so that nobody has to wait there.
double Engine::leave_seconds() { return std::getenv("PKG_LAUNCHED") ? 3 : 600; }

void Engine::leave_at_exit() {
  if (this != &get()) return;
  // After MPI_Init: MPICH takes its leave of the launcher in a handler of its own, which
  // has to come after MPI_Finalize, and so to be registered before this one.
  std::atexit([] { get().leave(leave_seconds()); });
}

}  // namespace pkg::collectives
