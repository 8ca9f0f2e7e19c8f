// SPDX-License-Identifier: Apache-2.0
// autograd/call_words.cc: writing and reading the words of a call.  An entry begins with
// a word of its kind, dtype, device, place and how many words follow.
#include "autograd/call_words.h"

#include <bit>

namespace pkg {
namespace {

uint64_t word_of(const Scalar& number) {
  return number.is_float() ? std::bit_cast<uint64_t>(number.to<double>())
                           : uint64_t(number.to<int64_t>());
}

}  // namespace

void CallWords::add(Kind kind, DType dtype, Device device, size_t count) {
  words_.push_back(uint64_t(kind) | uint64_t(dtype) << 8 | uint64_t(device.type) << 16 |
                   uint64_t(count) << 32);
}

void CallWords::add_shape(const Shape& shape) {
  for (const int64_t entry : shape) words_.push_back(uint64_t(entry));
}

void CallWords::add_tensor(const Tensor& tensor) {
  if (!tensor.defined()) return add(Kind::Undefined);
  const Shape& sizes = tensor.sizes();
  if (sizes_at_ && words_[sizes_at_ - 1] >> 32 == sizes.size() &&
      std::equal(sizes.begin(), sizes.end(), words_.begin() + sizes_at_,
                 [](int64_t size, uint64_t word) { return uint64_t(size) == word; })) {
    return add(Kind::Alike, tensor.dtype(), tensor.device());
  }
  add(Kind::Tensor, tensor.dtype(), tensor.device(), sizes.size());
  sizes_at_ = words_.size();
  add_shape(sizes);
}

bool CallWords::add_number(const Tensor& tensor, size_t place) {
  if (!tensor.impl()->wrapped_number || tensor.ndim() != 0 || tensor.requires_grad() ||
      tensor.is_meta() || !tensor.is_ready()) {
    return false;
  }
  add(Kind::Number, tensor.dtype(), tensor.device(), 1);
  words_.back() |= uint64_t(place) << 24;
  words_.push_back(word_of(item(tensor)));
  return true;
}

bool CallWords::add_value(const Value& value) {
  if (const auto* number = std::get_if<Scalar>(&value)) {
    using enum Scalar::Kind;
    add(number->kind() == Bool  ? Kind::Bool
        : number->kind() == Int ? Kind::Int
                                : Kind::Float,
        {}, {}, 1);
    words_.push_back(word_of(*number));
  } else if (const auto* shape = std::get_if<Shape>(&value)) {
    add(Kind::Shape, {}, {}, shape->size());
    add_shape(*shape);
  } else if (const auto* dtype = std::get_if<DType>(&value)) {
    add(Kind::DType, *dtype);
  } else if (const auto* device = std::get_if<Device>(&value)) {
    add(Kind::Device, {}, *device);
  } else {
    add(Kind::Nothing);
    return is_none(value);
  }
  return true;
}

Tensor CallWords::Entry::number() const {
  Tensor made = empty(spec);
  visit_dtype(spec.dtype, [&]<class T>(TypeTag<T>) {
    *made.data<T>() = std::get<Scalar>(value).to<T>();
  });
  made.impl()->wrapped_number = true;
  return made;
}

CallWords::Entry CallWords::read(size_t& at, size_t& sizes_at) const {
  const uint64_t head = words_[at];
  const auto kind = Kind(head & 0xff);
  const auto dtype = DType(head >> 8 & 0xff);
  const Device device{DeviceType(head >> 16 & 0xff)};
  const auto shape_at = [this](size_t place) {
    return Shape(reinterpret_cast<const int64_t*>(words_.data() + place + 1),
                 size_t(words_[place] >> 32));
  };
  const size_t here = at;
  at += 1 + size_t(head >> 32);
  switch (kind) {
    case Kind::Undefined: return {true, {}, {}};
    case Kind::Tensor: sizes_at = here; [[fallthrough]];
    case Kind::Alike: return {true, {shape_at(sizes_at), dtype, device}, {}};
    case Kind::Number: {
      const uint64_t word = words_[here + 1];
      const Scalar number = is_floating(dtype)     ? Scalar(std::bit_cast<double>(word))
                            : dtype == DType::Bool ? Scalar(word != 0)
                                                   : Scalar(int64_t(word));
      return {true, {{}, dtype, device}, number, size_t(head >> 24 & 0xff)};
    }
    case Kind::Bool: return {false, {}, Scalar(words_[here + 1] != 0)};
    case Kind::Int: return {false, {}, Scalar(int64_t(words_[here + 1]))};
    case Kind::Float: return {false, {}, Scalar(std::bit_cast<double>(words_[here + 1]))};
    case Kind::Shape: return {false, {}, shape_at(here)};
    case Kind::DType: return {false, {}, dtype};
    case Kind::Device: return {false, {}, device};
    case Kind::Nothing: break;
  }
  return {false, {}, {}};
}

std::optional<Spec> CallWords::spec_of_tensor(size_t i) const {
  std::optional<Spec> found;
  for_each([&](const Entry& entry) {
    if (entry.tensor && i-- == 0) found = entry.spec;
  });
  return found;
}

}  // namespace pkg
