// SPDX-License-Identifier: Apache-2.0
// tests/kit/cases/constants.i: constants.h by the kit.
%module constants
%include "swigkit.i"
%{
#include "constants.h"
%}
%once_in_a_process("constants")
%value(constants::Lamp)
%flags(constants::Mode)
%include "constants.h"
%template(SizedDouble) constants::Sized<double>;
