// SPDX-License-Identifier: Apache-2.0
// swigkit/memory.h: memory between C++ and Python's buffers, for functions that are written
// for Python: C++'s as an object that is nothing else (%buffer is for classes that have
// some), and Python's for C++ to keep.
#pragma once

#include "error.h"

#include <memory>
#include <utility>

namespace [[gnu::visibility("hidden")]] swigkit {

/// A Python object that shows memory, and is made by C++ alone.  An Owner keeps the memory
/// as long as the object is there, and describes it:
///   static constexpr const char* kName;   "module.Class"
///   void show(Py_buffer&);  sets buf, itemsize, format, ndim, shape, strides and readonly
/// What it points to is its own.
template <class Owner>
class ShownMemory {
 public:
  template <class... Args>
  static PyRef make(Args&&... args) {
    static PyTypeObject* type = make_type();
    PyRef self = check(type->tp_alloc(type, 0));
    try {
      new (&reinterpret_cast<Object*>(self.get())->owner)
          Owner(std::forward<Args>(args)...);
    } catch (...) {
      forget(self.release());
      throw;
    }
    return self;
  }

 private:
  struct Object {
    PyObject_HEAD Owner owner;
  };

  // Of an object without an owner.
  static void forget(PyObject* self) {
    PyTypeObject* type = Py_TYPE(self);
    type->tp_free(self);
    Py_DECREF(type);
  }
  static void end(PyObject* self) {
    std::destroy_at(&reinterpret_cast<Object*>(self)->owner);
    forget(self);
  }
  static int show(PyObject* self, Py_buffer* view, int flags) {
    *view = {};
    reinterpret_cast<Object*>(self)->owner.show(*view);  // which throws nothing
    if (!view->ndim) view->shape = view->strides = nullptr;
    view->len = view->itemsize;
    for (int i = 0; i < view->ndim; ++i) view->len *= view->shape[i];
    // Most ask for nothing but what there is.
    constexpr int kAsked = PyBUF_C_CONTIGUOUS | PyBUF_F_CONTIGUOUS | PyBUF_ANY_CONTIGUOUS |
                           PyBUF_WRITABLE;
    if ((flags & kAsked) != PyBUF_STRIDES && !fits(self, view, flags)) return -1;
    if (!(flags & PyBUF_FORMAT)) view->format = nullptr;
    view->obj = new_ref(self);
    return 0;
  }
  [[gnu::noinline]] static bool fits(PyObject* self, Py_buffer* view, int flags) {
    const auto asks = [flags](int flag) { return (flags & flag) == flag; };
    const bool rows = !asks(PyBUF_STRIDES) || asks(PyBUF_C_CONTIGUOUS);
    const char* missing = nullptr;
    if ((rows && !PyBuffer_IsContiguous(view, 'C')) ||
        (asks(PyBUF_F_CONTIGUOUS) && !PyBuffer_IsContiguous(view, 'F')) ||
        (asks(PyBUF_ANY_CONTIGUOUS) && !PyBuffer_IsContiguous(view, 'A'))) {
      missing = "is not contiguous";
    }
    if (asks(PyBUF_WRITABLE) && view->readonly) missing = "cannot be written to";
    if (!missing) {
      // CPython's memoryview reads the shape of two dimensions, and of one none.
      if (!asks(PyBUF_ND)) view->ndim = 1, view->shape = nullptr;
      if (!asks(PyBUF_STRIDES)) view->strides = nullptr;
      return true;
    }
    PyErr_Format(PyExc_BufferError, "the memory of a %s %s", Py_TYPE(self)->tp_name,
                 missing);
    return false;
  }
  static PyTypeObject* make_type() {
    static PyType_Slot slots[] = {
        {Py_tp_dealloc, (void*)end}, {Py_bf_getbuffer, (void*)show}, {0, nullptr}};
    static PyType_Spec spec = {Owner::kName, int(sizeof(Object)), 0,
                               Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
                               slots};
    return reinterpret_cast<PyTypeObject*>(check(PyType_FromSpec(&spec)).release());
  }
};

/// A buffer of Python's that C++ keeps; throws what the object says when it has none of this
/// kind.  Needs the GIL.
inline Py_buffer* hold_buffer(PyObject* object, int flags) {
  auto view = std::make_unique<Py_buffer>();
  check(call_python(PyObject_GetBuffer, object, view.get(), flags));
  return view.release();
}
/// Ends that, on any thread.
inline void end_buffer(Py_buffer* view) {
  if (!interpreter_alive()) return;  // the memory went with it
  GilAcquire gil;
  call_python(PyBuffer_Release, view);
  delete view;
}

}  // namespace swigkit
