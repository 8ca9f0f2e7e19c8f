// SPDX-License-Identifier: Apache-2.0
// tests/kit/cases/templates.i: templates.h by the kit.
%module(directors="1") templates
%include "swigkit.i"
%{
#include "templates.h"
%}
%overridable(templates::Half)
%overridable(templates::Thrower)
%overridable(templates::Recipe)
%include "templates.h"
%template(DoubleShape) templates::Shape<double>;
%template(IntShape) templates::Shape<int>;
%template(CountedThing) templates::Counted<templates::Thing>;
%template(CountedOther) templates::Counted<templates::Other>;
%template(NamedBase) templates::Named<templates::Thing>;
%template(Holder) templates::Holder<int, std::vector>;
%template(IntTrait) templates::Trait<int>;
%template(FloatTrait) templates::Trait<double>;
%template(PointerTrait) templates::Trait<double *>;
%template(Pack) templates::Pack<int, double>;
%template(count_of) templates::count_of<int, double>;
%template(doubled) templates::doubled<int>;
%template(doubled) templates::doubled<double>;
%template(negated) templates::negated<int>;
%template(Outer) templates::Outer<int>;
%template(FloatOuter) templates::Outer<double>;
