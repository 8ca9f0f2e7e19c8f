// types.i: how plain C++ values cross the border.
%feature("kwargs");

%typemap(in) int64_t, int {
  const long long value = PyLong_AsLongLong($input);
  if (value == -1 && PyErr_Occurred()) SWIG_fail;
  $1 = ($1_ltype)value;
  if ((long long)$1 != value) {
    PyErr_Format(PyExc_OverflowError, "$symname(): argument '$1_name' is too big: %R",
                 $input);
    SWIG_fail;
  }
}
%typemap(in) double {
  $1 = PyFloat_CheckExact($input) ? PyFloat_AS_DOUBLE($input) : PyFloat_AsDouble($input);
  if ($1 == -1.0 && PyErr_Occurred()) SWIG_fail;
}
%typemap(in) bool {
  const int value = PyObject_IsTrue($input);
  if (value < 0) SWIG_fail;
  $1 = value != 0;
}
%typemap(in) const std::string & (std::string text) {
  Py_ssize_t size;
  const char *data = PyUnicode_AsUTF8AndSize($input, &size);
  if (!data) SWIG_fail;
  text.assign(data, size_t(size));
  $1 = &text;
}
%typemap(out) int64_t, int { $result = PyLong_FromLongLong($1); }
%typemap(out) double { $result = PyFloat_FromDouble($1); }
%typemap(out) bool { $result = PyBool_FromLong($1); }
%typemap(out) std::string {
  $result = PyUnicode_FromStringAndSize($1.data(), Py_ssize_t($1.size()));
}
