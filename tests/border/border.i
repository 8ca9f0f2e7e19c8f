// SPDX-License-Identifier: Apache-2.0
// tests/border/border.i: border.h by SWIG, with the kit.
%module border
%include "swigkit.i"
%{
#include "border.h"
%}
// Threads that wait for the GIL must get it while the caller waits for them.
%releases_gil(border::sum_on_threads)
%releases_gil(border::forget)
%optional(const border::Account *maybe)
%shared(border::Node)
%ignore border::g_listener;
%ignore border::Account::alive;
%ignore border::Node::alive;
%include "border.h"
