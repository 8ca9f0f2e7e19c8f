// SPDX-License-Identifier: Apache-2.0
// tests/bindings/bind_index.cc: x[key] and x[key] = value as sequences of ops.
#include "bind.h"
#include "memory.h"
#include "ops/functions.h"

namespace pkg::pybind {
namespace {

const Op<Tensor(const Tensor&, const TensorList&)> gather_at{"index"};
const Op<Tensor(const Tensor&, const TensorList&, const Tensor&, bool)> put_at{
    "index_put_"};

/// A key on its way: the basic parts are applied to `view` as they come; the advanced
/// ones are collected, one per dimension of the view.
class Indexing {
 public:
  Indexing(const Tensor& self, const py::object& key) : view_(self) {
    const py::tuple parts =
        py::isinstance<py::tuple>(key) ? py::tuple(key) : py::make_tuple(key);
    int64_t used = 0;
    for (py::handle part : parts) used += dims_used(part);
    PKG_CHECK(used <= self.ndim(), IndexError,
              "too many indices for tensor of dimension ", self.ndim());
    const int64_t left = self.ndim() - used;
    for (py::handle part : parts) apply(part, left);
  }

  Tensor get(const Tensor& self) const {
    if (advanced_) return gather_at(view_, indices_);
    // x[:] is a new tensor over the same memory, never x itself.
    return view_.is_same(self) ? ops::expand(view_, view_.sizes()) : view_;
  }
  void put(const Tensor& value) const {
    if (advanced_) put_at(view_, indices_, value, false);
    else ops::copy_(view_, value);
  }

 private:
  static int64_t dims_used(py::handle part) {
    if (part.is_none() || py::isinstance<py::ellipsis>(part) ||
        py::isinstance<py::bool_>(part)) {
      return 0;
    }
    const auto tensor = as_tensor(part);
    return tensor && tensor->dtype() == DType::Bool ? tensor->ndim() : 1;
  }

  static int64_t bound(py::handle part) {
    const auto index = as_int(part);
    if (!index) throw py::type_error(str("'", type_name(part), "' object cannot be "
                                         "interpreted as an integer"));
    return *index;
  }
  static std::optional<int64_t> optional_bound(const py::object& part) {
    if (part.is_none()) return std::nullopt;
    return bound(part);
  }

  void apply(py::handle part, int64_t left) {
    if (py::isinstance<py::ellipsis>(part)) return keep(left);
    if (part.is_none()) return insert_dim();
    if (py::isinstance<py::bool_>(part)) return apply_bool(part.cast<bool>());
    if (py::isinstance<py::slice>(part)) return apply_slice(part);
    const auto tensor = as_tensor(part);
    const bool number = tensor ? tensor->ndim() == 0 && tensor->dtype() != DType::Bool
                               : !py::isinstance<py::list>(part) &&
                                     !py::isinstance<py::tuple>(part) &&
                                     py::hasattr(part, "__index__");
    if (number) view_ = ops::select(view_, dim_, bound(part));
    else apply_advanced(tensor ? *tensor : tensor_from_data(part, std::nullopt));
  }

  void keep(int64_t count) {
    for (int64_t i = 0; i < count; ++i) indices_.push_back(Tensor());
    dim_ += count;
  }
  void insert_dim() {
    view_ = ops::unsqueeze(view_, dim_);
    keep(1);
  }
  void apply_bool(bool value) {
    view_ = ops::unsqueeze(view_, dim_);
    indices_.push_back(
        ops::reshape(ops::to_dtype(Tensor(value), DType::Bool), Shape{1}));
    advanced_ = true;
    ++dim_;
  }
  void apply_slice(py::handle part) {
    const auto start = optional_bound(part.attr("start"));
    const auto stop = optional_bound(part.attr("stop"));
    const int64_t step = optional_bound(part.attr("step")).value_or(1);
    if (start || stop || step != 1) view_ = ops::slice(view_, dim_, start, stop, step);
    keep(1);
  }
  void apply_advanced(Tensor index) {
    if (index.numel() == 0 && is_floating(index.dtype())) {
      index = ops::to_dtype(index, DType::Int64);  // x[[]]
    }
    indices_.push_back(index);
    advanced_ = true;
    dim_ += index.dtype() == DType::Bool ? index.ndim() : 1;
  }

  Tensor view_;
  TensorList indices_;  // undefined: the dimension is kept
  bool advanced_ = false;
  int64_t dim_ = 0;
};

}  // namespace

void bind_index(TensorClass& cls) {
  cls.def("__len__", [](const Tensor& x) {
    PKG_CHECK(x.ndim() > 0, TypeError, "len() of a 0-d tensor");
    return x.sizes()[0];
  });
  cls.def("__getitem__", [](const Tensor& x, const py::object& key) {
    return Indexing(x, key).get(x);
  });
  cls.def("__setitem__",
          [](const Tensor& x, const py::object& key, const py::object& value) {
            const auto given = as_tensor_like(value);
            const Tensor source = given ? *given : tensor_from_data(value, std::nullopt);
            Indexing(x, key).put(source);
          });
  cls.def("__delitem__", [](const Tensor&, const py::object&) {
    throw TypeError("Tensor does not support deleting items");
  });
}

}  // namespace pkg::pybind
