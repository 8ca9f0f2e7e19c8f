// SPDX-License-Identifier: Apache-2.0
// tests/kit/cases/lifetime.i: lifetime.h by the kit.
%module lifetime
%include "swigkit.i"
%{
#include "lifetime.h"
%}
%value(lifetime::Item)
%value(lifetime::World)
%value(lifetime::View)
%shared(lifetime::Node)
%borrowed(lifetime::Registry)
%keeps_alive(lifetime::World::watch, 1, 2)
%keeps_alive(lifetime::View::View, 1, 2)
%newobject lifetime::new_item;
%newobject lifetime::Stock::take;
%newobject lifetime::Hidden::fresh;
%newobject lifetime::give_rated;
%intrusive(lifetime::Rated, lifetime::Share<lifetime::Rated>)
%ignore lifetime::Share;
%ignore lifetime::rated;
%ignore lifetime::kept_rated;
%apply SWIGTYPE *DISOWN { lifetime::Part *part };
%rename(pass_) lifetime::pass;
%include "lifetime.h"
