// SPDX-License-Identifier: Apache-2.0
// tests/bindings/bind_autograd.cc: graph nodes, the engine's two doors, grad mode.
#include "autograd/accumulate_grad.h"
#include "autograd/engine.h"
#include "bind.h"
#include "dispatcher/dispatcher.h"

namespace pkg::pybind {
namespace {

py::tuple next_functions(const Node& self) {
  py::tuple result(self.edges().size());
  for (size_t i = 0; i < result.size(); ++i) {
    const Edge& edge = self.edges()[i];
    result[i] = py::make_tuple(Held<Node>(edge.node), edge.input_nr);
  }
  return result;
}

Tensor variable(const Node& self) {
  const auto* leaf = dynamic_cast<const AccumulateGrad*>(&self);
  return leaf ? leaf->variable : Tensor();
}

TensorList tensors_of(const char* what, const py::tuple& tuple) {
  TensorList list;
  for (py::handle entry : tuple) {
    const auto tensor = entry.is_none() ? Tensor() : as_tensor(entry);
    PKG_CHECK(tensor, TypeError, what, " must be Tensors or None, got ",
              type_name(entry));
    list.push_back(*tensor);
  }
  return list;
}

void run_backward(const py::tuple& tensors, const py::tuple& gradients, bool retain_graph,
                  bool create_graph) {
  const TensorList outputs = tensors_of("tensors", tensors);
  const TensorList grads = tensors_of("gradients", gradients);
  py::gil_scoped_release without_gil;
  backward(outputs, grads, retain_graph, create_graph);
}

TensorList run_grad(const py::tuple& outputs, const py::tuple& inputs,
                    const py::tuple& grad_outputs, bool retain_graph, bool create_graph,
                    bool allow_unused) {
  const TensorList of = tensors_of("outputs", outputs);
  const TensorList to = tensors_of("inputs", inputs);
  const TensorList grads = tensors_of("grad_outputs", grad_outputs);
  py::gil_scoped_release without_gil;
  return grad(of, to, grads, retain_graph, create_graph, allow_unused);
}

}  // namespace

void bind_autograd(py::module_& m) {
  py::class_<Node, Held<Node>> cls(py::handle(), "Node", py::is_final());
  cls.attr("__module__") = m.attr("__name__");
  cls.def("name", &Node::name, "name(self)\n--\n\nName of the operation.");
  cls.def("__repr__", [](const Node& self) { return "<" + self.name() + ">"; });
  cls.def_property_readonly("next_functions", &next_functions,
                            "(node, input number) per input.");
  cls.def_property_readonly("variable", &variable,
                            "The leaf of an AccumulateGrad node.");

  m.def("_backward", &run_backward, py::arg("tensors"), py::arg("gradients"),
        py::arg("retain_graph"), py::arg("create_graph"), py::pos_only(),
        "_backward(tensors, gradients, retain_graph, create_graph)\n--\n\n"
        "Runs the engine.");
  m.def("_grad", &run_grad, py::arg("outputs"), py::arg("inputs"),
        py::arg("grad_outputs"), py::arg("retain_graph"), py::arg("create_graph"),
        py::arg("allow_unused"), py::pos_only(),
        "_grad(outputs, inputs, grad_outputs, retain_graph, create_graph, allow_unused)"
        "\n--\n\nGradients without accumulating.");
  m.def("live_nodes", &Node::live_count,
        "live_nodes()\n--\n\nGraph nodes alive, for leak tests.");
  m.def("is_grad_enabled", &grad_enabled);
  m.def("set_grad_enabled", &set_grad_enabled, py::arg("enabled"));
}

}  // namespace pkg::pybind
