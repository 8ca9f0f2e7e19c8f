// SPDX-License-Identifier: Apache-2.0
// compat/torch/style/extension.h: what a source that is also a Python module says of that.  A
// library of ops is no module: pkg.ops.load_library opens it, and such a block does nothing.
#pragma once

#ifndef TORCH_EXTENSION_NAME
#define TORCH_EXTENSION_NAME pkg_torch_extension
#endif

// A source that includes pybind11 itself gets what it asks for.
#ifndef PYBIND11_MODULE
namespace pybind11 {
/// The `m` of a block, which takes everything and keeps nothing.
class module_ {
 public:
  template <class... Given>
  module_& def(Given&&...) {
    return *this;
  }
};
}  // namespace pybind11
#define PYBIND11_MODULE(name, variable) PKG_TORCH_MODULE_(name, variable)
#define PKG_TORCH_MODULE_(name, variable)          \
  [[maybe_unused]] static void pkg_ignored_##name( \
      [[maybe_unused]] ::pybind11::module_& variable)
#endif
