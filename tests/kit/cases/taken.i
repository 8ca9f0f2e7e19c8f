// SPDX-License-Identifier: Apache-2.0
// tests/kit/cases/taken.i: taken.h by the kit.
%module(directors="1") taken
%include "swigkit.i"
%{
#include "taken.h"
%}
%collected(taken::Slot)
%collected(taken::Shelf)
%collected(taken::Shared)
%shared(taken::Shared)
%buffer(taken::Guest, data, size)
%overridable(taken::Guest)
%implicit(taken::Grid<taken::Side>)
%ignore traverse;
%ignore clear;
%ignore taken::Slot::object;
%ignore taken::shared;
%ignore taken::kept;
%ignore taken::marked;
%include "taken.h"
%template(Parts) taken::Grid<taken::Part>;
%template(Sides) taken::Grid<taken::Side>;
