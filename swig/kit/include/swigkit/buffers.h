// SPDX-License-Identifier: Apache-2.0
// swigkit/buffers.h: memory of Python's (arrays of NumPy, bytes, memoryview) as std::span,
// without a copy.
#pragma once

#include "convert.h"

#include <bit>
#include <span>

namespace [[gnu::visibility("hidden")]] swigkit {

namespace detail {
/// The kind of a number in a buffer's format: i, u, f, c, b; 0 for anything else.
inline char kind_of(const char* format, Py_ssize_t itemsize) {
  if (!format) return 'u';  // bytes
  if (*format == '@' || *format == '=' ||
      *format == (std::endian::native == std::endian::little ? '<' : '>')) {
    ++format;
  }
  if (std::strcmp(format, "Zd") == 0 || std::strcmp(format, "Zf") == 0) return 'c';
  if (!*format || format[1]) return 0;
  if (std::strchr("bhilqn", *format)) return 'i';
  if (std::strchr("BHILQNc", *format)) return 'u';
  if (std::strchr("fd", *format) && itemsize >= 4) return 'f';
  return *format == '?' ? 'b' : 0;
}
template <class T>
constexpr char kind_of() {
  if constexpr (std::is_same_v<T, bool>) return 'b';
  else if constexpr (std::is_floating_point_v<T>) return 'f';
  else if constexpr (std::is_integral_v<T>) return std::is_signed_v<T> ? 'i' : 'u';
  else return 'u';  // std::byte
}
}  // namespace detail

/// Holds the buffer during the call.
template <class T>
struct In<std::span<T>> {
  using Item = std::remove_cv_t<T>;
  std::span<T> value;
  Py_buffer view{};

  In() = default;
  In(const In&) = delete;
  ~In() {
    if (view.obj) call_python(PyBuffer_Release, &view);
  }

  bool load(PyObject* object, const Argument& where) {
    const bool writes = !std::is_const_v<T>;
    const std::string wanted = expected();
    if (!PyObject_CheckBuffer(object)) return refuse(where, wanted, object);
    const int flags = PyBUF_C_CONTIGUOUS | PyBUF_FORMAT | (writes ? PyBUF_WRITABLE : 0);
    if (call_python(PyObject_GetBuffer, object, &view, flags) < 0) {
      if (!where.matching) return false;  // it says what is wrong
      PyErr_Clear();
      return refuse(where, wanted, object);
    }
    const char kind = detail::kind_of(view.format, view.itemsize);
    const bool bytes = std::is_same_v<Item, std::byte>;
    if (!bytes && (kind != detail::kind_of<Item>() || view.itemsize != sizeof(Item))) {
      if (where.matching) return refuse(where, wanted, object);
      PyErr_Format(PyExc_TypeError, "[%s] expected %s for '%s', got %s of format '%s'",
                   where.function, wanted.c_str(), where.text().c_str(),
                   Py_TYPE(object)->tp_name, view.format ? view.format : "B");
      return false;
    }
    value = {static_cast<T*>(view.buf), size_t(view.len) / sizeof(Item)};
    return true;
  }
  std::span<T>* get() { return &value; }
  std::span<T>& take() { return value; }
  void watch(std::span<T>*) {}

  static std::string expected() {
    const char kind = detail::kind_of<Item>();
    const std::string bits = std::to_string(8 * sizeof(Item));
    const std::string item = kind == 'b'   ? "bool"
                             : kind == 'f' ? "float" + bits
                             : kind == 'i' ? "int" + bits
                                           : "uint" + bits;
    return std::string("a contiguous ") + (std::is_const_v<T> ? "" : "writable ") +
           "buffer of " + item;
  }
};
template <class T>
struct Convert<std::span<T>> {
  static std::string expected() { return In<std::span<T>>::expected(); }
  /// A copy, as a list or as bytes: nobody says how long the memory stays.
  static PyObject* cast(std::span<T> value) {
    using Item = std::remove_cv_t<T>;
    if constexpr (std::is_same_v<Item, std::byte>) {
      return PyBytes_FromStringAndSize(reinterpret_cast<const char*>(value.data()),
                                       Py_ssize_t(value.size()));
    } else {
      PyRef list(PyList_New(Py_ssize_t(value.size())));
      for (size_t i = 0; list && i < value.size(); ++i) {
        PyObject* item = Convert<Item>::cast(value[i]);
        if (!item) return nullptr;
        PyList_SET_ITEM(list.get(), Py_ssize_t(i), item);
      }
      return list.release();
    }
  }
};

}  // namespace swigkit
