// SPDX-License-Identifier: Apache-2.0
// swigkit.i: contents page of the kit.  An interface %includes it first; what it then may
// say of its functions and classes is in docs/wrap_your_library.md.
// What SWIG does not read.
#define alignas(...)
#define __attribute__(...)
#define consteval constexpr
#define constinit
#define __declspec(...)
#define __extension__
#define __inline inline
#define __inline__ inline
#define __restrict
#define __restrict__
#ifdef SWIGKIT_NESTED
%include "swigkit_nested.i"
#endif
%include "swigkit/errors.i"
%include "swigkit/values.i"
%include "swigkit/classes.i"
%include "swigkit/directors.i"
%include "swigkit/module.i"

%{
#include "swigkit/module_errors.h"
%}
