// SPDX-License-Identifier: Apache-2.0
// framework/resource_handle.cc: the table of slots.  Note [Handles as tensors].
#include "framework/resource_handle.h"

#include <chrono>
#include <memory>
#include <mutex>
#include <unordered_map>

namespace pkg::framework {
namespace {

// Numbers are never used twice, and begin somewhere else in each process: one that was
// saved, or is just a number, stands for nothing.
struct Table {
  std::mutex mutex;
  std::unordered_map<int64_t, ResourceHandle*> handles;
  int64_t next = std::chrono::system_clock::now().time_since_epoch().count();
};
Table& table() {
  static Table& instance = *new Table;
  return instance;
}

// The memory of one tensor of handles.
struct Slots {
  explicit Slots(size_t n) : numbers(n), handles(n) {
    Table& all = table();
    std::lock_guard lock(all.mutex);
    for (size_t i = 0; i < n; ++i) {
      numbers[i] = all.next++;
      all.handles[numbers[i]] = &handles[i];
    }
  }
  ~Slots() {
    Table& all = table();
    std::lock_guard lock(all.mutex);
    for (int64_t number : numbers) all.handles.erase(number);
  }
  std::vector<int64_t> numbers;
  std::vector<ResourceHandle> handles;
};

int64_t number_in(const pkg::Tensor& tensor) {
  PKG_CHECK(tensor.defined() && tensor.dtype() == DType::Int64 && tensor.numel() == 1,
            ValueError,
            "[resource] expected a handle, which is an int64 tensor of one "
            "element, got another tensor.");
  return *tensor.data<int64_t>();
}

ResourceHandle& find(int64_t number) {
  Table& all = table();
  std::lock_guard lock(all.mutex);
  const auto found = all.handles.find(number);
  PKG_CHECK(found != all.handles.end(), ValueError,
            "[resource] expected a handle of a "
            "resource that is alive, got the number ",
            number,
            ". Handles are made by ops, "
            "live as long as the tensor that the op gave, and mean nothing in another "
            "process.");
  return *found->second;
}

}  // namespace

pkg::Tensor make_handle_tensor(const Shape& sizes) {
  auto slots = std::make_shared<Slots>(size_t(sizes.numel()));
  int64_t* numbers = slots->numbers.data();
  return from_blob(numbers, sizes, contiguous_strides(sizes), DType::Int64,
                   [slots] { (void)slots; });
}

const ResourceHandle& handle_in(const pkg::Tensor& tensor) {
  return find(number_in(tensor));
}

void set_handle(const pkg::Tensor& tensor, ResourceHandle handle) {
  find(number_in(tensor)) = std::move(handle);
}

}  // namespace pkg::framework
