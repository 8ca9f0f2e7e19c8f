// errors.i: every wrapped call translates C++ exceptions by the one table in
// swig/python/py_error.cc.
%{
#include "python/py_error.h"
%}
%exception {
  try {
    $action
  } catch (...) {
    pkg::python::translate();
    SWIG_fail;
  }
}
