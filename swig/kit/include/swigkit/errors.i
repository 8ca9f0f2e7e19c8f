// swigkit/errors.i: what stands around every wrapped call: C++ exceptions become Python's.
%{
#include "swigkit/error.h"
%}

%define SWIGKIT_CALL(before_, function_...)
%exception function_ {
  try {
    before_
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
%define %releases_gil(function_...)
SWIGKIT_CALL(swigkit::GilRelease released;, function_)
%enddef
%define %keeps_gil(function_...)
SWIGKIT_CALL(, function_)
%enddef

// What %catches names is raised as everything else is.
%typemap(throws) SWIGTYPE, SWIGTYPE &, SWIGTYPE *, SWIGTYPE [ANY], enum SWIGTYPE %{
  (void)_e;
  swigkit::translate();
  SWIG_fail;
%}

// %exceptions(C++ class, "PythonName", base): the base is a Python class, such as
// PyExc_ValueError, or the name of one that an earlier line made: "GeometryError".
%define %exceptions(Class_, Name_, Base_)
%init %{
  if (!swigkit::add_exception<Class_>(m, Name_, Base_)) return -1;
%}
%warnfilter(401,526,329) Class_;
%ignore Class_;
%enddef
// A class that Python has already: PyExc_TimeoutError, or "asyncio.CancelledError".
%define %raised_as(Class_, Python_)
%init %{
  if (!swigkit::use_exception<Class_>(m, Python_)) return -1;
%}
%ignore Class_;
%enddef
