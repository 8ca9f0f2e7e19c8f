// types.i: how C++ values cross the border.  Plain ones are here; an interface adds
// others with PKG_VALUE, after including python/containers.h or python/function.h, and
// enums with PKG_ENUM.
%feature("kwargs");
%{
#include "python/convert.h"
%}

// SWIG's slot for the object of the global variables (`cvar`) answers an error with 1.
// CPython asks for -1, and from 3.13 on raises SystemError on anything else.
%init %{
  SwigVarLink_Type()->tp_setattr = [](PyObject *self, char *name, PyObject *value) {
    return SwigVarLink_setattr(self, name, value) ? -1 : 0;
  };
%}

// Typemaps of one type: argument, result, global variable.
%define PKG_VALUE(Type...)
%typemap(in) Type (Type converted) {
  if (!pkg::python::to_cpp($input, converted, {"$symname", "$1_name"})) SWIG_fail;
  $1 = std::move(converted);
}
%typemap(in) const Type & (Type converted) {
  if (!pkg::python::to_cpp($input, converted, {"$symname", "$1_name"})) SWIG_fail;
  $1 = &converted;
}
%typemap(out) Type { $result = pkg::python::to_python<Type >($1); }
%typemap(out) const Type & { $result = pkg::python::to_python<Type >(*$1); }
%typemap(varin) Type {
  if (!$input) {
    PyErr_SetString(PyExc_AttributeError, "[cvar] cannot delete '$symname'");
    SWIG_fail;
  }
  if (!pkg::python::to_cpp($input, $1, {"cvar", "$symname"})) SWIG_fail;
}
%typemap(varout) Type, const Type & { $result = pkg::python::to_python<Type >($1); }
%enddef

PKG_VALUE(std::string)
PKG_VALUE(int64_t)
PKG_VALUE(int)
PKG_VALUE(double)
PKG_VALUE(bool)
// These fit where they go: no copy in between.
%typemap(in) int64_t, int, double, bool {
  if (!pkg::python::to_cpp($input, $1, {"$symname", "$1_name"})) SWIG_fail;
}

// An enum as enum.IntEnum; the rest is {"NAME", value} of each member.
%define PKG_ENUM(Type, Name, Members...)
PKG_VALUE(Type)
%{
#include "python/enumeration.h"
%}
%init %{
  if (!pkg::python::add_enum<Type>(m, Name, {Members})) return -1;
%}
%enddef
