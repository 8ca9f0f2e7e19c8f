// SPDX-License-Identifier: Apache-2.0
// tests/kit/cases/sharing.i: sharing.h by the kit.
%module(directors="1") sharing
%include "swigkit.i"
%{
#include "sharing.h"
%}
%overridable(sharing::Observer)
%overridable(sharing::Node)
%overridable(sharing::Both)
%shared(sharing::Wheels)
%shared(sharing::Engine)
%overridable(sharing::Task)
%intrusive(sharing::Task, sharing::Hold<sharing::Task>)
%ignore sharing::Hold;
%ignore sharing::Task::hold;
%ignore sharing::Task::drop;
%releases_gil(sharing::Subject::forget)
%ignore sharing::Counted;
%ignore sharing::the_node;
%ignore sharing::the_engine;
%include "sharing.h"
