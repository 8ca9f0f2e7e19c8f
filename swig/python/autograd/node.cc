// SPDX-License-Identifier: Apache-2.0
// swig/python/autograd/node.cc: nodes of the graph as Python uses them.
#include "node.h"

#include "python/tensor/py_tensor.h"

namespace pkg::python {
namespace {

// What the hook returns (None: nothing) takes the place of `grads`.
HookHandle add_hook(const Ref<Node>& node, const PyCallable& hook, HookKind kind) {
  HookList& list = node->hooks();
  const auto run = [hook, kind](TensorList& grads, const TensorList& other) {
    using Made = std::optional<MaybeTensors>;
    const Argument where{"register_hook", "hook"};
    replace_gradients(grads, kind == HookKind::Post
                                 ? call_as<Made>(hook, where, grads, other)
                                 : call_as<Made>(hook, where, grads));
  };
  return {Ref<HookList>::share(&list), list.add(kind, 0, run)};
}

}  // namespace

HookHandle NodeObject::register_hook(const PyCallable& hook) const {
  return add_hook(node_, hook, HookKind::Post);
}
HookHandle NodeObject::register_prehook(const PyCallable& hook) const {
  return add_hook(node_, hook, HookKind::Pre);
}

PyRef NodeObject::next_functions() const {
  const auto& edges = node_->edges();
  return PyRef(make_tuple(edges.size(), [&](size_t i) {
    const PyRef node = check(wrap_node(edges[i].node));
    return Py_BuildValue("(OI)", node.get(), edges[i].input_nr);
  }));
}

PyRef NodeObject::input_shapes() const {
  return PyRef(make_tuple(node_->edges().size(), [&](size_t i) {
    const std::optional<Spec> spec = node_->input_spec(i);
    return spec ? wrap_shape(spec->sizes) : new_ref(Py_None);
  }));
}

PyObject* wrap_node(Ref<Node> node) {
  if (!node) Py_RETURN_NONE;
  return to_python(NodeObject(std::move(node)));
}

}  // namespace pkg::python
