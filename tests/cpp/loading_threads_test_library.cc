// SPDX-License-Identifier: Apache-2.0
// tests/cpp/loading_threads_test_library.cc: what loading_threads_test.cc loads, in copies.
// Each has an op of its own, named by where the copy lies; of some the block then throws.
#include <stdexcept>

#include "dispatcher/library.h"

static const char marker = 0;

PKG_LIBRARY_FRAGMENT(loading_threads, m) {
  const auto place = reinterpret_cast<uintptr_t>(&marker);
  m.def("same" + std::to_string(place) + "(Tensor self) -> Tensor")
      .composite([](const pkg::Tensor& x) { return x; });
  if (place >> 12 & 1) throw std::runtime_error("the block threw");
}
