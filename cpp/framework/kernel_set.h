// SPDX-License-Identifier: Apache-2.0
// framework/kernel_set.h: the kernels of one op, and the choice among them for a call.
#pragma once

#include <memory>
#include <mutex>

#include "framework/calling.h"
#include "framework/kernel_def.h"

namespace pkg::framework {

/// A kernel that was made for calls of one form, and how to know such a call.
struct Choice {
  CallForm form;
  std::vector<DType> dtypes;      ///< of the tensors
  std::vector<Value> parameters;  ///< what the attributes were given as
  std::unique_ptr<OpKernel> kernel;

  bool fits(std::span<const Value> args) const;
};

/// Registrations of kernels are not changed: with one more the record gets another set, so
/// that what a library registered is taken back with the rest of it.
class KernelSet {
 public:
  KernelSet(const OpRegistrationData& data, std::vector<KernelDef> kernels)
      : data_(data), kernels_(std::move(kernels)) {}

  /// With one more.
  KernelSet* with(KernelDef def) const;
  const OpRegistrationData& data() const { return data_; }

  /// Calls f(choice) with the kernel for these arguments, made now or before.
  template <class F>
  void choose(std::span<const Value> args, F f) const {
    std::unique_ptr<const Choice> once;
    f(find(args, &once));
  }

 private:
  const Choice& find(std::span<const Value> args,
                     std::unique_ptr<const Choice>* once) const;
  std::unique_ptr<const Choice> make(std::span<const Value> args) const;
  const KernelDef& select(const CallForm& form) const;

  const OpRegistrationData& data_;
  const std::vector<KernelDef> kernels_;
  mutable std::mutex mutex_;
  mutable std::vector<std::unique_ptr<const Choice>> choices_;  // only ever added to
};

/// The kernels of a record of REGISTER_OP.
const KernelSet& kernel_set_of(const Operator& op);

}  // namespace pkg::framework
