// SPDX-License-Identifier: Apache-2.0
// scheduler/roster.h: the tasks that wait for others, for those who cancel all that is
// pending.  Internal.
//
// Note [Places on the roster]
// A task has a place in a table, which is a word: its address, or 0.  Threads that submit
// take places in turn, each mostly in a table of its own, so a place is free again long
// before its turn.  Who makes the task ready clears the word and touches nothing else that
// is shared.  Who reads the table marks the word meanwhile; to leave waits for that, so the
// task lives.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/intrusive.h"
#include "scheduler/spin.h"

namespace pkg::detail {

class Task;

class Roster {
 public:
  using Place = std::atomic<uintptr_t>;

  Roster() = default;
  Roster(const Roster&) = delete;
  ~Roster();

  /// Notes the place in `own` before anybody can find the task there; nothing when there is
  /// no memory: then nobody finds it.
  void enter(Task* task, Place*& own) noexcept;
  static void leave(Task* task, Place* place) noexcept;
  std::vector<Ref<Task>> all();

 private:
  struct Part {
    explicit Part(size_t size) : size(size), places(new Place[size]()) {}
    const size_t size;
    const std::unique_ptr<Place[]> places;
    std::atomic<Part*> next{nullptr};
  };
  struct alignas(64) Table {
    SpinLock lock;  // of who takes places
    Part* part = nullptr;
    size_t at = 0;               // the next place of the part
    size_t size = 0, taken = 0;  // of all parts; in this round
    std::atomic<Part*> first{nullptr};
  };
  static bool next_part(Table& table) noexcept;

  std::array<Table, 16> tables_;
};

}  // namespace pkg::detail
