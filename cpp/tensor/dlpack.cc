// SPDX-License-Identifier: Apache-2.0
// tensor/dlpack.cc: tensors to and from DLPack structures.
#include "tensor/dlpack.h"

#include <array>
#include <memory>

#include "base/checked.h"
#include "base/error.h"
#include "tensor/copy.h"
#include "tensor/exported.h"

namespace pkg::dlpack {
namespace {

ElementType type_of(DType dtype) {
  const auto bits = uint8_t(8 * itemsize(dtype));
  switch (dtype) {
    case DType::Bool: return {kBool, bits, 1};
    case DType::UInt8: return {kUInt, bits, 1};
    case DType::BFloat16: return {kBFloat, bits, 1};
    default: return {is_floating(dtype) ? kFloat : kInt, bits, 1};
  }
}

std::optional<DType> dtype_of(ElementType type) {
  for (int i = 0; i < kNumDTypes; ++i) {
    const ElementType ours = type_of(DType(i));
    if (type.code == ours.code && type.bits == ours.bits && type.lanes == 1) {
      return DType(i);
    }
  }
  return std::nullopt;
}

void set_flags(Unversioned&, bool) {}
void set_flags(Versioned& managed, bool copied) {
  managed.version = kVersion;
  managed.flags = copied ? uint64_t{kIsCopied} : 0;
}
bool is_read_only(const Unversioned&) { return false; }
bool is_read_only(const Versioned& managed) { return managed.flags & kReadOnly; }
bool is_copy(const Unversioned&) { return false; }
bool is_copy(const Versioned& managed) { return managed.flags & kIsCopied; }
void check_version(const Unversioned&) {}
void check_version(const Versioned& managed) {
  PKG_CHECK(managed.version.major == kVersion.major, BufferError,
            "[from_dlpack] expected DLPack ", kVersion.major, ".x, got ",
            managed.version.major, ".", managed.version.minor,
            ". Ask the producer for max_version=(1, 0).");
}

/// The structure and what it points to.
template <class Managed>
struct Export {
  explicit Export(const Tensor& shown) : tensor(shown) {}
  ExportedTensor tensor;
  Managed managed = {};
};

Tensor copy_of(const Tensor& tensor) {
  tensor.wait();
  const Tensor copy = empty(tensor.spec());
  copy_into(copy, tensor);
  return copy;
}

/// A copy made byte by byte, of elements that lie at any address.
Tensor copy_of_bytes(char* data, Shape sizes, Shape strides, DType dtype) {
  Tensor copy = empty(sizes, dtype);
  const int64_t step = itemsize(dtype);
  for (size_t d = 0; d < sizes.size(); ++d) {
    strides[d] = sizes[d] > 1 ? Checked(strides[d]) * step : Checked(0);
  }
  sizes.push_back(step);
  strides.push_back(1);
  const Tensor from = from_blob(data, sizes, strides, DType::UInt8, [] {});
  copy_into(from_blob(copy.data(), sizes, contiguous_strides(sizes), DType::UInt8, [] {}),
            from);
  return copy;
}

/// Sizes and strides, which must be what a tensor can have.
std::array<Shape, 2> geometry(const Array& array) {
  PKG_CHECK(array.ndim >= 0 && (array.ndim == 0 || array.sizes), BufferError,
            "[from_dlpack] the array has no shape.");
  Shape sizes(array.sizes, size_t(array.ndim));
  if (!array.strides) return {sizes, contiguous_strides(sizes)};
  Shape strides(array.strides, size_t(array.ndim));
  for (size_t d = 0; d < sizes.size(); ++d) {
    PKG_CHECK(strides[d] >= 0, ValueError,
              "[from_dlpack] expected strides of 0 or more, got ", strides,
              ". Make a copy first.");
  }
  return {sizes, strides};
}

}  // namespace

template <class Managed>
Managed* to_dlpack(const Tensor& tensor, bool copy) {
  PKG_CHECK(!tensor.requires_grad(), BufferError,
            "Can't export tensors that require gradient, use tensor.detach()");
  PKG_CHECK(!tensor.is_meta(), BufferError,
            "[__dlpack__] a meta tensor has no memory to show.");
  auto made = std::make_unique<Export<Managed>>(copy ? copy_of(tensor) : tensor);
  const Tensor& shown = *made->tensor;
  set_flags(made->managed, copy);
  made->managed.owner = made.get();
  made->managed.deleter = [](Managed* self) {
    delete static_cast<Export<Managed>*>(self->owner);
  };
  made->managed.array = {.data = shown.numel() ? shown.data() : nullptr,
                         .device = {kCpu, 0},
                         .ndim = int32_t(shown.ndim()),
                         .type = type_of(shown.dtype()),
                         .sizes = shown.impl()->sizes.data(),
                         .strides = shown.impl()->strides.data(),
                         .byte_offset = 0};
  return &made.release()->managed;
}

template <class Managed>
Tensor from_dlpack(Managed* managed, std::optional<bool> copy) {
  check_version(*managed);
  const Array& array = managed->array;
  PKG_CHECK(array.device.kind == kCpu, BufferError,
            "[from_dlpack] expected memory of the CPU (device type 1), got device type ",
            array.device.kind, ". Copy it to the CPU first.");
  const auto dtype = dtype_of(array.type);
  PKG_CHECK(dtype, TypeError, "[from_dlpack] no dtype has DLPack's type code ",
            int(array.type.code), " with ", int(array.type.bits), " bits and ",
            array.type.lanes,
            " lanes. Supported are bool, uint8, int8, int32, int64, "
            "float16, bfloat16, float32 and float64.");
  const auto [sizes, strides] = geometry(array);
  char* data = static_cast<char*>(array.data) + array.byte_offset;
  const bool aligned = sizes.numel() == 0 ||
                       uintptr_t(data) % uintptr_t(itemsize(*dtype)) == 0;
  const Tensor bytes = dtype == DType::Bool
                           ? from_blob(data, sizes, strides, DType::UInt8, [] {})
                           : Tensor();
  const bool plain = !bytes.defined() || are_plain_bools(bytes), as_is = aligned && plain;
  if (copy.value_or(is_read_only(*managed) || !as_is) && (!is_copy(*managed) || !as_is)) {
    const Tensor result = !plain ? as_dtype(bytes, DType::Bool)
                          : aligned
                              ? copy_of(from_blob(data, sizes, strides, *dtype, [] {}))
                              : copy_of_bytes(data, sizes, strides, *dtype);
    discard(managed);
    return result;
  }
  PKG_CHECK(aligned, BufferError, "[from_dlpack] expected memory of ", *dtype,
            " at a multiple of ", itemsize(*dtype),
            " bytes. Let it be copied: copy=None or "
            "copy=True.");
  PKG_CHECK(plain, BufferError,
            "[from_dlpack] expected bytes 0 and 1 in an array of bools, "
            "got others. Let it be copied: copy=None or copy=True.");
  PKG_CHECK(!is_read_only(*managed), BufferError,
            "[from_dlpack] the memory is read-only and a Tensor can be written to. Let "
            "it be copied: copy=None or copy=True.");
  return from_blob(data, sizes, strides, *dtype, [managed] { discard(managed); });
}

template Unversioned* to_dlpack(const Tensor&, bool);
template Versioned* to_dlpack(const Tensor&, bool);
template Tensor from_dlpack(Unversioned*, std::optional<bool>);
template Tensor from_dlpack(Versioned*, std::optional<bool>);

std::pair<int, int> device_of(const Tensor& tensor) {
  PKG_CHECK(!tensor.is_meta(), BufferError,
            "[__dlpack_device__] a meta tensor has no memory to show.");
  return {kCpu, 0};
}

void check_request(std::optional<int64_t> stream,
                   const std::optional<std::pair<int, int>>& device) {
  PKG_CHECK(stream.value_or(-1) == -1, ValueError,
            "[__dlpack__] expected stream=None: the CPU has no streams.");
  PKG_CHECK(!device || *device == std::pair(int(kCpu), 0), BufferError,
            "[__dlpack__] expected dl_device (1, 0), the CPU.");
}

}  // namespace pkg::dlpack
