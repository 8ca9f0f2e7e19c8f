// SPDX-License-Identifier: Apache-2.0
// tests/kit/cases/aliases.i: aliases.h by the kit.
%module(directors="1") aliases
%include "swigkit.i"
%{
#include "aliases.h"
%}
%shared(aliases::Expression)
%overridable(aliases::Line)
%include "aliases.h"
%inline %{
inline const char *said_of_line() { return "aliases::Line::real is private"; }
%}
%template(IntBox) aliases::Box<int>;
%template(PairBox) aliases::Box<std::pair<int, double>>;
%template(Vector3) Vector<double, 3>;
