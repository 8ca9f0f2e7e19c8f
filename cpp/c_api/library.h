// SPDX-License-Identifier: Apache-2.0
// c_api/library.h: loading a shared library of ops, whether written in C++ or in C.  Called
// by pkg_load_library() and by the bindings.
#pragma once

#include <string>
#include <vector>

namespace pkg::c {

/// Opens the library: its PKG_LIBRARY blocks are run, and its pkg_library_init() is called
/// if it has one.  Once; after a failure each later attempt throws the first error.  Returns
/// its identity, a text that libraries with the same contents have in common.
std::string load_library(const std::string& path);

/// The ops that the library of this identity declared, "mine::squash", in alphabetical order;
/// LookupError where none has it.
std::vector<std::string> library_ops(const std::string& identity);

}  // namespace pkg::c
