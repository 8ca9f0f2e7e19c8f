// SPDX-License-Identifier: Apache-2.0
// swig/python/tensor/py_dlpack.cc: tensor memory in DLPack capsules, both ways.
#include "tensor/dlpack.h"

#include "autograd/views.h"
#include "functions.h"
#include "py_tensor.h"

namespace pkg::python {
namespace {

template <class Managed>
PyObject* to_capsule(const Tensor& tensor, bool copy) {
  return make_capsule<dlpack::discard<Managed>, Managed::kFresh>(
      dlpack::to_dlpack<Managed>(tensor, copy));
}

template <class Managed>
Tensor take(PyObject* capsule, std::optional<bool> copy) {
  void* content = PyCapsule_GetPointer(capsule, Managed::kFresh);
  const Tensor tensor = dlpack::from_dlpack(static_cast<Managed*>(content), copy);
  check(PyCapsule_SetName(capsule, Managed::kUsed));
  return tensor;
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

PyObject* tensor_dlpack(const Tensor& tensor, std::optional<int64_t> stream,
                        std::optional<std::pair<int, int>> max_version,
                        std::optional<std::pair<int, int>> dl_device,
                        std::optional<bool> copy) {
  dlpack::check_request(stream, dl_device);
  requires_grad(tensor);  // brings the history of a view up to date
  return max_version && max_version->first >= 1
             ? to_capsule<dlpack::Versioned>(tensor, copy.value_or(false))
             : to_capsule<dlpack::Unversioned>(tensor, copy.value_or(false));
}

}  // namespace pkg::python
