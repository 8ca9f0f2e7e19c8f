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
#include <structmember.h>

#include "dispatcher/match.h"
#include "dispatcher/read.h"
#include "py_operator.h"
#include "swigkit/standard.h"

namespace pkg::python {
namespace {

// A parameter of the function, and the place of the argument that it is in the schema.
struct Parameter {
  PyRef name;  // interned, as those of nearly every call are
  size_t at;
  bool tensor;
};

struct PyOpWrapper {
  PyObject_HEAD vectorcallfunc vectorcall;
  PyObject* function;
  PyObject* result;  // the class of several results, or null
  PyObject* dict;
  PyObject* weakrefs;
  const Operator* op;
  std::vector<Parameter>* parameters;  // all but the last one, which is the name
};
PyOpWrapper& wrapper_of(PyObject* self) { return *reinterpret_cast<PyOpWrapper*>(self); }

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

// Whether the arguments are plainly what the schema says, and as its values.
bool read(const PyOpWrapper& wrapper, const Slots& slots, Value* values) {
  const auto& arguments = wrapper.op->schema.arguments;
  size_t i = 0;
  for (const Parameter& parameter : *wrapper.parameters) {
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
        throw error.named(wrapper.op->schema.name, argument.name);
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

PyObject* compute(const PyOpWrapper& wrapper, std::span<Value> values) {
  Stack stack;  // braces would clear its results to the last byte
  stack.args = values;
  Dispatcher::get().call_boxed(*wrapper.op, stack);
  return wrap_results(*wrapper.op, stack);
}

// The function with the error that is set, as its name.
[[gnu::cold]] PyObject* refused(const PyOpWrapper& wrapper, const Slots& slots) {
  PyObject *type, *value, *traceback;
  PyErr_Fetch(&type, &value, &traceback);
  call_python(PyErr_NormalizeException, &type, &value, &traceback);
  const PyRef held[] = {PyRef(type), PyRef(value), PyRef(traceback)};
  if (traceback) PyException_SetTraceback(value, traceback);
  const PyRef empty(checked(PyTuple_New(0))), named(checked(PyDict_New()));
  const auto put = [&](PyObject* name, PyObject* object) {
    if (PyDict_SetItem(named.get(), name, object) < 0) throw_python_error();
  };
  size_t i = 0;
  for (const Parameter& parameter : *wrapper.parameters) {
    if (PyObject* object = slots[i++]) put(parameter.name.get(), object);
  }
  put(g_name, value);
  return PyObject_Call(wrapper.function, empty.get(), named.get());
}

PyObject* wrapper_call(PyObject* self, PyObject* const* args, size_t nargsf,
                       PyObject* keywords) {
  return guarded([&]() -> PyObject* {
    const PyOpWrapper& wrapper = wrapper_of(self);
    const size_t n = size_t(PyVectorcall_NARGS(nargsf));
    Slots slots;
    if (slots.fill(*wrapper.parameters, args, n, keywords)) {
      Arguments values(wrapper.op->schema.arguments.size());
      PyRef made(guarded([&]() -> PyObject* {
        const bool plain = read(wrapper, slots, values.data());
        return plain ? compute(wrapper, values.span()) : nullptr;
      }));
      if (made) {
        return wrapper.result ? PyObject_CallObject(wrapper.result, made.get())
                              : made.release();
      }
      if (PyErr_Occurred()) {
        if (!PyErr_ExceptionMatches(PyExc_Exception)) return nullptr;
        return refused(wrapper, slots);
      }
    }
    return PyObject_Vectorcall(wrapper.function, args, n, keywords);
  });
}

// {"x": "x", "lambda_": "lambda"}: names of parameters, and what the op calls them.
std::vector<Parameter> parameters_of(const Operator& op, PyObject* names) {
  const auto& arguments = op.schema.arguments;
  expect(PyDict_Check(names), {"OpWrapper", "parameters"}, "a dict", names);
  PKG_CHECK(size_t(PyDict_GET_SIZE(names)) == arguments.size(), ValueError,
            "[OpWrapper] expected a dict with a name for each argument of ",
            op.schema.str(), ".");
  std::vector<Parameter> parameters;
  uint32_t known = 0;
  PyObject *name, *argument;
  for (Py_ssize_t next = 0; PyDict_Next(names, &next, &name, &argument);) {
    std::string text, key;
    if (!to_cpp(name, key, {"OpWrapper", "parameters"}) ||
        !to_cpp(argument, text, {"OpWrapper", "parameters"})) {
      throw_python_error();
    }
    const int at = op.schema.index_of(text);
    PKG_CHECK(at >= 0 && !(known >> at & 1), ValueError,
              "[OpWrapper] expected each argument of ", op.schema.str(), " once, got '",
              text, "'.");
    known |= uint32_t{1} << at;
    const pkg::Argument& found = arguments[size_t(at)];
    PyRef interned(checked(PyUnicode_InternFromString(key.c_str())));
    const bool tensor = found.type == ArgType::Tensor && !found.list;
    parameters.push_back({std::move(interned), size_t(at), tensor});
  }
  return parameters;
}

PyObject* wrapper_new(PyTypeObject* type, PyObject* args, PyObject* keywords) {
  return guarded([&]() -> PyObject* {
    PyObject *function, *given, *names, *result = Py_None;
    parse_arguments(args, keywords, "OOO|O:OpWrapper", {"", "", "", ""}, &function, &given,
                    &names, &result);
    std::string qualified;
    if (!to_cpp(given, qualified, {"OpWrapper", "op"})) return nullptr;
    const Operator& op = Dispatcher::get().find(qualified);
    auto parameters = std::make_unique<std::vector<Parameter>>(parameters_of(op, names));
    PyObject* self = checked(type->tp_alloc(type, 0));
    PyOpWrapper& made = wrapper_of(self);
    made.vectorcall = wrapper_call;
    made.function = new_ref(function);
    made.result = result == Py_None ? nullptr : new_ref(result);
    made.op = &op;
    made.parameters = parameters.release();
    return self;
  });
}

int wrapper_traverse(PyObject* self, visitproc visit, void* arg) {
  const PyOpWrapper& wrapper = wrapper_of(self);
  Py_VISIT(Py_TYPE(self));
  Py_VISIT(wrapper.function);
  Py_VISIT(wrapper.result);
  Py_VISIT(wrapper.dict);
  return 0;
}
// But for the function: who calls it while it is taken apart finds it still.
int wrapper_clear(PyObject* self) {
  Py_CLEAR(wrapper_of(self).dict);
  return 0;
}
void wrapper_dealloc(PyObject* self) {
  PyObject_GC_UnTrack(self);
  PyOpWrapper& wrapper = wrapper_of(self);
  if (wrapper.weakrefs) PyObject_ClearWeakRefs(self);
  for (PyObject* part : {wrapper.function, wrapper.result, wrapper.dict}) Py_XDECREF(part);
  delete wrapper.parameters;
  PyTypeObject* type = Py_TYPE(self);
  type->tp_free(self);
  Py_DECREF(type);
}

PyObject* wrapper_get(PyObject* self, PyObject* instance, PyObject*) {
  if (!instance || instance == Py_None) return new_ref(self);
  return PyMethod_New(self, instance);
}
PyObject* wrapper_repr(PyObject* self) {
  return PyUnicode_FromFormat("<op wrapper of %R>", wrapper_of(self).function);
}
// As a function: by the name that its module has it under.
PyObject* wrapper_reduce(PyObject* self, PyObject*) {
  return PyObject_GetAttrString(wrapper_of(self).function, "__qualname__");
}

PyMethodDef g_methods[] = {
    {"__reduce__", wrapper_reduce, METH_NOARGS, "__reduce__(self, /)\n--\n\nIts name."},
    {nullptr, nullptr, 0, nullptr}};
PyMemberDef g_members[] = {
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(PyOpWrapper, vectorcall), READONLY,
     nullptr},
    {"__dictoffset__", T_PYSSIZET, offsetof(PyOpWrapper, dict), READONLY, nullptr},
    {"__weaklistoffset__", T_PYSSIZET, offsetof(PyOpWrapper, weakrefs), READONLY, nullptr},
    {nullptr, 0, 0, 0, nullptr}};
PyGetSetDef g_getset[] = {
    {"__dict__", PyObject_GenericGetDict, PyObject_GenericSetDict, nullptr, nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr}};
PyType_Slot g_slots[] = {
    {Py_tp_doc,
     const_cast<char*>("OpWrapper(function, op, parameters, result=None, /)\n--\n\nThe "
                       "function, but for calls of plain tensors, which go to the op.")},
    {Py_tp_new, reinterpret_cast<void*>(wrapper_new)},
    {Py_tp_dealloc, reinterpret_cast<void*>(wrapper_dealloc)},
    {Py_tp_traverse, reinterpret_cast<void*>(wrapper_traverse)},
    {Py_tp_clear, reinterpret_cast<void*>(wrapper_clear)},
    {Py_tp_repr, reinterpret_cast<void*>(wrapper_repr)},
    {Py_tp_call, reinterpret_cast<void*>(PyVectorcall_Call)},
    {Py_tp_descr_get, reinterpret_cast<void*>(wrapper_get)},
    {Py_tp_methods, g_methods},
    {Py_tp_members, g_members},
    {Py_tp_getset, g_getset},
    {0, nullptr}};
PyType_Spec g_spec = {"pkg._pywrap_core.OpWrapper", sizeof(PyOpWrapper), 0,
                      Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL,
                      g_slots};

}  // namespace

void add_wrapper_type(PyObject* module) {
  g_name = checked(PyUnicode_InternFromString("name"));
  add_type(module, &g_spec);
}

}  // namespace pkg::python
