// SPDX-License-Identifier: Apache-2.0
// swig/python/op/py_operator.cc: the Operator type: vectorcalls, matched by schemas.
//
// One object per op name serves as function (pkg.add) and, being a method descriptor,
// as Tensor method (x.add) without a bound-method object per call.
#include "py_operator.h"

#include "dispatcher/direct_call.h"
#include "dispatcher/explain.h"
#include "dispatcher/match.h"
#include "dispatcher/read.h"
#include "dispatcher/signature.h"
#include "swigkit/function_type.h"
#include "swigkit/standard.h"

namespace pkg::python {
namespace {

// The names of the parameters of each overload, interned as keywords nearly always are, so
// that most are found without a look at their text.  Made at the first call with keywords.
using Names = std::vector<std::vector<PyRef>>;

struct PyOperator {
  static constexpr const char* kName = "pkg._pywrap_core.Operator";
  static constexpr const char* kDoc =
      "Operator(name, ns='pkg', /)\n--\n\nThe callable of an op and all its overloads.";
  static constexpr bool kIsObject = false;

  PyOperator(const std::string& called, std::vector<const Operator*> found)
      : name(check(PyUnicode_FromString(called.c_str()))),
        overloads(std::move(found)),
        simple(simple_of(overloads)),
        direct(simple ? direct_call_of<Reader>(*simple) : nullptr) {}
  static PyOperator make(PyObject* args, PyObject* keywords);
  PyObject* call(PyObject* const* args, Py_ssize_t n, PyObject* given);
  PyObject* repr() const { return PyUnicode_FromFormat("<op %U>", name.get()); }
  static PyObject* find(PyObject* self, PyObject* name);
  static PyMethodDef methods[];
  static PyGetSetDef attributes[];

  PyRef name;
  std::vector<const Operator*> overloads;
  const Operator* simple;  // what most calls mean, and how they are made, or null
  DirectCall<Reader> direct;
  std::unique_ptr<const Names> names{};
};
using OperatorType = FunctionType<PyOperator>;

const std::vector<const Operator*>& overloads_of(PyObject* self) {
  return OperatorType::record_of(self).overloads;
}

[[gnu::cold]] std::unique_ptr<const Names> make_names(
    const std::vector<const Operator*>& overloads) {
  auto names = std::make_unique<Names>();
  for (const Operator* op : overloads) {
    std::vector<PyRef>& own = names->emplace_back();
    for (const pkg::Argument& argument : op->schema.arguments) {
      own.emplace_back(checked(PyUnicode_InternFromString(argument.name.c_str())));
    }
  }
  return names;
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
      if (callee->overloads[which] != &op) continue;
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

Call call_of(PyOperator& callee, PyObject* const* args, Py_ssize_t n, PyObject* keywords) {
  if (keywords && !callee.names) callee.names = make_names(callee.overloads);
  return {{}, args, n, keywords, false, &callee};
}

PyObject* operator_explain(PyObject* self, PyObject* const* args, Py_ssize_t n_args,
                           PyObject* keywords) {
  return guarded([&] {
    PyOperator& callee = OperatorType::record_of(self);
    Call call = call_of(callee, args, n_args, keywords);
    return with_match(callee.overloads, call, [](const Operator& op, auto values) {
      return to_python(explain(op, values));
    });
  });
}

bool is_method(const std::vector<const Operator*>& overloads) {
  return overloads[0]->is_method();
}

}  // namespace

PyOperator PyOperator::make(PyObject* args, PyObject* keywords) {
  PyObject *given_name, *given_ns = nullptr;
  parse_arguments(args, keywords, "O|O:Operator", {"", ""}, &given_name, &given_ns);
  std::string name, ns = "pkg";
  if (!to_cpp(given_name, name, {"Operator", "name"}) ||
      (given_ns && !to_cpp(given_ns, ns, {"Operator", "ns"}))) {
    throw_python_error();
  }
  return {name, find_overloads(name, ns)};
}

PyObject* PyOperator::call(PyObject* const* args, Py_ssize_t n, PyObject* given) {
  if (direct && !given) {
    if (PyObject* result = direct(*simple, {args, args + n})) return result;
  }
  Call call = call_of(*this, args, n, given);
  return with_match(overloads, call, [](const Operator& op, auto values) {
    Stack stack;  // braces would clear its results to the last byte
    stack.args = values;
    Dispatcher::get().call_boxed(op, stack);
    return wrap_results(op, stack);
  });
}

// op.default and op.Tensor, as in PyTorch, are callables of one overload.
PyObject* PyOperator::find(PyObject* self, PyObject* name) {
  PyObject* found = PyObject_GenericGetAttr(self, name);
  if (found || !PyErr_ExceptionMatches(PyExc_AttributeError)) return found;
  const Operator* op = nullptr;
  {
    const ErrorAside aside;
    const char* text = PyUnicode_AsUTF8(name);  // null: a lone surrogate names nothing
    if (text) op = overload_of(overloads_of(self), text);
  }
  if (!op) return nullptr;
  PyErr_Clear();
  return guarded(
      [&] { return OperatorType::make(Py_TYPE(self), {op->schema.name, {op}}); });
}

PyMethodDef PyOperator::methods[] = {
    {"_explain", reinterpret_cast<PyCFunction>(reinterpret_cast<void*>(operator_explain)),
     METH_FASTCALL | METH_KEYWORDS,
     "_explain(self, /, *args, **kwargs)\n--\n\nRows of words on where such a call would "
     "go; see pkg.explain."},
    {nullptr, nullptr, 0, nullptr}};
PyGetSetDef PyOperator::attributes[] = {
    attribute_row<OperatorType::record_of,
                  [](const PyOperator& x) { return new_ref(x.name.get()); }>(
        "__name__", "Name of the op."),
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

void add_operator_type(PyObject* module) { OperatorType::add_to(module); }

}  // namespace pkg::python
