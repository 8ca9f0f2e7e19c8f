// SPDX-License-Identifier: Apache-2.0
// tests/kit/cases/threads.i: threads.h by the kit.
%module(directors="1") threads
%include "swigkit.i"
%{
#include "threads.h"
%}
%shared(threads::Job)
%overridable(threads::Job)
%ignore threads::made;
%include "threads.h"
