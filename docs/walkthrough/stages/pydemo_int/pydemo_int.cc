// SPDX-License-Identifier: Apache-2.0
#include "pydemo_int.h"

#include <cstdint>
#include <stdexcept>
#include <string>

namespace pydemo_int {

int add(int a, int b) {
  int sum = 0;
  if (__builtin_add_overflow(a, b, &sum)) {
    throw std::overflow_error("[add] expected a 32-bit int, got " +
                              std::to_string(int64_t{a} + b) + " (result).");
  }
  return sum;
}

}  // namespace pydemo_int
