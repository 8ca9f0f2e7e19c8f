// SPDX-License-Identifier: Apache-2.0
// base/build_info.cc: facts that the build passes in as macros, to this file alone, so
// that a new version recompiles one file (swig/build/products.py).
#include "base/build_info.h"

#ifndef PKG_VERSION_STRING
#define PKG_VERSION_STRING "unknown"
#define PKG_BUILD_FLAGS "unknown"
#endif
#ifndef PKG_BUILD_SANITIZERS
#define PKG_BUILD_SANITIZERS ""
#define PKG_BUILD_GIT_VERSION ""
#endif

namespace pkg {

std::string version() { return PKG_VERSION_STRING; }
std::string compiler_version() { return "g++ " __VERSION__; }
std::string build_flags() { return PKG_BUILD_FLAGS; }
std::string sanitizers() { return PKG_BUILD_SANITIZERS; }
std::string git_version() { return PKG_BUILD_GIT_VERSION; }
int cxx11_abi() {
#ifdef _GLIBCXX_USE_CXX11_ABI
  return _GLIBCXX_USE_CXX11_ABI;
#else
  return 0;
#endif
}

}  // namespace pkg
