// SPDX-License-Identifier: Apache-2.0
// tests/bindings/bind_graph.cc: graphs and sessions.
#include <pybind11/functional.h>

#include "bind.h"
#include "c_api/c_calls.h"
#include "c_api/graph_handles.h"

namespace pkg::pybind {

using namespace pkg::c;

void bind_graph(py::module_& m) {
  py::class_<OperationHandle> operationhandle(
      m, "OperationHandle", py::is_final(),
      "An operation of a graph, which it keeps alive.");
  operationhandle.def_static(
      "of", &OperationHandle::of, py::arg("symbol"),
      "of(symbol)\n"
      "--\n"
      "\n"
      "The operation that a symbol is an output of; ValueError for a tensor with values.");
  operationhandle.def_static("index_of", &OperationHandle::index_of, py::arg("symbol"),
                             "index_of(symbol)\n"
                             "--\n"
                             "\n"
                             "Which output of it a symbol is.");
  operationhandle.def("name", &OperationHandle::name,
                      "name(self)\n"
                      "--\n"
                      "\n"
                      "Unique in its graph.");
  operationhandle.def(
      "type", &OperationHandle::type,
      "type(self)\n"
      "--\n"
      "\n"
      "\"Placeholder\", \"Const\", ..., or the name of the op that it calls.");
  operationhandle.def("device", &OperationHandle::device,
                      "device(self)\n"
                      "--\n"
                      "\n"
                      "As it was given to set_scope().");
  operationhandle.def("call_site", &OperationHandle::call_site,
                      "call_site(self)\n"
                      "--\n"
                      "\n"
                      "\"file:line\" of the Python line that made it; \"\" when unknown.");
  operationhandle.def("n_outputs", &OperationHandle::n_outputs,
                      "n_outputs(self)\n"
                      "--\n"
                      "\n"
                      "How many symbols it gives.");
  operationhandle.def("output", &OperationHandle::output, py::arg("index"),
                      "output(self, index)\n"
                      "--\n"
                      "\n"
                      "The symbol of an output.");
  operationhandle.def(
      "shape", &OperationHandle::shape, py::arg("index"),
      "shape(self, index)\n"
      "--\n"
      "\n"
      "Sizes of an output, -1 for unknown ones; None where their number is unknown.");
  operationhandle.def("inputs", &OperationHandle::inputs,
                      "inputs(self)\n"
                      "--\n"
                      "\n"
                      "Symbols that it takes.");
  operationhandle.def("controls", &OperationHandle::controls,
                      "controls(self)\n"
                      "--\n"
                      "\n"
                      "Operations that run before it.");
  operationhandle.def(
      "arguments", &OperationHandle::arguments,
      "arguments(self)\n"
      "--\n"
      "\n"
      "Its arguments as JSON: a list of [name, value]; see cpp/graph/describe.h.");
  operationhandle.def("tensors", &OperationHandle::tensors,
                      "tensors(self)\n"
                      "--\n"
                      "\n"
                      "The tensors with values that the arguments speak of.");
  operationhandle.def("graph_id", &OperationHandle::graph_id,
                      "graph_id(self)\n"
                      "--\n"
                      "\n"
                      "A number that operations of one graph share.");
  operationhandle.def("writes", &OperationHandle::writes,
                      "writes(self)\n"
                      "--\n"
                      "\n"
                      "Whether it writes to tensors with values.");
  operationhandle.def(
      "no_grad", &OperationHandle::no_grad,
      "no_grad(self)\n"
      "--\n"
      "\n"
      "Whether it was added under no_grad(): no gradient flows through it.");
  operationhandle.def("id", &OperationHandle::id,
                      "id(self)\n"
                      "--\n"
                      "\n"
                      "A number that differs between operations.");
  py::class_<GraphHandle> graphhandle(
      m, "GraphHandle", py::is_final(),
      "GraphHandle()\n"
      "--\n"
      "\n"
      "A graph, which ends with this object and its sessions and symbols.");
  py::class_<BodyHandle> bodyhandle(
      m, "BodyHandle", py::is_final(),
      "BodyHandle(graph, inputs, outputs, targets)\n"
      "--\n"
      "\n"
      "A graph as a part of another one: it takes the inputs, which are placeholders, gives\n"
      "the outputs, and runs the targets besides.");
  bodyhandle.def(
      py::init<const GraphHandle&, const std::vector<Tensor>&, const std::vector<Tensor>&,
               const std::vector<OperationHandle>&>(),
      py::arg("graph"), py::arg("inputs"), py::arg("outputs"), py::arg("targets"));
  graphhandle.def(py::init<>());
  graphhandle.def("placeholder", &GraphHandle::placeholder, py::arg("name"),
                  py::arg("dtype"), py::arg("sizes"), py::arg("value") = py::none(),
                  "placeholder(self, name, dtype, sizes, value=None)\n"
                  "--\n"
                  "\n"
                  "What is fed; a value counts where nothing is.");
  graphhandle.def("constant", &GraphHandle::constant, py::arg("name"), py::arg("value"),
                  "constant(self, name, value)\n"
                  "--\n"
                  "\n"
                  "A tensor, which must not change later.");
  graphhandle.def("variable", &GraphHandle::variable, py::arg("name"), py::arg("dtype"),
                  py::arg("sizes"),
                  "variable(self, name, dtype, sizes)\n"
                  "--\n"
                  "\n"
                  "A tensor that sessions keep.");
  graphhandle.def("assign", &GraphHandle::assign, py::arg("name"), py::arg("variable"),
                  py::arg("value"),
                  "assign(self, name, variable, value)\n"
                  "--\n"
                  "\n"
                  "Gives a variable a value, which is also its output.");
  graphhandle.def(
      "gradients", &GraphHandle::gradients, py::arg("name"), py::arg("ys"),
      py::arg("grad_ys"), py::arg("xs"), py::arg("stops"),
      "gradients(self, name, ys, grad_ys, xs, stops)\n"
      "--\n"
      "\n"
      "Of the sum of ys, each times its gradient if one is given, with respect to xs; none\n"
      "flows on behind the stops.");
  graphhandle.def("group", &GraphHandle::group, py::arg("name"), py::arg("before"),
                  "group(self, name, before)\n"
                  "--\n"
                  "\n"
                  "Runs what is before it; without an output.");
  graphhandle.def(
      "set_scope", &GraphHandle::set_scope, py::arg("prefix"), py::arg("controls"),
      py::arg("device"),
      "set_scope(self, prefix, controls, device)\n"
      "--\n"
      "\n"
      "What this thread adds from now on has in common: the beginning of names, what it\n"
      "waits for, the device.");
  graphhandle.def(
      "begin_trace", &GraphHandle::begin_trace, py::arg("name"),
      "begin_trace(self, name)\n"
      "--\n"
      "\n"
      "From here to end_trace() every call of this thread becomes an operation of this\n"
      "graph; the first one gets the name, if there is one.");
  graphhandle.def("end_trace", &GraphHandle::end_trace,
                  "end_trace(self)\n"
                  "--\n"
                  "\n"
                  "Ends what begin_trace() began last.");
  graphhandle.def(
      "begin_body", &GraphHandle::begin_body,
      "begin_body(self)\n"
      "--\n"
      "\n"
      "The same for a graph that will be a body of a loop or a choice: symbols of the graph\n"
      "around it are captured.");
  graphhandle.def("capture", &GraphHandle::capture, py::arg("symbol"),
                  "capture(self, symbol)\n"
                  "--\n"
                  "\n"
                  "What stands in a body for a symbol of the graph around it.");
  graphhandle.def(
      "while_loop", &GraphHandle::while_loop, py::arg("name"), py::arg("condition"),
      py::arg("body"), py::arg("values"),
      "while_loop(self, name, condition, body, values)\n"
      "--\n"
      "\n"
      "While the condition gives true, the body gives the next values from the ones before.");
  graphhandle.def("cond", &GraphHandle::cond, py::arg("name"), py::arg("predicate"),
                  py::arg("if_true"), py::arg("if_false"),
                  "cond(self, name, predicate, if_true, if_false)\n"
                  "--\n"
                  "\n"
                  "What the one body gives, or the other one.");
  graphhandle.def(
      "function", &GraphHandle::function, py::arg("name"), py::arg("run"),
      py::arg("inputs"), py::arg("dtypes"),
      "function(self, name, run, inputs, dtypes)\n"
      "--\n"
      "\n"
      "Calls a function with the values of the inputs; its results have these dtypes.");
  graphhandle.def("finalize", &GraphHandle::finalize,
                  "finalize(self)\n"
                  "--\n"
                  "\n"
                  "From now on adding operations is a RuntimeError.");
  graphhandle.def("finalized", &GraphHandle::finalized,
                  "finalized(self)\n"
                  "--\n"
                  "\n"
                  "Whether it was finalized.");
  graphhandle.def("version", &GraphHandle::version,
                  "version(self)\n"
                  "--\n"
                  "\n"
                  "Counts the changes of the graph.");
  graphhandle.def("find", &GraphHandle::find, py::arg("name"),
                  "find(self, name)\n"
                  "--\n"
                  "\n"
                  "The operation of a name, or None.");
  graphhandle.def("operations", &GraphHandle::operations,
                  "operations(self)\n"
                  "--\n"
                  "\n"
                  "All operations, in the order in which they were added.");
  graphhandle.def("unique_name", &GraphHandle::unique_name, py::arg("name"),
                  py::arg("mark") = true,
                  "unique_name(self, name, mark=True)\n"
                  "--\n"
                  "\n"
                  "A name that no operation has; taken from now on if marked.");
  graphhandle.def(
      "connected", &GraphHandle::connected, py::arg("y"), py::arg("x"), py::arg("stops"),
      "connected(self, y, x, stops)\n"
      "--\n"
      "\n"
      "Whether y may have a gradient with respect to x, if none flows on behind the stops.");
  graphhandle.def("id", &GraphHandle::id,
                  "id(self)\n"
                  "--\n"
                  "\n"
                  "A number that differs between graphs.");
  py::class_<CallableHandle> callablehandle(m, "CallableHandle", py::is_final(),
                                            "What to feed and to fetch, looked up once.");
  callablehandle.def("run", &CallableHandle::run, py::arg("feeds"),
                     py::arg("timeout") = 0.0,
                     "run(self, feeds, timeout=0)\n"
                     "--\n"
                     "\n"
                     "The fetched tensors; a timeout in seconds, or 0.");
  callablehandle.def("run_recorded", &CallableHandle::run_recorded, py::arg("feeds"),
                     "run_recorded(self, feeds)\n"
                     "--\n"
                     "\n"
                     "The same, operation by operation, with a history for gradients.");
  callablehandle.def(
      "unplanned", &CallableHandle::unplanned,
      "unplanned(self)\n"
      "--\n"
      "\n"
      "Why the last run called the operations one by one; \"\" where it had a plan.");
  callablehandle.def(
      "plan", &CallableHandle::plan,
      "plan(self)\n"
      "--\n"
      "\n"
      "The plan of the last run as rows of words; see cpp/graph/plan_rows.h.");
  py::class_<SessionHandle> sessionhandle(m, "SessionHandle", py::is_final(),
                                          "SessionHandle(graph)\n"
                                          "--\n"
                                          "\n"
                                          "A session: one handle.");
  sessionhandle.def(py::init<const GraphHandle&>(), py::arg("graph"));
  sessionhandle.def("make_callable", &SessionHandle::make_callable, py::arg("feeds"),
                    py::arg("fetches"), py::arg("targets"),
                    "make_callable(self, feeds, fetches, targets)\n"
                    "--\n"
                    "\n"
                    "Looks up what to feed, what to fetch and what to run besides.");
  sessionhandle.def("close", &SessionHandle::close,
                    "close(self)\n"
                    "--\n"
                    "\n"
                    "Stops what runs and ends the session; again, nothing happens.");
  sessionhandle.def("variable", &SessionHandle::variable, py::arg("variable"),
                    "variable(self, variable)\n"
                    "--\n"
                    "\n"
                    "The value of a variable, or None.");
  sessionhandle.def("set_variables", &SessionHandle::set_variables, py::arg("variables"),
                    py::arg("values"),
                    "set_variables(self, variables, values)\n"
                    "--\n"
                    "\n"
                    "Gives all of these variables new values at once.");
  m.def("_c_calls", &_c_calls,
        "_c_calls()\n"
        "--\n"
        "\n"
        "[caller, function] of each.  The caller is \"GraphHandle.find\", or "
        "\"GraphHandle\" for the\n"
        "constructor, \"~GraphHandle\", or the name of a function that is no member.");
  m.def("failed_operation", &failed_operation,
        "failed_operation()\n"
        "--\n"
        "\n"
        "The operation whose call failed in the last run of this thread, or None; asking\n"
        "forgets it.");
}

}  // namespace pkg::pybind
