// SPDX-License-Identifier: Apache-2.0
// swigkit/by_hand.h: for types and methods that are written in the C API beside what SWIG
// wraps.  Functions that are no entry of a table throw what is wrong, so they belong below
// guarded().
#pragma once

#include "fastcall.h"
#include "results.h"

#include <structseq.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace [[gnu::visibility("hidden")]] swigkit {

/// The object itself; throws the Python error that is set when it is null.
inline PyObject* checked(PyObject* object) {
  if (!object) throw_python_error();
  return object;
}

/// Throws the kit's text for a wrong argument unless it fits.
inline void expect(bool fits, const Argument& where, const char* expected, PyObject* got) {
  if (__builtin_expect(fits, 1)) return;
  refuse(where, expected, got);
  throw_python_error();
}

/// The C++ object inside of an object of just this class; null for any other.
template <class T>
const T* exactly(PyObject* object) {
  if (Py_TYPE(object) != class_of<T>.type) return nullptr;
  return static_cast<const T*>(reinterpret_cast<Instance*>(object)->object);
}

/// hash() of what an object of C++'s stands for, by its address.
inline long address_hash(const void* address) {
  return long(reinterpret_cast<uintptr_t>(address) >> 4);
}

/// The text of an attribute, which `keep` keeps; null, without an error, where there is none
/// or `object` is null.
inline const char* text_attribute(PyObject* object, const char* name, PyRef& keep) {
  if (object) keep = PyRef(call_python(PyObject_GetAttrString, object, name));
  const bool there = object && keep && PyUnicode_Check(keep.get());
  const char* text = there ? PyUnicode_AsUTF8(keep.get()) : nullptr;
  if (!text) PyErr_Clear();
  return text;
}

/// A new tuple of n objects, which item(i) gives as new references.
template <class F>
PyObject* make_tuple(size_t n, F item) {
  PyRef tuple(checked(PyTuple_New(Py_ssize_t(n))));
  for (size_t i = 0; i < n; ++i) {
    PyTuple_SET_ITEM(tuple.get(), Py_ssize_t(i), checked(item(i)));
  }
  return tuple.release();
}

/// Nested lists of what lies in memory: `shape` and, in bytes, `steps` by dimension, of
/// which there is at least one; item(place) makes the object of each place.
template <class Sizes, class Item>
PyObject* nested_list(const Sizes& shape, const Sizes& steps, const char* data, Item item,
                      size_t dimension = 0) {
  PyRef list(checked(PyList_New(Py_ssize_t(shape[dimension]))));
  const bool last = dimension + 1 == shape.size();
  for (Py_ssize_t i = 0; i < PyList_GET_SIZE(list.get()); ++i, data += steps[dimension]) {
    PyObject* made = last ? checked(item(data))
                          : nested_list(shape, steps, data, item, dimension + 1);
    PyList_SET_ITEM(list.get(), i, made);
  }
  return list.release();
}

/// A text that a template is told.
template <size_t n>
struct Text {
  char value[n];
  consteval Text(const char (&text)[n]) { std::copy_n(text, n, value); }
};

/// Entries of the tables of a type, for a function of its C++ object: `self_of` finds that
/// in Python's.  What the function returns is converted, unless it is a new reference.
template <class T>
PyObject* as_object(T&& made) {
  if constexpr (std::is_convertible_v<T, PyObject*>) return made;
  else return to_python(std::forward<T>(made));
}
template <auto self_of, auto function>
PyObject* get_by(PyObject* self, void*) {
  return guarded([&] { return as_object(function(self_of(self))); });
}
/// put(object, value): null for `del`.
template <auto self_of, auto put>
int set_by(PyObject* self, PyObject* value, void*) {
  return guarded([&] { return put(self_of(self), value), 0; }, -1);
}
/// The same of an attribute that cannot be deleted.
template <auto self_of, auto put, Text name>
int replace_by(PyObject* self, PyObject* value, void* closure) {
  if (value) return set_by<self_of, put>(self, value, closure);
  PyErr_Format(PyExc_AttributeError, "%s cannot be deleted", name.value);
  return -1;
}
/// METH_NOARGS
template <auto self_of, auto function>
PyObject* call_by(PyObject* self, PyObject*) {
  return guarded([&] { return as_object(function(self_of(self))); });
}

/// A row of a table of slots.
template <class F>
PyType_Slot slot(int which, F* function) {
  return {which, reinterpret_cast<void*>(function)};
}
/// The same for a function of the C++ object alone, as above.
template <auto self_of, auto function>
PyObject* unary_by(PyObject* self) {
  return guarded([&] { return as_object(function(self_of(self))); });
}
template <class Number, auto self_of, auto function>
Number number_by(PyObject* self) {
  return guarded([&] { return Number(function(self_of(self))); }, Number(-1));
}
template <int which, auto self_of, auto function>
PyType_Slot slot_row() {
  if constexpr (which == Py_nb_bool) {
    return slot(which, number_by<int, self_of, function>);
  } else if constexpr (which == Py_mp_length || which == Py_sq_length) {
    return slot(which, number_by<Py_ssize_t, self_of, function>);
  } else {
    return slot(which, unary_by<self_of, function>);
  }
}

template <class T>
inline constexpr bool IsOptional = false;
template <class T>
inline constexpr bool IsOptional<std::optional<T>> = true;

/// METH_FASTCALL | METH_KEYWORDS: a function with further parameters, which are converted
/// as those of wrapped functions.  One that is a std::optional may be left out.  `names`
/// are its own and theirs, "*name" where only a keyword says which is meant.
template <auto self_of, auto function, Text... names>
struct CallBy {
  template <class R, class Self, class... A>
  static PyObject* run(R (*)(Self, A...), PyObject* self, PyObject* const* args,
                       Py_ssize_t count, PyObject* keywords) {
    constexpr size_t n = sizeof...(A);
    static_assert(sizeof...(names) == n + 1, "a name for the method and each parameter");
    static constexpr std::array<const char*, n + 1> texts{names.value...};
    static constexpr std::array<bool, n> optional{IsOptional<std::remove_cvref_t<A>>...};
    static_assert(std::is_sorted(optional.begin(), optional.end()),
                  "parameters that may be left out come last");
    [[maybe_unused]] static constexpr Py_ssize_t required =
        std::find(optional.begin(), optional.end(), true) - optional.begin();
    [[maybe_unused]] static constexpr Py_ssize_t positional =
        std::find_if(texts.begin(), texts.end(), [](auto text) { return *text == '*'; }) -
        texts.begin() - 1;
    PyObject* slots[n];
    return [&]<size_t... I>(std::index_sequence<I...>) -> PyObject* {
      static Name all[n] = {{texts[I + 1] + (*texts[I + 1] == '*')}...};
      static const Parameters parameters{texts[0], all, required, n, positional};
      if (!take_arguments(parameters, args, count, keywords, slots)) return nullptr;
      std::tuple<In<std::remove_cvref_t<A>>...> in;
      const auto load = [&](auto& one, size_t i) {
        return !slots[i] || one.load(slots[i], {texts[0], all[i].text, optional[i]});
      };
      return guarded([&]() -> PyObject* {  // a conversion may throw as well
        if (!(load(std::get<I>(in), I) && ...)) return nullptr;
        return as_object(function(self_of(self), std::get<I>(in).take()...));
      });
    }(std::index_sequence_for<A...>());
  }
  static PyObject* call(PyObject* self, PyObject* const* args, Py_ssize_t count,
                        PyObject* keywords) {
    return run(+function, self, args, count, keywords);
  }
};
template <auto self_of, auto function, Text... names>
PyCFunction call_with() {
  return reinterpret_cast<PyCFunction>(
      reinterpret_cast<void (*)()>(CallBy<self_of, function, names...>::call));
}

/// Which parameters may be left out.
template <class R, class Self, class... A>
consteval auto left_out(R (*)(Self, A...)) {
  return std::array<bool, sizeof...(A)>{IsOptional<std::remove_cvref_t<A>>...};
}
/// What inspect.signature() reads, and the text for help():
/// "scaled($self, by, plus=None, *, unit=None)\n--\n\nText."
template <auto function, Text text, Text name, Text... names>
inline constexpr auto kDocumented = [] {
  constexpr auto optional = left_out(+function);
  constexpr size_t most = sizeof(", *, =None");
  std::array<char, sizeof(text) + sizeof(name) + 32 + ((sizeof(names) + most) + ... + 0)>
      made{};
  auto at = made.begin();
  const auto add = [&](std::string_view part) {
    at = std::copy(part.begin(), part.end(), at);
  };
  add(name.value);
  add("($self");
  bool named = false;
  [[maybe_unused]] size_t i = 0;
  [[maybe_unused]] const auto add_parameter = [&](std::string_view parameter) {
    const bool star = parameter.starts_with('*');
    add(star && !named ? ", *, " : ", ");
    add(parameter.substr(star));
    if (optional[i++]) add("=None");
    named |= star;
  };
  (add_parameter(names.value), ...);
  add(")\n--\n\n");
  add(text.value);
  return made;
}();

/// A row of a table of methods, `names` as for CallBy; and one of attributes.
template <auto self_of, auto function, Text text, Text name, Text... names>
PyMethodDef method_row() {
  const char* doc = kDocumented<function, text, name, names...>.data();
  if constexpr (sizeof...(names) == 0) {
    return {name.value, call_by<self_of, function>, METH_NOARGS, doc};
  } else {
    return {name.value, call_with<self_of, function, name, names...>(),
            METH_FASTCALL | METH_KEYWORDS, doc};
  }
}
template <auto self_of, auto function>
PyGetSetDef attribute_row(const char* name, const char* doc, setter put = nullptr) {
  return {name, get_by<self_of, function>, put, doc, nullptr};
}

/// A swigkit::Convert of a C++ type by functions: load(object, &value) is false for what is
/// none, and cast(value) gives a new reference.
template <class T, auto load_from, auto wrap_as, Text text>
struct ConvertBy {
  static std::string expected() { return text.value; }
  static bool load(PyObject* object, T& value, const Argument& where) {
    return load_from(object, &value) || refuse(where, text.value, object);
  }
  static PyObject* cast(T value) { return wrap_as(std::move(value)); }
};

/// What a function was given by METH_VARARGS | METH_KEYWORDS: `format` is that of
/// PyArg_ParseTupleAndKeywords(), and a name of "" that of a parameter without one.
template <size_t n, class... Places>
void parse_arguments(PyObject* args, PyObject* keywords, const char* format,
                     const char* const (&names)[n], Places*... places) {
  static_assert(n == sizeof...(places));
  char* all[n + 1] = {};
  for (size_t i = 0; i < n; ++i) all[i] = const_cast<char*>(names[i]);
  const bool fits = call_python(
      [&] { return PyArg_ParseTupleAndKeywords(args, keywords, format, all, places...); });
  if (!fits) throw_python_error();
}

/// Makes a type and adds it to the module under its last name; it lives with the process.
inline PyTypeObject* add_type(PyObject* module, PyType_Spec* spec) {
  PyRef type = check(PyType_FromSpec(spec));
  check(PyObject_SetAttrString(module, std::strrchr(spec->name, '.') + 1, type.get()));
  return reinterpret_cast<PyTypeObject*>(type.release());
}

/// A class of tuples whose items have names, for results whose names are known when the
/// program runs: PyStructSequence_New() makes one.  The items' names must live as long.  A
/// pickle holds a plain tuple, as no module has the class.
inline PyTypeObject* make_named_tuple(const char* name, const char* doc,
                                      const std::vector<const char*>& names) {
  static PyMethodDef reduce = {
      "__reduce__",
      [](PyObject* self, PyObject*) -> PyObject* {
        PyRef items(PySequence_GetSlice(self, 0, PyTuple_GET_SIZE(self)));
        if (!items) return nullptr;
        return Py_BuildValue("O(O)", reinterpret_cast<PyObject*>(&PyTuple_Type),
                             items.get());
      },
      METH_NOARGS, nullptr};
  std::vector<PyStructSequence_Field> fields;
  for (const char* each : names) fields.push_back({each, nullptr});
  fields.push_back({nullptr, nullptr});
  PyStructSequence_Desc description{name, doc, fields.data(), int(names.size())};
  PyRef made = check(reinterpret_cast<PyObject*>(PyStructSequence_NewType(&description)));
  auto* type = reinterpret_cast<PyTypeObject*>(made.get());
  const PyRef method = check(PyDescr_NewMethod(type, &reduce));
  check(PyObject_SetAttrString(made.get(), "__reduce__", method.get()));
  return reinterpret_cast<PyTypeObject*>(made.release());
}

}  // namespace swigkit
