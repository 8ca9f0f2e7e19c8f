// SPDX-License-Identifier: Apache-2.0
// tests/kit/cases/ranges.i: ranges.h by the kit.
%module(directors="1") ranges
%include "swigkit.i"
%{
#include "ranges.h"
%}
%overridable(ranges::Reader)
%implicit(ranges::Price)
%value(ranges::Child)
%copyable(ranges::Child)
%optional(const char *maybe)
%releases_gil(ranges::Pool::~Pool)
%extend ranges::Words {
  std::vector<std::string> __iter__() const { return $self->words; }
  std::string __getattr__(const std::string &name) const {
    if (name == "missing") throw std::out_of_range(name);
    return "no " + name;
  }
}
%ignore ranges::three;
%ignore ranges::kText;
%include "ranges.h"
