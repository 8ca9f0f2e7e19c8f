// SPDX-License-Identifier: Apache-2.0
// swig/python/symbol.h: one exported name of the module and what stands behind it.  The
// linker collects the entries of all files into one table, which pkg.symbols() reads
// (py_symbols.cc): SWIG's functions enter it in swig/errors.i, the hand-written ones in
// py_symbols.cc.
#pragma once

namespace pkg::python {

struct Symbol {
  const char* name;       // in Python
  const char* signature;  // in C++
  const char* gil;        // "kept", "waits" (given up while it waits) or "released"
  const char* result;     // "value", "shared" (with C++), "memory" (of the argument)
};

/// An entry; `variable` is a name that is free where the macro stands.
#define PKG_SYMBOL(variable, ...)                                                   \
  [[gnu::used,                                                                      \
    gnu::section("pkg_symbols")]] static constexpr pkg::python::Symbol variable = { \
      __VA_ARGS__}

}  // namespace pkg::python
