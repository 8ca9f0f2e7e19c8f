// SPDX-License-Identifier: Apache-2.0
// swig/python/tensor/py_memory.cc: arrays of others as tensors, and the memory of tensors as Python
// buffers.
#include "base/checked.h"
#include "py_tensor.h"
#include "python/expect.h"
#include "python/py_type.h"
#include "tensor/copy.h"
#include "tensor/exported.h"

namespace pkg::python {
namespace {

// Buffer-protocol format of each dtype; also how NumPy spells it.
std::optional<DType> dtype_of_format(const char* format, Py_ssize_t size) {
  if (!format) return DType::UInt8;
  if (*format == '<' || *format == '=' || *format == '@') ++format;
  if (*format && format[1]) return std::nullopt;  // "ii": a struct
  const auto fitting = [size](DType dtype) {
    return size == itemsize(dtype) ? std::optional(dtype) : std::nullopt;
  };
  switch (*format) {
    case '?': return fitting(DType::Bool);
    case 'B': return fitting(DType::UInt8);
    case 'b': return fitting(DType::Int8);
    case 'e': return fitting(DType::Float16);
    case 'f': return fitting(DType::Float32);
    case 'd': return fitting(DType::Float64);
    case 'i':
    case 'l':
    case 'q': return fitting(size == 4 ? DType::Int32 : DType::Int64);
    default: return std::nullopt;
  }
}
const char* format_of(DType dtype) {
  constexpr const char* formats[kNumDTypes] = {"?", "B", "b", "i", "q", "e", "", "f", "d"};
  return formats[int(dtype)];
}

// What numpy() hands out: keeps the tensor alive, and its storage marked as exported.
struct PyExport {
  PyObject_HEAD ExportedTensor tensor;
  Shape sizes, strides;  // Py_ssize_t is int64 here
};
static_assert(sizeof(Py_ssize_t) == sizeof(int64_t));
PyTypeObject* g_export_type = nullptr;

// Frees the Python object alone.
void forget_object(PyObject* self) {
  PyTypeObject* type = Py_TYPE(self);
  type->tp_free(self);
  Py_DECREF(type);
}

void export_dealloc(PyObject* self) {
  auto* object = reinterpret_cast<PyExport*>(self);
  object->tensor.~ExportedTensor();
  object->sizes.~Shape();
  object->strides.~Shape();
  forget_object(self);
}
int export_getbuffer(PyObject* self, Py_buffer* view, int flags) {
  auto* object = reinterpret_cast<PyExport*>(self);
  const Tensor& tensor = *object->tensor;
  if ((flags & PyBUF_STRIDES) != PyBUF_STRIDES && !tensor.is_contiguous()) {
    PyErr_SetString(PyExc_BufferError, "the tensor is not contiguous");
    return -1;
  }
  *view = {};
  view->buf = tensor.data();
  Py_INCREF(self);
  view->obj = self;
  view->itemsize = itemsize(tensor.dtype());
  view->len = tensor.numel() * view->itemsize;
  view->format = const_cast<char*>(format_of(tensor.dtype()));
  view->ndim = int(tensor.ndim());
  view->shape = reinterpret_cast<Py_ssize_t*>(object->sizes.data());
  view->strides = reinterpret_cast<Py_ssize_t*>(object->strides.data());
  return 0;
}
PyType_Slot g_export_slots[] = {
    {Py_tp_dealloc, reinterpret_cast<void*>(export_dealloc)},
    {Py_bf_getbuffer, reinterpret_cast<void*>(export_getbuffer)},
    {0, nullptr}};
PyType_Spec g_export_spec = {"pkg._pywrap_core.TensorMemory", sizeof(PyExport), 0,
                             Py_TPFLAGS_DEFAULT, g_export_slots};

}  // namespace

Tensor over_buffer(PyObject* object, bool* read_only) {
  auto view = std::make_unique<Py_buffer>();
  constexpr int kWanted = PyBUF_STRIDES | PyBUF_FORMAT;
  check(call_python(PyObject_GetBuffer, object, view.get(), kWanted));
  const auto release = [raw = view.get()] {
    if (!interpreter_alive()) return;
    GilAcquire gil;
    call_python(PyBuffer_Release, raw);
    delete raw;
  };
  if (read_only) *read_only = view->readonly;
  const auto dtype = dtype_of_format(view->format, view->itemsize);
  // NumPy shows a date as its bytes.
  const char kind = dtype == DType::UInt8 ? dtype_kind(object) : '\0';
  const bool date = kind == 'M' || kind == 'm';
  Shape sizes(reinterpret_cast<int64_t*>(view->shape), size_t(view->ndim)), strides;
  bool fits = dtype.has_value() && view->itemsize == itemsize(*dtype) && !date;
  bool negative = false;
  // ctypes leaves the strides out, although they were asked for: row-major then.
  if (!view->strides) strides = contiguous_strides(sizes);
  for (int d = 0; view->strides && d < view->ndim; ++d) {
    negative |= view->strides[d] < 0;
    fits = fits && view->strides[d] % view->itemsize == 0;
    if (fits) strides.push_back(view->strides[d] / view->itemsize);
  }
  if (!fits || negative) {
    std::string format = view->format ? view->format : "B";
    if (date) format = Py_TYPE(object)->tp_name;
    call_python(PyBuffer_Release, view.get());
    PKG_CHECK(!negative, ValueError,
              "[from_numpy] at least one stride is negative; make "
              "a copy with array.copy() first.");
    detail::raise<TypeError>("[from_numpy] cannot convert an array of format '", format,
                             "'. Supported are bool, uint8, int8, int32, int64, float16, "
                             "float32 and float64.");
  }
  Tensor tensor;
  try {
    tensor = from_blob(view->buf, sizes, strides, *dtype, release);
    view.release();  // freed by `release`
  } catch (...) {
    call_python(PyBuffer_Release, view.get());
    throw;
  }
  PKG_CHECK(dtype != DType::Bool || are_plain_bools(tensor), ValueError, kOddBools);
  return tensor;
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

PyObject* from_numpy(PyObject*, PyObject* array) {
  return guarded([&] {
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
    return wrap(tensor);
  });
}
PyObject* memory_of(PyObject*, PyObject* object) {
  return guarded([&]() -> PyObject* {
    expect(is_tensor(object), {"_memory", "tensor"}, "a Tensor", object);
    const Tensor& tensor = unwrap(object);
    PKG_CHECK(!tensor.is_meta(), TypeError, "a meta tensor has no memory to show");
    PKG_CHECK(tensor.dtype() != DType::BFloat16, TypeError,
              "NumPy has no bfloat16: convert with .float() first");
    PyObject* self = checked(g_export_type->tp_alloc(g_export_type, 0));
    auto* out = reinterpret_cast<PyExport*>(self);
    try {
      new (&out->tensor) ExportedTensor(tensor);
    } catch (...) {
      forget_object(self);
      throw;
    }
    new (&out->sizes) Shape(tensor.sizes());
    new (&out->strides) Shape(tensor.strides());
    // Of an empty tensor they may wrap: they lead nowhere.
    for (int64_t& step : out->strides) {
      step = int64_t(wraps(step) * wraps(itemsize(tensor.dtype())));
    }
    return self;
  });
}

}  // namespace

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

PyMethodDef g_memory_functions[] = {
    {"from_numpy", from_numpy, METH_O,
     "from_numpy(array, /)\n--\n\nTensor over the array's memory; both see writes."},
    {"_memory", memory_of, METH_O, "_memory(tensor, /)\n--\n\nThe memory as a buffer."},
    {nullptr, nullptr, 0, nullptr}};

// Called with the other types.
int add_export_type(PyObject*) {
  g_export_type = reinterpret_cast<PyTypeObject*>(PyType_FromSpec(&g_export_spec));
  if (!g_export_type) return -1;
  forbid_construction(g_export_type);
  return 0;
}

}  // namespace pkg::python
