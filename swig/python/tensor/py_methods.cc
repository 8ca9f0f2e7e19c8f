// SPDX-License-Identifier: Apache-2.0
// swig/python/tensor/py_methods.cc: properties and methods of Tensor that are not ops.
#include "autograd/leaf.h"
#include "autograd/views.h"
#include "ops/functions.h"
#include "py_tensor.h"
#include "tensor/buffer.h"
#include "tensor/dlpack.h"
#include "tensor/exported.h"

namespace pkg::python {
namespace {

PyObject* values_of(const Tensor& tensor) {
  if (tensor.ndim() == 0) return wrap_scalar(item(tensor));
  PKG_CHECK(!tensor.is_meta() || tensor.numel() == 0, RuntimeError,
            "[tolist] a meta tensor has a shape but no values.");
  // Kept: what runs while objects are made may give the tensor other memory.
  const Ref<Storage> storage = tensor.impl()->storage;
  const Shape sizes = tensor.sizes(), steps = byte_strides(tensor);
  const auto* data = static_cast<const char*>(tensor.data());
  return visit_dtype(tensor.dtype(), [&]<class T>(TypeTag<T>) {
    return nested_list(sizes, steps, data, [](const char* place) {
      using Plain = std::conditional_t<std::is_integral_v<T>, T, double>;
      return to_python(Plain(*reinterpret_cast<const T*>(place)));
    });
  });
}

void put_requires_grad(const Tensor& self, PyObject* value) {
  const int wanted = call_python(PyObject_IsTrue, value);
  check(wanted);
  set_requires_grad(self, wanted);
}
void put_grad(const Tensor& self, PyObject* value) {
  const bool none = !value || value == Py_None;
  PKG_CHECK(none || is_tensor(value), TypeError,
            "assigned grad expected to be a Tensor or None but got ",
            Py_TYPE(value)->tp_name);
  set_grad(self, none ? Tensor() : unwrap(value));
}
void put_data(const Tensor& self, PyObject* value) {
  PKG_CHECK(is_tensor(value), TypeError, "data must be a Tensor, not ",
            Py_TYPE(value)->tp_name);
  set_data(self, unwrap(value));
}

// All, or that of one dimension.
PyObject* size(const Tensor& x, std::optional<int64_t> dim) {
  return dim ? to_python(x.size(*dim)) : wrap_shape(x.sizes());
}
PyObject* stride(const Tensor& x, std::optional<int64_t> dim) {
  return dim ? to_python(x.stride(*dim)) : wrap_shape(x.strides());
}

// A new object of the given class over the same values: how Parameter is made.
PyObject* make_subclass(PyObject*, PyObject* args) {
  return guarded([&] {
    PyObject *cls, *data;
    int requires_grad = 0;
    parse_arguments(args, nullptr, "OO|p:_make_subclass", {"", "", ""}, &cls, &data,
                    &requires_grad);
    auto* type = reinterpret_cast<PyTypeObject*>(cls);
    expect(PyType_Check(cls) && PyType_IsSubtype(type, g_tensor_base),
           {"_make_subclass", "cls"}, "a subclass of Tensor", cls);
    expect(is_tensor(data), {"_make_subclass", "data"}, "a Tensor", data);
    const Tensor& source = unwrap(data);
    Tensor tensor = share(source);
    if (requires_grad) set_requires_grad(tensor, true);
    PyObject* self = checked(type->tp_alloc(type, 0));
    tensor.impl()->python_object = self;
    new (&reinterpret_cast<PyTensor*>(self)->tensor) Tensor(tensor);
    return self;
  });
}

}  // namespace

#define PKG_GET(name, expression, ...)                                            \
  attribute_row<unwrap, [](const Tensor& x) -> auto { return expression; }>(name, \
                                                                            __VA_ARGS__)
#define PKG_METHOD(name, expression, text) \
  method_row<unwrap, [](const Tensor& x) -> auto { return expression; }, text, name>()

PyGetSetDef g_tensor_getset[] = {
    PKG_GET("shape", wrap_shape(x.sizes()), "Sizes of the dimensions."),
    PKG_GET("dtype", wrap_dtype(x.dtype()), "Element type."),
    PKG_GET("device", wrap_device(x.device()), "Where it lives: 'cpu' or 'meta'."),
    PKG_GET("ndim", x.ndim(), "Number of dimensions."),
    PKG_GET("itemsize", itemsize(x.dtype()), "Bytes of one element."),
    PKG_GET("nbytes", x.numel() * itemsize(x.dtype()), "Bytes of all elements."),
    PKG_GET("requires_grad", requires_grad(x), "Whether gradients are computed for it.",
            (replace_by<unwrap, put_requires_grad, "requires_grad">)),
    PKG_GET("is_leaf", (requires_grad(x), x.is_leaf()),
            "Whether no differentiable op made it."),
    PKG_GET("grad_fn", wrap_grad_fn(x), "The node that made it, or None."),
    PKG_GET("retains_grad", x.autograd() && bool(x.autograd()->retained),
            "Whether retain_grad() was called on it."),
    PKG_GET("_is_view", x.is_view(), "Whether it shows another tensor's memory."),
    PKG_GET("grad", wrap(x.grad()), "Accumulated gradient, or None.",
            (set_by<unwrap, put_grad>)),
    PKG_GET("data", wrap(share_uncounted(x)), "The values without history.",
            (replace_by<unwrap, put_data, "data">)),
    PKG_GET("T", wrap(ops::transpose(x, 0, -1)), "Transpose of a matrix."),
    PKG_GET("_version", x.version(), "Times written."),
    {nullptr, nullptr, nullptr, nullptr, nullptr}};

PyMethodDef g_tensor_methods[] = {
    PKG_METHOD("item", wrap_scalar(item(x)),
               "The value of a one-element tensor as a Python number."),
    PKG_METHOD("tolist", values_of(x.wait()), "The values as nested lists."),
    PKG_METHOD("wait", (x.wait(), wrap(x)),
               "Blocks until the values are there; raises their error."),
    PKG_METHOD("is_ready", x.is_ready(), "Whether reading would not block."),
    PKG_METHOD("numel", x.numel(), "Number of elements."),
    PKG_METHOD("storage_offset", x.offset(),
               "Elements of the memory before the first one."),
    PKG_METHOD("dim", x.ndim(), "Number of dimensions."),
    PKG_METHOD("element_size", itemsize(x.dtype()), "Bytes of one element."),
    PKG_METHOD("data_ptr", PyLong_FromVoidPtr(exposed_data(x)),
               "Address of the first element.  From now on no op runs on this "
               "memory after its call has returned."),
    method_row<unwrap, tensor_dlpack,
               "DLPack capsule of the memory, for from_dlpack() of any library.",
               "__dlpack__", "*stream", "max_version", "dl_device", "copy">(),
    PKG_METHOD("__dlpack_device__", dlpack::device_of(x),
               "(1, 0), DLPack's name of the CPU."),
    PKG_METHOD("is_contiguous", x.is_contiguous(),
               "Whether the layout is row-major without gaps."),
    PKG_METHOD("is_floating_point", is_floating(x.dtype()),
               "Whether the dtype is floating."),
    PKG_METHOD("_storage_id", PyLong_FromVoidPtr(&x.storage()),
               "The same number for tensors that share memory."),
    PKG_METHOD("_storage_nbytes", x.storage().nbytes(),
               "Bytes of the memory that it shows a part of."),
    PKG_METHOD("_share", wrap(share(x)),
               "Another tensor over the same memory, unknown to autograd."),
    PKG_METHOD("detach", wrap(share(x)), "The same values outside the graph."),
    PKG_METHOD("detach_", (detach_in_place(x), wrap(x)),
               "Forgets its history and requires_grad; returns self.  "
               "RuntimeError for a view."),
    method_row<unwrap, size, "Shape, or one size.", "size", "dim">(),
    method_row<unwrap, stride, "Strides in elements, or one of them.", "stride", "dim">(),
    {"_make_subclass", make_subclass, METH_VARARGS | METH_STATIC,
     "_make_subclass(cls, data, requires_grad=False, /)\n--\n\nFor subclasses."},
    {nullptr, nullptr, 0, nullptr}};

}  // namespace pkg::python
