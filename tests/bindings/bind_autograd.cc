// SPDX-License-Identifier: Apache-2.0
// tests/bindings/bind_autograd.cc: the engine's two doors, grad mode, hooks of tensors
// and functions with a backward in Python.
#include "autograd/engine.h"
#include "autograd/function.h"
#include "autograd/node_facts.h"
#include "base/thread_local.h"
#include "bind.h"
#include "dispatcher/dispatcher.h"
#include "kept.h"
#include "tensor/settings.h"
#include "tensors.h"

namespace pkg::pybind {
namespace {

void run_backward(const py::object& tensors, const py::object& gradients, bool retain_graph,
                  bool create_graph, const py::object& inputs) {
  const TensorList outputs = parse_tensors("backward", "tensors", tensors, false);
  const TensorList grads = parse_tensors("backward", "gradients", gradients);
  const TensorList wanted = parse_tensors("backward", "inputs", inputs, false);
  WithoutGil without_gil;
  backward(outputs, grads, retain_graph, create_graph, wanted);
}

TensorList run_grad(const py::object& outputs, const py::object& inputs,
                    const py::object& grad_outputs, bool retain_graph, bool create_graph,
                    bool allow_unused) {
  const TensorList of = parse_tensors("grad", "outputs", outputs, false);
  const TensorList to = parse_tensors("grad", "inputs", inputs, false);
  const TensorList grads = parse_tensors("grad", "grad_outputs", grad_outputs);
  WithoutGil without_gil;
  return grad(of, to, grads, retain_graph, create_graph, allow_unused);
}

Tensor tensor_for(const char* what, const py::object& object) {
  const auto tensor = as_tensor(object);
  expect(tensor.has_value(), what, "tensor", "a Tensor", object);
  return *tensor;
}
Kept callable_for(const char* what, const py::object& object) {
  expect(is_callable(object), what, "hook", "a callable", object);
  return keep(object);
}

HookHandle register_tensor_hook(const py::object& object, const py::object& callable) {
  const Tensor tensor = tensor_for("register_hook", object);
  const Kept hook = callable_for("register_hook", callable);
  return register_hook(tensor, [hook](const Tensor& grad) {
    WithGil gil;
    const py::object result = call(*hook, grad);
    if (result.is_none()) return Tensor();
    const auto replaced = as_tensor(result);
    expect(replaced.has_value(), "register_hook", "hook()", "a Tensor or None", result);
    return *replaced;
  });
}

HookHandle register_leaf_hook(const py::object& object, const py::object& callable) {
  const char* what = "register_post_accumulate_grad_hook";
  const Tensor leaf = tensor_for(what, object);
  const Kept hook = callable_for(what, callable);
  return register_accumulated_hook(leaf, [hook](const Tensor& grown) {
    WithGil gil;
    call(*hook, grown);
  });
}

/// Gradients as Python returned them: a Tensor, or a sequence with None for no gradient.
TensorList gradients_of(const py::object& result) {
  if (const auto tensor = as_tensor(result)) return {*tensor};
  if (result.is_none()) return {Tensor()};
  return parse_tensors("Function", "backward()", result);
}

Held<Node> record(const std::string& name, const py::object& inputs,
                  const py::object& outputs, const py::object& backward,
                  bool materialize_grads, const py::object& saved) {
  FunctionOptions options;
  options.materialize_grads = materialize_grads;
  options.saved = parse_tensors("Function", "saved", saved);
  return record_function(
      name, parse_tensors("Function", "inputs", inputs),
      parse_tensors("Function", "outputs", outputs),
      [run = keep(backward)](const TensorList& grads, Node& self) {
        WithGil gil;
        return gradients_of(call(*run, Held<Node>(&self), grads));
      },
      std::move(options));
}

TensorList saved_tensors(const py::object& node) {
  const bool is_node = py::isinstance<Node>(node);
  expect(is_node, "_saved_tensors", "node", "a Node", node);
  return function_saved_tensors(*node.cast<Node*>());
}

}  // namespace

void bind_autograd(py::module_& m) {
  bind_node(m);
  m.def("_backward", &run_backward, py::arg("tensors"), py::arg("gradients"),
        py::arg("retain_graph"), py::arg("create_graph"), py::arg("inputs"), py::pos_only(),
        "_backward(tensors, gradients, retain_graph, create_graph, inputs, /)\n--\n\n"
        "Runs the engine; no inputs: all leaves.");
  m.def("_grad", &run_grad, py::arg("outputs"), py::arg("inputs"), py::arg("grad_outputs"),
        py::arg("retain_graph"), py::arg("create_graph"), py::arg("allow_unused"),
        py::pos_only(),
        "_grad(outputs, inputs, grad_outputs, retain_graph, create_graph, allow_unused, /)"
        "\n--\n\nGradients without accumulating.");
  m.def(
      "_register_hook", &register_tensor_hook, py::arg("tensor"), py::arg("hook"),
      py::pos_only(),
      "_register_hook(tensor, hook, /)\n--\n\nHandle of a hook on the tensor's gradient.");
  m.def("_register_accumulated_hook", &register_leaf_hook, py::arg("leaf"), py::arg("hook"),
        py::pos_only(),
        "_register_accumulated_hook(leaf, hook, /)\n--\n\n"
        "Handle of a hook after accumulation.");
  m.def(
      "_retain_grad",
      [](const py::object& tensor) { retain_grad(tensor_for("retain_grad", tensor)); },
      py::arg("tensor"), py::pos_only(),
      "_retain_grad(tensor, /)\n--\n\nKeeps the gradient of a tensor that is no leaf.");
  m.def(
      "_record_function", &record, py::arg("name"), py::arg("inputs"), py::arg("outputs"),
      py::arg("backward"), py::arg("materialize_grads"), py::arg("saved"), py::pos_only(),
      "_record_function(name, inputs, outputs, backward, materialize_grads, saved, /)\n--\n\n"
      "Makes backward(node, grads) the history of the outputs; its Node, or None.");
  m.def("_saved_tensors", &saved_tensors, py::arg("node"), py::pos_only(),
        "_saved_tensors(node, /)\n--\n\nWhat was saved, for the backward that runs.");
  m.def("live_nodes", &settings::live_nodes,
        "live_nodes()\n--\n\nGraph nodes alive, for leak tests.");
  m.def("is_grad_enabled", &grad_enabled,
        "is_grad_enabled()\n--\n\nWhether operations are recorded on this thread.");
  m.def(
      "set_grad_enabled", &set_grad_enabled, py::arg("enabled"),
      "set_grad_enabled(enabled)\n--\n\nSwitches recording on this thread; returns what it "
      "was.");
  m.def(
      "detect_anomaly", &detect_anomaly,
      "detect_anomaly()\n--\n\nWhether every backward pass checks the gradients for NaN.");
  m.def(
      "set_detect_anomaly", &set_detect_anomaly, py::arg("enabled"),
      "set_detect_anomaly(enabled)\n--\n\nMakes every backward pass check for NaN and name the "
      "call that made it, or not.");
}

}  // namespace pkg::pybind
