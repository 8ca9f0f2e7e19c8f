// SPDX-License-Identifier: Apache-2.0
// swigkit/buffers.h: memory of Python's (arrays of NumPy, bytes, memoryview) as std::span,
// without a copy.
#pragma once

#include "plain.h"

#include <bit>
#include <complex>
#include <initializer_list>
#include <memory>
#include <optional>
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
inline constexpr bool IsComplex = false;
template <class T>
inline constexpr bool IsComplex<std::complex<T>> = true;

/// Of which Python has memory: numbers and bytes.
template <class T>
concept HasBuffers = std::is_arithmetic_v<T> || IsComplex<T> ||
                     std::is_same_v<T, std::byte>;

template <class T>
constexpr char kind_of() {
  if constexpr (std::is_same_v<T, bool>) return 'b';
  else if constexpr (IsComplex<T>) return 'c';
  else if constexpr (std::is_floating_point_v<T>) return 'f';
  else if constexpr (std::is_integral_v<T>) return std::is_signed_v<T> ? 'i' : 'u';
  else return 'u';  // std::byte
}
}  // namespace detail

/// A span of another length than C++ wants.
[[gnu::cold, gnu::noinline]] inline bool refuse_length(const Argument& where, size_t wanted,
                                                       size_t got, PyObject* object) {
  const std::string items = std::to_string(wanted) + " items";
  if (where.matching) return refuse(where, items, object);
  PyErr_Format(PyExc_ValueError, "[%s] expected %s for '%s', got %zu", where.function,
               items.c_str(), where.text().c_str(), got);
  return false;
}

/// Copies of objects, during the call: Python has no memory of them that C++ could read.
template <class T, size_t N>
struct In<std::span<T, N>> {
  using Items = std::vector<std::remove_cv_t<T>>;
  In<Items> items{};
  std::optional<std::span<T, N>> value{};

  static std::string expected() {
    if constexpr (std::is_const_v<T>) return "a sequence";
    else return "what C++ may write to: take a std::vector in C++ (%extend), not a span,";
  }
  bool load(PyObject* object, const Argument& where) {
    if constexpr (!std::is_const_v<T>) return refuse(where, expected, object);
    if (where.lasts) return refuse_lasting(where, "std::vector", "span", object);
    if (!items.load(object, where)) return false;
    if (N != std::dynamic_extent && items.get()->size() != N) {
      return refuse_length(where, N, items.get()->size(), object);
    }
    value.emplace(items.get()->data(), items.get()->size());
    return true;
  }
  std::span<T, N>* get() { return &*value; }
  std::span<T, N>& take() { return *value; }
  void watch(std::span<T, N>*) {}
};
/// Holds the buffer during the call.
template <class T, size_t N>
  requires detail::HasBuffers<std::remove_cv_t<T>>
struct In<std::span<T, N>> {
  using Span = std::span<T, N>;
  using Item = std::remove_cv_t<T>;
  std::optional<Span> value;  // of a fixed length there is none of nothing
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
    // A number of NumPy's has memory as well, and is meant as a number among overloads.
    if (where.matching && view.ndim == 0 && !PySequence_Check(object)) {
      return refuse(where, wanted, object);
    }
    const char kind = detail::kind_of(view.format, view.itemsize);
    const bool bytes = std::is_same_v<Item, std::byte>;
    const bool characters = std::is_same_v<Item, char> && (kind == 'i' || kind == 'u');
    const bool same = characters || kind == detail::kind_of<Item>();
    if (!bytes && (!same || view.itemsize != sizeof(Item))) {
      if (where.matching) return refuse(where, wanted, object);
      PyErr_Format(PyExc_TypeError, "[%s] expected %s for '%s', got %s of format '%s'",
                   where.function, wanted.c_str(), where.text().c_str(),
                   Py_TYPE(object)->tp_name, view.format ? view.format : "B");
      return false;
    }
    const size_t count = size_t(view.len) / sizeof(Item);
    if (N != std::dynamic_extent && count != N) {
      return refuse_length(where, N, count, object);
    }
    value.emplace(static_cast<T*>(view.buf), count);
    return true;
  }
  Span* get() { return &*value; }
  Span& take() { return *value; }
  void watch(Span*) {}

  static std::string expected() {
    const char kind = detail::kind_of<Item>();
    const std::string bits = std::to_string(8 * sizeof(Item));
    const std::string item = kind == 'b'   ? "bool"
                             : kind == 'f' ? "float" + bits
                             : kind == 'c' ? "complex" + bits
                             : kind == 'i' ? "int" + bits
                                           : "uint" + bits;
    return std::string("a contiguous ") + (std::is_const_v<T> ? "" : "writable ") +
           "buffer of " + item;
  }
};
template <class T, size_t N>
struct Convert<std::span<T, N>> {
  static std::string expected() { return In<std::span<T, N>>::expected(); }
  /// A copy, as a list or as bytes: nobody says how long the memory stays.
  static PyObject* cast(std::span<T, N> value) {
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

/// What Python reads and writes of an object as memory (%buffer): `strides` in bytes, or
/// none where the items lie one after the other, the last dimension's nearest.
struct Buffer {
  const void* data = nullptr;
  Py_ssize_t itemsize = 1;
  const char* format = "B";  // as in Python's struct
  std::vector<Py_ssize_t> shape{};
  std::vector<Py_ssize_t> strides{};
  bool readonly = true;

  Buffer() = default;
  template <class T>
  Buffer(T* items, std::vector<Py_ssize_t> lengths, std::vector<Py_ssize_t> steps = {})
      : data(items),
        itemsize(sizeof(T)),
        format(format_of<std::remove_cv_t<T>>()),
        shape(std::move(lengths)),
        strides(std::move(steps)),
        readonly(std::is_const_v<T>) {}

 private:
  template <class T>
  static constexpr const char* format_of() {
    if constexpr (std::is_same_v<T, bool>) return "?";
    else if constexpr (std::is_same_v<T, float>) return "f";
    else if constexpr (std::is_same_v<T, double>) return "d";
    else if constexpr (std::is_same_v<T, std::complex<float>>) return "Zf";
    else if constexpr (std::is_same_v<T, std::complex<double>>) return "Zd";
    else if constexpr (std::is_integral_v<T> && sizeof(T) == 8)
      return std::is_signed_v<T> ? "q" : "Q";
    else if constexpr (std::is_integral_v<T> && sizeof(T) == 4)
      return std::is_signed_v<T> ? "i" : "I";
    else if constexpr (std::is_integral_v<T> && sizeof(T) == 2)
      return std::is_signed_v<T> ? "h" : "H";
    else if constexpr (std::is_integral_v<T>) return std::is_signed_v<T> ? "b" : "B";
    else {
      static_assert(std::is_same_v<T, std::byte>, "%buffer: expected items of numbers");
      return "B";
    }
  }
};

/// bf_getbuffer of T, whose memory `describe(object)` tells.
template <class T, auto describe>
int get_buffer(PyObject* object, Py_buffer* view, int flags) {
  view->obj = nullptr;
  return guarded(
      [&] {
        T* held = pointer_of<T>(object, {Py_TYPE(object)->tp_name, "self"});
        if (!held) {
          PyErr_SetString(PyExc_BufferError, "the object has no memory any more");
          return -1;
        }
        // Lives as long as the view.
        auto made = std::make_unique<Buffer>(describe(*held));
        if ((flags & PyBUF_WRITABLE) && made->readonly) {
          PyErr_Format(PyExc_BufferError, "the memory of a %s cannot be written to",
                       Py_TYPE(object)->tp_name);
          return -1;
        }
        for (const Py_ssize_t length : made->shape) {
          if (length >= 0) continue;
          PyErr_Format(PyExc_BufferError, "C++ says that a %s has %zd items",
                       Py_TYPE(object)->tp_name, length);
          return -1;
        }
        const size_t dimensions = made->shape.size();
        const bool plain = made->strides.empty();
        made->strides.resize(dimensions);
        // Where there is one item, or none, no step is made.
        const auto is = [&](size_t i, Py_ssize_t step) {
          return made->shape[i] < 2 || made->strides[i] == step;
        };
        bool rows = true, columns = true;
        Py_ssize_t bytes = made->itemsize;  // of all dimensions behind
        for (size_t i = dimensions; i-- > 0; bytes *= made->shape[i]) {
          if (plain) made->strides[i] = bytes;
          rows = rows && is(i, bytes);
        }
        bytes = made->itemsize;
        for (size_t i = 0; i < dimensions; bytes *= made->shape[i++]) {
          columns = columns && is(i, bytes);
        }
        if (!bytes) rows = columns = true;
        const auto asks = [flags](int flag) { return (flags & flag) == flag; };
        if ((!rows && (!asks(PyBUF_STRIDES) || asks(PyBUF_C_CONTIGUOUS))) ||
            (!columns && asks(PyBUF_F_CONTIGUOUS)) ||
            (!rows && !columns && asks(PyBUF_ANY_CONTIGUOUS))) {
          PyErr_Format(PyExc_BufferError, "the memory of a %s is not contiguous",
                       Py_TYPE(object)->tp_name);
          return -1;
        }
        view->buf = const_cast<void*>(made->data);
        view->itemsize = made->itemsize;
        view->len = bytes;
        view->readonly = made->readonly;
        // Without a shape it is a row of bytes: CPython's memoryview reads the shape of two.
        view->ndim = asks(PyBUF_ND) ? int(dimensions) : 1;
        view->format = asks(PyBUF_FORMAT) ? const_cast<char*>(made->format) : nullptr;
        view->shape = asks(PyBUF_ND) ? made->shape.data() : nullptr;
        view->strides = asks(PyBUF_STRIDES) ? made->strides.data() : nullptr;
        view->suboffsets = nullptr;
        view->internal = made.release();
        view->obj = new_ref(object);
        uint16_t& views = reinterpret_cast<Instance*>(object)->views;
        if (views != kManyViews) ++views;
        return 0;
      },
      -1);
}
inline void release_buffer(PyObject* object, Py_buffer* view) {
  uint16_t& views = reinterpret_cast<Instance*>(object)->views;
  if (views != kManyViews) --views;
  delete static_cast<Buffer*>(std::exchange(view->internal, nullptr));
}

/// By methods: where the items begin, and how many there are in each dimension.
template <class T>
Buffer describe_buffer(T* items, std::initializer_list<Py_ssize_t> shape) {
  return Buffer(items, std::vector<Py_ssize_t>(shape));
}

}  // namespace swigkit
