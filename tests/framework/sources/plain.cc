// SPDX-License-Identifier: Apache-2.0
// Ops of a namespace; -DOTHER is another library with the same one, -DMORE one with others.
#include "dispatcher/library.h"

#ifdef MORE
#define NAMESPACE more_loading
#else
#define NAMESPACE loading
#endif

PKG_LIBRARY(NAMESPACE, m) {
  m.def("same(Tensor self) -> Tensor").composite([](const pkg::Tensor& x) {
    PKG_CHECK(x.ndim() > 0, IndexError, "[same] expected dimensions, got none.");
    return x;
  });
#ifndef OTHER
  m.def("pick(Tensor self, int times=1, *, str mode='a') -> Tensor")
      .doc("self, whatever else is given.")
      .composite([](const pkg::Tensor& x, int64_t, const std::string&) { return x; });
#endif
#ifdef THROWS
  throw std::runtime_error("the block threw");
#endif
}
