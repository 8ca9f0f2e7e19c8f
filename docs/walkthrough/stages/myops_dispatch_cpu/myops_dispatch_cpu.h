// SPDX-License-Identifier: Apache-2.0
// myops_dispatch_cpu.h: ops by name, each double(double, double), one for each backend.
// `add` and `mul` are the core's: its dispatcher chooses the kernel.
#pragma once

#include <functional>
#include <memory>
#include <stdexcept>
#include <string>

namespace myops_dispatch_cpu {

using Kernel = std::function<double(double, double)>;

#ifndef SWIG  // which need not know it: %exceptions does
/// No op of this name, or none for the backend.
class OpLookupError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};
#endif

struct Entry;

/// What register_op returned.
class Registration {
 public:
  /// Brings back what was there before; RuntimeError when the op has been registered anew,
  /// or removed, meanwhile.
  void remove();

  explicit Registration(std::shared_ptr<const Entry> entry) : entry_(std::move(entry)) {}

 private:
  std::shared_ptr<const Entry> entry_;
};

/// Registers fn(a: float, b: float) -> float as the op `name` of `backend`.  RuntimeError
/// naming both places when it exists, unless `overwrite`.
Registration register_op(const std::string& name, Kernel fn,
                         const std::string& backend = "CPU", bool overwrite = false);

/// Run an op by name, e.g. run_op('add',3,4)
double run_op(const std::string& name, double a, double b,
              const std::string& backend = "CPU");

/// Registers `add` and `mul`; harmless when called again.
void init_ops();

#ifndef SWIG
/// Forgets all ops, while there is an interpreter that their kernels may be of.
void drop_ops();
#endif

}  // namespace myops_dispatch_cpu
