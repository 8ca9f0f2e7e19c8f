// SPDX-License-Identifier: Apache-2.0
// toy_ours.i: toy.h by SWIG as pkg uses it: the package's own options, typemaps
// (swig/types.i), repaired classes (swig/classes.i), exception handling (swig/errors.i)
// and METH_FASTCALL.
%module toy_swig_ours

%include "errors.i"
%include "types.i"
%include "classes.i"

// Slots take no keywords, and SWIG's output would not compile.
%feature("kwargs", "0") operator+;
%feature("kwargs", "0") operator==;

%{
#include "python/containers.h"
#include "python/function.h"
#include "tensor/storage.h"
#include "toy.h"

// The table of errors asks which call failed in the background; here, none does.
std::string pkg::take_async_origin() { return {}; }
%}

PKG_VALUE(std::vector<double>)
PKG_VALUE(std::function<double(double)>)

%include "toy.h"

PKG_REPAIR_CLASSES
