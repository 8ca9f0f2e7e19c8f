// SPDX-License-Identifier: Apache-2.0
// swig/python/op/py_operator.cc: the Operator type: vectorcalls, matched by schemas.
//
// One object per op name serves as function (pkg.add) and, being a method descriptor,
// as Tensor method (x.add) without a bound-method object per call.
#include "py_operator.h"

#include <structmember.h>

#include "direct_call.h"
#include "dispatcher/explain.h"
#include "dispatcher/match.h"
#include "dispatcher/read.h"
#include "dispatcher/signature.h"
#include "swigkit/standard.h"

namespace pkg::python {
namespace {

// The names of the parameters of each overload, interned as keywords nearly always are, so
// that most are found without a look at their text.  Made at the first call with keywords.
using Names = std::vector<std::vector<PyRef>>;

struct PyOperator {
  PyObject_HEAD vectorcallfunc vectorcall;
  std::vector<const Operator*>* overloads;
  const Operator* simple;  // what most calls mean, and how they are made, or null
  DirectCall direct;
  PyObject* name;
  const Names* names;
};

const std::vector<const Operator*>& overloads_of(PyObject* self) {
  return *reinterpret_cast<PyOperator*>(self)->overloads;
}

[[gnu::cold]] const Names* make_names(const std::vector<const Operator*>& overloads) {
  auto names = std::make_unique<Names>();
  for (const Operator* op : overloads) {
    std::vector<PyRef>& own = names->emplace_back();
    for (const pkg::Argument& argument : op->schema.arguments) {
      own.emplace_back(checked(PyUnicode_InternFromString(argument.name.c_str())));
    }
  }
  return names.release();
}

// A call by CPython's vectorcall convention.
struct Call : Reader {
  static constexpr bool kSpreads = true;

  PyObject* const* args;
  Py_ssize_t n_args;
  PyObject* keywords;  // tuple of names, or null; values follow args
  bool strict;         // a tensor is no number
  const PyOperator* callee;

  size_t positional() const { return size_t(n_args); }
  size_t named() const { return keywords ? size_t(PyTuple_GET_SIZE(keywords)) : 0; }
  PyObject* positional(size_t i) const { return args[i]; }
  PyObject* named(size_t k) const { return args[size_t(n_args) + k]; }
  std::string_view name(size_t k) const {
    Py_ssize_t size;
    const char* text = PyUnicode_AsUTF8AndSize(PyTuple_GET_ITEM(keywords, k), &size);
    if (!text) throw_python_error();
    return {text, size_t(size)};
  }
  int place_of(const Operator& op, size_t k) const {
    const PyObject* name = PyTuple_GET_ITEM(keywords, k);
    for (size_t which = 0; which < callee->names->size(); ++which) {
      if ((*callee->overloads)[which] != &op) continue;
      const std::vector<PyRef>& names = (*callee->names)[which];
      for (size_t i = 0; i < names.size(); ++i) {
        if (names[i].get() == name) return int(i);
      }
    }
    return -1;
  }
  static std::string_view alias(std::string_view name) { return numpys_alias(name); }
  bool ignores(size_t k) const {
    return named(k) == Py_None && is_numpys_default(*this, name(k));
  }
  // An int too big for any dtype gets the name of the parameter.
  bool parse(const Operator& op, const pkg::Argument& param, PyObject* object,
             Value* out) const {
    if (strict && param.type != ArgType::Tensor && is_tensor(object)) return false;
    try {
      return ReadValue<Reader>::run(param, object, out);
    } catch (const IntTooBig& error) { throw error.named(op.schema.name, param.name); }
  }
  static bool is_tensor(PyObject* object) { return python::is_tensor(object); }
  static void warn_deprecated(const std::string& text) {
    if (PyErr_WarnEx(PyExc_DeprecationWarning, text.c_str(), 1) < 0) throw_python_error();
  }
  struct Rest {
    PyRef tuple;
    operator PyObject*() const { return tuple.get(); }
  };
  Rest rest(size_t i) const {
    const size_t n = size_t(n_args) - i;
    return {PyRef(make_tuple(n, [&](size_t k) { return new_ref(args[i + k]); }))};
  }
};

Call call_of(PyOperator* callee, PyObject* const* args, Py_ssize_t n, PyObject* keywords) {
  if (keywords && !callee->names) callee->names = make_names(*callee->overloads);
  return {{}, args, n, keywords, false, callee};
}

// The overload that may be called directly: the only one; of several, that of one tensor
// alone, if those before it need more.
const Operator* simple_of(const std::vector<const Operator*>& overloads) {
  if (overloads.size() == 1) return overloads[0];
  for (const Operator* op : overloads) {
    if (op->is_unary()) return op;
    const auto& params = op->schema.arguments;
    const bool refuses = params.size() > 1 && !params[1].has_default;
    if (!refuses) return nullptr;
  }
  return nullptr;
}

PyObject* operator_call(PyObject* self, PyObject* const* args, size_t nargsf,
                        PyObject* keywords) {
  return guarded([&]() -> PyObject* {
    auto* object = reinterpret_cast<PyOperator*>(self);
    if (object->direct && !keywords) {
      const Given given{args, args + PyVectorcall_NARGS(nargsf)};
      if (PyObject* result = object->direct(*object->simple, given)) return result;
    }
    Call call = call_of(object, args, PyVectorcall_NARGS(nargsf), keywords);
    return with_match(overloads_of(self), call, [](const Operator& op, auto values) {
      Stack stack;  // braces would clear its results to the last byte
      stack.args = values;
      Dispatcher::get().call_boxed(op, stack);
      return wrap_results(op, stack);
    });
  });
}

PyObject* operator_explain(PyObject* self, PyObject* const* args, Py_ssize_t n_args,
                           PyObject* keywords) {
  return guarded([&] {
    Call call = call_of(reinterpret_cast<PyOperator*>(self), args, n_args, keywords);
    return with_match(overloads_of(self), call, [](const Operator& op, auto values) {
      return to_python(explain(op, values));
    });
  });
}

PyObject* make_operator(PyTypeObject* type, const char* name,
                        std::vector<const Operator*> overloads) {
  PyObject* self = checked(type->tp_alloc(type, 0));
  auto* object = reinterpret_cast<PyOperator*>(self);
  object->vectorcall = operator_call;
  object->simple = simple_of(overloads);
  object->direct = object->simple ? direct_call_of(*object->simple) : nullptr;
  object->overloads = new std::vector<const Operator*>(std::move(overloads));
  object->name = PyUnicode_FromString(name);
  return self;
}

PyObject* operator_new(PyTypeObject* type, PyObject* args, PyObject* keywords) {
  return guarded([&]() -> PyObject* {
    PyObject *given_name, *given_ns = nullptr;
    parse_arguments(args, keywords, "O|O:Operator", {"", ""}, &given_name, &given_ns);
    std::string name, ns = "pkg";
    if (!to_cpp(given_name, name, {"Operator", "name"}) ||
        (given_ns && !to_cpp(given_ns, ns, {"Operator", "ns"}))) {
      return nullptr;
    }
    return make_operator(type, name.c_str(), find_overloads(name, ns));
  });
}

// op.default and op.Tensor, as in PyTorch, are callables of one overload.
PyObject* operator_getattr(PyObject* self, PyObject* name) {
  PyObject* found = PyObject_GenericGetAttr(self, name);
  if (found || !PyErr_ExceptionMatches(PyExc_AttributeError)) return found;
  PyObject *type, *value, *traceback;
  PyErr_Fetch(&type, &value, &traceback);
  const char* text = PyUnicode_AsUTF8(name);  // null: a lone surrogate, which names nothing
  const Operator* op = text ? overload_of(overloads_of(self), text) : nullptr;
  PyErr_Clear();
  if (!op) return PyErr_Restore(type, value, traceback), nullptr;
  for (PyObject* part : {type, value, traceback}) Py_XDECREF(part);
  return guarded(
      [&] { return make_operator(Py_TYPE(self), op->schema.name.c_str(), {op}); });
}

void operator_dealloc(PyObject* self) {
  auto* object = reinterpret_cast<PyOperator*>(self);
  delete object->overloads;
  delete object->names;
  Py_XDECREF(object->name);
  PyTypeObject* type = Py_TYPE(self);
  type->tp_free(self);
  Py_DECREF(type);
}

// As a class attribute: x.add is add with x in front.
PyObject* operator_get(PyObject* self, PyObject* instance, PyObject*) {
  if (!instance || instance == Py_None) return new_ref(self);
  return PyMethod_New(self, instance);
}

PyObject* operator_repr(PyObject* self) {
  return PyUnicode_FromFormat("<op %U>", reinterpret_cast<PyOperator*>(self)->name);
}
bool is_method(const std::vector<const Operator*>& overloads) {
  return overloads[0]->is_method();
}

PyMethodDef g_methods[] = {
    {"_explain", reinterpret_cast<PyCFunction>(reinterpret_cast<void*>(operator_explain)),
     METH_FASTCALL | METH_KEYWORDS,
     "_explain(self, /, *args, **kwargs)\n--\n\nRows of words on where such a call would "
     "go; see pkg.explain."},
    {nullptr, nullptr, 0, nullptr}};
PyMemberDef g_members[] = {
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(PyOperator, vectorcall), READONLY,
     nullptr},
    {"__name__", T_OBJECT, offsetof(PyOperator, name), READONLY, "Name of the op."},
    {nullptr, 0, 0, 0, nullptr}};
PyGetSetDef g_getset[] = {
    attribute_row<overloads_of, help_text>("__doc__", nullptr),
    // inspect.signature() reads it.
    attribute_row<overloads_of, signature_text>("__text_signature__", nullptr),
    attribute_row<overloads_of, schemas_of>("schemas", "Schema of each overload."),
    attribute_row<overloads_of, records_of>(
        "records",
        "What the registry knows of each overload: a dict with schema, doc, where, kind\n"
        "(structured, composite, view, function), gradient (formula, composed, none,\n"
        "missing) and dispatch_keys, the keys it has a kernel of its own for."),
    attribute_row<overloads_of, schema_of>(
        "_schema", "Schema with the namespace; of one overload, such as op.default."),
    attribute_row<overloads_of, is_method>("is_method",
                                           "Whether it is a method of Tensor."),
    {}};
PyType_Slot g_slots[] = {
    {Py_tp_doc, const_cast<char*>("Operator(name, ns='pkg', /)\n--\n\nThe callable of an "
                                  "op and all its overloads.")},
    {Py_tp_new, reinterpret_cast<void*>(operator_new)},
    {Py_tp_dealloc, reinterpret_cast<void*>(operator_dealloc)},
    {Py_tp_repr, reinterpret_cast<void*>(operator_repr)},
    {Py_tp_call, reinterpret_cast<void*>(PyVectorcall_Call)},
    {Py_tp_getattro, reinterpret_cast<void*>(operator_getattr)},
    {Py_tp_descr_get, reinterpret_cast<void*>(operator_get)},
    {Py_tp_methods, g_methods},
    {Py_tp_members, g_members},
    {Py_tp_getset, g_getset},
    {0, nullptr}};
PyType_Spec g_spec = {
    "pkg._pywrap_core.Operator", sizeof(PyOperator), 0,
    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_VECTORCALL | Py_TPFLAGS_METHOD_DESCRIPTOR,
    g_slots};

}  // namespace

void add_operator_type(PyObject* module) {
  PyTypeObject* type = add_type(module, &g_spec);
  // Py_tp_doc, which tells the signature of the class, has hidden the op's own text.
  PyRef doc = check(PyDescr_NewGetSet(type, &g_getset[0]));
  check(PyDict_SetItemString(type->tp_dict, "__doc__", doc.get()));
  PyType_Modified(type);
}

}  // namespace pkg::python
