// SPDX-License-Identifier: Apache-2.0
// base/build_info.h: how this library was built; shown by `python -m pkg info`.
#pragma once

#include <string>

namespace pkg {

/// Version of the core.
std::string version();
/// The compiler and its version.
std::string compiler_version();
/// Compile flags of the core.
std::string build_flags();
/// Such as "address,undefined"; empty in an ordinary build.
std::string sanitizers();
/// The commit; empty when not built from a git checkout.
std::string git_version();
/// Value of _GLIBCXX_USE_CXX11_ABI, which C++ extensions must share.
int cxx11_abi();

}  // namespace pkg
