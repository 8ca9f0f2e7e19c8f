// SPDX-License-Identifier: Apache-2.0
// tensorflow/core/lib/gtl/array_slice.h: see pkg_tensorflow.h.
#pragma once

#include "compat/tf1/pkg_tensorflow.h"

namespace tensorflow::gtl {
template <class T>
using ArraySlice = std::span<const T>;
template <class T>
using MutableArraySlice = std::span<T>;
}  // namespace tensorflow::gtl
