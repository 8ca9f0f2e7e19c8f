// SPDX-License-Identifier: Apache-2.0
// swigkit/enumeration.h: C++ enums as Python's enum.IntEnum.  A plain int is not a member,
// though members are ints.  One without members is a class of ints.
#pragma once

#include "classes.h"
#include "plain.h"
#include "ref.h"

#include <initializer_list>

namespace [[gnu::visibility("hidden")]] swigkit {

/// Whether C++ has no name for it, as g++ and clang++ say: its members are ints.
inline bool is_unnamed(const std::type_info& type) {
  const char* name = readable_name(type);
  return std::strstr(name, "unnamed") || std::strstr(name, "._anon") ||
         std::strstr(name, "$_");
}

template <class E>
  requires std::is_enum_v<E>
struct Convert<E> {
  // A char is no text here.
  using Under = std::underlying_type_t<E>;
  using Int = std::conditional_t<
      std::is_same_v<Under, char> || std::is_same_v<Under, bool>,
      std::conditional_t<std::is_signed_v<Under>, signed char, unsigned char>, Under>;

  static std::string expected() {
    if (!g_enum_class<E>) return typeid(E).name();
    return one(reinterpret_cast<PyTypeObject*>(g_enum_class<E>)->tp_name);
  }
  static bool load(PyObject* object, E& value, const Argument& where) {
    if (!g_enum_class<E>) {
      Int number;
      if (!is_unnamed(typeid(E))) return refuse_no_class(typeid(E));
      if (!to_cpp(object, number, where)) return false;
      value = E(number);
      return true;
    }
    const int member = call_python(PyObject_IsInstance, object, g_enum_class<E>);
    if (member <= 0) return member == 0 && refuse(where, expected, object);
    Int number;
    if (!to_cpp(object, number, where)) return false;
    value = E(number);
    return true;
  }
  /// ValueError for a value that is no member.
  static PyObject* cast(E value) {
    if (!g_enum_class<E>) {
      if (is_unnamed(typeid(E))) return to_python(Int(value));
      return refuse_no_class(typeid(E)), nullptr;
    }
    PyRef number(to_python<Int>(Int(value)));
    if (!number) return nullptr;
    return call_python(PyObject_CallOneArg, g_enum_class<E>, number.get());
  }
};

inline bool set_doc(PyObject* object, const char* doc) {
  PyRef text(PyUnicode_FromString(doc));
  return text && PyObject_SetAttrString(object, "__doc__", text.get()) == 0;
}

/// Adds the enum NAME to a module or a class; false with an error set when that fails.
/// `base` is IntEnum or IntFlag; `spread`: its members stand beside it, too; `docs`: of
/// those members that have any.
template <class E>
bool add_enum(PyObject* module, PyObject* owner, const char* name,
              std::initializer_list<std::pair<const char*, E>> members,
              const char* base = "IntEnum", bool spread = false, const char* doc = "",
              std::initializer_list<std::pair<const char*, const char*>> docs = {}) {
  PyRef values(PyDict_New()), library(PyImport_ImportModule("enum"));
  if (!values || !library) return false;
  for (const auto& [label, value] : members) {
    PyRef number(to_python(typename Convert<E>::Int(value)));
    if (!number || PyDict_SetItemString(values.get(), label, number.get()) < 0) {
      return false;
    }
  }
  // Python's enums take no value that is no member: of one without any each is good.
  auto* type = reinterpret_cast<PyObject*>(&PyType_Type);
  PyRef made(members.size() > 0
                 ? PyObject_CallMethod(library.get(), base, "sO", name, values.get())
                 : PyObject_CallFunction(type, "s(O)N", name, &PyLong_Type, PyDict_New()));
  PyRef home(PyModule_GetNameObject(module));
  if (!made || !home || PyObject_SetAttrString(made.get(), "__module__", home.get()) < 0 ||
      PyObject_SetAttrString(owner, name, made.get()) < 0) {
    return false;
  }
  if (*doc && !set_doc(made.get(), doc)) return false;
  for (const auto& [label, text] : docs) {
    PyRef member(PyObject_GetAttrString(made.get(), label));
    PyRef first(member ? PyObject_GetAttrString(member.get(), "name") : nullptr);
    if (!first) return false;
    // Another name of a member has no docs of its own.
    const bool own = PyUnicode_CompareWithASCIIString(first.get(), label) == 0;
    if (own && !set_doc(member.get(), text)) return false;
  }
  if (owner != module) {
    PyRef outer(PyObject_GetAttrString(owner, "__qualname__"));
    PyRef full(outer ? PyUnicode_FromFormat("%U.%s", outer.get(), name) : nullptr);
    if (!full || PyObject_SetAttrString(made.get(), "__qualname__", full.get()) < 0) {
      return false;
    }
  }
  for (const auto& [label, value] : members) {
    if (!spread) break;
    PyRef member(PyObject_GetAttrString(made.get(), label));
    if (!member || PyObject_SetAttrString(owner, label, member.get()) < 0) return false;
  }
  g_enum_class<E> = made.release();
  return true;
}

/// The enum that another module has made (%import).
template <class E>
bool import_enum(PyObject* module, const char* home, const char* name) {
  g_enum_class<E> = import_object(module, home, name);
  return g_enum_class<E> != nullptr;
}

}  // namespace swigkit
