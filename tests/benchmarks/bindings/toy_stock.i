// SPDX-License-Identifier: Apache-2.0
// toy_stock.i: toy.h by SWIG as its manual shows: the library's typemaps and templates,
// a director for the callback.  Built with SWIG's default options, and with -builtin.
%module(directors="1") toy_stock

%include "std_string.i"
%include "std_vector.i"
%include "exception.i"
%template(DoubleVector) std::vector<double>;

%exception {
  try {
    $action
  } catch (Swig::DirectorException &) {
    SWIG_fail;
  }
  SWIG_CATCH_STDEXCEPT
}
%feature("director:except") {
  if ($error != NULL) throw Swig::DirectorMethodException();
}

%{
#include "toy.h"
%}

// A Python function cannot be passed as std::function: a class is derived in Python.
%feature("director") Callback;
%ignore toy::apply;
%inline %{
struct Callback {
  virtual ~Callback() {}
  virtual double run(double x) = 0;
};
/// `f.run(x)`.
inline double apply(Callback &f, double x) {
  return toy::apply([&f](double value) { return f.run(value); }, x);
}
%}

%include "toy.h"
