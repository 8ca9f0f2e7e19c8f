// SPDX-License-Identifier: Apache-2.0
// tests/bindings/casters.h: how the core's types cross the border in either direction.
// Every file of the variant includes it, so that all see the same casters.
//
//   Tensor      a Tensor, nothing else; results are of the class Python registered
//   TensorLike  whatever may stand for a tensor: a tensor, a number, an array
//   TensorList  a tuple on its way out
//   Scalar      bool, int, float, a NumPy scalar, a 0-d tensor without gradient
//   Shape       a tuple on its way out
//   DType       pkg.float32, "float32", float, np.float32, np.dtype("float32")
//   Device      pkg.device("cpu"), "cpu"
#pragma once

#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <optional>
#include <string>

#include "dispatcher/value.h"
#include "tensor/tensor.h"

namespace pkg::pybind {

namespace py = pybind11;

/// Holder of the core's reference-counted objects.
template <class T>
class Held : public Ref<T> {
 public:
  Held() = default;
  Held(Ref<T> ref) : Ref<T>(std::move(ref)) {}
  explicit Held(T* object) : Ref<T>(Ref<T>::share(object)) {}
};

/// The Python objects pkg.float32 ... and pkg.device("cpu") show these.
struct DTypeObject {
  DType value;
};
struct DeviceObject {
  Device value;
};

// casters.cc: nullopt means "not of this type"; an exception, that the value is bad.
std::optional<Tensor> as_tensor(py::handle object);
std::optional<Tensor> as_tensor_like(py::handle object);
std::optional<Scalar> as_scalar(py::handle object);
std::optional<int64_t> as_int(py::handle object);
std::optional<DType> as_dtype(py::handle object);    // bind_dtype.cc
std::optional<Device> as_device(py::handle object);  // bind_device.cc

/// An int that no dtype holds, before it is known whose it is.
class IntTooBig : public OverflowError {
 public:
  explicit IntTooBig(py::handle number);
  OverflowError named(std::string_view function, std::string_view parameter) const;

 private:
  std::string number_;
};

/// An operand: converts where Tensor does not.
struct TensorLike {
  /// `function` is for the error of an int that is too big.
  const Tensor& operand(std::string_view function) const {
    if (too_big) throw too_big->named(function, "other");
    return tensor;
  }

  Tensor tensor;
  std::optional<IntTooBig> too_big;
};

/// False for what has dimensions, or an array that does not tell: those have __index__ and
/// __float__, too, where there is one element.
bool is_dimensionless(py::handle object);

/// NumPy's letter for the kind of an object's dtype: 'f', 'c', 'M'; NUL when it has none.
char dtype_kind(py::handle object);

py::object from_tensor(const Tensor& tensor);  // bind_tensor.cc; undefined is None
py::object from_scalar(const Scalar& scalar);
py::object from_dtype(DType dtype);
py::object from_device(Device device);

/// The type's name, as Python's own messages spell it.
inline const char* type_name(py::handle object) { return Py_TYPE(object.ptr())->tp_name; }

/// TypeError, in the text of all wrong arguments, unless it fits.
inline void expect(bool fits, std::string_view function, std::string_view parameter,
                   std::string_view expected, py::handle got) {
  if (!fits) throw TypeError(wrong_argument(function, parameter, expected, type_name(got)));
}

}  // namespace pkg::pybind

PYBIND11_DECLARE_HOLDER_TYPE(T, pkg::pybind::Held<T>, true)

namespace pybind11::detail {

/// A caster made of one function per direction.
#define PKG_CASTER(Type, text, from_python, to_python)                    \
  template <>                                                             \
  struct type_caster<Type> {                                              \
    PYBIND11_TYPE_CASTER(Type, const_name(text));                         \
    bool load(handle source, bool) {                                      \
      auto loaded = from_python(source);                                  \
      if (loaded) value = std::move(*loaded);                             \
      return loaded.has_value();                                          \
    }                                                                     \
    static handle cast(const Type& source, return_value_policy, handle) { \
      return to_python(source).release();                                 \
    }                                                                     \
  }
PKG_CASTER(pkg::Tensor, "Tensor", pkg::pybind::as_tensor, pkg::pybind::from_tensor);
PKG_CASTER(pkg::Scalar, "Number", pkg::pybind::as_scalar, pkg::pybind::from_scalar);
PKG_CASTER(pkg::DType, "dtype", pkg::pybind::as_dtype, pkg::pybind::from_dtype);
PKG_CASTER(pkg::Device, "device", pkg::pybind::as_device, pkg::pybind::from_device);
#undef PKG_CASTER

template <>
struct type_caster<pkg::pybind::TensorLike> {
  PYBIND11_TYPE_CASTER(pkg::pybind::TensorLike, const_name("Tensor"));
  bool load(handle source, bool) {
    try {
      auto tensor = pkg::pybind::as_tensor_like(source);
      if (tensor) value.tensor = std::move(*tensor);
      return tensor.has_value();
    } catch (const pkg::pybind::IntTooBig& error) {
      value.too_big = error;  // the one who is called knows whose it is
      return true;
    }
  }
};

/// Sequences on their way out: tuples.
template <class Sequence>
handle cast_to_tuple(const Sequence& source) {
  tuple result(source.size());
  for (size_t i = 0; i < source.size(); ++i) result[i] = pybind11::cast(source[i]);
  return result.release();
}
template <>
struct type_caster<pkg::Shape> {
  PYBIND11_TYPE_CASTER(pkg::Shape, const_name("tuple[int, ...]"));
  static handle cast(const pkg::Shape& source, return_value_policy, handle) {
    return cast_to_tuple(source);
  }
};
template <>
struct type_caster<pkg::TensorList> {
  PYBIND11_TYPE_CASTER(pkg::TensorList, const_name("tuple[Tensor, ...]"));
  static handle cast(const pkg::TensorList& source, return_value_policy, handle) {
    return cast_to_tuple(source);
  }
};

}  // namespace pybind11::detail
