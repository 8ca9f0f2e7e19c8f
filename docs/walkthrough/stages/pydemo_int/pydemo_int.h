// SPDX-License-Identifier: Apache-2.0
// pydemo_int.h: the variant of two C ints.
#pragma once

namespace pydemo_int {

/// Adds two 32-bit integers; OverflowError beyond 32 bits.
int add(int a, int b);

}  // namespace pydemo_int
