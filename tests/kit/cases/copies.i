// SPDX-License-Identifier: Apache-2.0
// tests/kit/cases/copies.i: copies.h by the kit.
%module(directors="1") copies
%include "swigkit.i"
%{
#include "copies.h"
%}
%shared(copies::Job)
%overridable(copies::Job)
%shared(copies::Knowing)
%overridable(copies::Knowing)
%shared(copies::Base)
%overridable(copies::Base)
%pickled(copies::Base, state, from)
%overridable(copies::Single)
%pickled(copies::Single, state, from)
%overridable(copies::Fixed)
%pickled(copies::Fixed, state, from)
%overridable(copies::Virtual)
%copyable(copies::Virtual)
%overridable(copies::Plain)
%copyable(copies::Plain)
%overridable(copies::Cell<int>)
%copyable(copies::Cell<int>)
%shared(copies::Part)
%shared(copies::Whole)
%overridable(copies::Bag)
%pickled(copies::Bag, state, from)
%value(copies::Stated)
%pickled(copies::Stated, __getstate__, __setstate__)
%dynamic(copies::Dynamic)
%copyable(copies::Dynamic)
%overridable(copies::Open)
%overridable(copies::Closed)
%overridable(copies::Both)
%overridable(copies::One)
%overridable(copies::Reader)
%output(int dims[3])
%output(std::string &label)
%value(copies::Point)
%pickled(copies::Point, state, from)
%value(copies::op::Money)
%value(copies::lib::Amount)
%include "copies.h"
%extend copies::Words {
%template(as_int) as<int>;
%template(as_double) as<double>;
%template(is_int) is<int>;
%template(from_int) from<int>;
%template(from_double) from<double>;
}
%template(CellInt) copies::Cell<int>;
%template(__mul__) copies::lib::operator*<int>;
