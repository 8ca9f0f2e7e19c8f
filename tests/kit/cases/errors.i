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
%include "errors.h"

// What is written in the C API beside it: by_hand.h, sites.h, later.h.
%{
#include "swigkit/by_hand.h"
#include "swigkit/later.h"
#include "swigkit/sites.h"
static swigkit::CallSites &sites() {
  static auto *all = new swigkit::CallSites(
      [](std::string_view file, std::string_view) { return file.ends_with("inside.py"); });
  return *all;
}
%}
%inline %{
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
