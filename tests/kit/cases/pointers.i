// SPDX-License-Identifier: Apache-2.0
// tests/kit/cases/pointers.i: pointers.h by the kit.
%module(directors="1") pointers
%include "swigkit.i"
%{
#include "pointers.h"
%}
%intrusive(Counted, Counting<Counted>)
%ignore Counting;
%ignore retain;
%ignore release;
%ignore pointers::g_shelf;
%keeps_alive(pointers::Handle::Handle, 1, 2)
%overridable(pointers::Plant)
%newobject pointers::Plant::offshoot;
%include "pointers.h"
%template(LampHandle) pointers::Handle<pointers::Lamp>;
