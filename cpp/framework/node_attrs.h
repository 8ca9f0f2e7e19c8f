// SPDX-License-Identifier: Apache-2.0
// framework/node_attrs.h: the attributes of one call, asked for by name and C++ type.
#pragma once

#include "framework/op_def.h"
#include "framework/tensor_shape.h"

namespace pkg::framework {

class NodeAttrs {
 public:
  NodeAttrs(const OpDef& def, const AttrValues& values) : def_(&def), values_(&values) {}

  const OpDef& def() const { return *def_; }
  const AttrValues& values() const { return *values_; }
  bool has(std::string_view name) const { return find(name) != nullptr; }

  /// NotFound for another name, InvalidArgument for another type and for an int that does
  /// not fit an int32.
  template <class T>
  Status get(std::string_view name, T* out) const {
    const AttrValue* value = find(name);
    if (!value) {
      return errors::NotFound("No attr named '", name, "' in the Op '", def_->name,
                              "': ", def_->str());
    }
    if (assign(*value, out)) return Status();
    return errors::InvalidArgument("Attr '", name, "' of the Op '", def_->name,
                                   "' is of type ", def_->attr(name)->type, ", value ",
                                   attr_text(*value),
                                   ": it was asked for as a type that cannot have it");
  }

 private:
  const AttrValue* find(std::string_view name) const {
    for (size_t i = 0; i < def_->attrs.size(); ++i) {
      if (def_->attrs[i].name == name) return &(*values_)[i];
    }
    return nullptr;
  }

  // What an attribute of type T is kept as.
  template <class T>
  struct Kept {
    using type = T;
  };
  static bool convert(int64_t from, int32_t* to) {
    *to = int32_t(from);
    return *to == from;
  }
  static bool convert(double from, float* to) { return *to = float(from), true; }
  static bool convert(const PartialShape& from, TensorShape* to) {
    return PartialTensorShape(from).AsTensorShape(to);
  }
  template <class T>
  static bool convert(const T& from, T* to) {
    return *to = from, true;
  }
  static bool convert(const PartialShape& from, PartialTensorShape* to) {
    return *to = from, true;
  }
  template <class T>
  static bool assign(const AttrValue& value, T* out) {
    const auto* found = std::get_if<typename Kept<T>::type>(&value);
    return found && convert(*found, out);
  }
  template <class T>
  static bool assign(const AttrValue& value, std::vector<T>* out) {
    const auto* found = std::get_if<std::vector<typename Kept<T>::type>>(&value);
    if (!found) return false;
    std::vector<T> list;
    for (const auto& item : *found) {
      T one{};
      if (!convert(typename Kept<T>::type(item), &one)) return false;
      list.push_back(std::move(one));
    }
    *out = std::move(list);
    return true;
  }

  const OpDef* def_;
  const AttrValues* values_;
};

template <>
struct NodeAttrs::Kept<int32_t> {
  using type = int64_t;
};
template <>
struct NodeAttrs::Kept<float> {
  using type = double;
};
template <>
struct NodeAttrs::Kept<TensorShape> {
  using type = PartialShape;
};
template <>
struct NodeAttrs::Kept<PartialTensorShape> {
  using type = PartialShape;
};
}  // namespace pkg::framework
