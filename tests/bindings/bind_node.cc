// SPDX-License-Identifier: Apache-2.0
// tests/bindings/bind_node.cc: graph nodes and their hooks.
#include "autograd/node_facts.h"
#include "bind.h"
#include "kept.h"
#include "tensors.h"

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

py::tuple input_shapes(const Node& self) {
  py::tuple shapes(self.edges().size());
  for (size_t i = 0; i < shapes.size(); ++i) {
    const std::optional<Spec> spec = self.input_spec(i);
    shapes[i] = spec ? py::cast(spec->sizes) : py::none();
  }
  return shapes;
}

/// What a hook returned; None: nothing.
std::optional<TensorList> gradients_of(const py::object& result) {
  if (result.is_none()) return std::nullopt;
  if (const auto single = as_tensor(result)) return TensorList{*single};
  return parse_tensors("register_hook", "hook()", result);
}

HookHandle add_hook(Node& self, const py::object& callable, HookKind kind) {
  expect(is_callable(callable),
         kind == HookKind::Pre ? "register_prehook" : "register_hook", "hook", "a callable",
         callable);
  return register_node_hook(
      self, kind,
      [hook = keep(callable), kind](const TensorList& grads, const TensorList& other) {
        WithGil gil;
        return gradients_of(kind == HookKind::Post ? call(*hook, grads, other)
                                                   : call(*hook, grads));
      });
}

}  // namespace

void bind_node(py::module_& m) {
  py::class_<Node, Held<Node>> cls(m, "Node", py::is_final(),
                                   "One recorded operation; what tensor.grad_fn shows.");
  cls.def("__repr__", [](const Node& self) { return "<" + self.name() + ">"; });
  cls.def("name", &Node::name, "name(self)\n--\n\nName of the operation.");
  cls.def("_sequence_nr", &Node::sequence,
          "_sequence_nr(self)\n--\n\nGrows with every node.");
  cls.def(
      "register_hook",
      [](Node& self, const py::object& hook) {
        return add_hook(self, hook, HookKind::Post);
      },
      py::arg("hook"), py::pos_only(),
      "register_hook(self, hook, /)\n--\n\n"
      "Calls hook(grad_inputs, grad_outputs) after the node has run; a tuple that it "
      "returns\nreplaces grad_inputs. The handle's remove() undoes it.");
  cls.def(
      "register_prehook",
      [](Node& self, const py::object& hook) {
        return add_hook(self, hook, HookKind::Pre);
      },
      py::arg("hook"), py::pos_only(),
      "register_prehook(self, hook, /)\n--\n\n"
      "Calls hook(grad_outputs) before the node runs; a tuple that it returns "
      "replaces\nthem. The handle's remove() undoes it.");
  cls.def_property_readonly("next_functions", &next_functions,
                            "(node, input number) per input.");
  cls.def_property_readonly("variable", &leaf_of, "The leaf of an AccumulateGrad node.");
  cls.def_property_readonly("call_site", &Node::call_site,
                            "'file:line' of the call that was recorded; '' when "
                            "unknown.");
  cls.def_property_readonly("op", &op_name, "Qualified name of the op, or None.");
  cls.def_property_readonly("input_shapes", &input_shapes,
                            "Shape of each input; None when unknown.");
  cls.def_property_readonly("saved", &saved_by,
                            "(name, tensor) of everything kept for backward.");

  py::class_<HookHandle> handle(m, "HookHandle", py::is_final(),
                                "A registered hook, also a context manager.");
  const auto remove = [](const HookHandle& self) { self.remove(); };
  handle.def("remove", remove,
             "remove(self)\n--\n\nThe hook is not called any more; a second call does "
             "nothing.");
  handle.def(
      "__enter__", [](const py::object& self) { return self; },
      "__enter__(self)\n--\n\nThe handle itself.");
  handle.def(
      "__exit__", [=](const HookHandle& self, const py::args&) { remove(self); },
      "__exit__(self, *exc)\n--\n\nRemoves the hook.");
}

}  // namespace pkg::pybind
