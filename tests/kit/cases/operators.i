// SPDX-License-Identifier: Apache-2.0
// tests/kit/cases/operators.i: operators.h by the kit.
%module operators
%include "swigkit.i"
%{
#include "operators.h"
%}
%value(operators::Vec)
%value(operators::Bits)
%value(operators::Version)
%value(operators::Linear)
%value(operators::Row)
%value(operators::Table)
%value(operators::Shelf)
%value(operators::Countdown)
%value(operators::Door)
%hash(operators::Version, operators::hash_of)
%exceptions(operators::Done, "Done", PyExc_StopIteration)
%include "operators.h"
%template(IntPair) operators::Pair<int>;

%extend operators::Label {
  operators::Label __pow__(int n) const { return $self->pow(n); }
}

%extend operators::Version {
  std::string __str__() const { return $self->text(); }
}
%extend operators::Row {
  int __getitem__(int64_t i) const { return $self->at(i); }
  void __setitem__(int64_t i, int value) { $self->set(i, value); }
  size_t __len__() const { return $self->size(); }
  bool __contains__(int value) const { return $self->holds(value); }
  std::string __repr__() const { return $self->text(); }
}
%extend operators::Table {
  double __getitem__(const std::string& name) const { return $self->get(name); }
  void __setitem__(const std::string& name, double value) { (*$self)[name] = value; }
  void __delitem__(const std::string& name) { $self->erase(name); }
  size_t __len__() const { return $self->size(); }
}
%extend operators::Countdown {
  operators::Countdown& __iter__() { return *$self; }
  int __next__() { return $self->next(); }
}
%extend operators::Door {
  operators::Door& __enter__() {
    $self->enter();
    return *$self;
  }
  void __exit__(PyObject* type, PyObject* value, PyObject* traceback) { $self->leave(); }
}
