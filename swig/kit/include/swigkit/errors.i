// swigkit/errors.i: what stands around every wrapped call: C++ exceptions become Python's.
%{
#include "swigkit/error.h"
%}

%define SWIGKIT_CALL(before, function...)
%exception function {
  try {
    before
    $action
  } catch (...) {
    swigkit::translate();
    SWIG_fail;
  }
}
%enddef

// Without more words a call keeps the GIL.
SWIGKIT_CALL()
// For a function that blocks or computes for long: other threads run meanwhile.  It costs
// 30 ns when nobody wants the GIL and a switch of threads (25 us) when somebody does.
%define %releases_gil(function...)
SWIGKIT_CALL(swigkit::GilRelease released;, function)
%enddef
%define %keeps_gil(function...)
SWIGKIT_CALL(, function)
%enddef

// %exceptions(C++ class, "PythonName", base): the base is a Python class, such as
// PyExc_ValueError, or the name of one that an earlier line made: "GeometryError".
%define %exceptions(Class, Name, Base)
%init %{
  if (!swigkit::add_exception<Class>(m, Name, Base)) return -1;
%}
%ignore Class;
%enddef
