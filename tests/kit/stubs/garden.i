// SPDX-License-Identifier: Apache-2.0
%module(directors="1") garden
%include "swigkit.i"
%{
#include "garden.h"
%}
%value(garden::Point)
%shared(garden::Tree)
%borrowed(garden::Bed)
%intrusive(garden::Bulb, garden::Held<garden::Bulb>)
%ignore garden::Held;
%exceptions(garden::Error, "GardenError", PyExc_ValueError)
%exceptions(garden::Drought, "DroughtError", "GardenError")
%overridable(garden::Visitor)
%flags(garden::Mode)
%newobject garden::copied;
%property(garden::Plant, bool, tall, get_tall)
%property(garden::Plant, double, size, get_size, set_size)
%ignore garden::Plant::get_tall;
%ignore garden::Plant::get_size;
%ignore garden::Plant::set_size;
%extend garden::Bed {
  size_t __len__() const { return $self->size(); }
  garden::Plant &__getitem__(int place) { return $self->at(place); }
}
%rename("int") garden::Shelf::int_;
%without_names
%include "pot.h"
%with_names
%rename(_hidden) garden::hidden;
%error_name(garden::hidden, "shown")
%include "garden.h"
%template(IntBox) garden::Box<int>;
%template(TextBox) garden::Box<std::string>;
