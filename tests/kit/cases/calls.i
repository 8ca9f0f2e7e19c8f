// SPDX-License-Identifier: Apache-2.0
// tests/kit/cases/calls.i: calls.h by the kit.
%module calls
%include "swigkit.i"
%{
#include "calls.h"
%}
%value(calls::Box)
%value(calls::Circle)
%include "calls.h"
