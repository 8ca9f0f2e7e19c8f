// SPDX-License-Identifier: Apache-2.0
// tests/kit/cases/pointers.i: pointers.h by the kit.
%module(directors="1") pointers
%include "swigkit.i"
%{
#include "pointers.h"
%}
%intrusive(Counted, Counting<Counted>)
%keeps_alive(Counted::lit_by, 1, 2)
%ignore Counting;
%ignore retain;
%ignore release;
%ignore pointers::g_shelf;
%keeps_alive(pointers::Handle::Handle, 1, 2)
%overridable(pointers::Plant)
%newobject pointers::Plant::offshoot;
%include "pointers.h"
%inline %{
// The values of one object or of several, and of those that keep them.
std::vector<int> values_of(const swigkit::Several<Counted> &given) {
  std::vector<int> values;
  for (const Counted *each : given.objects) values.push_back(each->value);
  return values;
}
%}
%template(LampHandle) pointers::Handle<pointers::Lamp>;
