// SPDX-License-Identifier: Apache-2.0
#include "scalar_mul_grad_class.h"

#include <mutex>
#include <unordered_set>
#include <utility>

#include "autograd/engine.h"

namespace scalar_mul_grad_class {

using namespace stages;

namespace {

std::mutex& accumulating() {
  static auto* mutex = new std::mutex;
  return *mutex;
}

Tensor leaf_of(double value) {
  Tensor tensor = tensor_of(value);
  pkg::set_requires_grad(tensor, true);
  return tensor;
}

}  // namespace

std::string Grad::repr() const { return "Grad(" + text_of(val) + ")"; }

Scalar::Scalar(double value) : tensor_(leaf_of(value)) {}

// The graph may be deep: what only this node keeps dies in a loop, not in a recursion.
Scalar::~Scalar() {
  edges_.clear();
  std::vector<Shared> dying = std::move(operands_);
  while (!dying.empty()) {
    const Shared last = std::move(dying.back());
    dying.pop_back();
    if (last.use_count() != 1) continue;
    last->edges_.clear();
    for (Shared& operand : last->operands_) dying.push_back(std::move(operand));
    last->operands_.clear();
  }
}

double Scalar::get_v() const { return value_of(tensor_); }
void Scalar::set_v(double value) {
  *tensor_.data<double>() = value;
  tensor_.bump_version();
}
double Scalar::get_grad() const {
  std::lock_guard guard(accumulating());
  return grad_;
}
void Scalar::set_grad(double value) {
  std::lock_guard guard(accumulating());
  grad_ = value;
}
std::string Scalar::repr() const {
  return "Scalar(v=" + text_of(get_v()) + ", grad=" + text_of(get_grad()) + ")";
}

Scalar::Shared Scalar::add(Scalar& other) { return apply(stages::add, &other); }
Scalar::Shared Scalar::sub(Scalar& other) { return apply(stages::sub, &other); }
Scalar::Shared Scalar::mul(Scalar& other) { return apply(stages::mul, &other); }
Scalar::Shared Scalar::div(Scalar& other) { return apply(stages::div, &other); }
Scalar::Shared Scalar::sin() { return apply(stages::sin, nullptr); }

Scalar::Shared Scalar::apply(Operation op, Scalar* other) {
  auto result = std::make_shared<Scalar>();
  result->tensor_ = op(tensor_, other ? other->tensor_ : Tensor());
  if (!result->tensor_.requires_grad()) return result;
  result->op_ = op;
  result->operands_.push_back(shared_from_this());
  if (other) result->operands_.push_back(other->shared_from_this());
  return result;
}

const std::vector<Edge>& Scalar::get_edges() {
  edges_.clear();
  if (operands_.empty()) return edges_;
  // Each operand becomes a leaf of its own, so that a * a has two local gradients.
  pkg::TensorList leaves;
  std::vector<Shared> parents;
  Tensor given[2];
  for (size_t i = 0; i < operands_.size(); ++i) {
    const bool recorded = operands_[i]->tensor_.requires_grad();
    given[i] = recorded ? leaf_of(operands_[i]->get_v()) : operands_[i]->tensor_;
    if (!recorded) continue;
    leaves.push_back(given[i]);
    parents.push_back(operands_[i]);
  }
  const auto grads = pkg::grad({op_(given[0], given[1])}, leaves, {});
  for (size_t i = 0; i < parents.size(); ++i) {
    edges_.push_back({parents[i], Grad(value_of(grads[i]))});
  }
  return edges_;
}

// This and all it was made of, once each; numbers are left out.
std::vector<Scalar*> Scalar::all() {
  std::vector<Scalar*> nodes{this};
  std::unordered_set<Scalar*> seen{this};
  for (size_t i = 0; i < nodes.size(); ++i) {
    for (const Shared& operand : nodes[i]->operands_) {
      if (!operand->tensor_.requires_grad()) continue;
      if (seen.insert(operand.get()).second) nodes.push_back(operand.get());
    }
  }
  return nodes;
}

void Scalar::backward(double grad_out) {
  const auto nodes = all();
  pkg::TensorList inputs;
  for (const Scalar* node : nodes) inputs.push_back(node->tensor_);
  const auto grads = pkg::grad({tensor_}, inputs, {tensor_of(grad_out)}, true);
  std::vector<double> values;
  for (const Tensor& grad : grads) values.push_back(value_of(grad));
  std::lock_guard guard(accumulating());
  for (size_t i = 0; i < nodes.size(); ++i) nodes[i]->grad_ += values[i];
}

Scalar::Shared Scalar::derivative(Scalar& x) {
  auto result = std::make_shared<Scalar>();
  result->tensor_ = pkg::grad({tensor_}, {x.tensor_}, {}, true, true)[0];
  return result;
}

void Scalar::zero_grad() {
  const auto nodes = all();
  std::lock_guard guard(accumulating());
  for (Scalar* node : nodes) node->grad_ = 0;
}

std::shared_ptr<Scalar> constant(double value) {
  auto result = std::make_shared<Scalar>(value);
  pkg::set_requires_grad(result->tensor_, false);
  return result;
}

}  // namespace scalar_mul_grad_class
