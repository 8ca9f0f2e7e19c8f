// swigkit/module.i: makes the classes and enums of the module; swig/kit/build/step.py writes
// the function at the end of SWIG's file.
// For a library that has one state in a process, and types with it: a second import is
// refused.
%define %once_in_a_process(Name_)
%{
#define SWIGKIT_ONCE Name_
%}
%enddef

%{
static int swigkit_make_classes(PyObject *module);
%}
%init %{
  // Types, names and what threads have are those of the process, as with pybind11.
  static bool ended = false;
  static const bool noted = Py_AtExit([] { ended = true; }) == 0;
  if (PyInterpreterState_Get() != PyInterpreterState_Main() || (noted && ended)) {
    PyErr_Format(PyExc_ImportError, "[%s] expected the %s interpreter: the module can be "
                 "loaded by that one alone", SWIG_name, ended ? "first" : "main");
    return -1;
  }
#ifdef SWIGKIT_ONCE
  if (!swigkit::is_first_import(SWIGKIT_ONCE)) return -1;
#endif
  // CPython asks a setter for -1 on an error, and from 3.13 on raises SystemError on
  // anything else; SWIG's object of the global variables (`cvar`) answers 1.
  SwigVarLink_Type()->tp_setattr = [](PyObject *self, char *name, PyObject *value) {
    if (!value) {
      PyErr_Format(PyExc_AttributeError, "[cvar] cannot delete '%s'", name);
      return -1;
    }
    return SwigVarLink_setattr(self, name, value) ? -1 : 0;
  };
  if (swigkit_make_classes(m) < 0) return -1;
%}
