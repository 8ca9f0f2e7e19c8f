// SPDX-License-Identifier: Apache-2.0
// tests/kit/cases/passing.i: passing.h by the kit.
%module(directors="1") passing
%include "swigkit.i"
%{
#include "passing.h"
%}
%overridable(passing::Observer)
%overridable(passing::Plugin)
%overridable(passing::Converting)
%implicit(passing::Text)
%implicit(passing::Numbers)
%shared(passing::Engine)
%shared(passing::Car)
%intrusive(passing::Counted, passing::Ref<passing::Counted>)
%intrusive(passing::Mesh, passing::Ref<passing::Mesh>)
%intrusive(passing::Shape, passing::Ref<passing::Shape>)
%overridable(passing::Shape)
%releases_gil(passing::texts_on_threads)
%releases_gil(passing::converted_on_a_thread)
// Only pointers count.
%ignore passing::Counted::add;
%ignore passing::Counted::release;
%ignore passing::AtExit;
%ignore passing::g_at_exit;
%include "passing.h"
