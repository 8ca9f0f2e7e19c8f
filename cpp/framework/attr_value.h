// SPDX-License-Identifier: Apache-2.0
// framework/attr_value.h: what an attribute of an op can be, and how it is written.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "dispatcher/schema.h"
#include "framework/types.h"

namespace pkg::framework {

/// A shape of which sizes (-1), or their number, may be unknown: "[2,?]", "<unknown>".
struct PartialShape {
  bool known_rank = true;
  std::vector<int64_t> sizes;

  static PartialShape of(std::span<const int64_t> sizes) {
    return {true, {sizes.begin(), sizes.end()}};
  }
  std::string str() const;
  friend bool operator==(const PartialShape&, const PartialShape&) = default;
};

/// What is kept as it was written: tensors and functions.
struct AttrText {
  std::string text;
  friend bool operator==(const AttrText&, const AttrText&) = default;
};

/// The value of an attribute; monostate is none.
using AttrValue = std::variant<
    std::monostate, std::string, int64_t, double, bool, DataType, PartialShape, AttrText,
    std::vector<std::string>, std::vector<int64_t>, std::vector<double>, std::vector<bool>,
    std::vector<DataType>, std::vector<PartialShape>, std::vector<AttrText>>;

inline bool has_value(const AttrValue& value) { return value.index() != 0; }

/// As the attr language writes it: `[1, 2]`, `DT_FLOAT`, `"text"`.
std::string attr_text(const AttrValue& value);
/// The same in JSON, with our names of dtypes; what JSON does not have is a string.
std::string attr_json(const AttrValue& value);

/// A value of `type` ("int", "list(type)", ...) from its text; ValueError for another.
AttrValue parse_attr_value(std::string_view type, std::string_view text);

/// The parameter of the op's schema that an attribute of this type travels as, without
/// name: what our schemas have no type for is a str, as attr_text has it.
Argument parameter_of(std::string_view type, const AttrValue& default_value);
/// From a parameter's value and back.  ValueError for a text that is no such value.
AttrValue attr_of_value(std::string_view type, const Value& value);
Value value_of_attr(const AttrValue& attr, const Argument& parameter);

}  // namespace pkg::framework
