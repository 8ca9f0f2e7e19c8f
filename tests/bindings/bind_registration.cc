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

// One result by the schema.  A number is no tensor here: the kernel makes those.
Value read_result(const Operator& op, Argument wanted, py::handle object) {
  wanted.written = wanted.type == ArgType::Tensor;
  Value value;
  if (!read_value(wanted, object, &value)) {
    throw TypeError(str("[", op.schema.name, "] expected its kernel to return ",
                        wanted.expected(), ", got ", type_name(object),
                        " (schema: ", op.schema.str(), ")."));
  }
  return value;
}

void push_results(const Operator& op, const py::object& result, Stack& stack) {
  const auto& returns = op.schema.returns;
  if (returns.size() == 1) return stack.push(read_result(op, returns[0], result));
  const bool none = returns.empty() && result.is_none();
  const int64_t n = none ? 0 : Call::is_list(result) ? int64_t(py::len(result)) : -1;
  PKG_CHECK(n == int64_t(returns.size()), TypeError, "[", op.schema.name,
            "] expected its kernel to return ",
            returns.empty() ? "None" : str("a tuple of ", returns.size()), ", got ",
            n < 0 ? std::string(type_name(result)) : str("a tuple of ", n),
            " (schema: ", op.schema.str(), ").");
  for (size_t i = 0; i < returns.size(); ++i) {
    const py::object item = result[py::int_(i)];
    stack.push(read_result(op, returns[i], item));
  }
}

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
  push_results(op, py::reinterpret_steal<py::object>(result), stack);
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
