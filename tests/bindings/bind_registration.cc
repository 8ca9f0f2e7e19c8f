// SPDX-License-Identifier: Apache-2.0
// tests/bindings/bind_registration.cc: ops and kernels that Python registers.
#include "bind.h"
#include "dispatcher/dispatcher.h"
#include "dispatcher/foreign.h"
#include "dispatcher/plain_kernel.h"
#include "kept.h"
#include "parse.h"
#include "tensors.h"

namespace pkg::pybind {
namespace {

void call_kernel(const Operator& op, const Kernel& kernel, KeySet, Stack& stack) {
  WithGil gil;
  const Kept& function = *static_cast<Kept*>(detail::PlainKernel::of(kernel).function);
  py::list positional;
  py::dict named;
  for (size_t i = 0; i < stack.args.size(); ++i) {
    const Argument& argument = op.schema.arguments[i];
    const py::object value = py::cast(stack.args[i]);
    if (argument.keyword_only) named[argument.name.c_str()] = value;
    else positional.append(value);
  }
  const py::tuple args(positional);
  PyObject* result = call_python(PyObject_Call, function->ptr(), args.ptr(), named.ptr());
  if (!result) throw PythonFailure(py::error_already_set());
  read_results(op, py::reinterpret_steal<py::object>(result), stack);
}

void set_python_kernel(const std::string& name, const std::string& key,
                       const py::object& function, const std::string& where) {
  expect(PyCallable_Check(function.ptr()), "_set_kernel", "function", "a callable",
         function);
  auto kept = std::make_unique<Kept>(keep(function));
  set_foreign_kernel(name, key, call_kernel, kept.get(), where);
  kept.release();  // an op lives as long as the process
}

}  // namespace

void bind_registration(py::module_& m) {
  m.def("claim_namespace", &claim_namespace, py::arg("ns"), py::arg("where"),
        py::pos_only(),
        "claim_namespace(ns, where, /)\n--\n\nOf one that declares all ops of it; "
        "RuntimeError with both places where it is taken.");
  m.def("define_op", &define_op, py::arg("ns"), py::arg("schema"), py::arg("doc"),
        py::arg("where"), py::pos_only(),
        "define_op(ns, schema, doc, where, /)\n--\n\nDeclares an op; its name with "
        "namespace and overload.");
  m.def("dispatch_table", &dispatch_table, py::arg("name"), py::pos_only(),
        "dispatch_table(name, /)\n--\n\nA row for each key of an op, highest first: name, "
        "what a call runs there, where.");
  m.def("_set_kernel", &set_python_kernel, py::arg("name"), py::arg("key"),
        py::arg("function"), py::arg("where"), py::pos_only(),
        "_set_kernel(name, key, function, where, /)\n--\n\nGives an op a kernel at a key "
        "that calls function(*args, **keyword_only).");
}

}  // namespace pkg::pybind
