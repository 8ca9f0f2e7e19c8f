// SPDX-License-Identifier: Apache-2.0
// swig/python/op/py_wrapper.cc: the OpWrapper type: what a generated function becomes.
//
// Note [Wrappers]
// A function that pkg/framework/generating.py has written takes whatever TensorFlow's
// programs give: numbers for tensors, a name, symbols, defaults as None.  Nearly every call
// has plain tensors, and to find that out in Python costs more than the op.  So the function
// is decorated: what is plain goes from here to the op, all else, and what is wrong, to the
// function as it came.  An error of the op goes there too, in the place of the name: it
// knows what may be done about it, and its line is in the traceback.
#include "dispatcher/match.h"
#include "dispatcher/read.h"
#include "dispatcher/signature.h"
#include "py_operator.h"
#include "swigkit/function_type.h"
#include "swigkit/standard.h"

namespace pkg::python {
namespace {

// A parameter of the function, and the place of the argument that it is in the schema.
struct Parameter {
  PyRef name;  // interned, as those of nearly every call are
  size_t at;
  bool tensor;
};

class Slots;

struct PyOpWrapper {
  static constexpr const char* kName = "pkg._pywrap_core.OpWrapper";
  static constexpr const char* kDoc =
      "OpWrapper(function, op, parameters, result=None, /)\n--\n\nThe function, but for "
      "calls of plain tensors, which go to the op.";
  static constexpr bool kIsObject = true;

  static PyOpWrapper make(PyObject* args, PyObject* keywords);
  PyObject* call(PyObject* const* args, Py_ssize_t n, PyObject* keywords) const;
  PyObject* repr() const {
    return PyUnicode_FromFormat("<op wrapper of %R>", function.get());
  }
  int traverse(visitproc visit, void* arg) const {
    Py_VISIT(function.get());
    Py_VISIT(result.get());
    return 0;
  }
  static PyMethodDef methods[];
  static PyGetSetDef attributes[];

  // Whether the arguments are plainly what the schema says, and as its values.
  bool read(const Slots& slots, Value* values) const;
  PyObject* compute(std::span<Value> values) const;
  // The function with the error that is set, as its name.
  PyObject* refused(const Slots& slots) const;

  PyRef function;
  PyRef result;  // the class of several results, or null
  const Operator* op;
  std::vector<Parameter> parameters;  // all but the last one, which is the name
};
using WrapperType = FunctionType<PyOpWrapper>;

PyObject* g_name;  // "name", interned

// What each parameter is given as; null where it is not.  The name is the last one.
class Slots {
 public:
  // False where Python's own rules have to be asked: what is too much, unknown, given twice,
  // or a name that is no interned string.
  bool fill(const std::vector<Parameter>& parameters, PyObject* const* args, size_t n,
            PyObject* keywords) {
    count_ = parameters.size() + 1;
    if (n > count_) return false;
    std::copy_n(args, n, objects_);
    std::fill(objects_ + n, objects_ + count_, nullptr);
    const size_t named = keywords ? size_t(PyTuple_GET_SIZE(keywords)) : 0;
    for (size_t k = 0; k < named; ++k) {
      const size_t at = place(parameters, PyTuple_GET_ITEM(keywords, k));
      if (at == count_ || objects_[at]) return false;
      objects_[at] = args[n + k];
    }
    return !name() || name() == Py_None;
  }
  PyObject* operator[](size_t i) const { return objects_[i]; }
  PyObject* name() const { return objects_[count_ - 1]; }

 private:
  size_t place(const std::vector<Parameter>& parameters, PyObject* name) const {
    for (size_t i = 0; i < parameters.size(); ++i) {
      if (parameters[i].name.get() == name) return i;
    }
    return name == g_name ? count_ - 1 : count_;
  }

  size_t count_ = 0;
  PyObject* objects_[kMaxParameters + 1];  // those of the call, which its caller keeps
};

// As a function: by the name that its module has it under.
PyObject* name_of(const PyOpWrapper& wrapper) {
  return PyObject_GetAttrString(wrapper.function.get(), "__qualname__");
}

}  // namespace

bool PyOpWrapper::read(const Slots& slots, Value* values) const {
  const auto& arguments = op->schema.arguments;
  size_t i = 0;
  for (const Parameter& parameter : parameters) {
    PyObject* object = slots[i++];
    const pkg::Argument& argument = arguments[parameter.at];
    Value& value = values[parameter.at];
    if (parameter.tensor) {
      // No symbol, and no subclass, which may be anything.
      if (!object || Py_TYPE(object) != g_tensor_class) return false;
      value.emplace<Tensor>(unwrap(object));
    } else if (object) {
      try {
        if (!ReadValue<Reader>::run(argument, object, &value)) return false;
      } catch (const IntTooBig& error) {
        throw error.named(op->schema.name, argument.name);
      }
    } else if (!argument.has_default) {
      return false;
    } else if (const auto* number = std::get_if<Scalar>(&argument.default_value)) {
      value.emplace<Scalar>(*number);
    } else {
      value = argument.default_value;
    }
  }
  return true;
}

PyObject* PyOpWrapper::compute(std::span<Value> values) const {
  Stack stack;  // braces would clear its results to the last byte
  stack.args = values;
  Dispatcher::get().call_boxed(*op, stack);
  return wrap_results(*op, stack);
}

[[gnu::cold]] PyObject* PyOpWrapper::refused(const Slots& slots) const {
  const PyRef error = HeldError::fetch().value();
  const PyRef empty(checked(PyTuple_New(0))), named(checked(PyDict_New()));
  const auto put = [&](PyObject* name, PyObject* object) {
    check(PyDict_SetItem(named.get(), name, object));
  };
  size_t i = 0;
  for (const Parameter& parameter : parameters) {
    if (PyObject* object = slots[i++]) put(parameter.name.get(), object);
  }
  put(g_name, error.get());
  return PyObject_Call(function.get(), empty.get(), named.get());
}

PyObject* PyOpWrapper::call(PyObject* const* args, Py_ssize_t n, PyObject* keywords) const {
  Slots slots;
  if (slots.fill(parameters, args, size_t(n), keywords)) {
    Arguments values(op->schema.arguments.size());
    PyRef made(guarded([&]() -> PyObject* {
      return read(slots, values.data()) ? compute(values.span()) : nullptr;
    }));
    if (made) {
      return result ? PyObject_CallObject(result.get(), made.get()) : made.release();
    }
    if (PyErr_Occurred()) {
      return PyErr_ExceptionMatches(PyExc_Exception) ? refused(slots) : nullptr;
    }
  }
  return PyObject_Vectorcall(function.get(), args, size_t(n), keywords);
}

PyOpWrapper PyOpWrapper::make(PyObject* args, PyObject* keywords) {
  PyObject *function, *given, *names, *result = Py_None;
  parse_arguments(args, keywords, "OOO|O:OpWrapper", {"", "", "", ""}, &function, &given,
                  &names, &result);
  std::string qualified;
  if (!to_cpp(given, qualified, {"OpWrapper", "op"})) throw_python_error();
  const Operator& op = Dispatcher::get().find(qualified);
  // {"x": "x", "lambda_": "lambda"}: names of parameters, and what the op calls them.
  expect(PyDict_Check(names), {"OpWrapper", "parameters"}, "a dict", names);
  std::vector<std::pair<std::string, std::string>> pairs;
  const PyRef items = check(PyDict_Items(names));
  if (!to_cpp(items.get(), pairs, {"OpWrapper", "parameters"})) throw_python_error();
  std::vector<Parameter> parameters;
  for (size_t at : places_of(op, pairs)) {
    const pkg::Argument& argument = op.schema.arguments[at];
    const std::string& name = pairs[parameters.size()].first;
    parameters.push_back({check(PyUnicode_InternFromString(name.c_str())), at,
                          argument.type == ArgType::Tensor && !argument.list});
  }
  return {PyRef::borrow(function), result == Py_None ? PyRef() : PyRef::borrow(result), &op,
          std::move(parameters)};
}

PyMethodDef PyOpWrapper::methods[] = {
    {"__reduce__", call_by<WrapperType::record_of, name_of>, METH_NOARGS,
     "__reduce__(self, /)\n--\n\nIts name."},
    {}};
PyGetSetDef PyOpWrapper::attributes[] = {{}};

void add_wrapper_type(PyObject* module) {
  g_name = checked(PyUnicode_InternFromString("name"));
  WrapperType::add_to(module);
}

}  // namespace pkg::python
