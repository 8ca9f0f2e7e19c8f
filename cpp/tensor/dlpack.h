// SPDX-License-Identifier: Apache-2.0
// tensor/dlpack.h: DLPack, the C structures in which array libraries show each other
// their memory, and tensors in that form.  The bindings put them into Python capsules.
//
// There are two ways to hand memory over: `Versioned` (DLPack 1.x) has flags and says
// which version it is; `Unversioned` is that of all releases before.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

#include "tensor/tensor.h"

namespace pkg::dlpack {

// --- the binary interface: names are ours, the layout is DLPack's ----------------------

enum DeviceKind : int32_t { kCpu = 1 };
enum TypeCode : uint8_t { kInt = 0, kUInt = 1, kFloat = 2, kBFloat = 4, kBool = 6 };
enum Flags : uint64_t { kReadOnly = 1, kIsCopied = 2 };

struct DeviceId {
  int32_t kind;
  int32_t index;
};
struct ElementType {
  uint8_t code;
  uint8_t bits;
  uint16_t lanes;
};
struct Array {
  void* data;
  DeviceId device;
  int32_t ndim;
  ElementType type;
  int64_t* sizes;
  int64_t* strides;  // in elements; null when row-major
  uint64_t byte_offset;
};
// By its name a capsule of Python's says what is in it, and whether somebody took that out.
struct Unversioned {
  static constexpr const char* kFresh = "dltensor";
  static constexpr const char* kUsed = "used_dltensor";
  Array array;
  void* owner;
  void (*deleter)(Unversioned* self);  // null when there is nothing to free
};
struct Version {
  uint32_t major;
  uint32_t minor;
};
struct Versioned {
  static constexpr const char* kFresh = "dltensor_versioned";
  static constexpr const char* kUsed = "used_dltensor_versioned";
  Version version;
  void* owner;
  void (*deleter)(Versioned* self);
  uint64_t flags;
  Array array;
};
static_assert(sizeof(void*) != 8 ||
              (sizeof(Array) == 48 && sizeof(Unversioned) == 64 &&
               sizeof(Versioned) == 80 && offsetof(Versioned, array) == 32));

inline constexpr Version kVersion = {1, 0};

// --- tensors ----------------------------------------------------------------------------

/// The tensor's memory, which counts as exported until the receiver calls `deleter`; of a
/// copy when `copy` says so.  BufferError for what cannot be exported: a tensor that
/// requires grad or that has no memory.  `Managed` is one of the two structures.
template <class Managed>
Managed* to_dlpack(const Tensor& tensor, bool copy);

/// Tensor over the memory, which it gives back by `deleter`, on any thread.  With `copy`
/// the tensor has memory of its own; without a word that happens only to read-only
/// memory, which BufferError refuses when copying is forbidden.  After an error the
/// caller still owns `managed`.
template <class Managed>
Tensor from_dlpack(Managed* managed, std::optional<bool> copy);

/// What a tensor says of where it is, as (kind, index); BufferError without memory.
std::pair<int, int> device_of(const Tensor& tensor);
/// ValueError for a stream, where -1 means none, and BufferError for another device.
void check_request(std::optional<int64_t> stream,
                   const std::optional<std::pair<int, int>>& device);

/// Gives the memory back unused.
template <class Managed>
void discard(Managed* managed) {
  if (managed->deleter) managed->deleter(managed);
}

}  // namespace pkg::dlpack
