// SPDX-License-Identifier: Apache-2.0
// swig/python/op/py_kernel.cc: a Python function between the values of a call and its results.
#include "py_kernel.h"

#include "dispatcher/dispatcher.h"
#include "dispatcher/foreign.h"
#include "dispatcher/plain_kernel.h"
#include "dispatcher/read.h"
#include "py_operator.h"
#include "python/py_error.h"
#include "swigkit/callable.h"

namespace pkg::python {
namespace {

// One result by the schema.  A number is no tensor here: the kernel makes those.
Value read_result(const Operator& op, pkg::Argument wanted, PyObject* object) {
  wanted.written = wanted.type == ArgType::Tensor;
  Value value;
  if (!ReadValue<Reader>::run(wanted, object, &value)) {
    throw TypeError(str("[", op.schema.name, "] expected its kernel to return ",
                        wanted.expected(), ", got ", Py_TYPE(object)->tp_name,
                        " (schema: ", op.schema.str(), ")."));
  }
  return value;
}

void push_results(const Operator& op, PyObject* result, Stack& stack) {
  const auto& returns = op.schema.returns;
  if (returns.size() == 1) return stack.push(read_result(op, returns[0], result));
  const bool none = returns.empty() && result == Py_None;
  const bool list = PyTuple_Check(result) || PyList_Check(result);
  const Py_ssize_t n = none ? 0 : list ? PySequence_Fast_GET_SIZE(result) : -1;
  PKG_CHECK(n == Py_ssize_t(returns.size()), TypeError, "[", op.schema.name,
            "] expected its kernel to return ",
            returns.empty() ? "None" : str("a tuple of ", returns.size()), ", got ",
            n < 0 ? std::string(Py_TYPE(result)->tp_name) : str("a tuple of ", n),
            " (schema: ", op.schema.str(), ").");
  for (Py_ssize_t i = 0; i < n; ++i) {
    const PyRef item = PyRef::borrow(PySequence_Fast_GET_ITEM(result, i));
    stack.push(read_result(op, returns[size_t(i)], item.get()));
  }
}

void call_python(const Operator& op, const Kernel& kernel, KeySet, Stack& stack) {
  GilAcquire gil;
  const auto& callable = *static_cast<PyCallable*>(
      detail::PlainKernel::of(kernel).function);
  const auto& arguments = op.schema.arguments;
  std::vector<PyRef> values;
  std::vector<PyObject*> all{nullptr};  // the first place is the callee's
  size_t positional = 0;
  for (size_t i = 0; i < arguments.size(); ++i) {
    values.push_back(check(wrap_value(Value(stack.args[i]))));
    all.push_back(values.back().get());
    positional += !arguments[i].keyword_only;
  }
  PyRef names;
  if (positional < arguments.size()) {
    names = PyRef(make_tuple(arguments.size() - positional, [&](size_t i) {
      return PyUnicode_FromString(arguments[positional + i].name.c_str());
    }));
  }
  const PyRef result = check(swigkit::call_python([&] {
    return PyObject_Vectorcall(callable.get(), all.data() + 1,
                               positional | PY_VECTORCALL_ARGUMENTS_OFFSET, names.get());
  }));
  push_results(op, result.get(), stack);
}

}  // namespace

void _set_kernel(const std::string& name, const std::string& key, PyObject* function,
                 const std::string& where) {
  expect(PyCallable_Check(function), {"_set_kernel", "function"}, "a callable", function);
  auto callable = std::make_unique<PyCallable>(function);
  set_foreign_kernel(name, key, call_python, callable.get(), where);
  callable.release();  // an op lives as long as the process
}

}  // namespace pkg::python
