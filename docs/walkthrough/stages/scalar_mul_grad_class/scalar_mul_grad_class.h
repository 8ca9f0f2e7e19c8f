// SPDX-License-Identifier: Apache-2.0
// scalar_mul_grad_class.h: numbers that remember how they were made; the core's autograd
// computes their gradients.
#pragma once

#include <memory>
#include <string>
#include <vector>

#ifndef SWIG
#include "shared/numbers.h"
#endif

namespace scalar_mul_grad_class {

/// A derivative.
struct Grad {
  double val;
  explicit Grad(double val = 0.0) : val(val) {}
  bool operator==(const Grad& other) const { return val == other.val; }
  std::string repr() const;
};

class Scalar;

/// A parent of a Scalar and the local derivative with respect to it.
struct Edge {
  std::shared_ptr<Scalar> parent;
  Grad grad;
};

/// A number that remembers how it was made: a node of a graph, compared by identity.
class Scalar : public std::enable_shared_from_this<Scalar> {
 public:
  using Shared = std::shared_ptr<Scalar>;

  explicit Scalar(double value = 0.0);
  ~Scalar();

  double get_v() const;
  /// Writing it after use makes backward() raise: the graph kept it.
  void set_v(double value);
  /// The gradient that backward() accumulated.
  double get_grad() const;
  void set_grad(double value);
  /// To the Scalars that this one was made of.
  const std::vector<Edge>& get_edges();
  std::string repr() const;

  std::shared_ptr<Scalar> add(Scalar& other);
  std::shared_ptr<Scalar> sub(Scalar& other);
  std::shared_ptr<Scalar> mul(Scalar& other);
  std::shared_ptr<Scalar> div(Scalar& other);
  /// The sine; its derivative is the cosine.
  std::shared_ptr<Scalar> sin();

  /// Adds grad_out times the derivative to `grad` of this and all it was made of.  Calls
  /// accumulate; every node is visited once.
  void backward(double grad_out = 1.0);
  /// The derivative with respect to `x`, which can be differentiated again.
  std::shared_ptr<Scalar> derivative(Scalar& x);
  /// Sets `grad` of this and of all it was made of to 0.
  void zero_grad();

#ifndef SWIG
 private:
  friend std::shared_ptr<Scalar> constant(double value);
  Shared apply(stages::Operation op, Scalar* other);
  std::vector<Scalar*> all();

  pkg::Tensor tensor_;
  stages::Operation op_ = nullptr;
  std::vector<Shared> operands_;
  std::vector<Edge> edges_;  // as asked for last: SWIG takes a property by address
  double grad_ = 0.0;
#endif
};

/// A number beside Scalars: a leaf that collects no gradient.
std::shared_ptr<Scalar> constant(double value);

}  // namespace scalar_mul_grad_class
