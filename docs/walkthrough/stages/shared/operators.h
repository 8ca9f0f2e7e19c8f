// SPDX-License-Identifier: Apache-2.0
// shared/operators.h: the operators of a Scalar, with numbers on either side.  Declared in
// the class, beside it and in its source, once each.
//
// No #include: SWIG reads this file as well.
#pragma once

#define STAGES_EACH_OPERATOR(each, Type)                                      \
  each(Type, +, add) each(Type, -, sub) each(Type, *, mul) each(Type, /, div) \
      each(Type, %, mod)

#define STAGES_MEMBER(Type, sign, op)          \
  Type operator sign(const Type& other) const; \
  Type operator sign(double other) const;
#define STAGES_REFLECTED(Type, sign, op) Type operator sign(double left, const Type& right);

#define STAGES_DEFINED(Type, sign, op)                                                  \
  Type Type::operator sign(const Type& other) const { return apply(op, *this, other); } \
  Type Type::operator sign(double other) const { return apply(op, *this, other); }      \
  Type operator sign(double left, const Type& right) {                                  \
    return Type::apply(op, left, right);                                                \
  }
