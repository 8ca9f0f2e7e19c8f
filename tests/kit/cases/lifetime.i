// SPDX-License-Identifier: Apache-2.0
// tests/kit/cases/lifetime.i: lifetime.h by the kit.
%module lifetime
%include "swigkit.i"
%{
#include "lifetime.h"
%}
%{
// What has an `operator delete` of its own gets no memory of other objects.
namespace {
using Size = size_t;
using Aligned = std::align_val_t;
struct Plain { static void operator delete(void*) {} };
struct Sized { static void operator delete(void*, Size) {} };
struct Lined { static void operator delete(void*, Aligned) {} };
struct Both { static void operator delete(void*, Size, Aligned) {} };
struct Own { static void operator delete(Own*, std::destroying_delete_t) {} };
struct OwnSized { static void operator delete(OwnSized*, std::destroying_delete_t, Size) {} };
struct Inherits : Plain {};
struct Virtual { virtual ~Virtual() = default; };
template <class... T>
inline constexpr bool kNone = (!swigkit::kReusesMemory<T> && ...);
static_assert(kNone<Plain, Sized, Lined, Both, Own, OwnSized, Inherits, Virtual>);
static_assert(kNone<lifetime::Pooled>);
static_assert(swigkit::kReusesMemory<lifetime::Marked> == swigkit::kReuses);
}  // namespace
%}
%value(lifetime::Item)
%value(lifetime::World)
%value(lifetime::View)
%shared(lifetime::Node)
%borrowed(lifetime::Registry)
%releases_gil(lifetime::Marked::Marked(const std::string&, const std::string&))
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
