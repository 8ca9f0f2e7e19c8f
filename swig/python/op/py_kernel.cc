// SPDX-License-Identifier: Apache-2.0
// swig/python/op/py_kernel.cc: a Python function between the values of a call and its results.
#include "py_kernel.h"

#include "dispatcher/dispatcher.h"
#include "dispatcher/foreign.h"
#include "dispatcher/plain_kernel.h"
#include "dispatcher/read_results.h"
#include "py_operator.h"
#include "python/py_error.h"
#include "swigkit/callable.h"

namespace pkg::python {
namespace {

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
  ReadResults<Reader>::run(op, result.get(), stack);
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
