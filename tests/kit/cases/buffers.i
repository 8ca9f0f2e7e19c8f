// SPDX-License-Identifier: Apache-2.0
// tests/kit/cases/buffers.i: buffers.h by the kit.
%module buffers
%include "swigkit.i"
%{
#include "buffers.h"
%}
%buffer(buffers::Matrix, data, rows, cols)
%buffer(buffers::Samples, begin, count)
%ignore buffers::Matrix::data;
%ignore buffers::Samples::begin;
%ignore buffers::Plane::items;
%{
// A function tells more than an address and lengths: 3 by 4, with steps in bytes.
static swigkit::Buffer describe(buffers::Plane &plane) {
  return {plane.items(), {3, 4}, {32, 96}};
}
%}
%buffer(buffers::Plane, describe)
%include "buffers.h"

// Without a class: swigkit/memory.h.
%{
#include <thread>

#include "swigkit/memory.h"
struct Numbers {
  static constexpr const char *kName = "buffers.Numbers";
  Numbers(Py_ssize_t rows, Py_ssize_t columns, Py_ssize_t step, bool writable)
      : items(size_t(columns * step)), shape{rows, columns}, steps{8, 8 * step},
        writable(writable) {
    if (rows > step) throw std::invalid_argument("the columns overlap");
    ++alive;
  }
  ~Numbers() { --alive; }
  void show(Py_buffer &view) {
    view.buf = items.data();
    view.itemsize = 8;
    view.format = const_cast<char *>("d");
    view.ndim = 2;
    view.shape = shape;
    view.strides = steps;
    view.readonly = !writable;
  }
  static inline int alive = 0;
  std::vector<double> items;
  Py_ssize_t shape[2], steps[2];
  bool writable;
};
%}
%inline %{
// By columns, each `step` numbers after the one before.
swigkit::PyRef numbers(Py_ssize_t rows, Py_ssize_t columns, Py_ssize_t step, bool writable) {
  return swigkit::ShownMemory<Numbers>::make(rows, columns, step, writable);
}
int numbers_alive() { return Numbers::alive; }
// Of a buffer that is given back on another thread.
Py_ssize_t bytes_of(PyObject *buffer) {
  Py_buffer *view = swigkit::hold_buffer(buffer, PyBUF_SIMPLE);
  const Py_ssize_t length = view->len;
  swigkit::GilRelease released;
  std::thread([view] { swigkit::end_buffer(view); }).join();
  return length;
}
%}
