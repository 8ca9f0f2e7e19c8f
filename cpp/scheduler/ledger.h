// SPDX-License-Identifier: Apache-2.0
// scheduler/ledger.h: counts work in and out.  Internal.
//
// Note [Epochs]
// Work is counted in epochs, so that `wait_all` waits for what was submitted before it and
// not for what others keep submitting.
//
// Note [Counts of threads]
// Every thread counts what it submits and what it finishes in memory of its own, which no
// other thread writes.  Who adds them up reads all that was finished before anything that
// was submitted: if the sums are equal, all that he saw submitted was finished.  The counts
// stay in the list when their thread ends; the next new thread goes on with them.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <mutex>

namespace pkg::detail {

class Parking;

class Ledger {
 public:
  static constexpr int kEpochs = 16;
  struct Counts {
    struct alignas(64) Epoch {  // who waits for one does not read what is written of newer
      std::atomic<int64_t> submitted{0}, finished{0};
    };
    std::array<Epoch, kEpochs> epochs;
    Ledger* ledger = nullptr;
    Counts* next = nullptr;
    std::atomic<bool> in_use{true};
  };

  uint8_t enter();
  void leave(uint8_t epoch, Parking& parking);
  int64_t submitted() const;
  int64_t finished() const;
  bool wait_all(Parking& parking, double seconds);

 private:
  Counts& mine();
  Counts& make_mine();
  template <class Value>
  int64_t sum(Value value) const;
  bool idle(unsigned epoch) const;

  std::atomic<Counts*> all_{nullptr};
  std::atomic<unsigned> current_{0};
  std::atomic<uint32_t> waiters_{0};
  std::mutex turn_;
};

}  // namespace pkg::detail
