// SPDX-License-Identifier: Apache-2.0
// framework/making.cc: who makes what, and who waits for whom.
#include "framework/making.h"

#include <map>
#include <mutex>
#include <thread>

#include "scheduler/event.h"
#include "scheduler/fork_locks.h"

namespace pkg::framework {
namespace {

struct Maker {
  std::thread::id thread;
  Ref<ManualEvent> done = Ref<ManualEvent>::make("Making");
};

struct Table {
  std::map<std::pair<const void*, std::string>, Maker> makers;
  std::map<std::thread::id, std::thread::id> waits_for;
  uint32_t generation = 0;  // of the process: a child has none of the threads
};

constinit std::mutex g_lock;
const pkg::detail::HeldOverFork g_held{pkg::detail::ForkLock::Making, g_lock};
constinit Table* g_table = nullptr;  // for good

// Of who holds the lock.
Table& table() {
  if (!g_table) g_table = new Table;
  const uint32_t generation = pkg::detail::fork_generation();
  if (g_table->generation != generation) {
    g_table->makers.clear();
    g_table->waits_for.clear();
    g_table->generation = generation;
  }
  return *g_table;
}

// Whether `thread` is this one, or waits for it through others.
bool needs(const Table& all, std::thread::id thread, std::thread::id self) {
  while (thread != self) {
    const auto next = all.waits_for.find(thread);
    if (next == all.waits_for.end()) return false;
    thread = next->second;
  }
  return true;
}

void wait(const Ref<ManualEvent>& done, std::thread::id self) {
  struct Waits {
    ~Waits() {
      std::lock_guard lock(g_lock);
      table().waits_for.erase(thread);
    }
    std::thread::id thread;
  } const waits{self};
  done->wait();
}

}  // namespace

Making::Making(const void* owner, std::string name)
    : owner_(owner), name_(std::move(name)) {
  const auto self = std::this_thread::get_id();
  while (true) {
    Ref<ManualEvent> done;
    {
      std::lock_guard lock(g_lock);
      Table& all = table();
      const auto [place, fresh] = all.makers.try_emplace({owner_, name_}, Maker{self});
      listed_ = fresh;
      if (fresh || needs(all, place->second.thread, self)) return;
      done = place->second.done;
      all.waits_for[self] = place->second.thread;
    }
    wait(done, self);
  }
}

Making::~Making() {
  if (!listed_) return;
  Ref<ManualEvent> done;
  {
    std::lock_guard lock(g_lock);
    Table& all = table();
    const auto place = all.makers.find({owner_, name_});
    if (place == all.makers.end() || place->second.thread != std::this_thread::get_id()) {
      return;
    }
    done = std::move(place->second.done);
    all.makers.erase(place);
  }
  done->set();
}

}  // namespace pkg::framework
