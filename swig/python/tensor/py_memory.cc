// SPDX-License-Identifier: Apache-2.0
// swig/python/tensor/py_memory.cc: arrays of others as tensors, and the memory of tensors as Python
// buffers.
#include "functions.h"
#include "py_tensor.h"
#include "tensor/buffer.h"
#include "tensor/exported.h"

namespace pkg::python {

namespace {

// What numpy() hands out: keeps the tensor alive, and its storage marked as exported.
struct Memory {
  explicit Memory(const Tensor& shown)
      : format(buffer_format(shown.dtype())),
        tensor(shown),
        sizes(shown.sizes()),
        strides(byte_strides(shown)) {}
  const char* format;
  ExportedTensor tensor;
  Shape sizes, strides;  // Py_ssize_t is int64 here
};
static_assert(sizeof(Py_ssize_t) == sizeof(int64_t));
struct PyMemory {
  PyObject_HEAD Memory memory;
};

// Frees the Python object alone.
void forget_object(PyObject* self) {
  PyTypeObject* type = Py_TYPE(self);
  type->tp_free(self);
  Py_DECREF(type);
}
void end_memory(PyObject* self) {
  reinterpret_cast<PyMemory*>(self)->memory.~Memory();
  forget_object(self);
}
int get_memory(PyObject* self, Py_buffer* view, int flags) {
  Memory& memory = reinterpret_cast<PyMemory*>(self)->memory;
  const Tensor& tensor = *memory.tensor;
  if ((flags & PyBUF_STRIDES) != PyBUF_STRIDES && !tensor.is_contiguous()) {
    PyErr_SetString(PyExc_BufferError, "the tensor is not contiguous");
    return -1;
  }
  *view = {};
  view->buf = tensor.data();
  view->obj = new_ref(self);
  view->itemsize = itemsize(tensor.dtype());
  view->len = tensor.numel() * view->itemsize;
  view->format = const_cast<char*>(memory.format);
  view->ndim = int(tensor.ndim());
  view->shape = reinterpret_cast<Py_ssize_t*>(memory.sizes.data());
  view->strides = reinterpret_cast<Py_ssize_t*>(memory.strides.data());
  return 0;
}
PyTypeObject* make_memory_type() {
  static PyType_Slot slots[] = {{Py_tp_dealloc, reinterpret_cast<void*>(end_memory)},
                                {Py_bf_getbuffer, reinterpret_cast<void*>(get_memory)},
                                {0, nullptr}};
  static PyType_Spec spec = {"pkg._pywrap_core.TensorMemory", sizeof(PyMemory), 0,
                             Py_TPFLAGS_DEFAULT, slots};
  auto* type = reinterpret_cast<PyTypeObject*>(checked(PyType_FromSpec(&spec)));
  type->tp_new = nullptr;  // only C++ makes its objects
  return type;
}

}  // namespace

Tensor over_buffer(PyObject* object, bool* read_only) {
  auto held = std::make_unique<Py_buffer>();
  constexpr int kWanted = PyBUF_STRIDES | PyBUF_FORMAT;
  check(call_python(PyObject_GetBuffer, object, held.get(), kWanted));
  Py_buffer* view = held.release();
  const auto release = [view] {
    if (!interpreter_alive()) return;
    GilAcquire gil;
    call_python(PyBuffer_Release, view);
    delete view;
  };
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
  return over_foreign_buffer(buffer, release);
}

namespace {

bool has(PyObject* object, const char* attribute) {
  return call_python(PyObject_HasAttrString, object, attribute);
}

// A subclass of NumPy's array, which may hide elements (numpy.ma).
bool is_derived_array(PyObject* object) {
  return (Py_TYPE(object)->tp_flags & Py_TPFLAGS_HEAPTYPE) && has(object, "__array__");
}

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
  static PyTypeObject* type = nullptr;
  if (!type) type = make_memory_type();
  PKG_CHECK(!tensor.is_meta(), TypeError, "a meta tensor has no memory to show");
  PyObject* self = checked(type->tp_alloc(type, 0));
  try {
    new (&reinterpret_cast<PyMemory*>(self)->memory) Memory(tensor);
  } catch (...) {
    forget_object(self);
    throw;
  }
  return PyRef(self);
}

bool is_array(PyObject* object) {
  if (PyObject_CheckBuffer(object)) return true;
  // Of what is no array these come most; and a class has what its objects have.
  const bool plain = object == Py_None || PyUnicode_Check(object) || PyList_Check(object) ||
                     PyTuple_Check(object) || PyDict_Check(object) ||
                     PyLong_Check(object) || PyFloat_Check(object) || PyType_Check(object);
  return !plain && (has(object, "__array__") || has(object, "__array_interface__") ||
                    has(object, "__array_struct__") || has(object, "__dlpack__"));
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
