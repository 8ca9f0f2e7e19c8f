// SPDX-License-Identifier: Apache-2.0
// tests/cpp/loading_threads_test_library.cc: what loading_threads_test.cc loads, in copies.
// Each has an op of its own, named by where the copy lies; of some the block then throws.
// Who loads it by the C surface gets another one, of pkg_library_init().
#include <stdexcept>

#include "c_api/c_api.h"
#include "dispatcher/library.h"

static const char marker = 0;
static const auto place = reinterpret_cast<uintptr_t>(&marker);

static void nothing(void*, const pkg_value*, int32_t, pkg_tensor* const*, int32_t,
                    pkg_status*) {}

extern "C" bool pkg_library_init(pkg_status* status) {
  const std::string schema = "same" + std::to_string(place) + "(Tensor self) -> Tensor";
  pkg_op_definition definition = {};
  definition.schema = schema.c_str();
  definition.compute = nothing;
  definition.dtypes = "any";
  return pkg_register_op("loading_threads_in_c", &definition, status) != nullptr;
}

PKG_LIBRARY_FRAGMENT(loading_threads, m) {
  m.def("same" + std::to_string(place) + "(Tensor self) -> Tensor")
      .composite([](const pkg::Tensor& x) { return x; });
  if (place >> 12 & 1) throw std::runtime_error("the block threw");
}
