// SPDX-License-Identifier: Apache-2.0
// scheduler/roster.cc: how places are taken, cleared and read.
#include "scheduler/roster.h"

#include <mutex>
#include <new>
#include <utility>

#include "scheduler/task.h"

namespace pkg::detail {
namespace {

constexpr size_t kFirstSize = 256;
constexpr uintptr_t kRead = 1;  // added to the address

}  // namespace

Roster::~Roster() {
  for (Table& table : tables_) {
    for (Part* part = table.first.load(); part;) {
      delete std::exchange(part, part->next.load());
    }
  }
}

// After the last part comes the first again.  A round in which less than half of the places
// were free costs more than room for as many again.
bool Roster::next_part(Table& table) noexcept {
  Part* const next = table.part ? table.part->next.load(std::memory_order_relaxed)
                                : nullptr;
  table.at = 0;
  if (next) return table.part = next, true;
  if (2 * table.taken >= table.size && table.part) {
    table.part = table.first.load(std::memory_order_relaxed);
  } else {
    const size_t size = table.size ? table.size : kFirstSize;
    Part* part = nullptr;
    try {
      part = new Part(size);
    } catch (const std::bad_alloc&) {
      if (table.taken == 0) return false;
      table.part = table.first.load(std::memory_order_relaxed);
      table.taken = 0;
      return true;
    }
    (table.part ? table.part->next : table.first).store(part, std::memory_order_release);
    table.part = part;
    table.size += size;
  }
  table.taken = 0;
  return true;
}

void Roster::enter(Task* task, Place*& own) noexcept {
  static std::atomic<unsigned> next{0};
  static thread_local const unsigned mine = next.fetch_add(1);
  Table& table = tables_[mine % tables_.size()];
  std::lock_guard lock(table.lock);
  for (;;) {
    while (!table.part || table.at == table.part->size) {
      if (!next_part(table)) return;
    }
    Place& place = table.part->places[table.at++];
    if (place.load(std::memory_order_acquire) != 0) continue;
    own = &place;
    place.store(reinterpret_cast<uintptr_t>(task), std::memory_order_release);
    ++table.taken;
    return;
  }
}

void Roster::leave(Task* task, Place* place) noexcept {
  for (int turn = 1;; ++turn) {
    auto address = reinterpret_cast<uintptr_t>(task);
    if (place->compare_exchange_weak(address, 0, std::memory_order_acq_rel)) return;
    pause_or_yield(turn);  // somebody reads it
  }
}

std::vector<Ref<Task>> Roster::all() {
  std::vector<Ref<Task>> tasks;
  for (Table& table : tables_) {
    for (Part* part = table.first.load(std::memory_order_acquire); part;
         part = part->next.load(std::memory_order_acquire)) {
      for (size_t i = 0; i < part->size; ++i) {
        Place& place = part->places[i];
        uintptr_t address = place.load(std::memory_order_acquire);
        for (int turn = 1; address != 0; ++turn) {
          address &= ~kRead;
          if (place.compare_exchange_weak(address, address | kRead)) break;
          pause_or_yield(turn);
        }
        if (address == 0) continue;
        auto task = Ref<Task>::share(reinterpret_cast<Task*>(address));
        place.store(address, std::memory_order_release);
        tasks.push_back(std::move(task));
      }
    }
  }
  return tasks;
}

}  // namespace pkg::detail
