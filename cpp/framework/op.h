// SPDX-License-Identifier: Apache-2.0
// framework/op.h: REGISTER_OP, and the ops that were registered with it.
//
//   REGISTER_OP("ZeroOut")
//       .Input("to_zero: int32")
//       .Output("zeroed: int32")
//       .SetShapeFn(shape_inference::UnchangedShape);
//
// The op is an ordinary one of the registry, `tf::ZeroOut`: it is part of its library, all
// of which is registered or nothing.
#pragma once

#include "dispatcher/library.h"
#include "framework/op_def_builder.h"

namespace pkg::framework {

/// The namespace of these ops.
inline constexpr const char* kNamespace = "tf";

/// The definition of an op that REGISTER_OP made; null for any other.
const OpRegistrationData* definition_of(const Operator& op);

/// Shows those ops of the registry; it holds none itself.
class OpRegistry {
 public:
  static OpRegistry* Global();

  /// NotFound: "Op type not registered 'X' ...".
  Status LookUp(const std::string& name, const OpRegistrationData** data) const;
  Status LookUpOpDef(const std::string& name, const OpDef** def) const;
  const OpRegistrationData* LookUp(const std::string& name) const;
  /// In the order of their names.
  void GetRegisteredOps(std::vector<OpDef>* ops) const;
  /// Internal ones are those whose names begin with '_'.
  void Export(bool include_internal, std::vector<OpDef>* ops) const;
  /// A line for each op, in the order of their names.
  std::string DebugString(bool include_internal) const;
};

/// The end of the chain.
struct OpRegistrar {
  OpRegistrar(Origin origin, const char* stamp, OpDefBuilder builder);
};

namespace detail {
/// The start of the chain, so that `REGISTER_OP("X").Input(...)` initialises a registrar.
struct OpChain : OpDefBuilder {
  OpChain(const char* name, Origin origin, const char* stamp)
      : OpDefBuilder(name), origin(origin), stamp(stamp) {}
  Origin origin;
  const char* stamp;
};
/// Takes the chain's end, which is a reference to its start.
struct OpInitializer {
  OpInitializer(const OpDefBuilder& builder) {
    const auto& chain = static_cast<const OpChain&>(builder);
    OpRegistrar(chain.origin, chain.stamp, builder);
  }
};
}  // namespace detail

}  // namespace pkg::framework

#define PKG_REGISTER_OP_(name, id)                                               \
  static const ::pkg::framework::detail::OpInitializer PKG_CONCAT(pkg_op_, id) = \
      ::pkg::framework::detail::OpChain(                                         \
          name, ::pkg::Origin{__FILE__ ":" PKG_STR(__LINE__), PKG_OUTSIDE_}, PKG_STAMP_)
#define REGISTER_OP(name) PKG_REGISTER_OP_(name, __COUNTER__)
