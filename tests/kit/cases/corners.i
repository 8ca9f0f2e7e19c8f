// SPDX-License-Identifier: Apache-2.0
// tests/kit/cases/corners.i: corners.h by the kit.
%module(directors="1") corners
%include "swigkit.i"
%{
#include "corners_names.h"
%}
%newobject corners::made_text;
%exceptions(corners::Texted, "Texted", PyExc_ValueError)
%keeps_alive(corners::Giver::Giver, 1, 2)
%keeps_alive(corners::Link::Link, 1, 2)
%keeps_alive(corners::Chain::Chain, 1, 2)
%keeps_alive(corners::Keeper::Keeper, 1, 2)
%keeps_alive(corners::Keeper::Keeper, 1, 3)
%keeps_alive(corners::Keeper::add, 1, 2)
%keeps_alive(corners::Keeper::add, 1, 3)
%output(int &size)
%keeps_alive(corners::Keeper::out, 1, 2)
%implicit(corners::Lazy)
%buffer(corners::Short, data, size)
%overridable(corners::Hooked)
%overridable(corners::Derived)
%overridable(corners::Deeper)
%overridable(corners::Template<int>)
%overridable(corners::Giver)
%extend corners::Matrix {
  Matrix operator*(const Matrix &other) const { return {$self->v * other.v}; }
  Matrix __matmul__(const Matrix &other) const { return {-1}; }
  Matrix &__imatmul__(const Matrix &other) {
    $self->v += 10 * other.v;
    return *$self;
  }
  Matrix __pow__(int exponent) const { return {-1}; }
  Matrix &__ipow__(int exponent) {
    $self->v += 100 * exponent;
    return *$self;
  }
  static int __hidden() { return 5; }
}
%constant int (*TWICE)(int) = corners::twice;
%include "corners.h"
%template(IntPair) corners::Pair<int>;
%template(IntWider) corners::Wider<int>;
%template(MadeLong) corners::Made<long long>;
%template(BoxReference) corners::Boxed<int&>;
%template(BoxPointer) corners::Boxed<int*>;
%template(IntTemplate) corners::Template<int>;
%include "corners_names.h"
