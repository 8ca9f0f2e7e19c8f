// SPDX-License-Identifier: Apache-2.0
// swig/python/autograd/node.h: what Python sees of the graph: its nodes.  swig/autograd.i
// wraps the class as it stands here.
#pragma once

#include "autograd/hooks.h"
#include "autograd/node_facts.h"
#include "python/py_error.h"
#include "swigkit/function.h"

namespace pkg::python {

/// One recorded operation; what tensor.grad_fn shows.
class NodeObject {
 public:
  NodeObject(Ref<Node> node) : node_(std::move(node)) {}
  /// Name of the operation.
  std::string name() const { return node_->name(); }
  /// Grows with every node.
  uint64_t _sequence_nr() const { return node_->sequence(); }
  /// Calls hook(grad_inputs, grad_outputs) after the node has run; a tuple that it returns
  /// replaces grad_inputs. The handle's remove() undoes it.
  HookHandle register_hook(const swigkit::PyCallable& hook) const;
  /// Calls hook(grad_outputs) before the node runs; a tuple that it returns replaces
  /// them. The handle's remove() undoes it.
  HookHandle register_prehook(const swigkit::PyCallable& hook) const;
  /// (node, input number) per input.
  swigkit::PyRef next_functions() const;
  /// The leaf of an AccumulateGrad node.
  pkg::Tensor variable() const { return leaf_of(*node_); }
  /// 'file:line' of the call that was recorded; '' when unknown.
  std::string call_site() const { return node_->call_site(); }
  /// Qualified name of the op, or None.
  std::optional<std::string> op() const { return op_name(*node_); }
  /// Shape of each input; None when unknown.
  swigkit::PyRef input_shapes() const;
  /// (name, tensor) of everything kept for backward.
  std::vector<std::pair<std::string, pkg::Tensor>> saved() const {
    return saved_by(*node_);
  }
  std::string __repr__() const { return "<" + name() + ">"; }
  long __hash__() const { return swigkit::address_hash(node_.get()); }
  // The objects come and go; the node they show is what is compared.
  bool operator==(const NodeObject& other) const { return node_ == other.node_; }

#ifndef SWIG
  const Ref<Node>& node() const { return node_; }

 private:
  Ref<Node> node_;
#endif
};

#ifndef SWIG
/// New reference; None for a null node.
PyObject* wrap_node(Ref<Node> node);
#endif

}  // namespace pkg::python
