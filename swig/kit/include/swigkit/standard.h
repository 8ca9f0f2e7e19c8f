// SPDX-License-Identifier: Apache-2.0
// swigkit/standard.h: other types of the standard library: variant, complex,
// filesystem::path, chrono.
#pragma once

#include "plain.h"

#include <atomic>
#include <bit>
#include <chrono>
#include <cmath>
#include <complex>
#include <filesystem>
#include <limits>
#include <variant>

namespace [[gnu::visibility("hidden")]] swigkit {

/// The first alternative that takes the object as it is, else one that converts it.
template <class... T>
struct Convert<std::variant<T...>> {
  using Variant = std::variant<T...>;

  static std::string expected() {
    std::string text;
    ((text += (text.empty() ? "" : " or ") + Convert<T>::expected()), ...);
    return text;
  }
  static bool load(PyObject* object, Variant& value, const Argument& where) {
    return load_to(object, where, [&]<class One>(std::in_place_type_t<One>, auto&& one) {
      value.template emplace<One>(std::forward<decltype(one)>(one));
    });
  }
  /// put(std::in_place_type<One>, one) of the alternative that it is.
  template <class Put>
  static bool load_to(PyObject* object, const Argument& where, Put&& put) {
    // To Python a member of an enum is an int, too.
    if constexpr ((std::is_enum_v<T> || ...)) {
      Matching matching{true};
      Argument part = where.lasting();
      part.matching = &matching;
      const auto try_enum = [&]<class One>(std::type_identity<One>) {
        if constexpr (std::is_enum_v<One>)
          return g_enum_class<One> && try_one<One>(object, put, part, matching);
        else return false;
      };
      if ((try_enum(std::type_identity<T>()) || ...)) return true;
    }
    for (const bool exact : {true, false}) {
      if (where.exact() && !exact) break;
      Matching matching{exact};
      Argument part = where.lasting();
      part.matching = &matching;
      if ((try_one<T>(object, put, part, matching) || ...)) return true;
      if (PyErr_Occurred()) return false;
    }
    return refuse(where, expected, object);
  }
  template <class V>
  static PyObject* cast(V&& value) {
    return std::visit(
        [](auto&& one) {
          using One = std::remove_cvref_t<decltype(one)>;
          return Convert<One>::cast(std::forward<decltype(one)>(one));
        },
        std::forward<V>(value));
  }

 private:
  template <class One, class Put>
  static bool try_one(PyObject* object, Put& put, const Argument& where,
                      Matching& matching) {
    if (PyErr_Occurred()) return false;
    In<One> in;
    matching.refused = false;
    if (!in.load(object, where)) return false;
    put(std::in_place_type<One>, in.take());
    return true;
  }
};
/// One whose first alternative cannot be made of nothing.
template <class... T>
  requires(!std::is_default_constructible_v<std::variant<T...>>)
struct In<std::variant<T...>> {
  std::optional<std::variant<T...>> value{};

  bool load(PyObject* object, const Argument& where) {
    return Convert<std::variant<T...>>::load_to(object, where, [&](auto kind, auto&& one) {
      value.emplace(kind, std::forward<decltype(one)>(one));
    });
  }
  std::variant<T...>* get() { return &*value; }
  std::variant<T...>&& take() { return std::move(*value); }
  void watch(std::variant<T...>*) {}
};
/// A str in one of C++'s wide encodings.
template <class Character>
  requires IsCharacter<Character> && (sizeof(Character) > 1)
struct Convert<std::basic_string<Character>> {
  using Text = std::basic_string<Character>;

  static std::string expected() { return "a str"; }
  static bool load(PyObject* object, Text& value, const Argument& where) {
    if (!PyUnicode_Check(object)) return refuse(where, expected, object);
    value.clear();
    for (Py_ssize_t i = 0; i < PyUnicode_GET_LENGTH(object); ++i) {
      const Py_UCS4 point = PyUnicode_READ_CHAR(object, i);
      if (sizeof(Character) == 2 && point >= 0x10000) {  // a pair of surrogates
        value.push_back(Character(0xD800 + ((point - 0x10000) >> 10)));
        value.push_back(Character(0xDC00 + ((point - 0x10000) & 0x3FF)));
      } else {
        value.push_back(Character(point));
      }
    }
    return true;
  }
  static PyObject* cast(const Text& value) {
    const auto* data = reinterpret_cast<const char*>(value.data());
    const auto size = Py_ssize_t(value.size() * sizeof(Character));
    int order = std::endian::native == std::endian::little ? -1 : 1;
    if (sizeof(Character) == 2) return PyUnicode_DecodeUTF16(data, size, nullptr, &order);
    return PyUnicode_DecodeUTF32(data, size, nullptr, &order);
  }
};

/// The same in UTF-8.
template <>
struct Convert<std::u8string> {
  static std::string expected() { return "a str"; }
  static bool load(PyObject* object, std::u8string& value, const Argument& where) {
    std::string text;
    if (!to_cpp(object, text, where)) return false;
    value.assign(text.begin(), text.end());
    return true;
  }
  static PyObject* cast(const std::u8string& value) {
    return to_python(std::string(value.begin(), value.end()));
  }
};

/// A view of a text that is there during the call.
template <class Character>
  requires(!std::is_same_v<Character, char>)
struct Convert<std::basic_string_view<Character>> {
  static std::string expected() { return "a str"; }
  static PyObject* cast(std::basic_string_view<Character> value) {
    return to_python(std::basic_string<Character>(value));
  }
};
template <class Character>
  requires(!std::is_same_v<Character, char>)
struct In<std::basic_string_view<Character>> {
  std::basic_string<Character> text{};
  std::basic_string_view<Character> value{};

  bool load(PyObject* object, const Argument& where) {
    if (where.lasts) return refuse_lasting(where, "string", "view of a copy", object);
    if (!to_cpp(object, text, where)) return false;
    value = text;
    return true;
  }
  std::basic_string_view<Character>* get() { return &value; }
  std::basic_string_view<Character> take() { return value; }
  void watch(std::basic_string_view<Character>*) {}
};
/// C's text of such characters.
template <class Character>
struct InText {
  std::basic_string<Character> text{};

  /// SWIG's variable for a `const Character*` is none.
  bool load(PyObject* object, const Argument& where, Character*& pointer) {
    pointer = nullptr;
    if (object == Py_None && where.optional) return true;
    if (!to_cpp(object, text, where)) return false;
    pointer = text.data();
    return true;
  }
};
template <class Character>
PyObject* text_or_none(const Character* text) {
  if (!text) Py_RETURN_NONE;
  return to_python(std::basic_string<Character>(text));
}
/// A constant, which the module cannot begin without: what is no text stays as it is.
template <class Character>
PyObject* constant_text(const std::basic_string<Character>& text) {
  PyObject* made = to_python(text);
  if (made || !PyErr_ExceptionMatches(PyExc_UnicodeDecodeError)) return made;
  PyErr_Clear();
  std::u32string points(text.begin(), text.end());
  std::ranges::replace_if(
      points, [](char32_t point) { return point > 0x10ffff; }, U'\ufffd');
  return PyUnicode_FromKindAndData(PyUnicode_4BYTE_KIND, points.data(),
                                   Py_ssize_t(points.size()));
}
template <class Character>
PyObject* constant_text(const Character* text) {
  if (!text) Py_RETURN_NONE;
  return constant_text(std::basic_string<Character>(text));
}
/// A member that is an array of such characters holds a text.
template <class Character>
std::basic_string<Character> text_of(const Character* text, size_t size) {
  return std::basic_string<Character>(text, std::find(text, text + size, Character()));
}
/// The same that C++ passes, which may be null.
template <class Character>
PyObject* text_or_none(const Character* text, size_t size) {
  return text ? to_python(text_of(text, size)) : new_ref(Py_None);
}
/// An array that C++ passes, which may be null.
template <class T>
PyObject* list_of(const T* items, size_t size) {
  return items ? to_python(std::vector<T>(items, items + size)) : new_ref(Py_None);
}
template <class T, size_t N>
PyObject* list_of_rows(const T (*rows)[N], size_t size) {
  if (!rows) Py_RETURN_NONE;
  std::vector<std::vector<T>> all;
  for (size_t i = 0; i < size; ++i) all.emplace_back(rows[i], rows[i] + N);
  return to_python(std::move(all));
}
/// False with an error set when it is too long.
template <class Character>
bool copy_text(Character* to, size_t size, PyObject* from, const Argument& where) {
  std::basic_string<Character> text;
  if (!to_cpp(from, text, where)) return false;
  if (text.size() >= size) {
    PyErr_Format(PyExc_ValueError, "[%s] expected at most %zu characters for '%s', got %zu",
                 where.function, size - 1, where.text().c_str(), text.size());
    return false;
  }
  std::fill(std::ranges::copy(text, to).out, to + size, Character());
  return true;
}

/// An int.
template <>
struct Convert<std::byte> {
  static std::string expected() { return "an int"; }
  static bool load(PyObject* object, std::byte& value, const Argument& where) {
    unsigned char number;
    if (!to_cpp(object, number, where)) return false;
    value = std::byte(number);
    return true;
  }
  static PyObject* cast(std::byte value) {
    return to_python(static_cast<unsigned char>(value));
  }
};

/// The value, as that of a variable.
template <class T>
struct Convert<std::atomic<T>> {
  static std::string expected() { return Convert<T>::expected(); }
  static bool load(PyObject* object, std::atomic<T>& value, const Argument& where) {
    In<T> plain;
    Argument or_none = where.lasting();
    or_none.optional |= std::is_pointer_v<T>;
    if (!plain.load(object, or_none)) return false;
    value.store(plain.take());
    return true;
  }
  static PyObject* cast(const std::atomic<T>& value) {
    return Convert<T>::cast(value.load());
  }
};
template <class T>
struct HoldsReferences<std::atomic<T>> : HoldsReferences<T> {};
/// An exception that C++ keeps, or has caught; of Python's it is the very object.
template <>
struct Convert<std::exception_ptr> {
  static std::string expected() { return "an exception or None"; }
  static bool load(PyObject* object, std::exception_ptr& value, const Argument& where) {
    if (object == Py_None) return value = nullptr, true;
    if (!PyExceptionInstance_Check(object)) return refuse(where, expected, object);
    // As it is: PyErr_SetObject() would set its __context__.
    PyErr_Restore(new_ref(PyExceptionInstance_Class(object)), new_ref(object),
                  PyException_GetTraceback(object));
    try {
      throw_python_error();
    } catch (...) { value = std::current_exception(); }
    return true;
  }
  static PyObject* cast(const std::exception_ptr& value) {
    return value ? HeldError::of(value).value().release() : new_ref(Py_None);
  }
};
template <>
struct Convert<std::nullptr_t> {
  static std::string expected() { return "None"; }
  static bool load(PyObject* object, std::nullptr_t&, const Argument& where) {
    return object == Py_None || refuse(where, expected, object);
  }
  static PyObject* cast(std::nullptr_t) { Py_RETURN_NONE; }
};
template <>
struct Convert<std::monostate> {
  static std::string expected() { return "None"; }
  static bool load(PyObject* object, std::monostate&, const Argument& where) {
    return object == Py_None || refuse(where, expected, object);
  }
  static PyObject* cast(std::monostate) { Py_RETURN_NONE; }
};

template <class T>
struct Convert<std::complex<T>> {
  static std::string expected() { return "a complex number"; }
  static bool load(PyObject* object, std::complex<T>& value, const Argument& where) {
    const bool exact = PyComplex_Check(object) || is_numpy_complex(object);
    if (where.exact() && !exact) return refuse(where, expected, object);
    const Py_complex found = call_python(PyComplex_AsCComplex, object);
    if (PyErr_Occurred()) {
      if (!where.matching || !PyErr_ExceptionMatches(PyExc_OverflowError))
        return explain(where, expected(), object);
      PyErr_Clear();
      return refuse(where, expected, object);
    }
    value = {T(found.real), T(found.imag)};
    return true;
  }
  static PyObject* cast(const std::complex<T>& value) {
    return PyComplex_FromDoubles(double(value.real()), double(value.imag()));
  }
};

/// A str, bytes or os.PathLike; out a pathlib.Path.
template <>
struct Convert<std::filesystem::path> {
  static std::string expected() { return "a path"; }
  static bool load(PyObject* object, std::filesystem::path& value, const Argument& where) {
    // Among overloads a text is meant for one that takes texts.
    if (where.exact() && PyUnicode_Check(object)) return refuse(where, expected, object);
    PyRef text(call_python(PyOS_FSPath, object));
    if (!text) return explain(where, expected(), object);
    if (PyUnicode_Check(text.get())) text = PyRef(PyUnicode_EncodeFSDefault(text.get()));
    if (!text) return false;
    if (std::strlen(PyBytes_AS_STRING(text.get())) !=
        size_t(PyBytes_GET_SIZE(text.get()))) {
      return refuse_nul(where);
    }
    value = std::string(PyBytes_AS_STRING(text.get()),
                        size_t(PyBytes_GET_SIZE(text.get())));
    return true;
  }
  static PyObject* cast(const std::filesystem::path& value) {
    const std::string& text = value.native();
    PyRef made(PyUnicode_DecodeFSDefaultAndSize(text.data(), Py_ssize_t(text.size())));
    PyRef library(PyImport_ImportModule("pathlib"));
    if (!made || !library) return nullptr;
    return call_python(
        [&] { return PyObject_CallMethod(library.get(), "Path", "O", made.get()); });
  }
};

namespace detail {
/// An attribute that is an int.
inline bool int_attribute(PyObject* object, const char* name, long long& value) {
  PyRef found(call_python(PyObject_GetAttrString, object, name));
  if (!found) return false;
  value = PyLong_AsLongLong(found.get());
  return value != -1 || !PyErr_Occurred();
}
inline PyRef datetime_class(const char* name) {
  PyRef library(PyImport_ImportModule("datetime"));
  return library ? PyRef(PyObject_GetAttrString(library.get(), name)) : PyRef();
}
// Wide enough for any timedelta in nanoseconds.
__extension__ using Wide = __int128;
inline constexpr Wide kSecond = 1000000;  // microseconds

/// So many microseconds as a duration; false when its type cannot hold them.
template <class Rep, class Period>
bool to_duration(Wide micros, std::chrono::duration<Rep, Period>& value) {
  if constexpr (std::is_floating_point_v<Rep>) {
    value = std::chrono::duration<Rep, Period>(
        Rep((long double)(micros)*Period::den / (kSecond * Period::num)));
  } else {
    const Wide ticks = micros * Period::den / (kSecond * Period::num);
    if (ticks < Wide(std::numeric_limits<Rep>::min()) ||
        ticks > Wide(std::numeric_limits<Rep>::max())) {
      return false;
    }
    value = std::chrono::duration<Rep, Period>(Rep(ticks));
  }
  return true;
}
/// The other way; false when no timedelta can hold it.
template <class Rep, class Period>
bool to_micros(const std::chrono::duration<Rep, Period>& value, Wide& micros) {
  const long double about = (long double)(value.count()) * Period::num / Period::den;
  if (!(std::fabs(about) < 1e14L)) return false;  // 999,999,999 days are 8.64e13 s
  if constexpr (std::is_floating_point_v<Rep>) {
    micros = Wide(std::floor(about * 1e6L + 0.5L));
  } else {
    micros = Wide(value.count()) * Period::num * kSecond / Period::den;
  }
  return true;
}
}  // namespace detail

/// A datetime.timedelta, or a number of seconds.
template <class Rep, class Period>
struct Convert<std::chrono::duration<Rep, Period>> {
  using Duration = std::chrono::duration<Rep, Period>;

  static std::string expected() { return "a timedelta"; }
  static bool load(PyObject* object, Duration& value, const Argument& where) {
    PyRef type(detail::datetime_class("timedelta"));
    if (!type) return false;
    const int is = call_python(PyObject_IsInstance, object, type.get());
    if (is < 0) return false;
    if (is == 0) {
      if (where.exact() || !(PyFloat_Check(object) || PyLong_Check(object))) {
        return refuse(where, expected, object);
      }
      const double seconds = PyFloat_AsDouble(object);
      if (seconds == -1 && PyErr_Occurred()) return explain(where, expected(), object);
      if (!std::isfinite(seconds)) return refuse_range(where, "a finite time", object);
      if (std::fabs(seconds) > 1e20) return refuse_range(where, kFits, object);
      if constexpr (std::is_floating_point_v<Rep>) {
        value = std::chrono::duration_cast<Duration>(
            std::chrono::duration<double>(seconds));
        return true;
      } else {
        const long double ticks = (long double)(seconds)*Period::den / Period::num;
        if (ticks < (long double)(std::numeric_limits<Rep>::min()) ||
            ticks > (long double)(std::numeric_limits<Rep>::max())) {
          return refuse_range(where, kFits, object);
        }
        value = Duration(Rep(ticks));
        return true;
      }
    }
    long long days, seconds, micros;
    if (!detail::int_attribute(object, "days", days) ||
        !detail::int_attribute(object, "seconds", seconds) ||
        !detail::int_attribute(object, "microseconds", micros)) {
      return false;
    }
    const detail::Wide all = (detail::Wide(days) * 86400 + seconds) * detail::kSecond +
                             micros;
    return detail::to_duration(all, value) || refuse_range(where, kFits, object);
  }
  static PyObject* cast(const Duration& value) {
    detail::Wide micros;
    if (!detail::to_micros(value, micros)) {
      PyErr_SetString(PyExc_OverflowError, "a time of C++ that no timedelta can hold");
      return nullptr;
    }
    PyRef type(detail::datetime_class("timedelta"));
    if (!type) return nullptr;
    // Days, seconds and microseconds, as whole numbers.
    const detail::Wide seconds = micros / detail::kSecond;
    return call_python([&] {
      return PyObject_CallFunction(type.get(), "LLL", (long long)(seconds / 86400),
                                   (long long)(seconds % 86400),
                                   (long long)(micros % detail::kSecond));
    });
  }

 private:
  static constexpr const char* kFits = "a time that C++'s type can hold";
};

/// A datetime.datetime of local time where it has no time zone; out without one.
template <class D>
struct Convert<std::chrono::time_point<std::chrono::system_clock, D>> {
  using Time = std::chrono::time_point<std::chrono::system_clock, D>;

  static std::string expected() { return "a datetime"; }
  static bool load(PyObject* object, Time& value, const Argument& where) {
    PyRef type(detail::datetime_class("datetime"));
    if (!type) return false;
    PyRef given;  // midnight of a date
    int is = call_python(PyObject_IsInstance, object, type.get());
    if (is == 0) {
      PyRef date(detail::datetime_class("date"));
      is = date ? call_python(PyObject_IsInstance, object, date.get()) : -1;
      if (is <= 0) return is == 0 && refuse(where, expected, object);
      given = PyRef(call_python([&] {
        return PyObject_CallFunction(
            type.get(), "NNN", PyObject_GetAttrString(object, "year"),
            PyObject_GetAttrString(object, "month"), PyObject_GetAttrString(object, "day"));
      }));
      if (!(object = given.get())) return false;
    }
    if (is < 0) return false;
    PyRef whole(call_python(PyObject_CallMethod, object, "replace", "()"));
    PyRef stamp(call_python(PyObject_CallMethod, object, "timestamp", nullptr));
    if (!stamp) return false;
    long long micros;
    if (!detail::int_attribute(object, "microsecond", micros)) return false;
    // The stamp is a float: its whole seconds are exact, its microseconds are not.
    const double seconds = std::floor(
        (PyFloat_AsDouble(stamp.get()) * 1e6 - double(micros)) / 1e6 + 0.5);
    D since;
    const detail::Wide all = detail::Wide(seconds) * detail::kSecond + micros;
    if (!detail::to_duration(all, since)) {
      return refuse_range(where, "a time that C++'s type can hold", object);
    }
    value = Time(since);
    return true;
  }
  static PyObject* cast(const Time& value) {
    using namespace std::chrono;
    const auto micros = floor<microseconds>(value.time_since_epoch());
    const auto whole = floor<seconds>(micros);
    PyRef type(detail::datetime_class("datetime"));
    if (!type) return nullptr;
    PyRef made(call_python([&] {
      return PyObject_CallMethod(type.get(), "fromtimestamp", "L",
                                 (long long)whole.count());
    }));
    if (!made) return nullptr;
    PyRef names(Py_BuildValue("{s:L}", "microsecond", (long long)(micros - whole).count()));
    PyRef replace(PyObject_GetAttrString(made.get(), "replace")), none(PyTuple_New(0));
    if (!names || !replace || !none) return nullptr;
    return call_python(PyObject_Call, replace.get(), none.get(), names.get());
  }
};

/// A time of a clock that counts from no date, such as std::chrono::steady_clock: how long
/// that is from its beginning.
template <class Clock, class D>
  requires(!std::is_same_v<Clock, std::chrono::system_clock>)
struct Convert<std::chrono::time_point<Clock, D>> {
  using Time = std::chrono::time_point<Clock, D>;

  static std::string expected() { return Convert<D>::expected(); }
  static bool load(PyObject* object, Time& value, const Argument& where) {
    D since{};
    if (!to_cpp(object, since, where)) return false;
    value = Time(since);
    return true;
  }
  static PyObject* cast(const Time& value) { return to_python(value.time_since_epoch()); }
};

}  // namespace swigkit
