// SPDX-License-Identifier: Apache-2.0
// tests/bindings/bind_memory.cc: arrays of others as tensors, and the reverse.
#include "memory.h"

#include <memory>

#include "bind.h"
#include "kept.h"
#include "tensor/buffer.h"
#include "tensor/exported.h"

namespace pkg::pybind {
namespace {

/// What numpy() hands out: keeps the tensor alive, and its storage marked as exported.
class TensorMemory {
 public:
  explicit TensorMemory(const Tensor& tensor) : tensor_(tensor) {}

  py::buffer_info buffer() const {
    const Shape steps = byte_strides(*tensor_);
    std::vector<py::ssize_t> sizes(tensor_->sizes().begin(), tensor_->sizes().end());
    std::vector<py::ssize_t> strides(steps.begin(), steps.end());
    return {tensor_->data(),
            py::ssize_t(itemsize(tensor_->dtype())),
            buffer_format(tensor_->dtype()),
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
  buffer_format(tensor->dtype());  // raises for one that has none
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
  auto* info = new py::buffer_info(array.request());
  const auto release = [info] {
    if (!interpreter_alive()) return;  // the array's memory is gone with the interpreter
    WithGil gil;
    delete info;
  };
  auto dtype = dtype_of_format(info->format.c_str(), info->itemsize);
  const char* format = info->format.c_str();
  const char kind = dtype == DType::UInt8 ? dtype_kind(array) : 'u';
  if (kind == 'M' || kind == 'm') {  // NumPy shows a date as its bytes
    format = type_name(array);
    dtype.reset();
  }
  const Shape sizes(reinterpret_cast<int64_t*>(info->shape.data()), info->shape.size());
  return over_foreign_buffer({info->ptr, dtype, format, info->itemsize, sizes,
                              reinterpret_cast<int64_t*>(info->strides.data())},
                             release);
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
