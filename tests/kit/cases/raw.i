// SPDX-License-Identifier: Apache-2.0
// tests/kit/cases/raw.i: raw.h by the kit.
%module raw
%include "swigkit.i"
%{
#include "raw.h"
%}
%output(const char **end)
%output(const raw::Item **item)
%output(const raw::Item *&item)
%output(raw::Item **made)
%output(raw::Item *&made)
%output(std::vector<int> &path)
%newobject raw::open;
%newobject raw::open_by_reference;
%include "raw.h"
