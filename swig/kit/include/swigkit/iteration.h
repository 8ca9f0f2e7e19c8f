// SPDX-License-Identifier: Apache-2.0
// swigkit/iteration.h: Python's iteration over what has begin() and end() in C++.
#pragma once

#include "slots.h"

#include <iterator>
#include <memory>

namespace [[gnu::visibility("hidden")]] swigkit {

/// What goes through a range; null without an error at the end.
struct Walk {
  virtual PyObject* next() = 0;
  virtual ~Walk() = default;
};
/// A Python iterator that asks C++ for the next item.
struct RangeIterator {
  PyObject_HEAD std::unique_ptr<Walk> walk;
};

[[gnu::cold, gnu::noinline]] inline PyObject* refuse_iteration(PyObject* range) {
  return PyErr_Format(PyExc_ValueError,
                      "[next] expected the %s to be where it was when the iteration began: "
                      "it was given to C++ since, or C++ lent it for a call that is over",
                      Py_TYPE(range)->tp_name);
}

namespace detail {
inline void end_iterator(PyObject* self) {
  PyTypeObject* type = Py_TYPE(self);
  std::destroy_at(&reinterpret_cast<RangeIterator*>(self)->walk);
  type->tp_free(self);
  Py_DECREF(type);
}
inline PyObject* next_item(PyObject* self) {
  return guarded([&] { return reinterpret_cast<RangeIterator*>(self)->walk->next(); });
}
inline PyTypeObject* iterator_type() {
  static PyTypeObject* made = [] {
    static PyType_Slot slots[] = {{Py_tp_dealloc, (void*)end_iterator},
                                  {Py_tp_iter, (void*)PyObject_SelfIter},
                                  {Py_tp_iternext, (void*)next_item},
                                  {0, nullptr}};
    static PyType_Spec spec = {"swigkit.Iterator", int(sizeof(RangeIterator)), 0,
                               Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
                               slots};
    return reinterpret_cast<PyTypeObject*>(PyType_FromSpec(&spec));
  }();
  return made;
}
template <class Iterator>
struct ValueOf {
  using type = std::remove_cvref_t<decltype(*std::declval<Iterator&>())>;
};
template <class Iterator>
  requires requires { typename std::iterator_traits<Iterator>::value_type; }
struct ValueOf<Iterator> {
  using type = typename std::iterator_traits<Iterator>::value_type;
};
/// *iterator: an object of the class that lies there, else a value.
template <class Value, class Item>
PyObject* give_item(Item&& item, PyObject* owner) {
  if constexpr (std::is_lvalue_reference_v<Item> && IsWrapped<std::remove_cvref_t<Item>>) {
    return refer(&item, &owner, 1);
  } else if constexpr (std::is_same_v<std::remove_cvref_t<Item>, std::remove_cv_t<Value>>) {
    return give(std::forward<Item>(item), &owner, 1);
  } else {  // such as the bit of a std::vector<bool>
    return give(std::remove_cv_t<Value>(item), &owner, 1);
  }
}
/// Iterators need not be copyable.
template <class T>
struct RangeWalk final : Walk {
  T* held;
  PyRef owner, range;
  decltype(std::declval<T&>().begin()) at;
  decltype(std::declval<T&>().end()) end;
  bool first = true;

  RangeWalk(T* all, PyRef self, PyRef lent)
      : held(all),
        owner(std::move(self)),
        range(std::move(lent)),
        at(all->begin()),
        end(all->end()) {}
  PyObject* next() override {
    if (reinterpret_cast<Instance*>(range.get())->object != held)
      return refuse_iteration(owner.get());
    if (!std::exchange(first, false)) ++at;
    if (!(at != end)) return first = true, nullptr;  // asked again: the end again
    return give_item<typename ValueOf<decltype(at)>::type, decltype(*at)>(*at, owner.get());
  }
};
}  // namespace detail

/// tp_iter of T.  The object stays alive as long as the iterator, and as its items do.
template <class T>
PyObject* iterate_range(PyObject* self) {
  if constexpr (requires(T& range) {
                  *range.begin();
                  ++std::declval<decltype(range.begin())&>();
                  range.begin() != range.end();
                }) {
    T* held = pointer_of<T>(self, {Py_TYPE(self)->tp_name, "self"});
    PyTypeObject* type = held ? detail::iterator_type() : nullptr;
    if (!type) return nullptr;
    // Stands for the range, and ends with it.
    static const Class record{typeid(T), nullptr, nullptr,  false,
                              false,     nullptr, sizeof(T)};
    auto* lent = allocate(g_root);
    PyRef range(reinterpret_cast<PyObject*>(lent));
    if (!lent) return nullptr;
    lent->object = held;
    lent->record = &record;
    if (!keep_arguments(range.get(), &self, {1, true})) return nullptr;
    return guarded([&]() -> PyObject* {
      auto walk = std::make_unique<detail::RangeWalk<T>>(held, PyRef::borrow(self),
                                                         std::move(range));
      PyObject* object = type->tp_alloc(type, 0);
      if (!object) return nullptr;
      new (&reinterpret_cast<RangeIterator*>(object)->walk)
          std::unique_ptr<Walk>(std::move(walk));
      return object;
    });
  } else {
    return PyErr_Format(PyExc_TypeError, "'%s' object is not iterable",
                        Py_TYPE(self)->tp_name);
  }
}

/// __iter__ of a method that gives a container: its iterator.
template <class Group>
PyObject* iterate_result(PyObject* self) {
  PyRef result(unary<Group>(self));
  if (!result || PyIter_Check(result.get())) return result.release();
  return call_python(PyObject_GetIter, result.get());
}

}  // namespace swigkit
