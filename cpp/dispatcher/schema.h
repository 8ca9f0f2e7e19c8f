// SPDX-License-Identifier: Apache-2.0
// dispatcher/schema.h: the signature of an op, parsed once from its text:
//   "add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor"
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "dispatcher/value.h"

namespace pkg {

enum class ArgType : uint8_t { Tensor, Scalar, Int, Float, Bool, Str, DType, Device };

/// One parameter.
struct Argument {
  std::string name;
  ArgType type = ArgType::Tensor;
  bool optional = false;       ///< T?: None is allowed
  bool list = false;           ///< T[]
  bool optional_item = false;  ///< Tensor?[]
  int64_t length = -1;         ///< int[2]: a single int is repeated; -1: any
  bool has_default = false;
  Value default_value;
  bool keyword_only = false;
  bool written = false;  ///< Tensor(a!): the op writes to it

  /// Type as the schema spells it: "int[2]?".
  std::string type_str() const;
  /// What a caller is asked for: "an int, a list of 2 ints or None".
  std::string expected() const;
  /// An item of the list.
  Argument item() const;
};

/// An op with more results returns a list.
inline constexpr size_t kMaxResults = 8;

struct Schema {
  std::string name;      ///< without namespace: "add"
  std::string overload;  ///< "Tensor", or empty
  std::vector<Argument> arguments;
  std::vector<Argument> returns;

  /// Position of the parameter; -1 when there is none of this name.
  int index_of(std::string_view argument) const;
  /// "add.Tensor", or "add".
  std::string full_name() const { return overload.empty() ? name : name + "." + overload; }
  /// Canonical text; parsing it gives an equal schema.
  std::string str() const;
};

/// ValueError that shows the place in the text with "<--- HERE".
Schema parse_schema(std::string_view text);

}  // namespace pkg
