// SPDX-License-Identifier: Apache-2.0
// swigkit/containers.h: C++ containers from and to Python's, in any nesting.
#pragma once

#include "plain.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <deque>
#include <forward_list>
#include <initializer_list>
#include <list>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <valarray>
#include <vector>

namespace [[gnu::visibility("hidden")]] swigkit {

/// A sequence that is no text, or an iterable where C++ has a set; a list or set out.
template <class Sequence>
struct ConvertSequence {
  using Item = typename Sequence::value_type;
  static constexpr bool kKeyed = requires { typename Sequence::key_type; };
  // Not a std::multiset: Python's sets have nothing twice.
  static constexpr bool kSet = kKeyed && requires(Sequence& s, Item& item) {
    { s.insert(std::move(item)).second } -> std::convertible_to<bool>;
  };

  static std::string expected() { return kSet ? "a set" : "a sequence"; }
  static bool load(PyObject* object, Sequence& value, const Argument& where) {
    const bool text = PyUnicode_Check(object) || PyBytes_Check(object);
    // Whatever is iterated over, but a mapping.  Of overloads only what can be so again.
    const bool fits = PySequence_Check(object) || PyAnySet_Check(object) ||
                      (Py_TYPE(object)->tp_iter && !PyDict_Check(object) &&
                       !PyObject_HasAttrString(object, "keys") &&
                       !(where.matching && PyIter_Check(object)));
    if (text || !fits) return refuse(where, expected, object);
    if (where.exact() &&
        (kSet != bool(PyAnySet_Check(object)) || (!kSet && !PySequence_Check(object)))) {
      return refuse(where, expected, object);
    }
    PyRef items(call_python(PySequence_Fast, object, ""));
    if (!items) return explain(where, expected(), object);
    value.clear();
    if constexpr (requires { value.reserve(size_t(0)); }) {
      value.reserve(size_t(PySequence_Fast_GET_SIZE(items.get())));
    }
    const size_t before = where.keep ? where.keep->taken.size() : 0;
    Py_ssize_t i = 0;
    if constexpr (std::is_same_v<Item, bool> && !kKeyed) {
      if (load_bools(items.get(), value)) return true;
    } else if constexpr (std::is_floating_point_v<Item> && !kKeyed) {
      i = load_floats(items.get(), value);
    }
    // A conversion may run Python code that changes the very list.
    for (; i < PySequence_Fast_GET_SIZE(items.get()); ++i) {
      PyObject* raw = PySequence_Fast_GET_ITEM(items.get(), i);
      if constexpr (std::is_same_v<Item, std::string> && !kKeyed) {
        Py_ssize_t size;
        const char* data = PyUnicode_CheckExact(raw) ? PyUnicode_AsUTF8AndSize(raw, &size)
                                                     : nullptr;
        if (data) {
          value.emplace_back(data, size_t(size));
          continue;
        }
        PyErr_Clear();  // said below
      } else if constexpr (std::is_integral_v<Item> && !std::is_same_v<Item, bool> &&
                           !IsCharacter<Item> && !kKeyed) {
        if (long small; is_small(raw, small) && std::in_range<Item>(small)) {
          value.push_back(Item(small));
          continue;
        }
      }
      PyRef item = PyRef::borrow(raw);
      In<Item> entry;
      if (!entry.load(item.get(), where.item(i))) {
        if (where.keep) give_back_parts(value, *where.keep, before);
        return false;
      }
      if constexpr (kKeyed) value.insert(entry.take());
      else value.push_back(entry.take());
    }
    return true;
  }
  template <class S>
  static PyObject* cast(S&& value) {
    if constexpr (kSet) {
      PyRef set(PySet_New(nullptr));
      if (!set) return nullptr;
      for (const Item& entry : value) {
        PyRef item(to_python<Item>(entry));
        if (!item || call_python(PySet_Add, set.get(), item.get()) < 0) return nullptr;
      }
      return set.release();
    } else {
      PyRef list(PyList_New(Py_ssize_t(std::ranges::distance(value))));
      if (!list) return nullptr;
      Py_ssize_t i = 0;
      for (auto&& entry : value) {
        PyObject* item = cast_item<S>(entry);
        if (!item) return nullptr;
        PyList_SET_ITEM(list.get(), i++, item);
      }
      return list.release();
    }
  }

 private:
  // Of nothing but bools, which std::vector has no quick push_back() for.
  static bool load_bools(PyObject* items, Sequence& value) {
    value.resize(size_t(PySequence_Fast_GET_SIZE(items)));
    PyObject* const* raw = PySequence_Fast_ITEMS(items);
    for (auto at = value.begin(); at != value.end(); ++at, ++raw) {
      if (!PyBool_Check(*raw)) return value.clear(), false;
      *at = *raw == Py_True;
    }
    return true;
  }
  // Those before the first item that is something else; how many they are.
  static Py_ssize_t load_floats(PyObject* items, Sequence& value) {
    const Py_ssize_t size = PySequence_Fast_GET_SIZE(items);
    PyObject* const* raw = PySequence_Fast_ITEMS(items);
    value.resize(size_t(size));
    Py_ssize_t done = 0;
    for (auto at = value.begin(); done < size && PyFloat_CheckExact(raw[done]); ++at) {
      *at = Item(PyFloat_AS_DOUBLE(raw[done++]));
    }
    if (done < size) value.resize(size_t(done));
    return done;
  }
  template <class S, class E>
  static PyObject* cast_item(E& entry) {
    if constexpr (std::is_same_v<Item, bool>) return to_python(bool(entry));
    else if constexpr (std::is_lvalue_reference_v<S> || kKeyed)
      return Convert<Item>::cast(entry);
    else return Convert<Item>::cast(std::move(entry));
  }
};
template <class T, class A>
struct Convert<std::vector<T, A>> : ConvertSequence<std::vector<T, A>> {};
template <class T, class A>
struct Convert<std::list<T, A>> : ConvertSequence<std::list<T, A>> {};
template <class T, class A>
struct Convert<std::deque<T, A>> : ConvertSequence<std::deque<T, A>> {};
template <class T, class C, class A>
struct Convert<std::set<T, C, A>> : ConvertSequence<std::set<T, C, A>> {};
template <class T, class H, class E, class A>
struct Convert<std::unordered_set<T, H, E, A>>
    : ConvertSequence<std::unordered_set<T, H, E, A>> {};
template <class T, class C, class A>
struct Convert<std::multiset<T, C, A>> : ConvertSequence<std::multiset<T, C, A>> {};
template <class T, class H, class E, class A>
struct Convert<std::unordered_multiset<T, H, E, A>>
    : ConvertSequence<std::unordered_multiset<T, H, E, A>> {};

/// Others that a std::vector is made into.
template <class Sequence>
struct ConvertBySequence {
  using Items = std::vector<typename Sequence::value_type>;

  static std::string expected() { return "a sequence"; }
  static bool load(PyObject* object, Sequence& value, const Argument& where) {
    Items items;
    if (!Convert<Items>::load(object, items, where)) return false;
    if constexpr (requires {
                    value.resize(size_t(0));
                    value[0];
                  }) {
      value.resize(items.size());
      std::move(items.begin(), items.end(), std::begin(value));
    } else {
      value.assign(std::make_move_iterator(items.begin()),
                   std::make_move_iterator(items.end()));
    }
    return true;
  }
  static PyObject* cast(const Sequence& value) {
    if constexpr (std::is_same_v<typename Sequence::value_type, std::byte>) {
      return Convert<Items>::cast(Items(std::begin(value), std::end(value)));
    } else {
      return ConvertSequence<Items>::cast(value);
    }
  }
};
template <class T>
struct Convert<std::valarray<T>> : ConvertBySequence<std::valarray<T>> {};
template <class T, class A>
struct Convert<std::forward_list<T, A>> : ConvertBySequence<std::forward_list<T, A>> {};

/// Bytes, or any buffer without gaps; on its way out bytes.
template <>
struct Convert<std::vector<std::byte>> {
  static std::string expected() { return "bytes"; }
  static bool load(PyObject* object, std::vector<std::byte>& value, const Argument& where) {
    Py_buffer view;
    if (!PyObject_CheckBuffer(object)) return refuse(where, expected, object);
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
    if (!mapping) return refuse(where, expected, object);
    PyRef items(call_python(PyMapping_Items, object));
    if (!items) return explain(where, expected(), object);
    value.clear();
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(items.get()); ++i) {
      PyObject* pair = PyList_GET_ITEM(items.get(), i);
      if (!PyTuple_Check(pair) || PyTuple_GET_SIZE(pair) != 2) {
        return refuse(where, expected, object);
      }
      PyObject* name = PyTuple_GET_ITEM(pair, 0);
      In<Key> key;
      In<Mapped> mapped;
      if (!key.load(name, where.key_of(name)) ||
          !mapped.load(PyTuple_GET_ITEM(pair, 1), where.value_of(name))) {
        return false;
      }
      if constexpr (std::is_assignable_v<Mapped&, decltype(mapped.take())>) {
        value.insert_or_assign(key.take(), mapped.take());
      } else {
        Key name_of(key.take());
        value.erase(name_of);
        value.emplace(std::move(name_of), mapped.take());
      }
    }
    return true;
  }
  template <class M>
  static PyObject* cast(M&& value) {
    PyRef dict(PyDict_New());
    if (!dict) return nullptr;
    for (auto&& [key, mapped] : value) {
      PyRef k(to_python<Key>(key)), v(cast_mapped<M>(mapped));
      if (!k || !v || PyDict_SetItem(dict.get(), k.get(), v.get()) < 0) return nullptr;
    }
    return dict.release();
  }

 private:
  template <class M, class V>
  static PyObject* cast_mapped(V& mapped) {
    if constexpr (std::is_lvalue_reference_v<M>) return Convert<Mapped>::cast(mapped);
    else return Convert<Mapped>::cast(std::move(mapped));
  }
};
template <class K, class V, class C, class A>
struct Convert<std::map<K, V, C, A>> : ConvertMap<std::map<K, V, C, A>> {};
template <class K, class V, class H, class E, class A>
struct Convert<std::unordered_map<K, V, H, E, A>>
    : ConvertMap<std::unordered_map<K, V, H, E, A>> {};

/// A sequence of exactly these, on its way out a tuple.
template <class Tuple>
struct ConvertTuple {
  static constexpr size_t kSize = std::tuple_size_v<Tuple>;
  using Places = std::make_index_sequence<kSize>;

  static std::string expected() { return "a sequence of " + std::to_string(kSize); }
  static bool load(PyObject* object, Tuple& value, const Argument& where) {
    const bool text = PyUnicode_Check(object) || PyBytes_Check(object);
    if (text || !PySequence_Check(object)) return refuse(where, expected, object);
    PyRef items(call_python(PySequence_Tuple, object));
    if (!items) return explain(where, expected(), object);
    const Py_ssize_t size = PyTuple_GET_SIZE(items.get());
    if (size == Py_ssize_t(kSize)) return load_all(items.get(), value, where, Places());
    if (where.matching) return refuse(where, expected, object);
    PyErr_Format(PyExc_TypeError, "[%s] expected %s for '%s', got %zd", where.function,
                 expected().c_str(), where.text().c_str(), size);
    return false;
  }
  template <class T>
  static PyObject* cast(T&& value) {
    PyRef tuple(PyTuple_New(Py_ssize_t(kSize)));
    const bool done = tuple && cast_all(tuple.get(), std::forward<T>(value), Places());
    return done ? tuple.release() : nullptr;
  }

 private:
  template <size_t... I>
  static bool load_all(PyObject* items, Tuple& value, const Argument& where,
                       std::index_sequence<I...>) {
    return (load_one(PyTuple_GET_ITEM(items, I), std::get<I>(value), where.item(I)) && ...);
  }
  template <class Part>
  static bool load_one(PyObject* item, Part& part, const Argument& where) {
    In<Part> in;
    if (!in.load(item, where)) return false;
    part = in.take();
    return true;
  }
  template <class T, size_t... I>
  static bool cast_all(PyObject* tuple, T&& value, std::index_sequence<I...>) {
    const auto put = [&](Py_ssize_t i, PyObject* item) {
      PyTuple_SET_ITEM(tuple, i, item);
      return item != nullptr;
    };
    return (put(I, Convert<std::remove_cvref_t<std::tuple_element_t<I, Tuple>>>::cast(
                       std::get<I>(std::forward<T>(value)))) &&
            ...);
  }
};
template <class A, class B>
struct Convert<std::pair<A, B>> : ConvertTuple<std::pair<A, B>> {};
template <class... T>
struct Convert<std::tuple<T...>> : ConvertTuple<std::tuple<T...>> {};

/// A mapping, or a sequence of pairs, which it is on its way out: a key may be there twice.
template <class Map>
struct ConvertMultimap {
  using Pair = std::pair<typename Map::key_type, typename Map::mapped_type>;

  static std::string expected() { return "a mapping or a sequence of pairs"; }
  static bool load(PyObject* object, Map& value, const Argument& where) {
    PyRef items = PyRef::borrow(object);
    if (call_python(PyObject_HasAttrString, object, "items")) {
      items = PyRef(call_python(PyMapping_Items, object));
      if (!items) return explain(where, expected(), object);
    }
    const bool text = PyUnicode_Check(items.get()) || PyBytes_Check(items.get());
    if (text || !PySequence_Check(items.get())) return refuse(where, expected, object);
    std::vector<Pair> pairs;
    if (!Convert<std::vector<Pair>>::load(items.get(), pairs, where)) return false;
    value = Map(std::make_move_iterator(pairs.begin()),
                std::make_move_iterator(pairs.end()));
    return true;
  }
  static PyObject* cast(const Map& value) {
    return ConvertSequence<std::vector<Pair>>::cast(value);
  }
};
template <class K, class V, class C, class A>
struct Convert<std::multimap<K, V, C, A>> : ConvertMultimap<std::multimap<K, V, C, A>> {};
template <class K, class V, class H, class E, class A>
struct Convert<std::unordered_multimap<K, V, H, E, A>>
    : ConvertMultimap<std::unordered_multimap<K, V, H, E, A>> {};

/// The same of parts that cannot be made of nothing, or not assigned.
template <class Tuple, class... Part>
struct InParts {
  std::optional<Tuple> value;
  Parts parts{};
  Tuple* argument = nullptr;

  InParts() = default;
  InParts(const InParts&) = delete;
  ~InParts() {
    if (parts.taken.empty() || !value) return;
    Tuple& left = argument ? *argument : *value;
    keep_taken_parts(left, parts);
    give_back_parts(left, parts);
  }
  bool load(PyObject* object, const Argument& where) {
    const std::string expected = Convert<Tuple>::expected();
    const bool text = PyUnicode_Check(object) || PyBytes_Check(object);
    if (text || !PySequence_Check(object)) return refuse(where, expected, object);
    PyRef items(call_python(PySequence_Tuple, object));
    if (!items) return explain(where, expected, object);
    if (PyTuple_GET_SIZE(items.get()) != Py_ssize_t(sizeof...(Part))) {
      return refuse(where, expected, object);
    }
    Argument with_parts = where;
    if (!with_parts.keep) with_parts.keep = &parts;
    Parts& kept = *with_parts.keep;
    const size_t before = kept.taken.size();
    std::tuple<In<Part>...> in;
    return [&]<size_t... I>(std::index_sequence<I...>) {
      size_t loaded = 0;
      const auto load = [&](auto& one, size_t i) {
        const bool good = one.load(PyTuple_GET_ITEM(items.get(), i), with_parts.item(i));
        loaded += good;
        return good;
      };
      if ((load(std::get<I>(in), I) && ...)) {
        value.emplace(std::get<I>(in).take()...);
        return true;
      }
      if (kept.taken.size() > before) {
        const auto taken = std::span(kept.taken).subspan(before);
        std::ranges::sort(taken, {}, &Parts::Taken::pointer);
        ((I < loaded ? give_back_found(*std::get<I>(in).get(), taken) : void()), ...);
        kept.taken.resize(before);
      }
      return false;
    }(std::index_sequence_for<Part...>());
  }
  Tuple* get() { return &*value; }
  Tuple&& take() { return std::move(*value); }
  void watch(Tuple* taken) { argument = taken; }
};
template <class A, class B>
  requires(!kIsMadeFirst<std::pair<A, B>>)
struct In<std::pair<A, B>> : InParts<std::pair<A, B>, A, B> {};
template <class... T>
  requires(!kIsMadeFirst<std::tuple<T...>>)
struct In<std::tuple<T...>> : InParts<std::tuple<T...>, T...> {};

/// The value or None.
template <class T>
struct Convert<std::optional<T>> {
  static std::string expected() { return Convert<T>::expected() + " or None"; }
  static bool load(PyObject* object, std::optional<T>& value, const Argument& where) {
    value.reset();
    if (object == Py_None) return true;
    Argument or_none = where.lasting();
    or_none.optional = true;
    In<T> inner;
    if (!inner.load(object, or_none)) return false;
    value.emplace(inner.take());
    return true;
  }
  static PyObject* cast(const std::optional<T>& value) {
    return value ? Convert<T>::cast(*value) : new_ref(Py_None);
  }
  static PyObject* cast(std::optional<T>&& value) {
    return value ? Convert<T>::cast(std::move(*value)) : new_ref(Py_None);
  }
};

/// A sequence of exactly so many.
template <class T, size_t N>
struct Convert<std::array<T, N>> {
  static std::string expected() { return "a sequence of " + std::to_string(N); }
  static bool load(PyObject* object, std::array<T, N>& value, const Argument& where) {
    std::vector<T> items;
    if (!load_items(object, items, where)) return false;
    std::move(items.begin(), items.end(), value.begin());
    return true;
  }
  static bool load_items(PyObject* object, std::vector<T>& items, const Argument& where) {
    const size_t before = where.keep ? where.keep->taken.size() : 0;
    if (!Convert<std::vector<T>>::load(object, items, where)) return false;
    if (items.size() == N) return true;
    if (where.keep) give_back_parts(items, *where.keep, before);
    if (where.matching) return refuse(where, expected, object);
    PyErr_Format(PyExc_TypeError, "[%s] expected %s for '%s', got %zu", where.function,
                 expected().c_str(), where.text().c_str(), items.size());
    return false;
  }
  template <class A>
  static PyObject* cast(A&& value) {
    if constexpr (std::is_same_v<T, std::byte>) {
      return Convert<std::vector<T>>::cast({value.begin(), value.end()});
    } else {
      return ConvertSequence<std::vector<T>>::cast(std::forward<A>(value));
    }
  }
};

/// A reference to an array of C's.
template <class T, size_t N>
struct In<T[N]> : In<std::array<T, N>> {
  T (*get()) [N] { return reinterpret_cast<T(*)[N]>(In<std::array<T, N>>::get()->data()); }
};
template <class T, size_t N, size_t M>
struct In<T[N][M]> : In<std::array<std::array<T, M>, N>> {
  T(*get())
  [N][M] {
    return reinterpret_cast<T(*)[N][M]>(In<std::array<std::array<T, M>, N>>::get()->data());
  }
};

/// The same of items that cannot be made of nothing.
template <class T, size_t N>
  requires(!std::is_default_constructible_v<T>)
struct In<std::array<T, N>> {
  std::optional<std::array<T, N>> value;

  bool load(PyObject* object, const Argument& where) {
    std::vector<T> items;
    if (!Convert<std::array<T, N>>::load_items(object, items, where)) return false;
    [&]<size_t... I>(std::index_sequence<I...>) {
      value.emplace(std::array<T, N>{std::move(items[I])...});
    }(std::make_index_sequence<N>());
    return true;
  }
  std::array<T, N>* get() { return &*value; }
  std::array<T, N>&& take() { return std::move(*value); }
  void watch(std::array<T, N>*) {}
};

/// Items of a sequence that are there during the call.
template <class T>
struct Convert<std::initializer_list<T>> {
  static std::string expected() { return Convert<std::vector<T>>::expected(); }
  static PyObject* cast(std::initializer_list<T> value) {
    return to_python(std::vector<T>(value));
  }
};
template <class T>
struct In<std::initializer_list<T>> {
  In<std::vector<T>> items{};
  std::initializer_list<T> value{};

  bool load(PyObject* object, const Argument& where) {
    if (where.lasts) {
      return refuse_lasting(where, "std::vector", "std::initializer_list", object);
    }
    if (!items.load(object, where)) return false;
    // C++ makes one of what stands in the source alone.  To libstdc++ and libc++ it is an
    // address and a length.
    struct Layout {
      const T* data;
      size_t size;
    };
    value = std::bit_cast<std::initializer_list<T>>(
        Layout{items.value.data(), items.value.size()});
    return true;
  }
  std::initializer_list<T>* get() { return &value; }
  std::initializer_list<T> take() { return value; }
  void watch(std::initializer_list<T>*) {}
};

}  // namespace swigkit
