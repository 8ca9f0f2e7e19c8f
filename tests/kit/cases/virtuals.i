// SPDX-License-Identifier: Apache-2.0
// tests/kit/cases/virtuals.i: virtuals.h by the kit.
%module(directors="1") virtuals
%include "swigkit.i"
%{
#include "virtuals.h"
%}
%value(virtuals::Point)
%value(virtuals::Named)
%value(virtuals::Labelled)
%value(virtuals::Flyer)
%value(virtuals::Swimmer)
%value(virtuals::Duck)
%value(virtuals::Visitor)
%value(virtuals::Doubler)
%value(virtuals::Party)
%ignore virtuals::Party::Farewell;
%ignore virtuals::Party::Nothing;
%shared(virtuals::Listener)
%shared(virtuals::Shape)
%shared(virtuals::Polygon)
%shared(virtuals::Square)
%overridable(virtuals::Visitor)
%overridable(virtuals::Doubler)
%overridable(virtuals::Listener)
%releases_gil(virtuals::visit_on_threads)
%releases_gil(virtuals::forget)
%releases_gil(virtuals::Party::end)
%ignore virtuals::Secret;
%ignore virtuals::listeners;
%include "virtuals.h"
