// SPDX-License-Identifier: Apache-2.0
// framework/resource_handle.cc: the table of slots.  Note [Handles as tensors].
#include "framework/resource_handle.h"

#include <memory>
#include <mutex>
#include <random>
#include <unordered_map>

#include "scheduler/fork_locks.h"

namespace pkg::framework {
namespace {

// The handles of the tensors that are alive, by number.
constinit std::mutex g_handles_lock;
const pkg::detail::HeldOverFork g_handles_held{pkg::detail::ForkLock::Handles,
                                               g_handles_lock};
constinit std::unordered_map<int64_t, ResourceHandle*>* g_handles = nullptr;  // for good

// Nobody comes by a number but through the tensor it was written to: one that was computed,
// or is of another process, stands for nothing.
int64_t new_number(std::random_device& source) {
  const uint64_t high = source(), low = source();
  return int64_t((high << 32 | low) >> 1);
}

// What the memory of one tensor of handles stands for.  That memory can be written to by
// whoever has the tensor, so what the slots are known by is kept apart from it.
class Slots {
 public:
  explicit Slots(size_t n) : memory(n), handles_(n) {
    std::random_device source;
    std::lock_guard lock(g_handles_lock);
    if (!g_handles) g_handles = new std::unordered_map<int64_t, ResourceHandle*>;
    while (numbers_.size() < n) {
      const int64_t number = new_number(source);
      ResourceHandle* handle = &handles_[numbers_.size()];
      if (g_handles->try_emplace(number, handle).second) numbers_.push_back(number);
    }
    memory = numbers_;
  }
  ~Slots() {
    std::lock_guard lock(g_handles_lock);
    for (int64_t number : numbers_) g_handles->erase(number);
  }
  std::vector<int64_t> memory;

 private:
  std::vector<int64_t> numbers_;
  std::vector<ResourceHandle> handles_;  // these die after the lock is given back
};

int64_t number_in(const pkg::Tensor& tensor) {
  PKG_CHECK(tensor.defined() && tensor.dtype() == DType::Int64 && tensor.numel() == 1,
            ValueError,
            "[resource] expected a handle, which is an int64 tensor of one "
            "element, got another tensor.");
  return *tensor.data<int64_t>();
}

// Of who holds the lock.
ResourceHandle& find(int64_t number) {
  ResourceHandle* found = nullptr;
  if (g_handles) {
    const auto place = g_handles->find(number);
    if (place != g_handles->end()) found = place->second;
  }
  PKG_CHECK(found, ValueError,
            "[resource] expected a handle of a "
            "resource that is alive, got the number ",
            number,
            ". Handles are made by ops, "
            "live as long as the tensor that the op gave, and mean nothing in another "
            "process.");
  return *found;
}

ResourceHandle handle_of(int64_t number) {
  std::lock_guard lock(g_handles_lock);
  return find(number);
}

// Returns what was there, which may be the last reference: it dies without the lock.
ResourceHandle exchange(int64_t number, ResourceHandle handle) {
  std::lock_guard lock(g_handles_lock);
  std::swap(find(number), handle);
  return handle;
}

}  // namespace

pkg::Tensor make_handle_tensor(const Shape& sizes) {
  auto slots = std::make_shared<Slots>(size_t(sizes.numel()));
  int64_t* numbers = slots->memory.data();
  return from_blob(numbers, sizes, contiguous_strides(sizes), DType::Int64,
                   [slots] { (void)slots; });
}

pkg::Tensor copy_handles(const pkg::Tensor& tensor) {
  pkg::Tensor copy = make_handle_tensor(tensor.sizes());
  const auto* from = tensor.data<int64_t>();
  const auto* to = copy.data<int64_t>();
  for (int64_t i = 0; i < tensor.numel(); ++i) exchange(to[i], handle_of(from[i]));
  return copy;
}

ResourceHandle handle_in(const pkg::Tensor& tensor) { return handle_of(number_in(tensor)); }

void set_handle(const pkg::Tensor& tensor, ResourceHandle handle) {
  exchange(number_in(tensor), std::move(handle));
}

}  // namespace pkg::framework
