// SPDX-License-Identifier: Apache-2.0
// swigkit/registry.h: what the kit's modules of one process have in common: the class that
// all others are derived from, and who stands for which C++ object.  Modules that were
// built with another kit or for another C++ library have another registry.
#pragma once

#include "ref.h"

#include <cstdint>
#include <memory>
#include <string>
#include <typeindex>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace [[gnu::visibility("hidden")]] swigkit {

struct Class;
struct Instance;

/// A constructor: makes the C++ object of `self`.  The arguments are as in vectorcall.
using Construct = int (*)(PyObject* self, PyObject* const* args, Py_ssize_t nargs,
                          PyObject* keywords);

/// Python objects by the address of their C++ object, which several may share.  The objects
/// are chained by themselves, so that nothing has to be made for them.
class Tracked {
 public:
  bool empty() const { return count_ == 0; }
  /// By the address that it has now, until it is removed.
  void add(Instance* one);
  void remove(Instance* one);
  /// One of this address for which fits(Instance*) holds; null when there is none.
  template <class F>
  Instance* find(const void* object, F fits) const;

 private:
  size_t place_of(const void* object) const {
    // The high bits of the product depend on all of the address.
    return size_t(uint64_t(uintptr_t(object)) * 0x9E3779B97F4A7C15u >> shift_);
  }
  void grow();

  std::vector<Instance*> chains_;  // a power of two
  int shift_ = 64;
  size_t count_ = 0;
};

struct Registry {
  struct Made {
    const Class* record;
    Construct construct;  // null: Python cannot make one
  };
  PyTypeObject* root = nullptr;
  std::unordered_map<PyTypeObject*, Made> classes;
  /// Of one C++ type several modules may have a class of their own.
  std::unordered_multimap<std::type_index, const Class*> by_type;
  Tracked tracked;  // those of tracked classes
  /// By owner what is lent out of several, for all but the first; see kept.h.
  std::unordered_map<const Instance*, std::unordered_set<Instance*>> lent_too;
  /// Overridden C++ objects whose Python objects are no more.
  std::unordered_set<const void*> left;
  /// What C++ objects refer to that have shares in C++ and no Python object any more, by
  /// their address, which a part may share; see orphans.h.
  struct Orphan {
    std::weak_ptr<void> object;
    PyObject* kept;
    std::shared_ptr<void> share;  // of what counts itself, and how often it does
    long (*count)(void*);
    const Class* record;  // of the object

    /// Whether it is the overridden object itself that is kept, and Python may find.
    bool is_itself() const { return share && share.use_count() == 0; }
    bool is_shared(const void* address) const {
      if (!share) return !object.expired();
      return share.use_count() > 1 || count(const_cast<void*>(address)) > 1;
    }
  };
  std::unordered_multimap<const void*, Orphan> orphans;
  size_t until_sweep = 0;  // calls of drop_orphans() that do nothing
  bool sweeps_at_exit = false;
};

/// Set when the module begins.
inline Registry* g_registry = nullptr;

/// Grows with every change of Registry, Class or Instance.
inline constexpr int kLayout = 10;

/// Finds the registry, or makes it; false with an error set when that fails.
inline bool find_registry() {
  constexpr const char* kName = "swigkit.registry";
  const std::string key = std::string(kName) + " " + std::to_string(kLayout) + " " +
                          std::to_string(__GXX_ABI_VERSION) +
#ifdef _LIBCPP_VERSION
                          " libc++ " + std::to_string(_LIBCPP_VERSION);
#else
                          " libstdc++ " + std::to_string(_GLIBCXX_USE_CXX11_ABI);
#endif
  PyObject* all = PyInterpreterState_GetDict(PyInterpreterState_Get());
  if (!all) return false;
  if (PyObject* known = PyDict_GetItemString(all, key.c_str())) {
    g_registry = static_cast<Registry*>(PyCapsule_GetPointer(known, kName));
    return g_registry != nullptr;
  }
  g_registry = new Registry;  // as long as the process
  PyRef capsule(PyCapsule_New(g_registry, kName, nullptr));
  return capsule && PyDict_SetItemString(all, key.c_str(), capsule.get()) == 0;
}

}  // namespace swigkit
