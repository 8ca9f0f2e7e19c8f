// SPDX-License-Identifier: Apache-2.0
// swig/python/tensor/py_dlpack.cc: tensor memory in DLPack capsules, both ways.
#include "tensor/dlpack.h"

#include "autograd/views.h"
#include "functions.h"
#include "py_tensor.h"

namespace pkg::python {
namespace {

template <class Managed>
Managed* content(PyObject* capsule) {
  return static_cast<Managed*>(PyCapsule_GetPointer(capsule, Managed::kFresh));
}

// A capsule that nobody took the memory from gives it back.
template <class Managed>
void drop_capsule(PyObject* capsule) {
  if (!PyCapsule_IsValid(capsule, Managed::kFresh)) return;
  dlpack::discard(content<Managed>(capsule));
}

template <class Managed>
PyObject* to_capsule(const Tensor& tensor, bool copy) {
  Managed* managed = dlpack::to_dlpack<Managed>(tensor, copy);
  PyObject* capsule = PyCapsule_New(managed, Managed::kFresh, drop_capsule<Managed>);
  if (!capsule) dlpack::discard(managed);
  return checked(capsule);
}

template <class Managed>
Tensor take(PyObject* capsule, std::optional<bool> copy) {
  const Tensor tensor = dlpack::from_dlpack(content<Managed>(capsule), copy);
  check(PyCapsule_SetName(capsule, Managed::kUsed));
  return tensor;
}

// (first, second) of an argument that is a pair of ints.
std::pair<int, int> int_pair(const char* name, PyObject* object) {
  int first, second;
  if (!PyTuple_Check(object) ||
      !call_python(PyArg_ParseTuple, object, "ii", &first, &second)) {
    PyErr_Clear();
    expect(false, {"__dlpack__", name}, "None or (int, int)", object);
  }
  return {first, second};
}

// None; or -1, which PyTorch passes for "do nothing".
void check_stream(PyObject* stream) {
  if (stream == Py_None) return;
  expect(PyLong_Check(stream), {"__dlpack__", "stream"}, "None or an int", stream);
  int overflow;
  PKG_CHECK(PyLong_AsLongAndOverflow(stream, &overflow) == -1 && !overflow, ValueError,
            "[__dlpack__] expected stream=None: the CPU has no streams.");
}

}  // namespace

Tensor _from_dlpack(PyObject* capsule, std::optional<bool> copy) {
  PKG_CHECK(PyCapsule_CheckExact(capsule), TypeError,
            "[from_dlpack] expected an object with __dlpack__ or a DLPack capsule, got ",
            Py_TYPE(capsule)->tp_name);
  if (PyCapsule_IsValid(capsule, dlpack::Versioned::kFresh)) {
    return take<dlpack::Versioned>(capsule, copy);
  }
  PKG_CHECK(PyCapsule_IsValid(capsule, dlpack::Unversioned::kFresh), RuntimeError,
            "from_dlpack received an invalid capsule. Note that a capsule can be "
            "consumed only once, so you might have already made a tensor from it.");
  return take<dlpack::Unversioned>(capsule, copy);
}

PyObject* tensor_dlpack(PyObject* self, PyObject* args, PyObject* keywords) {
  return guarded([&] {
    PyObject *stream = Py_None, *version = Py_None, *device = Py_None, *copy = Py_None;
    parse_arguments(args, keywords, "|$OOOO:__dlpack__",
                    {"stream", "max_version", "dl_device", "copy"}, &stream, &version,
                    &device, &copy);
    const Tensor& tensor = unwrap(self);
    check_stream(stream);
    const bool on_cpu = device == Py_None ||
                        int_pair("dl_device", device) == std::pair(int(dlpack::kCpu), 0);
    PKG_CHECK(on_cpu, BufferError, "[__dlpack__] expected dl_device (1, 0), the CPU.");
    const bool versioned = version != Py_None &&
                           int_pair("max_version", version).first >= 1;
    bool wanted = false;
    if (!to_cpp(copy, wanted, {"__dlpack__", "copy"})) throw_python_error();
    requires_grad(tensor);  // brings the history of a view up to date
    return versioned ? to_capsule<dlpack::Versioned>(tensor, wanted)
                     : to_capsule<dlpack::Unversioned>(tensor, wanted);
  });
}

PyObject* tensor_dlpack_device(PyObject* self, PyObject*) {
  return guarded([&] {
    PKG_CHECK(!unwrap(self).is_meta(), BufferError,
              "[__dlpack_device__] a meta tensor has no memory to show.");
    return checked(Py_BuildValue("(ii)", int(dlpack::kCpu), 0));
  });
}

}  // namespace pkg::python
