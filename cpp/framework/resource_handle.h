// SPDX-License-Identifier: Apache-2.0
// framework/resource_handle.h: references to resources, and tensors that hold them.
//
// Note [Handles as tensors]
// Our tensors have no element type for handles.  A tensor of type resource is a tensor of
// int64 whose memory is a slot: the number in it is the slot's name in a table of this
// process, and the slot goes with the memory.  Who holds the tensor holds the slot, and a
// slot may hold a reference to the resource.  The numbers are random: one that was computed,
// or whose slot is gone, is found to stand for nothing when it is used.  A tensor into which
// the number of another was copied stands for the same slot, and does not keep it.
#pragma once

#include <string>

#include "base/intrusive.h"
#include "framework/tensor.h"

namespace pkg::framework {

/// Names a resource: a name within a container, of a type known by its name, so that it is
/// the same in every library.  `resource` is the thing itself, or null if only the manager
/// keeps it.
struct ResourceHandle {
  std::string device, container, name, type_name;
  Ref<Intrusive> resource;

  const std::string& maybe_type_name() const { return type_name; }
  std::string DebugString() const {
    return str("container: ", container, " name: ", name, " type: ", type_name);
  }
};

/// Row-major tensor of int64 with a slot for each element.
pkg::Tensor make_handle_tensor(const Shape& sizes);
/// What the number in the tensor stands for; ValueError for one that stands for nothing.
ResourceHandle handle_in(const pkg::Tensor& tensor);
/// Slots of its own for each element of a row-major tensor, with the same handles; ValueError
/// for a number that stands for nothing.
pkg::Tensor copy_handles(const pkg::Tensor& tensor);
/// Gives the tensor's slot a handle; ValueError for a tensor without slots.
void set_handle(const pkg::Tensor& tensor, ResourceHandle handle);

/// `tensor.scalar<ResourceHandle>()`: () is the handle, to read and to assign.
class HandlePlace {
 public:
  /// As all maps: one element of the type.
  explicit HandlePlace(const Tensor& tensor);
  const HandlePlace& operator()() const { return *this; }
  operator ResourceHandle() const { return handle_in(tensor_); }
  const HandlePlace& operator=(ResourceHandle handle) const {
    set_handle(tensor_, std::move(handle));
    return *this;
  }

 private:
  pkg::Tensor tensor_;
};

inline HandlePlace handle_scalar(ResourceHandle*, const Tensor& tensor) {
  return HandlePlace(tensor);
}

}  // namespace pkg::framework
