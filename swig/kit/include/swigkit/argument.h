// SPDX-License-Identifier: Apache-2.0
// swigkit/argument.h: where an argument belongs, and the one text for a wrong one:
//
//     [function] expected a number for 'values[3]', got str
//
// Used by every conversion (convert.h and what includes it).
#pragma once

#include "ref.h"

#include <cstring>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

/// A parameter's default that SWIG does not read: readable.py writes it so.
#define SWIGKIT_AS_WRITTEN(...) (__VA_ARGS__)
/// One of a method, with the names that its class has, and the class around that, where
/// these are swigkit_class and swigkit_around.
#define SWIGKIT_WRITTEN_IN_CLASS(...)                         \
  ([] {                                                       \
    struct Around : swigkit::NamesOf<swigkit_around> {        \
      struct Here : swigkit::NamesOf<swigkit_class> {         \
        static decltype(auto) value() { return __VA_ARGS__; } \
      };                                                      \
    };                                                        \
    return Around::Here::value();                             \
  }())

namespace [[gnu::visibility("hidden")]] swigkit {

/// A base by which a class sees the names of T; nothing where none can be derived of it.
struct NoNames {};
template <class T>
constexpr bool kHasHeirs = std::is_class_v<T> && !std::is_final_v<T>;
template <class T>
using NamesOf = std::conditional_t<kHasHeirs<T>, T, NoNames>;

/// The choice among overloads: each is tried, the first that takes the arguments as they
/// are before any that has to convert one.
struct Matching {
  bool exact = true;      // no conversion from int to float and the like
  bool refused = false;   // an argument did not fit; no Python error is set then
  bool operands = false;  // of an operator: None is none
};

/// The parts of a container that C++ refers to, or has taken over, during a call.
struct Parts {
  std::vector<PyRef> objects;
  struct Taken {
    PyObject* object;
    const void* pointer;
  };
  std::vector<Taken> taken;
};

/// repr() of the object, for texts of errors, where a NUL would be the end; what an object
/// without one is called.
inline std::string repr(PyObject* object, const char* without = "?") {
  const PyRef text(call_python(PyObject_Repr, object));
  Py_ssize_t size = 0;
  const char* utf8 = text ? PyUnicode_AsUTF8AndSize(text.get(), &size) : nullptr;
  if (!utf8) return PyErr_Clear(), without;
  std::string shown;
  for (Py_ssize_t i = 0; i < size; ++i) {
    if (utf8[i]) shown += utf8[i];
    else shown += "\\x00";
  }
  return shown;
}

/// Where an argument belongs, for errors: a parameter, or a part of another argument.
struct Argument {
  const char* function;
  const char* name;
  bool optional = false;         // takes None as well
  Matching* matching = nullptr;  // of an overload
  // Of a part: what it is a part of, and how it is got from there.
  enum class Part { Item, Value, Key, Result };
  const Argument* whole = nullptr;
  Part part = Part::Item;
  Py_ssize_t index = 0;
  PyObject* key = nullptr;
  Parts* keep = nullptr;  // of a container
  bool lasts = false;     // C++ may have it longer than what was converted for it

  /// A sequence's item.
  Argument item(Py_ssize_t i) const { return part_of(Part::Item, i, nullptr); }
  /// A mapping's value, and its key.
  Argument value_of(PyObject* k) const { return part_of(Part::Value, 0, k); }
  Argument key_of(PyObject* k) const { return part_of(Part::Key, 0, k); }
  /// What a callable returned.
  Argument result() const { return part_of(Part::Result, 0, nullptr); }

  /// Of a value that another is made of, or of one that leaves where it was converted.
  Argument lasting() const {
    Argument same = *this;
    same.lasts = true;
    return same;
  }

  /// True where an overload is looked for that needs no conversion.
  bool exact() const { return matching && matching->exact; }

  /// "values[3]", "prices['tea']", "prices (key 7)", "callback()".
  std::string text() const {
    if (!whole) return name;
    switch (part) {
      case Part::Item: return whole->text() + "[" + std::to_string(index) + "]";
      case Part::Value: return whole->text() + "[" + repr(key) + "]";
      case Part::Key: return whole->text() + " (key " + repr(key) + ")";
      default: return whole->text() + "()";
    }
  }

 private:
  Argument part_of(Part p, Py_ssize_t i, PyObject* k) const {
    return {function, name, false, matching, this, p, i, k, keep, true};
  }
};

/// "a Point", "an Event": as errors name a class.
inline std::string one(const std::string& name) {
  return (std::strchr("AEIOaeio", name[0]) ? "an " : "a ") + name;
}

/// Sets TypeError, and returns false; `expected` is such as "an int".
[[gnu::cold, gnu::noinline]] inline bool refuse(const Argument& where,
                                                const std::string& expected,
                                                PyObject* got) {
  if (where.matching) {
    where.matching->refused = true;
    return false;
  }
  PyErr_Format(PyExc_TypeError, "[%s] expected %s%s for '%s', got %s", where.function,
               expected.c_str(), where.optional ? " or None" : "", where.text().c_str(),
               Py_TYPE(got)->tp_name);
  return false;
}

/// The same of `kind`, which is there during the call alone: C++ may have it longer, as a
/// part of what was made of it or as a result.
[[gnu::cold, gnu::noinline]] inline bool refuse_lasting(const Argument& where,
                                                        const char* instead,
                                                        const char* kind, PyObject* got) {
  return refuse(where,
                std::string("what lasts: take a ") + instead + " in C++ (%extend), not a " +
                    kind + ",",
                got);
}

/// The same of a type whose text is made only where it is read.
template <class Text>
  requires requires(Text text) { text().size(); }
bool refuse(const Argument& where, Text expected, PyObject* got) {
  if (where.matching) return !(where.matching->refused = true);
  return refuse(where, std::string(expected()), got);
}

/// A conversion failed: the usual TypeError gets our text, another error stays.
[[gnu::cold, gnu::noinline]] inline bool explain(const Argument& where,
                                                 const std::string& expected,
                                                 PyObject* got) {
  if (!PyErr_ExceptionMatches(PyExc_TypeError)) return false;
  PyErr_Clear();
  return refuse(where, expected, got);
}

/// Sets ValueError for a text with a NUL, at which C++ would see its end.
[[gnu::cold, gnu::noinline]] inline bool refuse_nul(const Argument& where) {
  PyErr_Format(PyExc_ValueError, "[%s] expected no NUL character in '%s'", where.function,
               where.text().c_str());
  return false;
}

/// Sets OverflowError for an int that does not fit.
[[gnu::cold, gnu::noinline]] inline bool refuse_range(const Argument& where,
                                                      const std::string& expected,
                                                      PyObject* got) {
  if (where.matching) return refuse(where, expected, got);
  PyErr_Format(PyExc_OverflowError, "[%s] expected %s for '%s', got %R", where.function,
               expected.c_str(), where.text().c_str(), got);
  return false;
}

}  // namespace swigkit
