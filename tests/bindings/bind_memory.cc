// SPDX-License-Identifier: Apache-2.0
// tests/bindings/bind_memory.cc: arrays of others as tensors, and the reverse.
#include "memory.h"

#include <memory>

#include "bind.h"
#include "kept.h"
#include "tensor/copy.h"
#include "tensor/exported.h"

namespace pkg::pybind {
namespace {

/// The element type of a buffer-protocol format, which is also how NumPy spells it.
std::optional<DType> dtype_of(const py::buffer_info& info) {
  std::string_view format = info.format;
  if (!format.empty() && std::string_view("<=@").find(format[0]) != format.npos) {
    format.remove_prefix(1);
  }
  if (format.size() != 1) return std::nullopt;  // "ii": a struct
  const auto fitting = [&](DType dtype) {
    return info.itemsize == itemsize(dtype) ? std::optional(dtype) : std::nullopt;
  };
  switch (format[0]) {
    case '?': return fitting(DType::Bool);
    case 'B': return fitting(DType::UInt8);
    case 'b': return fitting(DType::Int8);
    case 'e': return fitting(DType::Float16);
    case 'f': return fitting(DType::Float32);
    case 'd': return fitting(DType::Float64);
    case 'i':
    case 'l':
    case 'q': return fitting(info.itemsize == 4 ? DType::Int32 : DType::Int64);
    default: return std::nullopt;
  }
}

const char* format_of(DType dtype) {
  constexpr const char* formats[kNumDTypes] = {"?", "B", "b", "i", "q", "e", "", "f", "d"};
  return formats[int(dtype)];
}

/// What numpy() hands out: keeps the tensor alive, and its storage marked as exported.
class TensorMemory {
 public:
  explicit TensorMemory(const Tensor& tensor) : tensor_(tensor) {}

  py::buffer_info buffer() const {
    const auto step = py::ssize_t(itemsize(tensor_->dtype()));
    std::vector<py::ssize_t> sizes(tensor_->sizes().begin(), tensor_->sizes().end());
    std::vector<py::ssize_t> strides(tensor_->strides().begin(), tensor_->strides().end());
    // Of an empty tensor they may wrap: they lead nowhere.
    for (py::ssize_t& stride : strides) stride = py::ssize_t(size_t(stride) * size_t(step));
    return {tensor_->data(),
            step,
            format_of(tensor_->dtype()),
            py::ssize_t(sizes.size()),
            std::move(sizes),
            std::move(strides)};
  }

 private:
  ExportedTensor tensor_;
};

std::unique_ptr<TensorMemory> memory_of(const py::object& object) {
  const auto tensor = as_tensor(object);
  PKG_CHECK(tensor, TypeError, "[_memory] expected a Tensor for 'tensor', got ",
            type_name(object));
  PKG_CHECK(!tensor->is_meta(), TypeError, "a meta tensor has no memory to show");
  PKG_CHECK(tensor->dtype() != DType::BFloat16, TypeError,
            "NumPy has no bfloat16: convert with .float() first");
  return std::make_unique<TensorMemory>(*tensor);
}

/// A subclass of NumPy's array, which may hide elements (numpy.ma).
bool is_derived_array(py::handle object) {
  return (Py_TYPE(object.ptr())->tp_flags & Py_TPFLAGS_HEAPTYPE) &&
         py::hasattr(object, "__array__");
}

/// `function` of pkg/arrays.py.
py::object ask_arrays(const char* function, py::handle object) {
  return call(py::module_::import("pkg.arrays").attr(function), object);
}

Tensor from_numpy(const py::object& array) {
  PKG_CHECK(py::isinstance<py::buffer>(array), TypeError,
            "[from_numpy] expected a numpy.ndarray for 'array', got ", type_name(array));
  if (is_derived_array(array)) ask_arrays("refuse_masked", array);
  const py::buffer buffer(array);
  if (buffer.request().readonly) {
    py::module_::import("warnings")
        .attr("warn")("[from_numpy] the array is not writable, but the Tensor over its "
                      "memory is. Use tensor(array) or asarray(array), which copy.",
                      py::handle(PyExc_UserWarning));
  }
  return borrow_buffer(buffer);
}

}  // namespace

Tensor borrow_buffer(const py::buffer& array) {
  auto info = std::make_unique<py::buffer_info>(array.request());
  Shape sizes, strides;
  const auto dtype = dtype_of(*info);
  // NumPy shows a date as its bytes.
  const char kind = dtype == DType::UInt8 ? dtype_kind(array) : '\0';
  const bool date = kind == 'M' || kind == 'm';
  bool fits = dtype.has_value() && info->itemsize == itemsize(*dtype) && !date;
  for (size_t d = 0; d < info->shape.size(); ++d) {
    PKG_CHECK(info->strides[d] >= 0, ValueError,
              "[from_numpy] at least one stride is negative; make a copy with "
              "array.copy() first.");
    fits = fits && info->strides[d] % info->itemsize == 0;
    sizes.push_back(info->shape[d]);
    if (fits) strides.push_back(info->strides[d] / info->itemsize);
  }
  PKG_CHECK(fits, TypeError, "[from_numpy] cannot convert an array of format '",
            date ? type_name(array) : info->format,
            "'. Supported are bool, uint8, int8, int32, int64, float16, "
            "float32 and float64.");
  const auto release = [raw = info.get()] {
    if (!interpreter_alive()) return;  // the array's memory is gone with the interpreter
    WithGil gil;
    delete raw;
  };
  Tensor tensor = from_blob(info->ptr, sizes, strides, *dtype, release);
  info.release();  // deleted by `release`
  PKG_CHECK(dtype != DType::Bool || are_plain_bools(tensor), ValueError, kOddBools);
  return tensor;
}

bool is_array(py::handle object) {
  if (py::isinstance<py::buffer>(object)) return true;
  if (py::isinstance<py::str>(object) || PyType_Check(object.ptr())) return false;
  for (const char* name :
       {"__array__", "__array_interface__", "__array_struct__", "__dlpack__"}) {
    if (py::hasattr(object, name)) return true;
  }
  return false;
}

Tensor over_array(py::handle object) {
  if (py::isinstance<py::buffer>(object) && !is_derived_array(object)) {
    try {
      return borrow_buffer(py::reinterpret_borrow<py::buffer>(object));
    } catch (const ValueError&) {  // what pkg/arrays.py copies, or refuses in its words
    } catch (const TypeError&) {
    } catch (const py::error_already_set&) {}
  }
  const py::object plain = ask_arrays("plain_array", object);
  if (const auto tensor = as_tensor(plain)) return *tensor;
  return borrow_buffer(py::reinterpret_borrow<py::buffer>(plain));
}

void bind_memory(py::module_& m) {
  py::class_<TensorMemory> cls(py::handle(), "TensorMemory", py::is_final(),
                               py::buffer_protocol());
  cls.attr("__module__") = m.attr("__name__");
  cls.def_buffer(&TensorMemory::buffer);
  m.def("_memory", &memory_of, py::arg("tensor"), py::pos_only(),
        "_memory(tensor, /)\n--\n\nThe memory as a buffer.");
  m.def("from_numpy", &from_numpy, py::arg("array"), py::pos_only(),
        "from_numpy(array, /)\n--\n\nTensor over the array's memory; both see writes.");
}

}  // namespace pkg::pybind
