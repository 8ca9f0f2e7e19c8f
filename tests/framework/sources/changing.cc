// SPDX-License-Identifier: Apache-2.0
// A library that can be loaded again and again in copies with other contents: with -DOWN_NAME
// each has an op of its own, else all have the same op, so that only the first registers.
#include <string>

#include "dispatcher/library.h"

static const char marker = 0;

PKG_LIBRARY_FRAGMENT(changing, m) {
  std::string name = "same";
#ifdef OWN_NAME
  name += std::to_string(reinterpret_cast<uintptr_t>(&marker));
#endif
  m.def(name + "(Tensor self) -> Tensor").composite([](const pkg::Tensor& x) { return x; });
}
