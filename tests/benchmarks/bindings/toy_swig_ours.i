// SPDX-License-Identifier: Apache-2.0
// toy_swig_ours.i: toy.h by SWIG and the kit.
%module toy_swig_ours
%include "swigkit.i"
%{
#include "toy.h"
%}
%value(toy::Point)
%include "toy.h"
