// types.i: how plain C++ values cross the border.
%feature("kwargs");
%{
#include "python/argument.h"
%}

%typemap(in) int64_t, int, double, bool {
  if (!pkg::python::to_cpp($input, $1, {"$symname", "$1_name"})) SWIG_fail;
}
%typemap(in) const std::string & (std::string converted) {
  if (!pkg::python::to_cpp($input, converted, {"$symname", "$1_name"})) SWIG_fail;
  $1 = &converted;
}
%typemap(out) int64_t, int { $result = PyLong_FromLongLong($1); }
%typemap(out) double { $result = PyFloat_FromDouble($1); }
%typemap(out) bool { $result = PyBool_FromLong($1); }
%typemap(out) std::string {
  $result = PyUnicode_FromStringAndSize($1.data(), Py_ssize_t($1.size()));
}
