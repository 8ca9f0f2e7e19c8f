// SPDX-License-Identifier: Apache-2.0
// swig/python/py_hooks.h: what the scheduler asks of Python: the GIL, Ctrl-C, call sites.
#pragma once

namespace pkg::python {

/// Installs the scheduler's hooks; called once at import.
void init_hooks();

}  // namespace pkg::python
