# SPDX-License-Identifier: Apache-2.0
"""Writes the C file of cffi's extension: ``toy_cffi_build.py toy_c.h _toy_cffi.c``."""

import sys
from pathlib import Path

from cffi import FFI

header, output = map(Path, sys.argv[1:])
ffi = FFI()
ffi.cdef(
    header.read_text()
    + 'extern "Python" int toy_call_python(void *context, double x, double *result);'
)
ffi.set_source("_toy_cffi", '#include <stddef.h>\n#include "toy_c.h"\n')
ffi.emit_c_code(str(output))
