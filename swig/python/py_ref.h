// SPDX-License-Identifier: Apache-2.0
// swig/python/py_ref.h: objects of the core that count their shares, as Python's (%intrusive).
#pragma once

#include "base/intrusive.h"
#include "swigkit/pointers.h"

template <class T>
inline constexpr bool swigkit::kCounts<pkg::Ref<T>> = true;

/// A Ref of a plain pointer says whether it counts.
template <class T>
struct swigkit::Counted<pkg::Ref<T>> {
  static pkg::Ref<T> first(T* made) { return pkg::Ref<T>::adopt(made); }
  static pkg::Ref<T> another(T* object) { return pkg::Ref<T>::share(object); }
  static long count(const T* object) { return long(object->use_count()); }
};
