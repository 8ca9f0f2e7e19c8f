// SPDX-License-Identifier: Apache-2.0
// swig/python/tensor/py_methods.cc: properties and methods of Tensor that are not ops.
#include "autograd/leaf.h"
#include "autograd/views.h"
#include "ops/functions.h"
#include "py_tensor.h"
#include "tensor/buffer.h"
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

// Setters get null for `del`.
void need(PyObject* value, const char* attribute) {
  if (value) return;
  PyErr_Format(PyExc_AttributeError, "%s cannot be deleted", attribute);
  throw_python_error();
}
void put_requires_grad(const Tensor& self, PyObject* value) {
  need(value, "requires_grad");
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
  need(value, "data");
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

#define PKG_GET(expression) \
  get_by<unwrap, [](const Tensor& x) -> auto { return expression; }>
#define PKG_METHOD(expression) \
  call_by<unwrap, [](const Tensor& x) -> auto { return expression; }>
#define PKG_METHOD_WITH(...) call_with<unwrap, __VA_ARGS__>(), METH_FASTCALL | METH_KEYWORDS

PyGetSetDef g_tensor_getset[] = {
    {"shape", PKG_GET(wrap_shape(x.sizes())), nullptr, "Sizes of the dimensions.", nullptr},
    {"dtype", PKG_GET(wrap_dtype(x.dtype())), nullptr, "Element type.", nullptr},
    {"device", PKG_GET(wrap_device(x.device())), nullptr,
     "Where it lives: 'cpu' or 'meta'.", nullptr},
    {"ndim", PKG_GET(x.ndim()), nullptr, "Number of dimensions.", nullptr},
    {"itemsize", PKG_GET(itemsize(x.dtype())), nullptr, "Bytes of one element.", nullptr},
    {"nbytes", PKG_GET(x.numel() * itemsize(x.dtype())), nullptr, "Bytes of all elements.",
     nullptr},
    {"requires_grad", PKG_GET(requires_grad(x)), set_by<unwrap, put_requires_grad>,
     "Whether gradients are computed for it.", nullptr},
    {"is_leaf", PKG_GET((requires_grad(x), x.is_leaf())), nullptr,
     "Whether no differentiable op made it.", nullptr},
    {"grad_fn", PKG_GET(wrap_grad_fn(x)), nullptr, "The node that made it, or None.",
     nullptr},
    {"retains_grad", PKG_GET(x.autograd() && bool(x.autograd()->retained)), nullptr,
     "Whether retain_grad() was called on it.", nullptr},
    {"_is_view", PKG_GET(x.is_view()), nullptr, "Whether it shows another tensor's memory.",
     nullptr},
    {"grad", PKG_GET(wrap(x.grad())), set_by<unwrap, put_grad>,
     "Accumulated gradient, or None.", nullptr},
    {"data", PKG_GET(wrap(share_uncounted(x))), set_by<unwrap, put_data>,
     "The values without history.", nullptr},
    {"T", PKG_GET(wrap(ops::transpose(x, 0, -1))), nullptr, "Transpose of a matrix.",
     nullptr},
    {"_version", PKG_GET(x.version()), nullptr, "Times written.", nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr}};

PyMethodDef g_tensor_methods[] = {
    {"item", PKG_METHOD(wrap_scalar(item(x))), METH_NOARGS,
     "item($self)\n--\n\nThe value of a one-element tensor as a Python number."},
    {"tolist", PKG_METHOD(values_of(x.wait())), METH_NOARGS,
     "tolist($self)\n--\n\nThe values as nested lists."},
    {"wait", PKG_METHOD((x.wait(), wrap(x))), METH_NOARGS,
     "wait($self)\n--\n\nBlocks until the values are there; raises their error."},
    {"is_ready", PKG_METHOD(x.is_ready()), METH_NOARGS,
     "is_ready($self)\n--\n\nWhether reading would not block."},
    {"numel", PKG_METHOD(x.numel()), METH_NOARGS,
     "numel($self)\n--\n\nNumber of elements."},
    {"storage_offset", PKG_METHOD(x.offset()), METH_NOARGS,
     "storage_offset($self)\n--\n\nElements of the memory before the first one."},
    {"dim", PKG_METHOD(x.ndim()), METH_NOARGS, "dim($self)\n--\n\nNumber of dimensions."},
    {"element_size", PKG_METHOD(itemsize(x.dtype())), METH_NOARGS,
     "element_size($self)\n--\n\nBytes of one element."},
    {"data_ptr", PKG_METHOD(PyLong_FromVoidPtr(exposed_data(x))), METH_NOARGS,
     "data_ptr($self)\n--\n\nAddress of the first element.  From now on no op runs on this "
     "memory after its call has returned."},
    {"__dlpack__",
     PKG_METHOD_WITH(tensor_dlpack, "__dlpack__", "*stream", "max_version", "dl_device",
                     "copy"),
     "__dlpack__($self, *, stream=None, max_version=None, dl_device=None, copy=None)\n--\n\n"
     "DLPack capsule of the memory, for from_dlpack() of any library."},
    {"__dlpack_device__", PKG_METHOD(dlpack_device(x)), METH_NOARGS,
     "__dlpack_device__($self)\n--\n\n(1, 0), DLPack's name of the CPU."},
    {"is_contiguous", PKG_METHOD(x.is_contiguous()), METH_NOARGS,
     "is_contiguous($self)\n--\n\nWhether the layout is row-major without gaps."},
    {"is_floating_point", PKG_METHOD(is_floating(x.dtype())), METH_NOARGS,
     "is_floating_point($self)\n--\n\nWhether the dtype is floating."},
    {"_storage_id", PKG_METHOD(PyLong_FromVoidPtr(&x.storage())), METH_NOARGS,
     "_storage_id($self)\n--\n\nThe same number for tensors that share memory."},
    {"_storage_nbytes", PKG_METHOD(x.storage().nbytes()), METH_NOARGS,
     "_storage_nbytes($self)\n--\n\nBytes of the memory that it shows a part of."},
    {"_share", PKG_METHOD(wrap(share(x))), METH_NOARGS,
     "_share($self)\n--\n\nAnother tensor over the same memory, unknown to autograd."},
    {"detach", PKG_METHOD(wrap(share(x))), METH_NOARGS,
     "detach($self)\n--\n\nThe same values outside the graph."},
    {"detach_", PKG_METHOD((detach_in_place(x), wrap(x))), METH_NOARGS,
     "detach_($self)\n--\n\nForgets its history and requires_grad; returns self.  "
     "RuntimeError for a view."},
    {"size", PKG_METHOD_WITH(size, "size", "dim"),
     "size($self, dim=None)\n--\n\nShape, or one size."},
    {"stride", PKG_METHOD_WITH(stride, "stride", "dim"),
     "stride($self, dim=None)\n--\n\nStrides in elements, or one of them."},
    {"_make_subclass", make_subclass, METH_VARARGS | METH_STATIC,
     "_make_subclass(cls, data, requires_grad=False, /)\n--\n\nFor subclasses."},
    {nullptr, nullptr, 0, nullptr}};

}  // namespace pkg::python
