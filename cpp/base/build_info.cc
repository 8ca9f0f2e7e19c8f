// SPDX-License-Identifier: Apache-2.0
// base/build_info.cc: facts that the build passes in as macros.
#include "base/build_info.h"

#ifndef PKG_VERSION_STRING
#define PKG_VERSION_STRING "unknown"
#define PKG_BUILD_FLAGS "unknown"
#endif

namespace pkg {

std::string version() { return PKG_VERSION_STRING; }
std::string compiler_version() { return "g++ " __VERSION__; }
std::string build_flags() { return PKG_BUILD_FLAGS; }
int cxx11_abi() {
#ifdef _GLIBCXX_USE_CXX11_ABI
  return _GLIBCXX_USE_CXX11_ABI;
#else
  return 0;
#endif
}

}  // namespace pkg
