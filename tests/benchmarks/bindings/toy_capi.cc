// SPDX-License-Identifier: Apache-2.0
// toy_capi.cc: toy.h by hand on CPython's C API, as fast as its public functions allow.
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <structmember.h>

#include "toy.h"

namespace {

// --- Arguments -----------------------------------------------------------------------

struct Parameters {
  const char* function;
  const char* const* names;
  Py_ssize_t required, total;
};

bool refuse(const char* function, const char* what, PyObject* name) {
  PyErr_Format(PyExc_TypeError, "%s() %s argument '%U'", function, what, name);
  return false;
}

bool by_keyword(const Parameters& p, PyObject* const* args, Py_ssize_t nargs,
                PyObject* keywords, PyObject** slots) {
  const Py_ssize_t given = keywords ? PyTuple_GET_SIZE(keywords) : 0;
  if (nargs > p.total) {
    PyErr_Format(PyExc_TypeError, "%s() takes at most %zd arguments (%zd given)",
                 p.function, p.total, nargs);
    return false;
  }
  for (Py_ssize_t i = 0; i < p.total; ++i) slots[i] = i < nargs ? args[i] : nullptr;
  for (Py_ssize_t k = 0; k < given; ++k) {
    PyObject* name = PyTuple_GET_ITEM(keywords, k);
    Py_ssize_t at = 0;
    while (at < p.total && PyUnicode_CompareWithASCIIString(name, p.names[at]) != 0) {
      ++at;
    }
    if (at == p.total) return refuse(p.function, "got an unexpected keyword", name);
    if (slots[at]) return refuse(p.function, "got multiple values for", name);
    slots[at] = args[nargs + k];
  }
  for (Py_ssize_t i = 0; i < p.required; ++i) {
    if (slots[i]) continue;
    PyErr_Format(PyExc_TypeError, "%s() missing required argument '%s'", p.function,
                 p.names[i]);
    return false;
  }
  return true;
}

bool take(const Parameters& p, PyObject* const* args, Py_ssize_t nargs, PyObject* keywords,
          PyObject** slots) {
  if (keywords || nargs != p.total) return by_keyword(p, args, nargs, keywords, slots);
  for (Py_ssize_t i = 0; i < nargs; ++i) slots[i] = args[i];
  return true;
}

bool to_double(PyObject* object, double& value) {
  value = PyFloat_AsDouble(object);
  return value != -1.0 || !PyErr_Occurred();
}

// --- Exceptions ----------------------------------------------------------------------

struct PythonFailed {};  // the error is set

PyObject* translate() {
  try {
    throw;
  } catch (const PythonFailed&) {
  } catch (const std::bad_alloc&) {
    PyErr_NoMemory();
  } catch (const std::invalid_argument& error) {
    PyErr_SetString(PyExc_ValueError, error.what());
  } catch (const std::exception& error) {
    PyErr_SetString(PyExc_RuntimeError, error.what());
  }
  return nullptr;
}

// --- Functions -----------------------------------------------------------------------

#define FAST PyObject *, PyObject *const *args, Py_ssize_t nargs, PyObject *keywords

PyObject* add(FAST) {
  static const char* const names[] = {"a", "b"};
  PyObject* slots[2];
  double a, b;
  if (!take({"add", names, 2, 2}, args, nargs, keywords, slots)) return nullptr;
  if (!to_double(slots[0], a) || !to_double(slots[1], b)) return nullptr;
  return PyFloat_FromDouble(toy::add(a, b));
}

PyObject* twice(FAST) {
  static const char* const names[] = {"n"};
  PyObject* slots[1];
  if (!take({"twice", names, 1, 1}, args, nargs, keywords, slots)) return nullptr;
  const long n = PyLong_AsLong(slots[0]);
  if (n == -1 && PyErr_Occurred()) return nullptr;
  if (n != int(n)) {
    PyErr_Format(PyExc_OverflowError, "twice() n: %ld does not fit int", n);
    return nullptr;
  }
  return PyLong_FromLong(toy::twice(int(n)));
}

PyObject* clamp(FAST) {
  static const char* const names[] = {"value", "low", "high"};
  PyObject* slots[3];
  double value, low = 0.0, high = 1.0;
  if (!take({"clamp", names, 1, 3}, args, nargs, keywords, slots)) return nullptr;
  if (!to_double(slots[0], value) || (slots[1] && !to_double(slots[1], low)) ||
      (slots[2] && !to_double(slots[2], high))) {
    return nullptr;
  }
  return PyFloat_FromDouble(toy::clamp(value, low, high));
}

PyObject* greet(FAST) {
  static const char* const names[] = {"name"};
  PyObject* slots[1];
  if (!take({"greet", names, 1, 1}, args, nargs, keywords, slots)) return nullptr;
  Py_ssize_t size;
  const char* data = PyUnicode_AsUTF8AndSize(slots[0], &size);
  if (!data) return nullptr;
  try {
    const std::string text = toy::greet(std::string(data, size_t(size)));
    return PyUnicode_FromStringAndSize(text.data(), Py_ssize_t(text.size()));
  } catch (...) { return translate(); }
}

PyObject* scaled(FAST) {
  static const char* const names[] = {"values", "by"};
  PyObject* slots[2];
  double by;
  if (!take({"scaled", names, 2, 2}, args, nargs, keywords, slots)) return nullptr;
  if (!to_double(slots[1], by)) return nullptr;
  PyObject* items = PySequence_Fast(slots[0], "scaled() values: expected a sequence");
  if (!items) return nullptr;
  PyObject* list = nullptr;
  try {
    std::vector<double> values(size_t(PySequence_Fast_GET_SIZE(items)));
    for (size_t i = 0; i < values.size(); ++i) {
      PyObject* item = PySequence_Fast_GET_ITEM(items, Py_ssize_t(i));
      if (!to_double(item, values[i])) throw PythonFailed();
    }
    const std::vector<double> result = toy::scaled(values, by);
    list = PyList_New(Py_ssize_t(result.size()));
    for (size_t i = 0; list && i < result.size(); ++i) {
      PyObject* item = PyFloat_FromDouble(result[i]);
      if (!item) throw PythonFailed();
      PyList_SET_ITEM(list, Py_ssize_t(i), item);
    }
  } catch (...) {
    Py_CLEAR(list);
    translate();
  }
  Py_DECREF(items);
  return list;
}

PyObject* divide(FAST) {
  static const char* const names[] = {"a", "b"};
  PyObject* slots[2];
  double a, b;
  if (!take({"divide", names, 2, 2}, args, nargs, keywords, slots)) return nullptr;
  if (!to_double(slots[0], a) || !to_double(slots[1], b)) return nullptr;
  try {
    return PyFloat_FromDouble(toy::divide(a, b));
  } catch (...) { return translate(); }
}

// Borrows: toy::apply does not keep its function.
double call_python(PyObject* callable, double x) {
  const PyGILState_STATE state = PyGILState_Ensure();
  double value = -1.0;
  PyObject* argument = PyFloat_FromDouble(x);
  if (argument) {
    PyObject* result = PyObject_CallOneArg(callable, argument);
    Py_DECREF(argument);
    if (result) {
      value = PyFloat_AsDouble(result);
      Py_DECREF(result);
    }
  }
  const bool failed = value == -1.0 && PyErr_Occurred();
  PyGILState_Release(state);
  if (failed) throw PythonFailed();
  return value;
}

PyObject* apply(FAST) {
  static const char* const names[] = {"f", "x"};
  PyObject* slots[2];
  double x;
  if (!take({"apply", names, 2, 2}, args, nargs, keywords, slots)) return nullptr;
  if (!to_double(slots[1], x)) return nullptr;
  PyObject* callable = slots[0];
  try {
    return PyFloat_FromDouble(
        toy::apply([callable](double v) { return call_python(callable, v); }, x));
  } catch (...) { return translate(); }
}

#define ROW(name, doc) \
  {#name, (PyCFunction)(void (*)(void))name, METH_FASTCALL | METH_KEYWORDS, doc}
PyMethodDef functions[] = {
    ROW(add, "add(a, b)\n--\n\nSum of two numbers."),
    ROW(twice, "twice(n)\n--\n\n`n` times two."),
    ROW(clamp,
        "clamp(value, low=0.0, high=1.0)\n--\n\n`value`, but not below `low` nor above "
        "`high`."),
    ROW(greet, "greet(name)\n--\n\nA greeting."),
    ROW(scaled, "scaled(values, by)\n--\n\nEach value times `by`."),
    ROW(divide, "divide(a, b)\n--\n\n`a` divided by `b`."),
    ROW(apply, "apply(f, x)\n--\n\n`f(x)`."),
    {nullptr, nullptr, 0, nullptr},
};

// --- Point ---------------------------------------------------------------------------

struct PyPoint {
  PyObject_HEAD toy::Point point;
  PyObject* dict;
  PyObject* weak;
};
PyTypeObject* g_point = nullptr;

toy::Point& cpp(PyObject* self) { return reinterpret_cast<PyPoint*>(self)->point; }
bool is_point(PyObject* object) { return PyObject_TypeCheck(object, g_point); }

PyObject* point_new(PyTypeObject* type, PyObject* args, PyObject* keywords) {
  static const char* const names[] = {"x", "y", nullptr};
  double x, y;
  if (!PyArg_ParseTupleAndKeywords(args, keywords, "dd:Point", const_cast<char**>(names),
                                   &x, &y)) {
    return nullptr;
  }
  PyObject* self = type->tp_alloc(type, 0);
  if (self) new (&cpp(self)) toy::Point(x, y);
  return self;
}

int point_traverse(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(reinterpret_cast<PyPoint*>(self)->dict);
  Py_VISIT(Py_TYPE(self));
  return 0;
}
int point_clear(PyObject* self) {
  Py_CLEAR(reinterpret_cast<PyPoint*>(self)->dict);
  return 0;
}
void point_dealloc(PyObject* self) {
  PyObject_GC_UnTrack(self);
  if (reinterpret_cast<PyPoint*>(self)->weak) PyObject_ClearWeakRefs(self);
  point_clear(self);
  cpp(self).~Point();
  PyTypeObject* type = Py_TYPE(self);
  type->tp_free(self);
  Py_DECREF(type);
}

PyObject* norm2(PyObject* self, PyObject*) { return PyFloat_FromDouble(cpp(self).norm2()); }
PyObject* dot(PyObject* self, PyObject* const* args, Py_ssize_t nargs, PyObject* keywords) {
  static const char* const names[] = {"other"};
  PyObject* slots[1];
  if (!take({"dot", names, 1, 1}, args, nargs, keywords, slots)) return nullptr;
  if (!is_point(slots[0])) {
    PyErr_Format(PyExc_TypeError, "dot() other: expected Point, got %s",
                 Py_TYPE(slots[0])->tp_name);
    return nullptr;
  }
  return PyFloat_FromDouble(cpp(self).dot(cpp(slots[0])));
}
PyObject* move(PyObject* self, PyObject* const* args, Py_ssize_t nargs,
               PyObject* keywords) {
  static const char* const names[] = {"dx", "dy"};
  PyObject* slots[2];
  double dx, dy;
  if (!take({"move", names, 2, 2}, args, nargs, keywords, slots)) return nullptr;
  if (!to_double(slots[0], dx) || !to_double(slots[1], dy)) return nullptr;
  cpp(self).move(dx, dy);
  Py_RETURN_NONE;
}
PyObject* plus(PyObject* a, PyObject* b) {
  if (!is_point(a) || !is_point(b)) Py_RETURN_NOTIMPLEMENTED;
  PyObject* result = g_point->tp_alloc(g_point, 0);
  if (result) new (&cpp(result)) toy::Point(cpp(a) + cpp(b));
  return result;
}
PyObject* richcompare(PyObject* a, PyObject* b, int op) {
  if ((op != Py_EQ && op != Py_NE) || !is_point(b)) Py_RETURN_NOTIMPLEMENTED;
  return PyBool_FromLong((cpp(a) == cpp(b)) == (op == Py_EQ));
}
template <double toy::Point::* Member>
PyObject* get(PyObject* self, void*) {
  return PyFloat_FromDouble(cpp(self).*Member);
}
template <double toy::Point::* Member>
int set(PyObject* self, PyObject* value, void*) {
  if (!value) {
    PyErr_SetString(PyExc_AttributeError, "cannot delete this attribute");
    return -1;
  }
  return to_double(value, cpp(self).*Member) ? 0 : -1;
}

PyMethodDef methods[] = {
    {"norm2", norm2, METH_NOARGS,
     "norm2($self)\n--\n\nSquare of the distance from the origin."},
    ROW(dot, "dot($self, other)\n--\n\nScalar product."),
    ROW(move, "move($self, dx, dy)\n--\n\nMoves the point in place."),
    {nullptr, nullptr, 0, nullptr},
};
PyGetSetDef getset[] = {
    {"x", get<&toy::Point::x>, set<&toy::Point::x>, nullptr, nullptr},
    {"y", get<&toy::Point::y>, set<&toy::Point::y>, nullptr, nullptr},
    {"__dict__", PyObject_GenericGetDict, PyObject_GenericSetDict, nullptr, nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr},
};
PyMemberDef members[] = {
    {"__dictoffset__", T_PYSSIZET, offsetof(PyPoint, dict), READONLY, nullptr},
    {"__weaklistoffset__", T_PYSSIZET, offsetof(PyPoint, weak), READONLY, nullptr},
    {nullptr, 0, 0, 0, nullptr},
};
PyType_Slot slots[] = {
    {Py_tp_doc, const_cast<char*>("A point of the plane.")},
    {Py_tp_new, (void*)point_new},
    {Py_tp_dealloc, (void*)point_dealloc},
    {Py_tp_traverse, (void*)point_traverse},
    {Py_tp_clear, (void*)point_clear},
    {Py_tp_methods, methods},
    {Py_tp_getset, getset},
    {Py_tp_members, members},
    {Py_nb_add, (void*)plus},
    {Py_tp_richcompare, (void*)richcompare},
    {0, nullptr},
};
PyType_Spec spec = {"toy_capi.Point", sizeof(PyPoint), 0,
                    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC, slots};

PyModuleDef definition = {PyModuleDef_HEAD_INIT,
                          "toy_capi",
                          nullptr,
                          -1,
                          functions,
                          nullptr,
                          nullptr,
                          nullptr,
                          nullptr};

}  // namespace

PyMODINIT_FUNC PyInit_toy_capi() {
  PyObject* m = PyModule_Create(&definition);
  g_point = reinterpret_cast<PyTypeObject*>(PyType_FromSpec(&spec));
  if (!m || !g_point || PyModule_AddObjectRef(m, "Point", (PyObject*)g_point) < 0) {
    Py_XDECREF(m);
    return nullptr;
  }
  return m;
}
