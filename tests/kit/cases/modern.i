// SPDX-License-Identifier: Apache-2.0
// tests/kit/cases/modern.i: modern.h by the kit.
%module modern
%include "swigkit.i"
%{
#include "modern.h"
%}
%value(modern::left::Same)
%value(modern::right::Same)
%value(modern::Size)
%value(modern::Widget)
%value(modern::Outer)
%value(modern::Outer::Inner)
%shared(modern::Base)
%shared(modern::Derived)
%value(modern::Fixed<double, 3>)
%rename(RightSame) modern::right::Same;
%value(modern::Cell)
%value(modern::Secret)
%include "modern.h"
%extend modern::Cell {
  int __len__() { return $self->size(); }
}
%template(Fixed3) modern::Fixed<double, 3>;
%extend modern::Widget {
  %template(as_double) to<double>;
}
