// SPDX-License-Identifier: Apache-2.0
// dispatcher/read.h: one given value to one boxed argument, by its schema's type, whatever
// language the value is of.
//
// The language is a Reader, whose functions are static.  Each is false, or null, for a value
// that does not fit, and throws for one that is bad:
//
//   using Item                                   one given value
//   bool is_none(Item), is_list(Item)
//   bool each(Item list, f)                      f(item) for the items until one is false
//   tensor(Item)                                 a pointer or an optional: a tensor itself
//   bool tensor_like(Item, Tensor*)              what may stand for one as well
//   bool scalar(Item, Scalar*), integer(Item, int64_t*), real(Item, double*),
//        text(Item, std::string*), dtype(Item, DType*), device(Item, Device*)
#pragma once

#include <algorithm>

#include "dispatcher/schema.h"

namespace pkg {

template <class Reader>
class ReadValue {
 public:
  using Item = typename Reader::Item;

  /// False when the type of `item` is not that of the argument.
  static bool run(const Argument& argument, Item item, Value* out) {
    if (argument.optional && Reader::is_none(item)) return *out = Value(), true;
    if (argument.list) return list(argument, item, out);
    switch (argument.type) {
      case ArgType::Tensor:
        if (auto tensor = Reader::tensor(item)) return *out = *tensor, true;
        // What an op writes to must be a real tensor.
        return !argument.written && one<Tensor>(Reader::tensor_like, item, out);
      case ArgType::Scalar: return one<Scalar>(Reader::scalar, item, out);
      case ArgType::Int: return one<int64_t>(Reader::integer, item, out);
      case ArgType::Float: return one<double>(Reader::real, item, out);
      case ArgType::Bool: return one<bool>(truth, item, out);
      case ArgType::Str: return one<std::string>(Reader::text, item, out);
      case ArgType::DType: return one<DType>(Reader::dtype, item, out);
      case ArgType::Device: return one<Device>(Reader::device, item, out);
    }
    return false;
  }

 private:
  template <class T, class Read>
  static bool one(Read read, Item item, Value* out) {
    T value{};
    if (!read(item, &value)) return false;
    if constexpr (std::is_arithmetic_v<T>) *out = Scalar(value);
    else *out = std::move(value);
    return true;
  }
  static bool truth(Item item, bool* out) {
    Scalar scalar;
    if (!Reader::scalar(item, &scalar) || scalar.is_float()) return false;
    *out = scalar.to<bool>();
    return true;
  }

  static bool list(const Argument& argument, Item item, Value* out) {
    if (argument.type == ArgType::Float) {
      return items<std::vector<double>, double>(Reader::real, item, out);
    }
    if (argument.type == ArgType::Bool) {
      return items<std::vector<bool>, bool>(truth, item, out);
    }
    if (argument.type == ArgType::Str) {
      return items<std::vector<std::string>, std::string>(Reader::text, item, out);
    }
    if (argument.type == ArgType::Int) return ints(argument.length, item, out);
    const auto read = [&](Item entry, Tensor* tensor) {
      if (argument.optional_item && Reader::is_none(entry)) return true;
      auto found = Reader::tensor(entry);
      if (found) *tensor = *found;
      return bool(found);
    };
    return items<TensorList, Tensor>(read, item, out);
  }
  template <class List, class Entry, class Read>
  static bool items(Read read, Item item, Value* out) {
    List list;
    const bool fits = Reader::is_list(item) && Reader::each(item, [&](Item entry) {
                        Entry value{};
                        if (!read(entry, &value)) return false;
                        list.push_back(std::move(value));
                        return true;
                      });
    if (fits) *out = std::move(list);
    return fits;
  }
  // One number for all, or a list; -1: of any length.
  static bool ints(int64_t length, Item item, Value* out) {
    int64_t value;
    if (Reader::integer(item, &value)) {
      *out = Shape(size_t(std::max<int64_t>(length, 1)), value);
      return true;
    }
    if (!items<Shape, int64_t>(Reader::integer, item, out)) return false;
    const Shape& given = std::get<Shape>(*out);
    if (length < 0 || int64_t(given.size()) == length) return true;
    if (given.size() != 1) return false;
    *out = Shape(size_t(length), given[0]);
    return true;
  }
};

}  // namespace pkg
