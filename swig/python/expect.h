// SPDX-License-Identifier: Apache-2.0
// swig/python/expect.h: the kit's text for a wrong argument as an exception of the core,
// for code below guarded().
#pragma once

#include "swigkit/argument.h"

#include "base/error.h"
#include "py_error.h"

namespace pkg::python {

using swigkit::Argument;  // not that of a schema

inline void expect(bool fits, const Argument& where, const char* expected, PyObject* got) {
  if (__builtin_expect(fits, 1)) return;
  detail::raise<TypeError>(
      wrong_argument(where.function, where.text(), expected, Py_TYPE(got)->tp_name));
}

}  // namespace pkg::python
