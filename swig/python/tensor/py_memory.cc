// SPDX-License-Identifier: Apache-2.0
// swig/python/tensor/py_memory.cc: arrays of others as tensors, and the memory of tensors as Python
// buffers.
#include "functions.h"
#include "py_tensor.h"
#include "swigkit/memory.h"
#include "tensor/buffer.h"
#include "tensor/exported.h"

namespace pkg::python {

namespace {

// What numpy() hands out: keeps the tensor alive, and its storage marked as exported.
struct TensorMemory {
  static constexpr const char* kName = "pkg._pywrap_core.TensorMemory";

  explicit TensorMemory(const Tensor& shown)
      : format(buffer_format(shown.dtype())),
        tensor(shown),
        sizes(shown.sizes()),
        strides(byte_strides(shown)) {}
  void show(Py_buffer& view) {
    view.buf = tensor->data();
    view.itemsize = itemsize(tensor->dtype());
    view.format = const_cast<char*>(format);
    view.ndim = int(sizes.size());
    view.shape = reinterpret_cast<Py_ssize_t*>(sizes.data());
    view.strides = reinterpret_cast<Py_ssize_t*>(strides.data());
  }

  const char* format;
  ExportedTensor tensor;
  Shape sizes, strides;  // Py_ssize_t is int64 here
};
static_assert(sizeof(Py_ssize_t) == sizeof(int64_t));

}  // namespace

Tensor over_buffer(PyObject* object, bool* read_only) {
  Py_buffer* view = hold_buffer(object, PyBUF_STRIDES | PyBUF_FORMAT);
  if (read_only) *read_only = view->readonly;
  std::optional<DType> dtype = dtype_of_format(view->format, view->itemsize);
  const char* format = view->format;
  const char kind = dtype == DType::UInt8 ? dtype_kind(object) : 'u';
  if (kind == 'M' || kind == 'm') {  // NumPy shows a date as its bytes
    format = Py_TYPE(object)->tp_name;
    dtype.reset();
  }
  const ForeignBuffer buffer{
      view->buf,
      dtype,
      format,
      view->itemsize,
      Shape(reinterpret_cast<int64_t*>(view->shape), size_t(view->ndim)),
      reinterpret_cast<int64_t*>(view->strides)};  // which ctypes leaves out
  return over_foreign_buffer(buffer, [view] { end_buffer(view); });
}

namespace {

// `function` of pkg/arrays.py.
PyRef ask_arrays(const char* function, PyObject* object) {
  PyRef module = check(call_python(PyImport_ImportModule, "pkg.arrays"));
  PyRef callable = check(PyObject_GetAttrString(module.get(), function));
  return check(call_python(PyObject_CallOneArg, callable.get(), object));
}

}  // namespace

Tensor from_numpy(PyObject* array) {
  expect(PyObject_CheckBuffer(array), {"from_numpy", "array"}, "a numpy.ndarray", array);
  if (is_derived_array(array)) ask_arrays("refuse_masked", array);
  bool read_only = false;
  const Tensor tensor = over_buffer(array, &read_only);
  if (read_only) {
    check(call_python(PyErr_WarnEx, PyExc_UserWarning,
                      "[from_numpy] the array is not writable, but the Tensor over its "
                      "memory is. Use tensor(array) or asarray(array), which copy.",
                      1));
  }
  return tensor;
}

PyRef _memory(PyObject* object) {
  expect(is_tensor(object), {"_memory", "tensor"}, "a Tensor", object);
  const Tensor& tensor = unwrap(object);
  PKG_CHECK(!tensor.is_meta(), TypeError, "a meta tensor has no memory to show");
  return ShownMemory<TensorMemory>::make(tensor);
}

Tensor over_array(PyObject* object) {
  if (PyObject_CheckBuffer(object) && !is_derived_array(object)) {
    try {
      return over_buffer(object);
    } catch (const ValueError&) {  // what pkg/arrays.py copies, or refuses in its words
    } catch (const TypeError&) {
    } catch (const PyError&) {}
  }
  const PyRef plain = ask_arrays("plain_array", object);
  if (is_tensor(plain.get())) return unwrap(plain.get());
  return over_buffer(plain.get());
}

}  // namespace pkg::python
