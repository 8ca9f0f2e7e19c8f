// SPDX-License-Identifier: Apache-2.0
// swig/python/py_stream.cc: the Stream type and the current stream.
#include "py_dtype.h"
#include "py_scheduler.h"
#include "py_type.h"

#include <structmember.h>

#include <vector>

namespace pkg::python {
namespace {

struct PyStream {
  PyObject_HEAD PyObject* weakrefs;
  Ref<Stream> stream;
};
PyTypeObject* g_stream_type = nullptr;
thread_local std::vector<Ref<Stream>> t_entered;  // current before each `with`

const Ref<Stream>& as_stream(PyObject* self) {
  return reinterpret_cast<PyStream*>(self)->stream;
}
PyObject* wrap_stream(Ref<Stream> stream, PyTypeObject* type = g_stream_type) {
  PyObject* self = check(type->tp_alloc(type, 0)).release();
  new (&reinterpret_cast<PyStream*>(self)->stream) Ref<Stream>(std::move(stream));
  return self;
}
PyObject* stream_new(PyTypeObject* type, PyObject* args, PyObject* kwargs) {
  static const char* names[] = {"device", nullptr};
  PyObject* object = nullptr;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|O:Stream", const_cast<char**>(names),
                                   &object)) {
    return nullptr;
  }
  return guarded([&] {
    Device device;
    const bool fits = !object || load_device(object, device);
    expect(fits, {"Stream", "device"}, "a device", object);
    PKG_CHECK(device.type == DeviceType::CPU, NotImplementedError,
              "[Stream] expected 'cpu', got '", device,
              "' (device). This build has no other back end.");
    return wrap_stream(Ref<Stream>::make(), type);
  });
}
void stream_dealloc(PyObject* self) {
  if (reinterpret_cast<PyStream*>(self)->weakrefs) PyObject_ClearWeakRefs(self);
  reinterpret_cast<PyStream*>(self)->stream.~Ref<Stream>();
  PyTypeObject* type = Py_TYPE(self);
  type->tp_free(self);
  Py_DECREF(type);
}
PyObject* stream_compare(PyObject* a, PyObject* b, int op) {
  if ((op != Py_EQ && op != Py_NE) || !PyObject_TypeCheck(b, g_stream_type)) {
    Py_RETURN_NOTIMPLEMENTED;
  }
  const bool same = as_stream(a).get() == as_stream(b).get();
  return PyBool_FromLong(same == (op == Py_EQ));
}
Py_hash_t stream_hash(PyObject* self) {
  const auto hash = static_cast<Py_hash_t>(
      reinterpret_cast<uintptr_t>(as_stream(self).get()) >> 4);
  return hash == -1 ? -2 : hash;
}
PyObject* stream_repr(PyObject* self) {
  return PyUnicode_FromFormat("<pkg.scheduler.Stream at %p>", as_stream(self).get());
}
PyObject* stream_submit(PyObject* self, PyObject* args) {
  if (PyTuple_GET_SIZE(args) == 0) {
    PyErr_SetString(PyExc_TypeError, "submit() missing 1 required argument: 'callable'");
    return nullptr;
  }
  return guarded([&] {
    PyRef deps = check(PyTuple_GetSlice(args, 1, PyTuple_GET_SIZE(args)));
    return submit_callable(PyTuple_GET_ITEM(args, 0), deps.get(), as_stream(self).get());
  });
}
PyObject* stream_synchronize(PyObject* self, PyObject*) {
  return guarded([&]() -> PyObject* {
    const Ref<Stream> keep = as_stream(self);
    keep->synchronize();
    Py_RETURN_NONE;
  });
}
PyObject* stream_query(PyObject* self, PyObject*) {
  return guarded([&] { return PyBool_FromLong(as_stream(self)->query()); });
}
PyObject* stream_record(PyObject* self, PyObject*) {
  return guarded([&] { return wrap_event(as_stream(self)->record(), nullptr); });
}
PyObject* stream_wait(PyObject* self, PyObject* event) {
  return guarded([&]() -> PyObject* {
    as_stream(self)->wait(event_of({"wait_event", "event"}, event));
    Py_RETURN_NONE;
  });
}
PyObject* stream_wait_stream(PyObject* self, PyObject* other) {
  return guarded([&]() -> PyObject* {
    as_stream(self)->wait(stream_of({"wait_stream", "other"}, other)->record());
    Py_RETURN_NONE;
  });
}
PyObject* stream_enter(PyObject* self, PyObject*) {
  return guarded([&] {
    t_entered.push_back(current_stream());
    set_current_stream(as_stream(self));
    return new_ref(self);
  });
}
PyObject* stream_exit(PyObject*, PyObject*) {
  return guarded([&]() -> PyObject* {
    PKG_CHECK(!t_entered.empty(), RuntimeError,
              "[Stream] left a `with` block that this thread did not enter.");
    set_current_stream(std::move(t_entered.back()));
    t_entered.pop_back();
    Py_RETURN_NONE;
  });
}

PyMethodDef g_stream_methods[] = {
    {"submit", stream_submit, METH_VARARGS,
     "submit($self, callable, /, *deps)\n--\n\nRuns callable() on a worker after all earlier "
     "work of this stream and after `deps`.\nReturns its Event. A failure of earlier work "
     "does not stop it, one of `deps` does."},
    {"synchronize", stream_synchronize, METH_NOARGS,
     "synchronize($self)\n--\n\nWaits for the work submitted so far; raises the first "
     "error that nobody has seen."},
    {"query", stream_query, METH_NOARGS,
     "query($self)\n--\n\nWhether all work submitted so far is done."},
    {"record_event", stream_record, METH_NOARGS,
     "record_event($self)\n--\n\nAn Event that is done when the work submitted so far is; "
     "it never fails."},
    {"wait_event", stream_wait, METH_O,
     "wait_event($self, event, /)\n--\n\nLater work of this stream waits for `event`, whether "
     "it goes well or not."},
    {"wait_stream", stream_wait_stream, METH_O,
     "wait_stream($self, stream, /)\n--\n\nLater work of this stream waits for what `stream` "
     "has to do now."},
    {"record", stream_record, METH_NOARGS, "record($self)\n--\n\nSee record_event."},
    {"wait", stream_wait, METH_O, "wait($self, event, /)\n--\n\nSee wait_event."},
    {"__enter__", stream_enter, METH_NOARGS,
     "__enter__($self)\n--\n\nMakes the stream current on this thread."},
    {"__exit__", stream_exit, METH_VARARGS,
     "__exit__($self, *exc)\n--\n\nMakes the stream before current again."},
    {nullptr, nullptr, 0, nullptr}};
PyMemberDef g_stream_members[] = {
    {"__weaklistoffset__", T_PYSSIZET, offsetof(PyStream, weakrefs), READONLY, nullptr},
    {nullptr, 0, 0, 0, nullptr}};
PyType_Slot g_stream_slots[] = {
    {Py_tp_doc,
     const_cast<char*>(
         "Stream(device='cpu')\n--\n\nAn order, not a thread: work of one stream runs "
         "first in, first out, streams run\nbeside each other on the one pool. Any thread "
         "may use any stream. `with stream:`\nmakes it current.")},
    {Py_tp_new, reinterpret_cast<void*>(stream_new)},
    {Py_tp_dealloc, reinterpret_cast<void*>(stream_dealloc)},
    {Py_tp_richcompare, reinterpret_cast<void*>(stream_compare)},
    {Py_tp_hash, reinterpret_cast<void*>(stream_hash)},
    {Py_tp_repr, reinterpret_cast<void*>(stream_repr)},
    {Py_tp_methods, g_stream_methods},
    {Py_tp_members, g_stream_members},
    {0, nullptr}};
PyType_Spec g_stream_spec = {"pkg.scheduler.Stream", sizeof(PyStream), 0,
                             Py_TPFLAGS_DEFAULT, g_stream_slots};

PyObject* current_stream_function(PyObject*, PyObject*) {
  return guarded([&]() -> PyObject* {
    Ref<Stream> stream = current_stream();
    return stream ? wrap_stream(std::move(stream)) : new_ref(Py_None);
  });
}
PyMethodDef g_functions[] = {
    {"current_stream", current_stream_function, METH_NOARGS,
     "current_stream()\n--\n\nThe stream this thread submits to, or None: no order "
     "besides dependencies."},
    {nullptr, nullptr, 0, nullptr}};

}  // namespace

const Ref<Stream>& stream_of(const Argument& where, PyObject* object) {
  expect(PyObject_TypeCheck(object, g_stream_type), where, "a Stream", object);
  return as_stream(object);
}

void add_stream_type(PyObject* module) {
  g_stream_type = add_type(module, &g_stream_spec, nullptr);
  check(PyModule_AddFunctions(module, g_functions));
}

}  // namespace pkg::python
