// SPDX-License-Identifier: Apache-2.0
// tests/kit/cases/headers.i: headers.h by the kit.
%module(directors="1") headers
%include "swigkit.i"
%{
#include "headers.h"
%}
%overridable(headers::Base)
%overridable(headers::Derived)
%ignore headers::Opener;
%ignore headers::the_int;
%ignore headers::the_text;
%include "headers.h"
