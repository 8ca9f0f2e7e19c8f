// SPDX-License-Identifier: Apache-2.0
// overload_ops_sync.h: a number with operators, computed at once by the core's ops.
#pragma once

#include <string>

#include "shared/numbers.h"
#include "shared/operators.h"

namespace overload_ops_sync {

/// A float64 number.
class Scalar {
 public:
  explicit Scalar(double x);
  double get_v() const;
  void set_v(double value);
  std::string repr() const;

  STAGES_EACH_OPERATOR(STAGES_MEMBER, Scalar)
  Scalar operator-() const;
  bool operator==(const Scalar& other) const { return get_v() == other.get_v(); }
  bool operator!=(const Scalar& other) const { return get_v() != other.get_v(); }
  bool operator<(const Scalar& other) const { return get_v() < other.get_v(); }
  bool operator<=(const Scalar& other) const { return get_v() <= other.get_v(); }
  bool operator>(const Scalar& other) const { return get_v() > other.get_v(); }
  bool operator>=(const Scalar& other) const { return get_v() >= other.get_v(); }
  bool operator==(double other) const { return get_v() == other; }
  bool operator<(double other) const { return get_v() < other; }
  bool operator<=(double other) const { return get_v() <= other; }
  bool operator>(double other) const { return get_v() > other; }
  bool operator>=(double other) const { return get_v() >= other; }
  explicit operator double() const { return get_v(); }
  explicit operator bool() const { return get_v() != 0; }

#ifndef SWIG
  Scalar(const Scalar& other);
  Scalar(Scalar&& other) = default;
  template <class A, class B>
  static Scalar apply(stages::Operation op, const A& a, const B& b) {
    return Scalar(op(tensor(a), tensor(b)));
  }

 private:
  explicit Scalar(pkg::Tensor tensor) : tensor_(std::move(tensor)) {}
  static pkg::Tensor tensor(double x) { return stages::tensor_of(x); }
  static pkg::Tensor tensor(const Scalar& x) { return x.tensor_; }
  pkg::Tensor tensor_;
#endif
};
STAGES_EACH_OPERATOR(STAGES_REFLECTED, Scalar)

}  // namespace overload_ops_sync
