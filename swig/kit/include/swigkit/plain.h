// SPDX-License-Identifier: Apache-2.0
// swigkit/plain.h: numbers and texts between Python and C++, and Python's own objects.
#pragma once

#include "results.h"

#include <concepts>
#include <cstring>
#include <limits>
#include <string_view>

namespace [[gnu::visibility("hidden")]] swigkit {

/// Any object at all, for functions that are written for Python.  As a result null says
/// that an error is set.
template <>
struct Convert<PyRef> {
  static std::string expected() { return "an object"; }
  static bool load(PyObject* object, PyRef& value, const Argument&) {
    value = PyRef::borrow(object);
    return true;
  }
  static PyObject* cast(const PyRef& value) { return PyRef(value).release(); }
  static PyObject* cast(PyRef&& value) { return value.release(); }
};

/// As a parameter of a method, which Python does not see: the Python object of *this.
struct Self {
  PyObject* object = nullptr;
};

/// As the last parameter: all positional arguments that no parameter before it takes,
/// which are there during the call.
struct Args {
  PyObject* tuple = nullptr;

  Py_ssize_t size() const { return PyTuple_GET_SIZE(tuple); }
  PyObject* operator[](Py_ssize_t i) const { return PyTuple_GET_ITEM(tuple, i); }
};
template <>
struct Convert<Args> {
  static std::string expected() { return "a tuple"; }
  static bool load(PyObject* object, Args& value, const Argument&) {
    value.tuple = object;
    return true;
  }
};

template <class T>
concept IsCharacter = std::same_as<T, char> || std::same_as<T, wchar_t> ||
                      std::same_as<T, char8_t> || std::same_as<T, char16_t> ||
                      std::same_as<T, char32_t>;

/// An int of one digit, of which CPython's objects have the value.
inline bool is_small(PyObject* object, long& value) {
  if (!PyLong_CheckExact(object)) return false;
  auto* number = reinterpret_cast<PyLongObject*>(object);
#if PY_VERSION_HEX >= 0x030C0000
  if (!PyUnstable_Long_IsCompact(number)) return false;
  value = long(PyUnstable_Long_CompactValue(number));
#else
  const Py_ssize_t size = Py_SIZE(number);
  if (size < -1 || size > 1) return false;
  value = long(size) * long(number->ob_digit[0]);
#endif
  return true;
}

/// Ints and what has __index__, NumPy's too.
template <std::integral Int>
  requires(!std::same_as<Int, bool> && !IsCharacter<Int>)
struct Convert<Int> {
  static constexpr bool kSigned = std::is_signed_v<Int>;

  static std::string expected() { return "an int"; }
  static bool load(PyObject* object, Int& value, const Argument& where) {
    if (where.exact() && (!PyLong_Check(object) || PyBool_Check(object))) {
      return refuse(where, expected, object);
    }
    if (long small; is_small(object, small) && std::in_range<Int>(small)) {
      value = Int(small);
      return true;
    }
    if constexpr (!kSigned && sizeof(Int) == 8) return load_widest(object, value, where);
    int overflow = 0;
    const long long wide = call_python(PyLong_AsLongLongAndOverflow, object, &overflow);
    if (wide == -1 && PyErr_Occurred()) return explain(where, expected(), object);
    if (overflow != 0 || !std::in_range<Int>(wide)) {
      return refuse_range(where, range(), object);
    }
    value = Int(wide);
    return true;
  }
  static PyObject* cast(Int value) {
    if constexpr (kSigned) return PyLong_FromLongLong(value);
    else return PyLong_FromUnsignedLongLong(value);
  }

 private:
  static std::string range() {
    return "an int of " + std::to_string(8 * sizeof(Int)) + " bits" +
           (kSigned ? "" : ", 0 or more");
  }
  static bool load_widest(PyObject* object, Int& value, const Argument& where) {
    PyObject* number = call_python(PyNumber_Index, object);
    if (!number) return explain(where, expected(), object);
    const unsigned long long wide = PyLong_AsUnsignedLongLong(number);
    Py_DECREF(number);
    if (PyErr_Occurred()) {
      PyErr_Clear();
      return refuse_range(where, range(), object);
    }
    value = Int(wide);
    return true;
  }
};

/// The Python class of an enum; made by add_enum() and kept as long as the process.
template <class E>
inline PyObject* g_enum_class = nullptr;

/// NumPy's complex numbers have a __float__, which leaves the imaginary part out.
inline bool is_numpy_complex(PyObject* object) {
  return std::strncmp(Py_TYPE(object)->tp_name, "numpy.c", 7) == 0;  // clongdouble, too
}

/// Floats, ints and what has __float__.
template <std::floating_point Float>
struct Convert<Float> {
  static std::string expected() { return "a number"; }
  static bool load(PyObject* object, Float& value, const Argument& where) {
    if (PyFloat_CheckExact(object)) {
      value = Float(PyFloat_AS_DOUBLE(object));
      return true;
    }
    if (where.exact() && !PyFloat_Check(object)) return refuse(where, expected, object);
    if (is_numpy_complex(object)) return refuse(where, expected, object);
    const double wide = call_python(PyFloat_AsDouble, object);
    if (wide == -1.0 && PyErr_Occurred()) {
      if (!PyErr_ExceptionMatches(PyExc_OverflowError) || !PyLong_Check(object)) {
        return explain(where, expected(), object);
      }
      PyErr_Clear();
      if (where.matching) return refuse(where, expected, object);
      PyErr_Format(PyExc_OverflowError, "[%s] expected %s for '%s', got %s", where.function,
                   "a number below 1.8e308", where.text().c_str(), "a larger int");
      return false;
    }
    value = Float(wide);
    return true;
  }
  static PyObject* cast(Float value) { return PyFloat_FromDouble(double(value)); }
};

/// What says of itself whether it is true: no text, sequence or other object that merely
/// is there.
template <>
struct Convert<bool> {
  static std::string expected() { return "a bool"; }
  static bool load(PyObject* object, bool& value, const Argument& where) {
    if (object == Py_True || object == Py_False) {
      value = object == Py_True;
      return true;
    }
    // NumPy's are bools too; among overloads nothing else is.
    if (where.matching && std::strncmp(Py_TYPE(object)->tp_name, "numpy.bool", 10) != 0) {
      return refuse(where, expected, object);
    }
    const PyNumberMethods* number = Py_TYPE(object)->tp_as_number;
    if (object != Py_None && !(number && number->nb_bool)) {
      return refuse(where, expected, object);
    }
    const int truth = call_python(PyObject_IsTrue, object);
    value = truth > 0;
    return truth >= 0;
  }
  static PyObject* cast(bool value) { return new_ref(value ? Py_True : Py_False); }
};

/// A UnicodeEncodeError says what is wrong with which character, but not whose.
[[gnu::cold]] inline bool say_where(const Argument& where) {
  PyObject *type, *error, *traceback;
  PyErr_Fetch(&type, &error, &traceback);
  call_python(PyErr_NormalizeException, &type, &error, &traceback);
  if (PyErr_GivenExceptionMatches(type, PyExc_UnicodeEncodeError)) {
    const std::string reason = std::string("[") + where.function +
                               "] expected no lone surrogates for '" + where.text() + "'";
    PyUnicodeEncodeError_SetReason(error, reason.c_str());
  }
  PyErr_Restore(type, error, traceback);
  return false;
}

/// A str, as UTF-8, NUL included, or bytes as they are; lone surrogates are a
/// UnicodeEncodeError, and bytes from C++ that are no UTF-8 a UnicodeDecodeError.
template <>
struct Convert<std::string> {
  static std::string expected() { return "a str"; }
  static bool load(PyObject* object, std::string& value, const Argument& where) {
    if (!PyUnicode_Check(object)) {
      if (!PyBytes_Check(object) || where.exact()) return refuse(where, expected, object);
      value.assign(PyBytes_AS_STRING(object), size_t(PyBytes_GET_SIZE(object)));
      return true;
    }
    Py_ssize_t size;
    const char* data = PyUnicode_AsUTF8AndSize(object, &size);
    if (!data) return say_where(where);
    value.assign(data, size_t(size));
    return true;
  }
  static PyObject* cast(const std::string& value) {
    return PyUnicode_FromStringAndSize(value.data(), Py_ssize_t(value.size()));
  }
};

/// A view of a str that is there during the call.
template <>
struct Convert<std::string_view> {
  static std::string expected() { return "a str"; }
  static bool load(PyObject* object, std::string_view& value, const Argument& where) {
    if (PyBytes_Check(object) && !where.exact()) {
      value = {PyBytes_AS_STRING(object), size_t(PyBytes_GET_SIZE(object))};
      if (where.keep) where.keep->objects.push_back(PyRef::borrow(object));
      return true;
    }
    if (!PyUnicode_Check(object)) return refuse(where, expected, object);
    Py_ssize_t size;
    const char* data = PyUnicode_AsUTF8AndSize(object, &size);
    if (!data) return say_where(where);
    value = {data, size_t(size)};
    if (where.keep) where.keep->objects.push_back(PyRef::borrow(object));
    return true;
  }
  static PyObject* cast(std::string_view value) {
    return PyUnicode_FromStringAndSize(value.data(), Py_ssize_t(value.size()));
  }
};

/// A str of one character, which of char and char8_t is below 128: one unit of C++'s text.
template <IsCharacter Character>
struct Convert<Character> {
  static constexpr Py_UCS4 kEnd = sizeof(Character) == 1   ? 128
                                  : sizeof(Character) == 2 ? 0x10000
                                                           : 0x110000;

  static std::string expected() {
    if (sizeof(Character) == 1) return "a str of one ASCII character";
    return sizeof(Character) == 2 ? "a str of one character below 65536"
                                  : "a str of one character";
  }
  static bool load(PyObject* object, Character& value, const Argument& where) {
    const bool fits = PyUnicode_Check(object) && PyUnicode_GET_LENGTH(object) == 1 &&
                      PyUnicode_READ_CHAR(object, 0) < kEnd;
    if (!fits) return refuse(where, expected, object);
    value = Character(PyUnicode_READ_CHAR(object, 0));
    return true;
  }
  static PyObject* cast(Character value) {
    return PyUnicode_FromOrdinal(int(std::make_unsigned_t<Character>(value)));
  }
};

/// An address, as a capsule; None is null.
template <>
struct Convert<void*> {
  static constexpr const char* kName = "void *";

  static std::string expected() { return "a capsule of an address"; }
  static bool load(PyObject* object, void*& value, const Argument& where) {
    if (object == Py_None) return value = nullptr, true;
    if (!PyCapsule_IsValid(object, kName)) return refuse(where, expected, object);
    value = PyCapsule_GetPointer(object, kName);
    return true;
  }
  static PyObject* cast(void* value) {
    if (!value) Py_RETURN_NONE;
    return PyCapsule_New(value, kName, nullptr);
  }
};

template <>
struct Convert<const void*> {
  static std::string expected() { return Convert<void*>::expected(); }
  static bool load(PyObject* object, const void*& value, const Argument& where) {
    void* address = nullptr;
    if (!Convert<void*>::load(object, address, where)) return false;
    value = address;
    return true;
  }
  static PyObject* cast(const void* value) {
    return Convert<void*>::cast(const_cast<void*>(value));
  }
};

/// A str as C's text; it lives as long as its Python object.
template <>
struct Convert<const char*> {
  static std::string expected() { return "a str"; }
  static bool load(PyObject* object, const char*& value, const Argument& where) {
    if (object == Py_None && where.optional) return value = nullptr, true;
    if (!PyUnicode_Check(object)) return refuse(where, expected, object);
    Py_ssize_t size;
    value = PyUnicode_AsUTF8AndSize(object, &size);
    if (!value) return false;
    if (where.keep) where.keep->objects.push_back(PyRef::borrow(object));
    return std::strlen(value) == size_t(size) || refuse_nul(where);
  }
  static PyObject* cast(const char* value) {
    if (!value) Py_RETURN_NONE;
    return PyUnicode_DecodeUTF8(value, Py_ssize_t(std::strlen(value)), nullptr);
  }
};

/// The same that C++ may write to: a copy, which the container's argument keeps.
template <>
struct Convert<char*> {
  static std::string expected() { return Convert<const char*>::expected(); }
  static bool load(PyObject* object, char*& value, const Argument& where) {
    const char* text = nullptr;
    if (!to_cpp(object, text, where)) return false;
    value = const_cast<char*>(text);
    if (!text || !where.keep) return true;
    PyRef copy(PyBytes_FromStringAndSize(text, Py_ssize_t(std::strlen(text))));
    if (!copy) return false;
    value = PyBytes_AS_STRING(copy.get());
    where.keep->objects.push_back(std::move(copy));
    return true;
  }
  static PyObject* cast(const char* value) { return Convert<const char*>::cast(value); }
};
/// C's text that C++ may write to: a copy, of `least` bytes at least.
struct WritableText {
  std::string copy{};

  bool load(PyObject* object, const Argument& where, char*& pointer, size_t least = 0) {
    const char* text = nullptr;
    if (!to_cpp<const char*>(object, text, where)) return false;
    pointer = nullptr;
    if (!text) return true;
    copy = text;
    if (copy.size() < least) copy.resize(least);
    pointer = copy.data();
    return true;
  }
};
template <>
struct InPointer<char> : WritableText {};

/// A member `char name[size]` gets a text; false with an error set when it is too long.
inline bool copy_text(char* to, size_t size, const char* text, const Argument& where) {
  const size_t length = text ? std::strlen(text) : 0;
  if (length >= size) {
    PyErr_Format(PyExc_ValueError, "[%s] expected at most %zu bytes for '%s', got %zu",
                 where.function, size - 1, where.text().c_str(), length);
    return false;
  }
  std::memset(to, 0, size);
  if (length) std::memcpy(to, text, length);
  return true;
}
inline std::string text_of(const char* text, size_t size) {
  return std::string(text, strnlen(text, size));
}

}  // namespace swigkit
