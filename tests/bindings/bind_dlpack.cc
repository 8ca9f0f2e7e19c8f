// SPDX-License-Identifier: Apache-2.0
// tests/bindings/bind_dlpack.cc: tensor memory in DLPack capsules, both ways.
#include "autograd/views.h"
#include "bind.h"
#include "tensor/dlpack.h"

namespace pkg::pybind {
namespace {

using Pair = std::pair<int, int>;
using dlpack::Unversioned;
using dlpack::Versioned;

// A capsule that nobody took the memory from gives it back.  It is being destroyed, so no
// py::capsule may hold it.
template <class Managed>
void drop_capsule(PyObject* capsule) {
  if (!PyCapsule_IsValid(capsule, Managed::kFresh)) return;
  void* managed = PyCapsule_GetPointer(capsule, Managed::kFresh);
  dlpack::discard(static_cast<Managed*>(managed));
}

template <class Managed>
py::capsule to_capsule(const Tensor& tensor, bool copy) {
  return py::capsule(dlpack::to_dlpack<Managed>(tensor, copy), Managed::kFresh,
                     &drop_capsule<Managed>);
}

template <class Managed>
Tensor take(py::capsule& capsule, std::optional<bool> copy) {
  const Tensor tensor = dlpack::from_dlpack(capsule.get_pointer<Managed>(), copy);
  capsule.set_name(Managed::kUsed);
  return tensor;
}

Tensor from_capsule(const py::object& object, std::optional<bool> copy) {
  PKG_CHECK(py::isinstance<py::capsule>(object), TypeError,
            "[from_dlpack] expected an object with __dlpack__ or a DLPack capsule, got ",
            type_name(object));
  py::capsule capsule = object;
  const std::string_view name = capsule.name() ? capsule.name() : "";
  if (name == Versioned::kFresh) return take<Versioned>(capsule, copy);
  PKG_CHECK(name == Unversioned::kFresh, RuntimeError,
            "from_dlpack received an invalid capsule. Note that a capsule can be "
            "consumed only once, so you might have already made a tensor from it.");
  return take<Unversioned>(capsule, copy);
}

// (first, second) of an argument that is a pair of ints, in the kit's words otherwise.
Pair int_pair(const char* name, const py::object& object) {
  const std::string asked = "[__dlpack__] expected a sequence of 2";
  const bool sequence = py::isinstance<py::sequence>(object) &&
                        !py::isinstance<py::str>(object);
  PKG_CHECK(sequence, TypeError, asked, " or None for '", name, "', got ",
            type_name(object));
  const py::tuple items(object);
  PKG_CHECK(items.size() == 2, TypeError, asked, " for '", name, "', got ", items.size());
  for (size_t i = 0; i < 2; ++i) {
    PKG_CHECK(py::isinstance<py::int_>(items[i]), TypeError,
              "[__dlpack__] expected an int for '", name, "[", i, "]', got ",
              type_name(items[i]));
    int over = 0;
    const long value = PyLong_AsLongAndOverflow(items[i].ptr(), &over);
    if (over || value != int(value)) {
      PyErr_Format(PyExc_OverflowError, "[__dlpack__] expected 32 bits for '%s[%zu]'", name,
                   i);
      throw py::error_already_set();
    }
  }
  return py::cast<Pair>(items);
}

// None; or -1, which PyTorch passes for "do nothing".
void check_stream(const py::object& stream) {
  if (stream.is_none()) return;
  PKG_CHECK(py::isinstance<py::int_>(stream), TypeError,
            "[__dlpack__] expected an int or None for 'stream', got ", type_name(stream));
  PKG_CHECK(stream.equal(py::int_(-1)), ValueError,
            "[__dlpack__] expected stream=None: the CPU has no streams.");
}

py::capsule dlpack_capsule(const Tensor& tensor, const py::object& stream,
                           const py::object& max_version, const py::object& dl_device,
                           const py::object& copy) {
  check_stream(stream);
  if (!dl_device.is_none()) dlpack::check_request({}, int_pair("dl_device", dl_device));
  const bool versioned = !max_version.is_none() &&
                         int_pair("max_version", max_version).first >= 1;
  const bool copied = bool(py::bool_(copy));
  requires_grad(tensor);  // brings the history of a view up to date
  return versioned ? to_capsule<Versioned>(tensor, copied)
                   : to_capsule<Unversioned>(tensor, copied);
}

}  // namespace

void bind_dlpack(py::module_& m, TensorClass& cls) {
  cls.def("__dlpack__", &dlpack_capsule, py::kw_only(), py::arg("stream") = py::none(),
          py::arg("max_version") = py::none(), py::arg("dl_device") = py::none(),
          py::arg("copy") = py::none(),
          "__dlpack__(self, *, stream=None, max_version=None, dl_device=None, copy=None)"
          "\n--\n\nDLPack capsule of the memory, for from_dlpack() of any library.");
  cls.def("__dlpack_device__", &dlpack::device_of,
          "__dlpack_device__(self)\n--\n\n(1, 0), DLPack's name of the CPU.");
  m.def("_from_dlpack", &from_capsule, py::arg("capsule"), py::arg("copy") = py::none(),
        py::pos_only(),
        "_from_dlpack(capsule, copy=None, /)\n--\n\nTensor over a DLPack capsule's "
        "memory.");
}

}  // namespace pkg::pybind
