// SPDX-License-Identifier: Apache-2.0
// tensor/storage.h: the bytes of one or more tensors, and what is happening to them.
//
// A storage knows the event that makes it ready (its last writer), the readers since,
// how often it was written (the version autograd checks), and whether somebody outside
// can see its memory.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/intrusive.h"
#include "base/key_set.h"
#include "scheduler/event.h"

namespace pkg {

class Storage final : public Intrusive {
 public:
  /// Fresh, uninitialised memory.  Small payloads share the header's block.
  static Ref<Storage> make(int64_t nbytes);
  /// Memory that belongs to somebody else; `release` runs when the last tensor dies,
  /// on whatever thread that happens.  Counts as exported for its whole life.
  static Ref<Storage> borrow(void* data, int64_t nbytes, std::function<void()> release);
  /// No memory at all: tensors of the Meta device.
  static Ref<Storage> meta(int64_t nbytes);

  /// No memory yet: of a value that a graph will have when it runs.  Calls with it carry
  /// `key`; `meaning` says to the layer of that key which value it is.  Waiting for it is a
  /// TypeError.
  static Ref<Storage> symbolic(int64_t nbytes, DispatchKey key, Ref<Intrusive> meaning);
  /// `nbytes` from `offset` on of other memory, which it keeps alive.
  static Ref<Storage> part(Ref<Storage> whole, int64_t offset, int64_t nbytes);

  /// Of symbolic memory, else null.
  Intrusive* meaning() const { return is_symbolic() ? beside_.get() : nullptr; }
  bool is_symbolic() const {
    return !(dynamic_keys() & KeySet{DispatchKey::Plan, DispatchKey::Graph}).empty();
  }

  void* data() const { return data_; }
  int64_t nbytes() const { return nbytes_; }

  /// Times written; views share it.
  uint32_t version() const { return version_.load(std::memory_order_relaxed); }
  void bump_version() { version_.fetch_add(1, std::memory_order_relaxed); }

  /// Async while work on this storage may be pending or its size makes scheduling
  /// worthwhile, else empty.  Part of every tensor's key set.
  KeySet dynamic_keys() const {
    return KeySet::from_bits(keys_.load(std::memory_order_acquire));
  }

  /// Whether autograd has recorded a write to this memory that other tensors share:
  /// they then carry the Autograd key, to look again where their values come from.
  bool has_rebased_views() const { return dynamic_keys().has(DispatchKey::Autograd); }
  void note_rebased_views();

  /// Memory visible outside (NumPy, DLPack) is never touched after a call returns.
  bool exported() const { return exports_.load(std::memory_order_acquire) > 0; }
  void add_export() { exports_.fetch_add(1, std::memory_order_acq_rel); }
  void drop_export() { exports_.fetch_sub(1, std::memory_order_acq_rel); }
  /// Exported for good: somebody has an address and will not say when it is no longer used.
  void expose() { exports_.fetch_or(kExposed, std::memory_order_acq_rel); }

  /// Blocks until the last write is done; rethrows its error.
  void wait_readable();
  /// Blocks until the last write and all reads since are done.
  void wait_writable();
  /// True when no write is pending (and none failed).
  bool readable();
  /// Whether the work that writes has finished, well or not.
  bool settled();
  /// True when neither a write nor a read is pending.
  bool writable();

  /// Whether these references are all there are, but for that of the work that makes the
  /// memory: what is done to it later comes after that work.
  bool held_by(uint32_t references) const noexcept;
  /// For that work: of memory that nobody else has yet, and before it lets go of it.
  void begin_making() noexcept { in_making_.store(true, std::memory_order_release); }
  void end_making() noexcept { in_making_.store(false, std::memory_order_release); }

  /// For the Async layer, which calls these under its ordering lock.
  /// Adds the pending write to `data` (its failure is passed on) and, for a call that
  /// writes, the pending reads to `order` (they only come first).
  void collect_dependencies(std::vector<Ref<Event>>& data, std::vector<Ref<Event>>* order);
  void add_reader(const Ref<Event>& event);
  void set_writer(const Ref<Event>& event);

 private:
  Storage(void* data, int64_t nbytes, size_t block_bytes);
  ~Storage() override;
  void dispose() noexcept override;
  void settle_locked();
  [[noreturn, gnu::cold]] void refuse_symbolic() const;

  void* data_;
  int64_t nbytes_;
  size_t block_bytes_;  // size of header + inline payload
  bool owns_data_ = false;
  std::atomic<bool> in_making_{false};
  std::atomic<uint16_t> keys_{0};  // static_keys_, and Async while work is pending
  std::atomic<uint16_t> static_keys_{0};
  std::atomic<uint32_t> version_{0};
  static constexpr uint32_t kExposed = uint32_t{1} << 31;
  std::atomic<uint32_t> exports_{0};  // how many, and perhaps kExposed

  // Rarely needed parts, made on first use; under the object_lock() of the storage.
  struct Pending {
    Ref<Event> writer;
    std::vector<Ref<Event>> readers;
  };
  std::atomic<Pending*> pending_{nullptr};
  Pending& pending();
  std::function<void()>* release_ = nullptr;
  Ref<Intrusive> beside_;  // what symbolic memory means; what a part is of
};

/// "op at file:line" of the work whose error this thread last met in a wait; empty when
/// there was none.  Reading it forgets it.
std::string take_async_origin();

/// Bytes from which a tensor carries the Async key (its ops may be worth a task).
inline constexpr int64_t kAsyncBytes = 32768;

}  // namespace pkg
