// SPDX-License-Identifier: Apache-2.0
// tests/kit/cases/lent.i: lent.h by the kit.
%module(directors="1") lent
%include "swigkit.i"
%{
#include "lent.h"
%}
%ignore lent::Deleter;
%value(lent::Small)
%dynamic(lent::Open)
%buffer(lent::Box, data, size)
%overridable(lent::Guest)
%shared(lent::Money)
%apply SWIGTYPE *DISOWN { lent::Box *box };
%include "lent.h"
