// SPDX-License-Identifier: Apache-2.0
// tensor/storage.cc: allocation and readiness of tensor memory.
#include "tensor/storage.h"

#include <algorithm>
#include <cmath>
#include <mutex>
#include <new>
#include <utility>

#include "base/error.h"
#include "scheduler/fork_locks.h"
#include "tensor/allocator.h"

namespace pkg {
namespace {

constexpr size_t kHeader = (sizeof(Storage) + kAlignment - 1) & ~(kAlignment - 1);
constexpr int64_t kInlineBytes = 512;
constexpr uint16_t kAsyncBit = KeySet(DispatchKey::Async).bits();
thread_local std::string t_async_origin;

// What settle_locked() took out.  An event may own objects of the embedding language, so it
// dies after the lock is given back (Note [Nothing dies under a lock] in runtime.h).
thread_local std::vector<Ref<Event>> t_finished;
struct Sweep {  // declared before the lock
  ~Sweep() {
    if (!t_finished.empty()) std::exchange(t_finished, {}).clear();
  }
};

}  // namespace

std::string take_async_origin() { return std::exchange(t_async_origin, {}); }

Storage::Storage(void* data, int64_t nbytes, size_t block_bytes)
    : data_(data), nbytes_(nbytes), block_bytes_(block_bytes) {}

Storage::~Storage() {
  delete pending_.load(std::memory_order_relaxed);
  if (owns_data_) deallocate(data_, size_t(nbytes_));
  if (release_) {
    (*release_)();
    delete release_;
  }
}

void Storage::dispose() noexcept {
  const size_t bytes = block_bytes_;
  this->~Storage();
  deallocate(this, bytes);
}

Ref<Storage> Storage::make(int64_t nbytes) {
  PKG_CHECK(nbytes >= 0, ValueError, "[storage] negative size ", nbytes, ".");
  if (nbytes <= kInlineBytes) {
    const size_t bytes = kHeader + size_t(nbytes);
    auto* block = static_cast<char*>(allocate(bytes));
    return Ref<Storage>::adopt(new (block) Storage(block + kHeader, nbytes, bytes));
  }
  void* data = allocate(size_t(nbytes));
  auto* storage = new (allocate(kHeader)) Storage(data, nbytes, kHeader);
  storage->owns_data_ = true;
  if (nbytes >= kAsyncBytes) {
    storage->static_keys_ = kAsyncBit;
    storage->keys_.store(kAsyncBit, std::memory_order_relaxed);
  }
  return Ref<Storage>::adopt(storage);
}

Ref<Storage> Storage::borrow(void* data, int64_t nbytes, std::function<void()> release) {
  auto* storage = new (allocate(kHeader)) Storage(data, nbytes, kHeader);
  storage->release_ = new std::function<void()>(std::move(release));
  storage->exports_ = 1;
  if (nbytes >= kAsyncBytes) {
    storage->static_keys_ = kAsyncBit;
    storage->keys_ = kAsyncBit;
  }
  return Ref<Storage>::adopt(storage);
}

Ref<Storage> Storage::meta(int64_t nbytes) {
  return Ref<Storage>::adopt(new (allocate(kHeader)) Storage(nullptr, nbytes, kHeader));
}

Ref<Storage> Storage::symbolic(int64_t nbytes, DispatchKey key, Ref<Intrusive> meaning) {
  auto* storage = new (allocate(kHeader)) Storage(nullptr, nbytes, kHeader);
  storage->beside_ = std::move(meaning);
  storage->static_keys_ = KeySet(key).bits();
  storage->keys_ = KeySet(key).bits();
  storage->pending();  // so that waits come past the place that refuses them
  return Ref<Storage>::adopt(storage);
}

Ref<Storage> Storage::part(Ref<Storage> whole, int64_t offset, int64_t nbytes) {
  PKG_ASSERT(offset >= 0 && nbytes >= 0 && offset <= whole->nbytes_ - nbytes);
  char* data = static_cast<char*>(whole->data_) + offset;
  auto* storage = new (allocate(kHeader)) Storage(data, nbytes, kHeader);
  storage->beside_ = std::move(whole);
  return Ref<Storage>::adopt(storage);
}

void Storage::refuse_symbolic() const {
  detail::raise<TypeError>(
      "[values] expected a tensor with values, got a symbol of a graph, which has none "
      "until a session runs it: session.run(x), or x.eval().");
}

Storage::Pending& Storage::pending() {
  Pending* current = pending_.load(std::memory_order_acquire);
  if (current) return *current;
  auto* fresh = new Pending;
  if (pending_.compare_exchange_strong(current, fresh, std::memory_order_acq_rel)) {
    return *fresh;
  }
  delete fresh;
  return *current;
}

// Forgets finished work; called with the lock held.  A failed writer is kept: every
// reader of its result must see the error.
void Storage::settle_locked() {
  Pending& p = *pending_.load(std::memory_order_relaxed);
  if (p.writer && p.writer->done() && !p.writer->failed()) {
    t_finished.push_back(std::move(p.writer));
  }
  std::erase_if(p.readers, [](Ref<Event>& event) {
    if (!event->done()) return false;
    t_finished.push_back(std::move(event));
    return true;
  });
  if (!p.writer && p.readers.empty()) {
    keys_.store(static_keys_.load(), std::memory_order_release);
  }
}

void Storage::note_rebased_views() {
  constexpr uint16_t bit = KeySet(DispatchKey::Autograd).bits();
  static_keys_.fetch_or(bit, std::memory_order_relaxed);
  keys_.fetch_or(bit, std::memory_order_release);
}

bool Storage::readable() {
  Pending* p = pending_.load(std::memory_order_acquire);
  if (!p) return true;
  Sweep sweep;
  std::lock_guard lock(detail::object_lock(this));
  settle_locked();
  return !p->writer;
}

bool Storage::settled() {
  Pending* p = pending_.load(std::memory_order_acquire);
  if (!p) return true;
  if (is_symbolic()) return false;
  std::lock_guard lock(detail::object_lock(this));
  return !p->writer || p->writer->done();
}

bool Storage::writable() {
  Pending* p = pending_.load(std::memory_order_acquire);
  if (!p) return true;
  Sweep sweep;
  std::lock_guard lock(detail::object_lock(this));
  settle_locked();
  return !p->writer && p->readers.empty();
}

// The work takes back its mark before its reference, so the reference was among those
// counted where the mark is still there afterwards.
bool Storage::held_by(uint32_t references) const noexcept {
  if (owned_by(references)) return true;
  return owned_by(references + 1) && in_making_.load(std::memory_order_acquire);
}

void Storage::wait_readable() {
  Pending* p = pending_.load(std::memory_order_acquire);
  if (!p) return;
  if (is_symbolic()) refuse_symbolic();
  Ref<Event> writer;
  {
    Sweep sweep;
    std::lock_guard lock(detail::object_lock(this));
    settle_locked();
    writer = p->writer;
  }
  if (!writer) return;
  try {
    writer->wait();
  } catch (...) {
    // An interrupted wait is not a failure of the work.
    if (writer->failed()) {
      t_async_origin = writer->name();
      if (!writer->call_site().empty()) t_async_origin += " at " + writer->call_site();
    }
    throw;
  }
}

void Storage::wait_writable() {
  wait_readable();
  Pending* p = pending_.load(std::memory_order_acquire);
  if (!p) return;
  std::vector<Ref<Event>> readers;
  {
    Sweep sweep;
    std::lock_guard lock(detail::object_lock(this));
    settle_locked();
    readers = p->readers;
  }
  for (const Ref<Event>& reader : readers) {
    // A reader's failure belongs to its own result, not to this memory.
    reader->wait_for(HUGE_VAL);
  }
}

void Storage::collect_dependencies(std::vector<Ref<Event>>& data,
                                   std::vector<Ref<Event>>* order) {
  Pending* p = pending_.load(std::memory_order_acquire);
  if (!p) return;
  std::lock_guard lock(detail::object_lock(this));
  // What has finished does no harm here, and would die under the caller's lock.
  if (p->writer) data.push_back(p->writer);
  if (order) order->insert(order->end(), p->readers.begin(), p->readers.end());
}

void Storage::add_reader(const Ref<Event>& event) {
  Pending& p = pending();
  std::lock_guard lock(detail::object_lock(this));
  p.readers.push_back(event);
  keys_.fetch_or(kAsyncBit, std::memory_order_release);
}

void Storage::set_writer(const Ref<Event>& event) {
  Pending& p = pending();
  Ref<Event> writer = event;  // the one before dies after the lock, and so do the readers
  std::vector<Ref<Event>> readers;
  std::lock_guard lock(detail::object_lock(this));
  std::swap(p.writer, writer);
  p.readers.swap(readers);
  keys_.fetch_or(kAsyncBit, std::memory_order_release);
}

}  // namespace pkg
