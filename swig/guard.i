// guard.i: one interpreter, one import.  The types are process-wide; a second interpreter
// would overwrite them and corrupt the first.
%{
#include "python/py_module.h"
%}
%init %{
  static PyInterpreterState *pkg_owner = nullptr;
  if (pkg_owner) {
    PyErr_SetString(PyExc_ImportError,
                    "pkg._pywrap_core can be loaded once in a process: it was imported "
                    "again, or by a second interpreter.");
    return -1;
  }
  pkg_owner = PyInterpreterState_Get();
%}
