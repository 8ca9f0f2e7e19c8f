// SPDX-License-Identifier: Apache-2.0
// swigkit/classes.h: makes the Python classes of wrapped C++ ones, from tables that
// swig/kit/build/step.py writes.
#pragma once

#include "call.h"
#include "dynamic.h"
#include "ownership.h"
#include "plain.h"

#include <initializer_list>

namespace [[gnu::visibility("hidden")]] swigkit {

/// A class as step.py describes it.
struct ClassSpec {
  Class& record;
  const char* name;      // "geometry.Point", "geometry.Outer.Inner"
  size_t home;           // where it begins without the module's name
  PyObject* owner;       // the module or the outer class
  PyType_Slot* slots;    // ends with {0, nullptr}
  Construct construct;   // null: Python cannot make one
  PyGetSetDef* statics;  // of the class itself; null for none
  bool hashable;         // it has no __eq__, or one with a __hash__
  bool collected;        // it refers to Python objects (%collected)
  bool dynamic;          // and has attributes of Python's (%dynamic)
  bool elsewhere;        // its name has another module's (%public_module)
  bool final;            // Python may not derive from it (%final)
};

/// The nearest wrapped class.
inline PyTypeObject* wrapped_base(PyTypeObject* type) {
  while (type && !g_registry->classes.count(type)) type = type->tp_base;
  return type;
}

inline int refuse_construction(PyTypeObject* type) {
  PyErr_Format(PyExc_TypeError,
               "[%s] expected no direct call: the class has no constructor for Python",
               type->tp_name);
  return -1;
}

/// The arguments are a tuple and a dict.
inline int construct_in(PyObject* object, Construct construct, PyObject* args,
                        PyObject* keywords) {
  if (!keywords || PyDict_GET_SIZE(keywords) == 0) {
    return construct(object, &PyTuple_GET_ITEM(args, 0), PyTuple_GET_SIZE(args), nullptr);
  }
  PyRef names(PyDict_Keys(keywords)), tuple(names ? PyList_AsTuple(names.get()) : nullptr);
  if (!tuple) return -1;
  std::vector<PyObject*> all;
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(args); ++i) {
    all.push_back(PyTuple_GET_ITEM(args, i));
  }
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(tuple.get()); ++i) {
    all.push_back(PyDict_GetItem(keywords, PyTuple_GET_ITEM(tuple.get(), i)));
  }
  return construct(object, all.data(), PyTuple_GET_SIZE(args), tuple.get());
}

/// What the C++ object of a class becomes part of: `object` itself, or when that has one of
/// another class already, which Python derives it from as well, a part of it; null with an
/// error set.
inline PyRef place_for(PyObject* object, const Class& record) {
  auto* self = reinterpret_cast<Instance*>(object);
  if (!self->object) return PyRef::borrow(object);
  const Instance* there = part_of(self, &record);
  if (is_derived(there->record, &record) || is_derived(&record, there->record)) {
    // Others may refer to it.
    PyErr_Format(PyExc_RuntimeError, "%s.__init__() was called twice",
                 Py_TYPE(object)->tp_name);
    return PyRef();
  }
  if (record.type->tp_finalize) {  // %overridable, in whichever module
    PyErr_Format(PyExc_TypeError,
                 "[%s] expected the %%overridable base first, and only one, got %s after "
                 "%s. Call %s.__init__() before the others.",
                 Py_TYPE(object)->tp_name, record.name(), there->record->name(),
                 record.name());
    return PyRef();
  }
  PyRef part(reinterpret_cast<PyObject*>(allocate(record.type)));
  if (part) reinterpret_cast<Instance*>(part.get())->outer = object;
  return part;
}

/// __init__ of a class, for those derived from it and for a call by hand.
inline int init_object(PyObject* object, const Class* record, PyObject* args,
                       PyObject* keywords) {
  PyTypeObject* nearest = wrapped_base(Py_TYPE(object));
  if (nearest && is_derived(g_registry->classes[nearest].record, record)) {
    record = g_registry->classes[nearest].record;
  }
  const Construct construct = g_registry->classes[record->type].construct;
  if (!construct) return refuse_construction(Py_TYPE(object));
  const PyRef place = place_for(object, *record);
  if (!place) return -1;
  if (construct_in(place.get(), construct, args, keywords) < 0) return -1;
  return keep_alive(object, place.get()) ? 0 : -1;
}
template <class T>
int init(PyObject* object, PyObject* args, PyObject* keywords) {
  return init_object(object, &class_of<T>, args, keywords);
}

/// Class(...) of a wrapped class itself.
template <Construct construct>
PyObject* make_object(PyObject* type, PyObject* const* args, size_t nargsf,
                      PyObject* keywords) {
  Instance* self = allocate(reinterpret_cast<PyTypeObject*>(type));
  if (!self) return nullptr;
  auto* object = reinterpret_cast<PyObject*>(self);
  if (construct(object, args, PyVectorcall_NARGS(nargsf), keywords) == 0) return object;
  Py_DECREF(object);
  return nullptr;
}

inline PyObject* new_object(PyTypeObject* type, PyObject*, PyObject*) {
  if (type->tp_flags & Py_TPFLAGS_IS_ABSTRACT) {  // of abc, which object's own says
    const PyRef none(PyTuple_New(0));
    return none ? PyBaseObject_Type.tp_new(type, none.get(), nullptr) : nullptr;
  }
  PyObject* object = type->tp_alloc(type, 0);  // zeros: an empty holder, too
  if (object) new (&reinterpret_cast<Instance*>(object)->holder) std::shared_ptr<void>();
  return object;
}

inline void end_object(PyObject* object);
/// Whether the memory of what ends can be used again.
inline bool is_reusable(PyTypeObject* type) {
  return kReuses && type->tp_dealloc == end_object && !PyType_IS_GC(type) &&
         g_free_count < kMaxFree;
}

/// The end of an object that others may know of.
[[gnu::noinline]] inline void end_known_object(PyObject* object) {
  auto* self = reinterpret_cast<Instance*>(object);
  PyTypeObject* type = Py_TYPE(object);
  if (PyType_IS_GC(type)) PyObject_GC_UnTrack(object);
  if (self->weakrefs) PyObject_ClearWeakRefs(object);
  if (self->lent) end_lent(self, Owner::Gone);  // what kept it was cleared (clear())
  while (self->lent) unlist(self->lent);
  if (self->object || self->holder) {
    PyObject *error_type, *error, *traceback;
    PyErr_Fetch(&error_type, &error, &traceback);  // which a destructor may not see
    // C++ may go on with it: %intrusive.
    if (self->overridden && self->owner != Owner::Python) leave(self);
    call_python([self] {
      const bool lent = self->listed && is_lent(self);  // nobody has shares in that
      if (!lent) keep_for_shares(self);
      let_go(self);
      if (!g_registry->orphans.empty()) drop_orphans();
    });
    PyErr_Restore(error_type, error, traceback);
  }
  if (PyType_IS_GC(type)) clear_attributes(object);
  if (self->listed) unlist(self);
  if (!g_registry->lent_too.empty()) g_registry->lent_too.erase(self);
  PyObject* kept = std::exchange(self->kept, nullptr);
  self->holder.~shared_ptr<void>();
  if (self->overridden) overrides_of(self).~Overrides();
  if (is_reusable(type)) g_free[g_free_count++] = self;
  else type->tp_free(object);
  Py_DECREF(type);
  if (kept) drop(kept);
}

/// The end of one that nobody else knows of, of a class that has `end_object`.
[[gnu::noinline]] inline void end_alone(Instance* self, PyTypeObject* type) {
  void* object = std::exchange(self->object, nullptr);
  self->owner = Owner::Nobody;
  call_python([=] {
    self->record->destroy(object);
    if (!g_registry->orphans.empty()) drop_orphans();
  });
  if (PyErr_Occurred()) PyErr_Clear();  // there was none
  if (is_reusable(type)) g_free[g_free_count++] = self;
  else type->tp_free(self);
  Py_DECREF(type);
}
inline void end_object(PyObject* object) {
  auto* self = reinterpret_cast<Instance*>(object);
  PyTypeObject* type = Py_TYPE(object);
  const Registry& registry = *g_registry;
  if (self->is_alone() && registry.orphans.empty() && registry.lent_too.empty() &&
      !PyType_IS_GC(type) && !PyErr_Occurred()) {
    return end_alone(self, type);
  }
  if (!self->is_bare() || !is_reusable(type)) return end_known_object(object);
  g_free[g_free_count++] = self;
  Py_DECREF(type);
}

/// The C++ object as that of a base, where Python alone has it: else others may need what it
/// refers to.
inline void* held_alone(const Instance* self, const Class* as) {
  void* object = self->object;
  bool alone = object && self->owner == Owner::Python;
  if (object && self->owner == Owner::Shared && self->holder.use_count() == 1)
    alone = !self->record->shares || self->record->shares(object) <= 1;
  return alone ? cast_up(self->record, object, as) : nullptr;
}
/// For the collector of cycles: what the C++ object refers to (%collected), and what Python
/// has put into it (%dynamic).
template <class T, bool collected, bool dynamic>
int traverse(PyObject* object, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(object));
  auto* self = reinterpret_cast<Instance*>(object);
  Py_VISIT(self->kept);
  if constexpr (dynamic) {
    if (const int stop = visit_attributes(object, visit, arg)) return stop;
  }
  if constexpr (collected) {
    if (void* held = held_alone(self, &class_of<T>))
      return static_cast<T*>(held)->traverse(visit, arg);
  }
  return 0;
}
template <class T, bool collected, bool dynamic>
int clear(PyObject* object) {
  auto* self = reinterpret_cast<Instance*>(object);
  if constexpr (dynamic) clear_attributes(object);
  if constexpr (collected) {
    if (void* held = held_alone(self, &class_of<T>)) static_cast<T*>(held)->clear();
  }
  if (self->kept && is_lent(self)) {  // what it is a part of may end before it
    untrack(self);
    self->object = nullptr;
    self->owner = Owner::Gone;
  }
  if (self->listed) unlist(self);
  PyObject* kept = std::exchange(self->kept, nullptr);
  if (kept) drop(kept);
  return 0;
}

/// Whether two Python objects stand for the same C++ object; they need not be the same.
inline PyObject* compare_objects(PyObject* a, PyObject* b, int op) {
  if (op != Py_EQ && op != Py_NE) Py_RETURN_NOTIMPLEMENTED;
  if (a == b) return PyBool_FromLong(op == Py_EQ);
  if (!is_instance(b)) Py_RETURN_NOTIMPLEMENTED;
  const auto *x = reinterpret_cast<Instance*>(a), *y = reinterpret_cast<Instance*>(b);
  const bool same = x->object && x->object == y->object && x->record == y->record;
  return PyBool_FromLong(same == (op == Py_EQ));
}
inline Py_hash_t hash_object(PyObject* object) {
  const void* address = reinterpret_cast<Instance*>(object)->object;
  if (!address) address = object;
  return Py_hash_t(reinterpret_cast<uintptr_t>(address) >> 4);  // never -1
}

inline PyObject* refuse_pickling(PyObject* self, PyObject*) {
  if (!reinterpret_cast<Instance*>(self)->object) {
    return PyErr_Format(PyExc_TypeError,
                        "cannot pickle '%s' object: there is no C++ object in it, as its "
                        "__init__() was not called, or C++ has taken it",
                        Py_TYPE(self)->tp_name);
  }
  return PyErr_Format(
      PyExc_TypeError,
      "cannot pickle '%s' object: its interface has no %%pickled for it, nor "
      "%%copyable for copies",
      Py_TYPE(self)->tp_name);
}

/// __reduce_ex__() where the interface says nothing: a Python subclass's own __reduce__().
inline PyObject* reduce_by_python(PyObject* self, PyObject*) {
  static PyObject* name = PyUnicode_InternFromString("__reduce__");
  if (!name) return nullptr;
  if (_PyType_Lookup(Py_TYPE(self), name) == _PyType_Lookup(&PyBaseObject_Type, name))
    return refuse_pickling(self, nullptr);
  return call_python([&] { return PyObject_CallMethodNoArgs(self, name); });
}

/// The names of the module, which a second import gets: its classes are there once.
inline PyObject* g_names = nullptr;
inline bool was_made(PyObject* module) {
  return g_names && PyDict_Update(PyModule_GetDict(module), g_names) == 0;
}

/// False, with ImportError set, when the module was imported before (%once_in_a_process).
inline bool is_first_import(const char* name) {
  static bool imported = false;
  if (!std::exchange(imported, true)) return true;
  PyErr_Format(PyExc_ImportError,
               "%s can be loaded once in a process: it was imported again", name);
  return false;
}

/// Makes the class that all others are derived from, unless another module did.
inline bool make_root(PyObject* module) {
  g_names = new_ref(PyModule_GetDict(module));
  if (!find_registry() || !Entering::watch()) return false;
  static PyMemberDef members[] = {
      {"__weaklistoffset__", T_PYSSIZET, offsetof(Instance, weakrefs), READONLY, nullptr},
      {}};
  static PyMethodDef methods[] = {{"__reduce_ex__", reduce_by_python, METH_O, nullptr}, {}};
  static PyType_Slot slots[] = {{Py_tp_members, members},
                                {Py_tp_methods, methods},
                                {Py_tp_new, (void*)new_object},
                                {Py_tp_dealloc, (void*)end_object},
                                {Py_tp_richcompare, (void*)compare_objects},
                                {Py_tp_hash, (void*)hash_object},
                                {0, nullptr}};
  static PyType_Spec spec = {"swigkit.Object", int(sizeof(Instance)), 0,
                             Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, slots};
  PyTypeObject*& root = g_registry->root;
  if (!root) root = reinterpret_cast<PyTypeObject*>(PyType_FromSpec(&spec));
  g_root = root;
  return root != nullptr;
}

/// From another module of the kit, in the same package: its object by this name.
inline PyObject* import_object(PyObject* module, const char* home, const char* name) {
  PyRef own(PyModule_GetNameObject(module));
  const char* text = own ? PyUnicode_AsUTF8(own.get()) : nullptr;
  const char* dot = text ? std::strrchr(text, '.') : nullptr;
  const std::string full = (dot ? std::string(text, size_t(dot + 1 - text)) : "") + home;
  PyRef found(text ? PyImport_ImportModule(full.c_str()) : nullptr);
  for (std::string rest = name; found && !rest.empty();) {
    const size_t end = rest.find('.');
    found = PyRef(PyObject_GetAttrString(found.get(), rest.substr(0, end).c_str()));
    rest = end == std::string::npos ? "" : rest.substr(end + 1);
  }
  return found.release();
}

/// The class that another module has made of the same C++ class (%import).  If this one takes
/// or gives objects of it singly, each has one Python object from now on, whichever module
/// made that.
inline bool import_class(PyObject* module, Class& own, bool owned_singly, bool found_again,
                         const char* home, const char* name) {
  PyRef found(import_object(module, home, name));
  if (!found) return false;
  const auto made = g_registry->classes.find(reinterpret_cast<PyTypeObject*>(found.get()));
  if (made == g_registry->classes.end() || made->second.record->cpp != own.cpp) {
    PyErr_Format(PyExc_ImportError,
                 "%s.%s is not the class that %s was built with: build both modules with "
                 "the same kit and compiler",
                 home, name, PyModule_GetName(module));
    return false;
  }
  own.original = made->second.record;
  own.type = own.original->type;
  if (owned_singly) const_cast<Class*>(own.original)->tracked = true;
  if (found_again) const_cast<Class*>(own.original)->known = true;
  own.tracked = own.original->tracked;
  return true;
}

/// Static members are attributes of a class of the class, and of those derived from it.
inline bool set_metatype(const ClassSpec& spec, PyObject* type,
                         std::initializer_list<BaseClass> bases) {
  PyTypeObject* metatype = &PyType_Type;
  for (const BaseClass& base : bases) {
    PyTypeObject* other = Py_TYPE(base.record->type);
    if (PyType_IsSubtype(other, metatype)) metatype = other;
  }
  if (spec.statics) {
    PyType_Slot slots[] = {{Py_tp_getset, spec.statics}, {0, nullptr}};
    // CPython keeps the name's address.
    auto* name = new std::string(std::string(spec.name) + ".Type");
    PyType_Spec made = {name->c_str(), 0, 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE,
                        slots};
    PyRef tuple(PyTuple_Pack(1, metatype));
    PyObject* object = tuple ? PyType_FromSpecWithBases(&made, tuple.get()) : nullptr;
    if (!object) return false;
    metatype = reinterpret_cast<PyTypeObject*>(object);
  }
  if (metatype != Py_TYPE(type)) Py_SET_TYPE(type, metatype);
  return true;
}

/// Makes one class and puts it into its place; null with an error set when that fails.
inline PyObject* make_class(PyObject* module, const ClassSpec& spec,
                            vectorcallfunc vectorcall,
                            std::initializer_list<BaseClass> bases) {
  spec.record.bases = bases;
  for (BaseClass& base : spec.record.bases) {
    base.record = &actual(*base.record);
    const_cast<Class*>(base.record)->derived = true;
  }
  PyRef tuple(PyTuple_New(Py_ssize_t(bases.size() ? bases.size() : 1)));
  if (!tuple) return nullptr;
  Py_ssize_t count = 0;
  for (const BaseClass& base : bases) {
    if (!base.record->type) {
      PyErr_Format(PyExc_ImportError, "%s is derived from C++'s %s, which is not wrapped",
                   spec.name, base.record->name());
      return nullptr;
    }
    PyTuple_SET_ITEM(tuple.get(), count++,
                     new_ref(reinterpret_cast<PyObject*>(base.record->type)));
  }
  if (count == 0)
    PyTuple_SET_ITEM(tuple.get(), 0, new_ref(reinterpret_cast<PyObject*>(g_root)));
  PyType_Spec made = {spec.name, int(sizeof(Instance)), 0,
                      Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, spec.slots};
  if (spec.collected) made.flags |= Py_TPFLAGS_HAVE_GC;
  if (spec.dynamic) {
    made.flags |= kDynamicFlags;
    made.basicsize += int(kDictRoom);
  }
  if (spec.final) made.flags &= ~unsigned(Py_TPFLAGS_BASETYPE);
  PyObject* type = PyType_FromSpecWithBases(&made, tuple.get());
  if (!type) return nullptr;
  auto* python = reinterpret_cast<PyTypeObject*>(type);
  // CPython takes the part before the last dot for the module, which may lie in a package.
  const std::string named(spec.name, spec.home - 1);
  PyRef home(spec.elsewhere ? PyUnicode_FromString(named.c_str())
                            : PyModule_GetNameObject(module));
  PyRef qualname(PyUnicode_FromString(spec.name + spec.home));
  if (!home || !qualname || PyObject_SetAttrString(type, "__module__", home.get()) < 0 ||
      PyObject_SetAttrString(type, "__qualname__", qualname.get()) < 0) {
    return nullptr;
  }
  const char* dot = std::strrchr(spec.name, '.');
  if (PyObject_SetAttrString(spec.owner, dot + 1, type) < 0) return nullptr;
  if (!set_metatype(spec, type, bases)) return nullptr;
  python->tp_vectorcall = vectorcall;
  // CPython's own for classes that are made so looks for attributes and finalizers first.
  const bool plain = !PyType_IS_GC(python) && !python->tp_finalize && !python->tp_del;
  if (plain && python->tp_basicsize == sizeof(Instance)) python->tp_dealloc = end_object;
  if (!spec.hashable) python->tp_hash = PyObject_HashNotImplemented;
  spec.record.type = python;
  g_registry->classes[python] = {&spec.record, spec.construct};
  g_registry->by_type.emplace(spec.record.cpp, &spec.record);
  return type;
}

/// What C++ makes of nothing, where nobody has declared how.
template <class T, bool is_value>
T* make_default(PyObject* self, bool has_gil = true) {
  if constexpr (requires { new T(); }) {
    // What Python cannot end has to be ended by its last share (%intrusive).
    if (std::is_default_constructible_v<T> || class_of<T>.shares) {
      if constexpr (kIsPlaced<T, is_value>) return ::new (place_of<T>(self, has_gil)) T();
      else return new T();
    }
  }
  refuse_construction(Py_TYPE(self));
  throw_python_error();
}
/// Of a class that only those derived from it make; `left` are the methods left to them.
[[gnu::cold]] inline void refuse_abstract(const char* name, const char* left) {
  PyErr_Format(PyExc_TypeError,
               "[%s] expected a class of Python's that is derived from it%s%s: C++ has no "
               "objects of the class itself",
               name, *left ? " and has: " : "", left);
}

/// A protected method, which C++ has for derived classes.
[[gnu::cold]] inline void refuse_protected(const char* title) {
  PyErr_Format(PyExc_TypeError,
               "[%s] expected an object of a class that Python derives: the method is "
               "protected in C++",
               title);
}
/// Calls f with the object as one of SWIG's directors; false when it is none of these.
template <class... Directors, class T, class F>
bool for_director(T* object, F&& f) {
  const auto call = [&](auto* director) { return director && (f(director), true); };
  return (call(dynamic_cast<Directors*>(object)) || ...);
}

/// What a constructor made becomes the object of `self`; -1 when there was an error.
template <class T>
int finish_construction(PyObject* self, T* object, bool overridden) {
  if (!object) {
    PyErr_Format(PyExc_TypeError, "[%s] expected a new object, C++ gave a null pointer",
                 Py_TYPE(self)->tp_name);
    return -1;
  }
  auto* instance = reinterpret_cast<Instance*>(self);
  if (instance->object) {  // by an argument's __index__, or another thread, meanwhile
    const Class& record = class_of<T>;
    if (static_cast<void*>(object) != instance->room && record.destroy)
      record.destroy(object);
    PyErr_Format(PyExc_RuntimeError, "%s.__init__() was called twice",
                 Py_TYPE(self)->tp_name);
    return -1;
  }
  if (instance->overridden) overrides_of(instance).~Overrides();  // of one that C++ took
  instance->overridden = overridden;
  put(instance, object, class_of<T>, Owner::Python);
  if (overridden) {
    auto* overrides = new (instance->room) Overrides;
    if constexpr (std::is_polymorphic_v<T>) {
      overrides->whole = dynamic_cast<void*>(object);
      if (class_of<T>.shares_itself) share_overridden(instance);
    }
  }
  return 0;
}

/// A constant; with a warning instead of one that Python has no value for.
inline bool add_constant(PyObject* owner, const char* name, PyObject* value) {
  const PyRef held(value);
  if (held) return PyObject_SetAttrString(owner, name, value) == 0;
  if (!PyErr_ExceptionMatches(PyExc_TypeError)) return false;
  PyObject *type, *error, *traceback;
  PyErr_Fetch(&type, &error, &traceback);
  PyErr_NormalizeException(&type, &error, &traceback);
  const PyRef kind(type), why(error), where(traceback);
  return PyErr_WarnFormat(PyExc_RuntimeWarning, 1, "the constant %s is left out: %S", name,
                          why.get()) == 0;
}

/// A C++ value, or a Python object that is given away.
template <class T>
PyObject* to_attribute(T value) {
  if constexpr (std::is_convertible_v<T, PyObject*>) return value;
  else return to_python(std::move(value));
}

/// One more name in __all__: what `from module import *` takes.
inline bool add_public(PyObject* module, const char* name) {
  if (!PyObject_HasAttrString(module, name)) return true;  // add_constant() has told
  PyRef list(PyObject_GetAttrString(module, "__all__"));
  if (!list) {
    PyErr_Clear();
    list = PyRef(PyList_New(0));
    if (!list || PyObject_SetAttrString(module, "__all__", list.get()) < 0) return false;
  }
  PyRef text(PyUnicode_FromString(name));
  return text && PyList_Append(list.get(), text.get()) == 0;
}
inline bool set_public(PyObject* module, std::initializer_list<const char*> names) {
  for (const char* name : names) {
    if (!add_public(module, name)) return false;
  }
  return true;
}

}  // namespace swigkit
