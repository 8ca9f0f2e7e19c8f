// SPDX-License-Identifier: Apache-2.0
// tests/kit/cases/errors.i: errors.h by the kit.
%module errors
%include "swigkit.i"
%{
#include "errors.h"
%}
%value(errors::Fragile)
%value(errors::Worker)
%exceptions(errors::Error, "GeometryError", PyExc_ValueError)
%exceptions(errors::DeepError, "DeepError", "GeometryError")
%raised_as(errors::End, PyExc_StopIteration)
%raised_as(errors::Missing, PyExc_AttributeError)
%ignore errors::Faulty::refuse;
%buffer(errors::Faulty, data, size)
%property(errors::Countdown, int, weight, weight)
%property(errors::Fragile, int, value, get_value, set_value)
%releases_gil(errors::meet)
%releases_gil(errors::wait)
%releases_gil(errors::Worker::meet)
%releases_gil(errors::sum_on_threads)
%releases_gil(errors::join)
%releases_gil(errors::fail_on_thread)
%ignore errors::UnknownError;
%ignore errors::Odd;
%ignore errors::background;
%ignore errors::held;
%include "errors.h"

// What is written in the C API beside it: arrays.h, by_hand.h, sites.h, later.h.
%remark(mark, "by number")
%{
#include "swigkit/arrays.h"
#include "swigkit/by_hand.h"
#include "swigkit/function_type.h"
#include "swigkit/later.h"
#include "swigkit/listed.h"
#include "swigkit/sites.h"
static swigkit::CallSites &sites() {
  static auto *all = new swigkit::CallSites(
      [](std::string_view file, std::string_view) { return file.ends_with("inside.py"); });
  return *all;
}
%}
%{
static int g_given_back = 0;
static void give_number_back(int *number) {
  ++g_given_back;
  delete number;
}
// A type with tables of its own, over a C++ object.
struct Gauge {
  double value;
  std::vector<double> history;
};
struct PyGauge {
  PyObject_HEAD Gauge *gauge;
};
static Gauge &gauge_of(PyObject *self) { return *reinterpret_cast<PyGauge *>(self)->gauge; }
static double value_of(const Gauge &gauge) { return gauge.value; }
static void set_value(Gauge &gauge, PyObject *value) {
  if (!value) throw errors::End();
  if (!swigkit::to_cpp(value, gauge.value, {"Gauge", "value"})) swigkit::throw_python_error();
}
static std::vector<double> history(const Gauge &gauge) {
  if (gauge.history.empty()) throw std::out_of_range("no history");
  return gauge.history;
}
static PyObject *scaled(Gauge &gauge, double by, std::optional<double> plus,
                        std::optional<std::string> unit) {
  gauge.history.push_back(gauge.value * by + plus.value_or(0));
  if (!unit) return swigkit::to_python(gauge.history.back());
  return PyUnicode_FromFormat("%d %s", int(gauge.history.back()), unit->c_str());
}
// A type whose conversion throws.
struct Percent {
  int value = 0;
};
template <>
struct swigkit::Convert<Percent> {
  static std::string expected() { return "0 to 100"; }
  static bool load(PyObject *object, Percent &percent, const Argument &where) {
    if (!to_cpp(object, percent.value, where)) return false;
    if (percent.value > 100) throw std::out_of_range("more than all");
    return true;
  }
};
static double filled(Gauge &gauge, Percent by, std::optional<Percent> more) {
  return gauge.value * (by.value + (more ? more->value : 0)) / 100;
}
static PyTypeObject *make_gauge() {
  using namespace swigkit;
  static PyGetSetDef getset[] = {
      {"value", get_by<gauge_of, value_of>, set_by<gauge_of, set_value>, nullptr, nullptr},
      attribute_row<gauge_of, value_of>("shown", "Only read."),
      {}};
  static PyMethodDef methods[] = {
      {"history", call_by<gauge_of, history>, METH_NOARGS, nullptr},
      {"scaled", call_with<gauge_of, scaled, "scaled", "by", "plus", "*unit">(),
       METH_FASTCALL | METH_KEYWORDS, nullptr},
      method_row<gauge_of, filled, "So full.", "filled", "by", "more">(),
      method_row<gauge_of, scaled, "Again.", "again", "by", "*plus", "unit">(),
      method_row<gauge_of, value_of, "As a method.", "get">(),
      {}};
  static PyType_Slot slots[] = {
      {Py_tp_getset, getset},
      {Py_tp_methods, methods},
      {Py_tp_dealloc, (void *)+[](PyObject *self) {
         delete reinterpret_cast<PyGauge *>(self)->gauge;
         PyTypeObject *type = Py_TYPE(self);
         type->tp_free(self);
         Py_DECREF(type);
       }},
      {0, nullptr}};
  static PyType_Spec spec = {"errors.Gauge", int(sizeof(PyGauge)), 0,
                             Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
                             slots};
  return reinterpret_cast<PyTypeObject *>(check(PyType_FromSpec(&spec)).release());
}
%}
%{
// Functions that C++ makes: numbers times one that they know.
struct PyScale {
  static constexpr const char *kName = "errors.Scale";
  static constexpr const char *kDoc = "Scale(by, kept=None, /)\n--\n\nTimes a number.";
  static constexpr bool kIsObject = true;
  static PyScale make(PyObject *args, PyObject *keywords) {
    double by;
    PyObject *kept = Py_None;
    swigkit::parse_arguments(args, keywords, "d|O:Scale", {"", ""}, &by, &kept);
    return {by, swigkit::PyRef::borrow(kept)};
  }
  PyObject *call(PyObject *const *args, Py_ssize_t n, PyObject *keywords) const {
    if (n == 0 || keywords) throw std::invalid_argument("a number, without a name");
    double value = 0;  // the last one: of a method the first one is the object
    if (!swigkit::to_cpp(args[n - 1], value, {"Scale", "value"})) swigkit::throw_python_error();
    return swigkit::to_python(by * value);
  }
  PyObject *repr() const { return swigkit::to_python("<times " + text() + ">"); }
  int traverse(visitproc visit, void *arg) const {
    Py_VISIT(kept.get());
    return 0;
  }
  std::string text() const { return std::to_string(by).substr(0, 3); }
  static PyMethodDef methods[];
  static PyGetSetDef attributes[];

  double by;
  swigkit::PyRef kept;
};
using ScaleType = swigkit::FunctionType<PyScale>;
static std::string text_of_scale(const PyScale &scale) { return scale.text(); }
PyMethodDef PyScale::methods[] = {
    swigkit::method_row<ScaleType::record_of, text_of_scale, "As a text.", "text">(), {}};
PyGetSetDef PyScale::attributes[] = {
    swigkit::attribute_row<ScaleType::record_of, text_of_scale>("__doc__", nullptr), {}};
%}
%init %{
  if (!swigkit::guarded([&] { return ScaleType::add_to(m), true; }, false)) return -1;
%}
%releases_gil(call_alone)
%inline %{
std::optional<double> ask(const swigkit::PyCallable &callable, double value,
                          const std::string &unit) {
  return swigkit::call_as<std::optional<double>>(callable, {"ask", "callable"}, value, unit);
}
// By views of what the callable returns.
size_t ask_text(const swigkit::PyCallable &callable) {
  return swigkit::call_as<std::string_view>(callable, {"ask_text", "callable"}).size();
}
size_t ask_numbers(const swigkit::PyCallable &callable) {
  return swigkit::call_as<std::span<const double>>(callable, {"ask", "callable"}).size();
}
void call_alone(const swigkit::PyCallable &callable) { callable.call_alone(); }
swigkit::PyRef gauge(double value) {
  static PyTypeObject *type = make_gauge();
  swigkit::PyRef made = swigkit::check(type->tp_alloc(type, 0));
  reinterpret_cast<PyGauge *>(made.get())->gauge = new Gauge{value, {}};
  return made;
}
// Every second number of a row of them, by rows.
swigkit::PyRef every_second(const std::vector<double> &all, Py_ssize_t rows,
                            Py_ssize_t columns) {
  const Py_ssize_t there = (all.size() + 1) / 2;
  if (rows < 0 || columns < 0 || (columns && rows > there / columns)) {
    throw std::out_of_range("not so many numbers");
  }
  const std::vector<Py_ssize_t> shape{rows, columns}, steps{16 * columns, 16};
  return swigkit::PyRef(swigkit::nested_list(
      shape, steps, reinterpret_cast<const char *>(all.data()), [](const char *place) {
        return swigkit::to_python(*reinterpret_cast<const double *>(place));
      }));
}
std::optional<std::string> text_of(PyObject *object, const std::string &name) {
  swigkit::PyRef keep;
  const char *text = swigkit::text_attribute(object, name.c_str(), keep);
  return text ? std::optional<std::string>(text) : std::nullopt;
}
// What arrays.h knows of an object: array, derived array, without dimensions, kind, name.
std::tuple<bool, bool, bool, std::string, std::string> array_facts(PyObject *object) {
  swigkit::PyRef keep;
  const char *name = swigkit::dtype_name(object, keep);
  const char kind[] = {swigkit::dtype_kind(object), 0};
  return {swigkit::is_array(object), swigkit::is_derived_array(object),
          swigkit::is_dimensionless(object), kind, name ? name : ""};
}
constexpr const char *kNumber = "number";
swigkit::PyRef capsule_of(int number) {
  return swigkit::PyRef(swigkit::make_capsule<give_number_back, kNumber>(new int(number)));
}
int take_capsule(PyObject *capsule) {
  void *content = PyCapsule_GetPointer(capsule, "number");
  swigkit::check(content ? PyCapsule_SetName(capsule, "used") : -1);
  return *std::unique_ptr<int>(static_cast<int *>(content));
}
int numbers_given_back() { return g_given_back; }
// Where a zero may come.
int count_of(PyObject *counts) {
  const swigkit::Argument where{"count_of", "counts"};
  PyObject *key, *item;
  Py_ssize_t at = 0;
  int sum = 0, value = 0;
  while (PyDict_Next(counts, &at, &key, &item)) {
    if (!swigkit::to_cpp(item, value, where.value_of(key))) swigkit::throw_python_error();
    sum += value;
  }
  return sum;
}
size_t length_of(const char *text) { return std::strlen(text); }
std::string held_text(PyObject *error) {
  PyErr_SetObject((PyObject *)Py_TYPE(error), error);
  return swigkit::HeldError::fetch().text();
}
std::string folder() { return swigkit::module_folder(); }
std::vector<std::array<std::string, 3>> listing() {
  std::vector<std::array<std::string, 3>> rows;
  for (const auto &[name, cpp, remark] : swigkit::listed()) {
    rows.push_back({name, cpp, remark});
  }
  return rows;
}
uint64_t mark() { return sites().mark(); }
std::string site(uint64_t place) { return sites().text(place); }
bool raise_later(PyObject *error) {
  PyErr_SetObject((PyObject *)Py_TYPE(error), error);
  return swigkit::LateError::raise(swigkit::HeldError::fetch());
}
swigkit::PyRef extent(double low, double high) {
  static PyTypeObject *type =
      swigkit::make_named_tuple("errors.Extent", "From where to where.", {"low", "high"});
  swigkit::PyRef made = swigkit::check(PyStructSequence_New(type));
  PyStructSequence_SetItem(made.get(), 0, PyFloat_FromDouble(low));
  PyStructSequence_SetItem(made.get(), 1, PyFloat_FromDouble(high));
  return made;
}
std::string parse(PyObject *args, PyObject *keywords) {
  int first = 0, truth = 0;
  swigkit::parse_arguments(args, keywords, "i|$p:parse", {"", "truth"}, &first, &truth);
  return std::to_string(first) + (truth ? " yes" : " no");
}
%}
