// SPDX-License-Identifier: Apache-2.0
// swig/python/py_sites.h: places in Python code as numbers, for the hooks.
#pragma once

#include <cstdint>
#include <string>

namespace pkg::python {

/// The innermost running line outside of the package; 0 without the GIL or a frame.
uint64_t mark_site();
/// "file:line" of such a number; takes the GIL.
std::string site_text(uint64_t site);

}  // namespace pkg::python
