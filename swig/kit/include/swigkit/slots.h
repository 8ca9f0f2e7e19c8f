// SPDX-License-Identifier: Apache-2.0
// swigkit/slots.h: what CPython calls: entries of functions, methods, attributes and
// operators over the groups that swig/kit/build/step.py writes.  A group is all that is
// called by one name; it has
//
//   static PyObject* call(PyObject* object, PyObject* self, PyObject* const* args,
//                         Py_ssize_t nargs, PyObject* keywords, bool is_operator);
//
// where `self` is the first argument or null, and `is_operator` asks for NotImplemented
// where the arguments do not fit.
#pragma once

#include "arrow.h"
#include "standard.h"

#include <sstream>

namespace [[gnu::visibility("hidden")]] swigkit {

using Run = PyObject* (*)(PyObject* self, PyObject** slots, Matching* matching);

template <class Group>
PyObject* function(PyObject* module, PyObject* const* args, Py_ssize_t nargs,
                   PyObject* keywords) {
  return Group::call(module, nullptr, args, nargs, keywords, false);
}
template <class Group>
PyObject* method(PyObject* self, PyObject* const* args, Py_ssize_t nargs,
                 PyObject* keywords) {
  return Group::call(self, self, args, nargs, keywords, false);
}
/// Class(...) of one whose objects a function gives (%made_by).
template <class Group>
PyObject* make_by(PyObject* type, PyObject* const* args, size_t nargsf,
                  PyObject* keywords) {
  return Group::call(type, nullptr, args, PyVectorcall_NARGS(nargsf), keywords, false);
}
/// Of a single signature without parameters.
template <Run run>
PyObject* function_alone(PyObject* module, PyObject*) {
  return run(module, nullptr, nullptr);
}
template <Run run>
PyObject* method_alone(PyObject* self, PyObject*) {
  PyObject* slots[1] = {self};
  return run(self, slots, nullptr);
}

/// Of a single parameter that cannot be named.
template <Run run>
PyObject* function_one(PyObject* module, PyObject* argument) {
  PyObject* slots[1] = {argument};
  return run(module, slots, nullptr);
}
template <Run run>
PyObject* method_one(PyObject* self, PyObject* argument) {
  PyObject* slots[2] = {self, argument};
  return run(self, slots, nullptr);
}

template <Run run>
PyObject* get(PyObject* self, void*) {
  PyObject* slots[1] = {self};
  return run(self, slots, nullptr);
}
template <Run run>
int set(PyObject* self, PyObject* value, void*) {
  if (!value) {
    PyErr_SetString(PyExc_AttributeError, "this attribute cannot be deleted");
    return -1;
  }
  PyObject* slots[2] = {self, value};
  PyObject* done = run(self, slots, nullptr);
  Py_XDECREF(done);
  return done ? 0 : -1;
}
template <PyObject* (*getter)()>
PyObject* get_static(PyObject*, void*) {
  return guarded([] { return getter(); });
}
template <int (*setter)(PyObject*)>
int set_static(PyObject*, PyObject* value, void*) {
  if (value) return guarded([&] { return setter(value) ? -1 : 0; }, -1);
  PyErr_SetString(PyExc_AttributeError, "this attribute cannot be deleted");
  return -1;
}

struct None {};  // no group

template <class Group>
PyObject* unary(PyObject* self) {
  return Group::call(self, self, nullptr, 0, nullptr, false);
}
template <class Group>
PyObject* operate(PyObject* self, PyObject* other) {
  return Group::call(self, self, &other, 1, nullptr, true);
}
/// x + y: the group of x's class, else the reflected one of y's.
template <class T, class Group, class Reflected>
PyObject* binary(PyObject* a, PyObject* b) {
  if constexpr (!std::is_same_v<Group, None>) {
    if (PyType_IsSubtype(Py_TYPE(a), class_of<T>.type)) {
      PyObject* result = operate<Group>(a, b);
      if (result != Py_NotImplemented) return result;
      Py_DECREF(result);
    }
  }
  if constexpr (!std::is_same_v<Reflected, None>) {
    if (PyType_IsSubtype(Py_TYPE(b), class_of<T>.type)) return operate<Reflected>(b, a);
  }
  Py_RETURN_NOTIMPLEMENTED;
}
template <class T, class Group, class Reflected>
PyObject* power(PyObject* a, PyObject* b, PyObject* modulus) {
  if (modulus == Py_None) return binary<T, Group, Reflected>(a, b);
  if constexpr (!std::is_same_v<Group, None>) {
    if (PyType_IsSubtype(Py_TYPE(a), class_of<T>.type)) {
      PyObject* args[] = {b, modulus};
      return Group::call(a, a, args, 2, nullptr, true);
    }
  }
  Py_RETURN_NOTIMPLEMENTED;
}
/// x += y: the result is x itself.
template <class Group>
PyObject* in_place(PyObject* self, PyObject* other) {
  PyObject* result = operate<Group>(self, other);
  if (!result || result == Py_NotImplemented) return result;
  Py_DECREF(result);
  return new_ref(self);
}
/// x **= y, for which Python has no third operand.
template <class Group>
PyObject* power_in_place(PyObject* self, PyObject* other, PyObject*) {
  return in_place<Group>(self, other);
}

template <class Group>
PyObject* compare_with(PyObject* a, PyObject* b) {
  if constexpr (std::is_same_v<Group, None>) Py_RETURN_NOTIMPLEMENTED;
  else return operate<Group>(a, b);
}
template <class Lt, class Le, class Eq, class Ne, class Gt, class Ge>
PyObject* compare(PyObject* a, PyObject* b, int op) {
  switch (op) {
    case Py_LT: return compare_with<Lt>(a, b);
    case Py_LE: return compare_with<Le>(a, b);
    case Py_GT: return compare_with<Gt>(a, b);
    case Py_GE: return compare_with<Ge>(a, b);
    case Py_EQ:
      if constexpr (std::is_same_v<Eq, None>) return compare_objects(a, b, op);
      else return compare_with<Eq>(a, b);
    default:
      if constexpr (!std::is_same_v<Ne, None>) return compare_with<Ne>(a, b);
      else if constexpr (std::is_same_v<Eq, None>) return compare_objects(a, b, op);
      else {
        PyObject* equal = compare_with<Eq>(a, b);
        if (!equal || equal == Py_NotImplemented) return equal;
        const int truth = call_python(PyObject_IsTrue, equal);
        Py_DECREF(equal);
        return truth < 0 ? nullptr : PyBool_FromLong(!truth);
      }
  }
}

/// The first of the groups that takes the operand.
template <class... Groups>
struct FirstOf {
  static PyObject* call(PyObject* module, PyObject* self, PyObject* const* args,
                        Py_ssize_t count, PyObject* names, bool operand) {
    PyObject* result = new_ref(Py_NotImplemented);
    const auto again = [&](auto call) {
      if (result != Py_NotImplemented) return;
      Py_DECREF(result);
      result = call(module, self, args, count, names, operand);
    };
    (again(Groups::call), ...);
    return result;
  }
};
/// One comparison of a class that C++ orders by <=>, with an object of type Other; alone
/// where the class has no operator of its own for it, exact where it converts nothing.
template <class T, class Other, int op, bool alone, bool exact>
struct Ordered {
  static PyObject* call(PyObject*, PyObject* self, PyObject* const* args, Py_ssize_t,
                        PyObject*, bool) {
    const auto order = [](const auto& a, const auto& b) -> bool {
      if constexpr (op == Py_LT) return a < b;
      else if constexpr (op == Py_LE) return a <= b;
      else if constexpr (op == Py_GT) return a > b;
      else if constexpr (op == Py_GE) return a >= b;
      else if constexpr (op == Py_EQ) return a == b;
      else return a != b;
    };
    // A <=> of one's own says nothing of ==.
    if constexpr ((op == Py_EQ || op == Py_NE) &&
                  !requires(const T& a, const Other& b) { a == b; }) {
      if (alone) return compare_objects(self, args[0], op);
      Py_RETURN_NOTIMPLEMENTED;
    } else {
      Matching matching{exact, false, true};
      const Argument where{"<=>", "other", false, &matching};
      T* held = pointer_of<T>(self, {"<=>", "self"});
      if (!held) return nullptr;
      In<Other> other;
      if (!other.load(args[0], where)) {
        if (PyErr_Occurred()) return nullptr;
        Py_RETURN_NOTIMPLEMENTED;
      }
      return guarded([&] { return PyBool_FromLong(order(*held, *other.get())); });
    }
  }
};

/// x.name where the ordinary look-up finds nothing: __getattr__ of the class.
template <class Group>
PyObject* get_attribute(PyObject* self, PyObject* name) {
  PyObject* found = call_python(PyObject_GenericGetAttr, self, name);
  if (found || !PyErr_ExceptionMatches(PyExc_AttributeError)) return found;
  PyErr_Clear();
  found = Group::call(self, self, &name, 1, nullptr, false);
  if (!found && PyErr_ExceptionMatches(PyExc_IndexError)) {  // std::out_of_range
    PyErr_Format(PyExc_AttributeError, "'%s' object has no attribute '%U'",
                 Py_TYPE(self)->tp_name, name);
  }
  return found;
}
/// x.name = value and del x.name, by __setattr__ and __delattr__.
template <class Set, class Delete>
int set_attribute(PyObject* self, PyObject* name, PyObject* value) {
  PyObject* args[2] = {name, value};
  PyObject* result;
  if constexpr (!std::is_same_v<Set, None>) {
    if (value) {
      result = Set::call(self, self, args, 2, nullptr, false);
      Py_XDECREF(result);
      return result ? 0 : -1;
    }
  }
  if constexpr (!std::is_same_v<Delete, None>) {
    if (!value) {
      result = Delete::call(self, self, args, 1, nullptr, false);
      Py_XDECREF(result);
      return result ? 0 : -1;
    }
  }
  return call_python(PyObject_GenericSetAttr, self, name, value);
}

/// str(x): what C++ prints, by an operator<< that is found for the class itself.
template <class T>
PyObject* print(PyObject* self) {
  if constexpr (requires(std::ostream& out, T& object) { operator<<(out, object); }) {
    T* object = pointer_of<T>(self, {"__str__", "self"});
    if (!object) return nullptr;
    return guarded([&] {
      std::ostringstream out;
      operator<<(out, *object);
      return to_python(std::move(out).str());
    });
  } else {
    return class_of<T>.type->tp_base->tp_str(self);
  }
}

/// A slot that returns a number.
template <class Group>
Py_ssize_t length(PyObject* self) {
  PyRef result(unary<Group>(self));
  if (!result) return -1;
  const Py_ssize_t n = PyNumber_AsSsize_t(result.get(), PyExc_OverflowError);
  if (n < 0 && !PyErr_Occurred()) {
    PyErr_SetString(PyExc_ValueError, "__len__() should return >= 0");
  }
  return n < 0 ? -1 : n;
}
template <class Group>
int truth(PyObject* self) {
  PyRef result(unary<Group>(self));
  return result ? call_python(PyObject_IsTrue, result.get()) : -1;
}
/// What a method has answered to hash(): a number as it is, as Python takes it.
inline Py_hash_t hash_of(PyRef result) {
  if (!result) return -1;
  if (PyLong_CheckExact(result.get())) {
    const Py_ssize_t value = PyLong_AsSsize_t(result.get());
    if (value != -1) return value;
    if (!PyErr_Occurred()) return -2;
    PyErr_Clear();  // too large
  }
  return call_python(PyObject_Hash, result.get());
}
template <class Group>
Py_hash_t hash(PyObject* self) {
  return hash_of(PyRef(unary<Group>(self)));
}
/// Ends without StopIteration where C++ throws std::out_of_range or the like.
template <class Group>
PyObject* next(PyObject* self) {
  PyObject* result = unary<Group>(self);
  if (!result && PyErr_ExceptionMatches(PyExc_IndexError)) PyErr_Clear();
  return result;
}

template <class Group>
PyObject* item(PyObject* self, PyObject* key) {
  return Group::call(self, self, &key, 1, nullptr, false);
}
/// For iteration and reversed() by numbers.
template <class Group>
PyObject* item_at(PyObject* self, Py_ssize_t index) {
  PyRef key(PyLong_FromSsize_t(index));
  return key ? item<Group>(self, key.get()) : nullptr;
}
template <class Set, class Delete>
int set_item(PyObject* self, PyObject* key, PyObject* value) {
  PyObject* result = nullptr;
  PyObject* args[2] = {key, value};
  if (value) {
    if constexpr (!std::is_same_v<Set, None>) {
      result = Set::call(self, self, args, 2, nullptr, false);
    } else {
      PyErr_Format(PyExc_TypeError, "'%s' object does not support item assignment",
                   Py_TYPE(self)->tp_name);
    }
  } else {
    if constexpr (!std::is_same_v<Delete, None>) {
      result = Delete::call(self, self, args, 1, nullptr, false);
    } else {
      PyErr_Format(PyExc_TypeError, "'%s' object does not support item deletion",
                   Py_TYPE(self)->tp_name);
    }
  }
  Py_XDECREF(result);
  return result ? 0 : -1;
}
/// A key, as operator[] takes it.
template <class Key>
struct InKey {
  In<Key> held;
  bool load(PyObject* object, const Argument& where) { return held.load(object, where); }
  auto& get() { return *held.get(); }
};
template <class T>
struct InKey<T*> {
  InPointer<std::remove_cv_t<T>> held;
  std::remove_cv_t<T>* pointer = nullptr;

  bool load(PyObject* object, const Argument& where) {
    return held.load(object, where, pointer);
  }
  T* get() { return pointer; }
};
template <IsCharacter Character>
struct InKey<const Character*> {
  InText<Character> held;
  Character* pointer = nullptr;

  bool load(PyObject* object, const Argument& where) {
    return held.load(object, where, pointer);
  }
  const Character* get() { return pointer; }
};
/// x[key] = value where C++ has `T& operator[](Key)`, of a group's signature.
template <class T, class Key>
PyObject* set_item_by(PyObject** slots, Matching* matching, const char* function,
                      const char* key_name, const char* value_name) {
  T* held = pointer_of<T>(slots[0], {function, "self"});
  if (!held) return nullptr;
  InKey<Key> in;
  if (!in.load(slots[1], {function, key_name, false, matching})) return nullptr;
  decltype(auto) key = in.get();
  using Item = std::remove_reference_t<decltype((*held)[key])>;
  In<Item> value;
  const Argument where{function, value_name, false, matching};
  if (!value.load(slots[2], where.lasting())) return nullptr;
  return guarded([&]() -> PyObject* {
    return assign((*held)[key], value.take()) ? new_ref(Py_None) : nullptr;
  });
}
template <class Group>
int contains(PyObject* self, PyObject* value) {
  PyRef result(Group::call(self, self, &value, 1, nullptr, true));
  if (!result) return -1;
  return result.get() == Py_NotImplemented ? 0 : call_python(PyObject_IsTrue, result.get());
}
template <class Group>
PyObject* call_object(PyObject* self, PyObject* args, PyObject* keywords) {
  PyRef names(keywords ? PyDict_Keys(keywords) : nullptr);
  PyRef tuple(names ? PyList_AsTuple(names.get()) : nullptr);
  if (keywords && !tuple) return nullptr;
  std::vector<PyObject*> all(&PyTuple_GET_ITEM(args, 0),
                             &PyTuple_GET_ITEM(args, 0) + PyTuple_GET_SIZE(args));
  for (Py_ssize_t i = 0; tuple && i < PyTuple_GET_SIZE(tuple.get()); ++i) {
    all.push_back(PyDict_GetItem(keywords, PyTuple_GET_ITEM(tuple.get(), i)));
  }
  const bool named = tuple && PyTuple_GET_SIZE(tuple.get());
  return Group::call(self, self, all.data(), PyTuple_GET_SIZE(args),
                     named ? tuple.get() : nullptr, false);
}
/// Of a class with a length, whose C++ need not know where its items end.
inline PyObject* iterate_items(PyObject* self) {
  const Py_ssize_t size = PyObject_Size(self);
  if (size < 0) return nullptr;
  PyRef item(PyObject_GetAttrString(self, "__getitem__"));
  PyRef places(
      PyObject_CallFunction(reinterpret_cast<PyObject*>(&PyRange_Type), "n", size));
  if (!item || !places) return nullptr;
  return PyObject_CallFunctionObjArgs(reinterpret_cast<PyObject*>(&PyMap_Type), item.get(),
                                      places.get(), nullptr);
}
/// __next__ and what else a class without __iter__ needs.
inline PyObject* iterate_itself(PyObject* self) { return new_ref(self); }

/// An attribute of the object by this name, or else the module's function of it.
inline PyObject* call_named(PyObject* module, PyObject* self, const char* name) {
  if (PyObject_HasAttrString(self, name)) {
    return call_python([&] { return PyObject_CallMethod(self, name, nullptr); });
  }
  return call_python([&] { return PyObject_CallMethod(module, name, "O", self); });
}

/// hash() by the method of this name, or the module's function.
template <const char* const& home, const char* const& name>
Py_hash_t hash_by(PyObject* self) {
  PyRef module(PyImport_ImportModule(home));
  return hash_of(PyRef(module ? call_named(module.get(), self, name) : nullptr));
}

}  // namespace swigkit
