// SPDX-License-Identifier: Apache-2.0
// tests/kit/cases/interface.i: interface.h by the kit.
%module(directors="1", allprotected="1",
        docstring="What an interface says (in a line).\nAnd \"more\".") interface
%include "swigkit.i"
%{
#include "interface.h"
%}
%overridable(interface::Rank)
%output(std::string &name)
%output(int &quotient)
%output(int *remainder)
%output(interface::Item &center)
%output(std::unique_ptr<interface::Item> &found)
%output(double &value)
%in_out(std::vector<int> &numbers)
%in_out(int triple[3])
%overridable(interface::Meter)
%overridable(interface::Guarded)
%newobject interface::new_load;
%apply SWIGTYPE *DISOWN { interface::Load *load };
%feature("docstring", "What was thrown.") interface::declared;
%feature("docstring") interface::Chooser::add "Adds.";
%catches(std::string, const char *, int, ...) interface::declared;
%raised_as(interface::Slow, PyExc_TimeoutError)
%raised_as(interface::Stopped, "asyncio.CancelledError")
%class_attribute(interface::Item, version, 3)
%class_attribute(interface::Item, label, "a, b")
%class_attribute(interface::Item, __array_ufunc__, swigkit::new_ref(Py_None))
%include "interface.h"
