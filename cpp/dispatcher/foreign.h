// SPDX-License-Identifier: Apache-2.0
// dispatcher/foreign.h: ops and kernels of other languages, which register them while the
// program runs, and what is registered for an op.  All by plain values, for bindings.
#pragma once

#include <string>
#include <vector>

#include "dispatcher/operator.h"

namespace pkg {

/// Of one that declares all ops of it; RuntimeError with both places where it is taken.
void claim_namespace(const std::string& ns, const std::string& where);

/// Declares an op; its name with namespace and overload.  ValueError for a bad schema or
/// another namespace in it, RuntimeError where there is such an op.
std::string define_op(const std::string& ns, const std::string& schema,
                      const std::string& doc, const std::string& where);

/// Gives "ns::op" or "ns::op.overload" a kernel, of PlainKernel's kind, that runs while the
/// call lasts.  The keys: CPU, Meta, Autograd, CompositeExplicitAutograd (CPU and Meta) and
/// CompositeImplicitAutograd (it calls other ops).  ValueError for another key, LookupError
/// for an op that is not there.
void set_foreign_kernel(const std::string& name, const std::string& key, Kernel::Boxed call,
                        void* function, const std::string& where);

/// A row for each key, highest first: its name, what a call runs there (kernel, composite,
/// fallback, falls through, off, nothing) and where that was registered.
std::vector<std::vector<std::string>> dispatch_table(const std::string& name);

}  // namespace pkg
