// SPDX-License-Identifier: Apache-2.0
// tests/kit/cases/containers.i: containers.h by the kit.
%module containers
%include "swigkit.i"
%{
#include "containers.h"
%}
%value(containers::Point)
%value(containers::Path)
%shared(containers::Node)
%include "containers.h"
