// SPDX-License-Identifier: Apache-2.0
// framework/op_def.h: what REGISTER_OP says of an op, as plain data.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "framework/attr_value.h"

namespace pkg::framework {

/// An input or output: one tensor, or as many as an attribute says.
struct ArgDef {
  std::string name;
  DataType type = DT_INVALID;  ///< fixed, or:
  std::string type_attr;       ///< attribute of type `type`
  std::string number_attr;     ///< attribute of type `int`: so many tensors
  std::string type_list_attr;  ///< attribute of type `list(type)`: a tensor of each
  bool is_ref = false;
  std::string description;

  bool is_list() const { return !number_attr.empty() || !type_list_attr.empty(); }
  /// "values: N * T"
  std::string str() const;
};

struct AttrDef {
  std::string name;
  std::string type;  ///< "int", "list(type)", ...
  bool has_minimum = false;
  int64_t minimum = 0;
  AttrValue allowed;        ///< a list of types or of strings; none: all
  AttrValue default_value;  ///< none: must be given
  std::string description;

  /// "T: type, allowed=[DT_INT32, DT_FLOAT]"
  std::string str() const;
};

struct OpDef {
  std::string name;
  std::vector<ArgDef> inputs, outputs;
  std::vector<AttrDef> attrs;
  std::string doc;
  bool is_commutative = false;
  bool is_aggregate = false;
  bool is_stateful = false;
  bool allows_uninitialized_input = false;
  bool is_distributed_communication = false;
  int deprecated_since = 0;  ///< 0: it is not
  std::string deprecated_why;

  const AttrDef* attr(std::string_view attr_name) const;
  /// Whether the attribute follows from the inputs, and is given by no caller.
  bool is_inferred(std::string_view attr_name) const;
  /// Whether all outputs come as one list, since there are as many as an attribute says,
  /// or more than a call has results.
  bool outputs_in_one_list() const;
  /// "Op<name=ZeroOut; signature=to_zero:int32 -> zeroed:int32>"
  std::string str() const;
  /// For bindings: docs/custom_ops.md says what is in it.
  std::string json() const;
};

/// What each attribute of one call is, in the order of the definition.
using AttrValues = std::vector<AttrValue>;

/// Types of the tensors of an argument, flattened, for these attributes.
void append_types(const OpDef& def, const ArgDef& arg, const AttrValues& attrs,
                  DataTypeVector* types);
/// How many tensors an argument stands for.
int64_t count_of(const OpDef& def, const ArgDef& arg, const AttrValues& attrs);
/// ValueError unless the value is one that the definition allows.
void check_attr(const OpDef& op, const AttrDef& attr, const AttrValue& value);

/// The schema that the op has in our registry: its inputs, then what is not inferred as
/// parameters by keyword.
Schema schema_of(const OpDef& def);

}  // namespace pkg::framework
