// SPDX-License-Identifier: Apache-2.0
// framework/kernel_set.h: the kernels of one op, and the choice among them for a call.
#pragma once

#include <memory>

#include "framework/calling.h"
#include "framework/kernel_def.h"

namespace pkg::framework {

/// A kernel that was made for calls of one form, and how to know such a call.
struct Choice final : Intrusive {
  CallForm form;
  std::vector<DType> dtypes;       ///< of the tensors
  std::vector<Value> parameters;   ///< what the attributes were given as
  const KernelDef* def = nullptr;  ///< whose kernel it is
  std::unique_ptr<OpKernel> kernel;

  bool fits(std::span<const Value> args) const;
};

/// Registrations of kernels are not changed: with one more the record gets another set, so
/// that what a library registered is taken back with the rest of it.  The kernels that were
/// made, and what they keep between calls, go with it where the choice is still the same.
class KernelSet {
 public:
  using Registrations = std::vector<std::shared_ptr<const KernelDef>>;
  /// `node`: the name of the node whose calls alone it is for; empty for that of a record.
  KernelSet(const OpRegistrationData& data, Registrations kernels, std::string node = {});

  /// With one more.
  KernelSet* with(KernelDef def) const;
  /// The same for a node, with what `before`, the node's set until now, has made.
  std::unique_ptr<KernelSet> for_node(std::string name, const KernelSet* before) const;
  bool of_node() const { return !node_.empty(); }
  const OpRegistrationData& data() const { return data_; }
  bool outputs_in_one_list() const { return outputs_in_one_list_; }

  /// Calls f(choice) with the kernel for these arguments, made now or before.  Who needs it
  /// after that takes a reference.
  template <class F>
  void choose(std::span<const Value> args, F f) const {
    Ref<const Choice> once;
    f(find(args, &once));
  }

 private:
  const Choice& find(std::span<const Value> args, Ref<const Choice>* once) const;
  const Choice* known(std::span<const Value> args) const;
  Ref<const Choice> make(std::span<const Value> args) const;
  const KernelDef& select(const CallForm& form) const;
  void take_choices(const KernelSet& before);

  const OpRegistrationData& data_;
  const bool outputs_in_one_list_;
  const Registrations kernels_;
  const std::string node_;
  const uint64_t id_;  // no other set has it, also when this one is gone
  mutable std::vector<Ref<const Choice>> choices_;  // only ever added to, under a lock
};

/// The kernels of a record of REGISTER_OP.  ValueError where something else has taken the
/// place of what chooses among them.
const KernelSet& kernel_set_of(const Operator& op);
/// The same; null there, and for any other record.
const KernelSet* find_kernel_set(const Operator& op);

}  // namespace pkg::framework
