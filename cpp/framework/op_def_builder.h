// SPDX-License-Identifier: Apache-2.0
// framework/op_def_builder.h: the chain of REGISTER_OP, and the reader of its language.
#pragma once

#include "framework/shape_inference.h"

namespace pkg::framework {

/// What is registered of an op.
struct OpRegistrationData {
  OpDef op_def;
  OpShapeInferenceFn shape_inference_fn;
};

/// Only keeps what it is given: the texts are read by Finalize(), when the order of inputs
/// and attributes does not matter any more.  What begins, copies and ends it is compiled in
/// the core: in each source that registers an op it would be a third of the compiler's time.
class OpDefBuilder {
 public:
  explicit OpDefBuilder(std::string name);
  OpDefBuilder(const OpDefBuilder&);
  OpDefBuilder(OpDefBuilder&&) noexcept;
  OpDefBuilder& operator=(const OpDefBuilder&);
  OpDefBuilder& operator=(OpDefBuilder&&) noexcept;
  ~OpDefBuilder();

  /// "name: type [>= minimum] [= default]"
  OpDefBuilder& Attr(std::string spec) { return attrs_.push_back(std::move(spec)), *this; }
  /// "name: type", "name: T", "name: N * T", "name: Ref(T)"
  OpDefBuilder& Input(std::string spec) {
    return inputs_.push_back(std::move(spec)), *this;
  }
  OpDefBuilder& Output(std::string spec) {
    return outputs_.push_back(std::move(spec)), *this;
  }
  OpDefBuilder& Doc(std::string text) { return doc_ = std::move(text), *this; }
  OpDefBuilder& SetShapeFn(OpShapeInferenceFn fn) { return fn_ = std::move(fn), *this; }
  OpDefBuilder& SetIsCommutative() { return flags_.is_commutative = true, *this; }
  OpDefBuilder& SetIsAggregate() { return flags_.is_aggregate = true, *this; }
  /// It keeps something between calls, or does more than to give results: no call of it is
  /// left out, shared with an equal one, or run at another time.
  OpDefBuilder& SetIsStateful() { return flags_.is_stateful = true, *this; }
  OpDefBuilder& SetAllowsUninitializedInput() {
    return flags_.allows_uninitialized_input = true, *this;
  }
  OpDefBuilder& SetIsDistributedCommunication() {
    return flags_.is_distributed_communication = true, *this;
  }
  OpDefBuilder& Deprecated(int version, std::string why) {
    flags_.deprecated_since = version;
    flags_.deprecated_why = std::move(why);
    return *this;
  }

  const std::string& name() const { return name_; }
  /// ValueError that shows the place of a mistake.
  OpRegistrationData Finalize() const;

 private:
  std::string name_, doc_;
  std::vector<std::string> attrs_, inputs_, outputs_;
  OpShapeInferenceFn fn_;
  OpDef flags_;
};

}  // namespace pkg::framework
