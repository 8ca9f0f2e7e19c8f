// SPDX-License-Identifier: Apache-2.0
// swig/python/containers.h: C++ containers from and to Python's, in any nesting.  For
// interfaces that need them: `PKG_VALUE(%arg(std::map<std::string, double>))` in a .i file
// (swig/types.i) after including this.
#pragma once

#include "convert.h"
#include "py_ref.h"

#include <cstddef>
#include <cstring>
#include <map>
#include <optional>
#include <tuple>
#include <unordered_map>
#include <vector>

namespace pkg::python {

/// A sequence that is no text, on its way out a list.
template <class T>
struct Convert<std::vector<T>> {
  static std::string expected() { return "a sequence"; }
  static bool load(PyObject* object, std::vector<T>& value, const Argument& where) {
    const bool text = PyUnicode_Check(object) || PyBytes_Check(object);
    if (text || !PySequence_Check(object)) return refuse(where, expected(), object);
    PyRef items(call_python(PySequence_Fast, object, ""));
    if (!items) return explain(where, expected(), object);
    value.clear();
    value.reserve(size_t(PySequence_Fast_GET_SIZE(items.get())));
    // A conversion may run Python code that changes the very list.
    for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(items.get()); ++i) {
      PyRef item = PyRef::borrow(PySequence_Fast_GET_ITEM(items.get(), i));
      T entry{};
      if (!to_cpp(item.get(), entry, where.item(i))) return false;
      value.push_back(std::move(entry));
    }
    return true;
  }
  static PyObject* cast(const std::vector<T>& value) {
    PyRef list(PyList_New(Py_ssize_t(value.size())));
    if (!list) return nullptr;
    for (size_t i = 0; i < value.size(); ++i) {
      PyObject* item = to_python<T>(value[i]);
      if (!item) return nullptr;
      PyList_SET_ITEM(list.get(), Py_ssize_t(i), item);
    }
    return list.release();
  }
};

/// Bytes, or any buffer without gaps; on its way out bytes.
template <>
struct Convert<std::vector<std::byte>> {
  static std::string expected() { return "bytes"; }
  static bool load(PyObject* object, std::vector<std::byte>& value, const Argument& where) {
    Py_buffer view;
    if (!PyObject_CheckBuffer(object)) return refuse(where, expected(), object);
    if (call_python(PyObject_GetBuffer, object, &view, PyBUF_SIMPLE) < 0) return false;
    value.resize(size_t(view.len));
    if (view.len) std::memcpy(value.data(), view.buf, size_t(view.len));
    call_python(PyBuffer_Release, &view);
    return true;
  }
  static PyObject* cast(const std::vector<std::byte>& value) {
    return PyBytes_FromStringAndSize(reinterpret_cast<const char*>(value.data()),
                                     Py_ssize_t(value.size()));
  }
};

/// A mapping, on its way out a dict.
template <class Map>
struct ConvertMap {
  using Key = typename Map::key_type;
  using Mapped = typename Map::mapped_type;

  static std::string expected() { return "a mapping"; }
  static bool load(PyObject* object, Map& value, const Argument& where) {
    const bool mapping = PyDict_Check(object) ||
                         call_python(PyObject_HasAttrString, object, "items");
    if (!mapping) return refuse(where, expected(), object);
    PyRef items(call_python(PyMapping_Items, object));
    if (!items) return explain(where, expected(), object);
    value.clear();
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(items.get()); ++i) {
      PyObject* pair = PyList_GET_ITEM(items.get(), i);
      if (!PyTuple_Check(pair) || PyTuple_GET_SIZE(pair) != 2) {
        return refuse(where, expected(), object);
      }
      PyObject* name = PyTuple_GET_ITEM(pair, 0);
      Key key{};
      Mapped mapped{};
      if (!to_cpp(name, key, where.key_of(name)) ||
          !to_cpp(PyTuple_GET_ITEM(pair, 1), mapped, where.value_of(name))) {
        return false;
      }
      value.insert_or_assign(std::move(key), std::move(mapped));
    }
    return true;
  }
  static PyObject* cast(const Map& value) {
    PyRef dict(PyDict_New());
    if (!dict) return nullptr;
    for (const auto& [key, mapped] : value) {
      PyRef k(to_python<Key>(key)), v(to_python<Mapped>(mapped));
      if (!k || !v || PyDict_SetItem(dict.get(), k.get(), v.get()) < 0) return nullptr;
    }
    return dict.release();
  }
};
template <class K, class V>
struct Convert<std::map<K, V>> : ConvertMap<std::map<K, V>> {};
template <class K, class V>
struct Convert<std::unordered_map<K, V>> : ConvertMap<std::unordered_map<K, V>> {};

/// A sequence of exactly these, on its way out a tuple.
template <class Tuple>
struct ConvertTuple {
  static constexpr size_t kSize = std::tuple_size_v<Tuple>;
  using Places = std::make_index_sequence<kSize>;

  static std::string expected() { return "a sequence of " + std::to_string(kSize); }
  static bool load(PyObject* object, Tuple& value, const Argument& where) {
    const bool text = PyUnicode_Check(object) || PyBytes_Check(object);
    if (text || !PySequence_Check(object)) return refuse(where, expected(), object);
    PyRef items(call_python(PySequence_Tuple, object));
    if (!items) return explain(where, expected(), object);
    const Py_ssize_t size = PyTuple_GET_SIZE(items.get());
    if (size == Py_ssize_t(kSize)) return load_all(items.get(), value, where, Places());
    PyErr_Format(PyExc_TypeError, "[%s] expected %s for '%s', got %zd", where.function,
                 expected().c_str(), where.text().c_str(), size);
    return false;
  }
  static PyObject* cast(const Tuple& value) {
    PyRef tuple(PyTuple_New(Py_ssize_t(kSize)));
    return tuple && cast_all(tuple.get(), value, Places()) ? tuple.release() : nullptr;
  }

 private:
  template <size_t... I>
  static bool load_all(PyObject* items, Tuple& value, const Argument& where,
                       std::index_sequence<I...>) {
    return (to_cpp(PyTuple_GET_ITEM(items, I), std::get<I>(value), where.item(I)) && ...);
  }
  template <size_t... I>
  static bool cast_all(PyObject* tuple, const Tuple& value, std::index_sequence<I...>) {
    const auto put = [&](Py_ssize_t i, PyObject* item) {
      PyTuple_SET_ITEM(tuple, i, item);
      return item != nullptr;
    };
    return (put(I, to_python<std::tuple_element_t<I, Tuple>>(std::get<I>(value))) && ...);
  }
};
template <class A, class B>
struct Convert<std::pair<A, B>> : ConvertTuple<std::pair<A, B>> {};
template <class... T>
struct Convert<std::tuple<T...>> : ConvertTuple<std::tuple<T...>> {};

/// The value or None.
template <class T>
struct Convert<std::optional<T>> {
  static std::string expected() { return Convert<T>::expected() + " or None"; }
  static bool load(PyObject* object, std::optional<T>& value, const Argument& where) {
    value.reset();
    if (object == Py_None) return true;
    T inner{};
    if (!to_cpp(object, inner, where)) return false;
    value = std::move(inner);
    return true;
  }
  static PyObject* cast(const std::optional<T>& value) {
    return value ? to_python<T>(*value) : new_ref(Py_None);
  }
};

}  // namespace pkg::python
