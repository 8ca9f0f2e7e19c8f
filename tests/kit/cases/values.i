// SPDX-License-Identifier: Apache-2.0
// tests/kit/cases/values.i: values.h by the kit.
%module values
%include "swigkit.i"
%{
#include "values.h"
%}
%include "values.h"
