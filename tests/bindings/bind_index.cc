// SPDX-License-Identifier: Apache-2.0
// tests/bindings/bind_index.cc: x[key] and x[key] = value as sequences of ops.
#include "bind.h"
#include "memory.h"
#include "ops/functions.h"

namespace pkg::pybind {
namespace {

/// One integer: it selects, as an int does, and its dimension is gone.
bool is_number(const Tensor& index) {
  return index.ndim() == 0 && index.dtype() != DType::Bool && !is_floating(index.dtype());
}

/// Without the leading dimensions of size 1 that a value may have in excess.
Tensor without_leading_ones(Tensor value) {
  while (value.ndim() > 0 && value.sizes()[0] == 1) value = ops::select(value, 0, 0);
  return value;
}

/// What a part of a key means when it is neither None, ... nor a slice.
struct Place {
  std::optional<int64_t> number;
  Tensor index;
};

[[noreturn]] void refuse_part(py::handle part, const std::string& why) {
  throw IndexError(str("[index] expected ints, slices, ..., None, or Tensors, arrays or "
                       "lists of ints or bools as indices, got ",
                       type_name(part), ": ", why));
}

Tensor index_from(py::handle part) {
  try {
    return tensor_from_data(part, std::nullopt);
  } catch (const IntTooBig& error) {
    throw error.named("index", "key");
  } catch (const TypeError& error) {
    refuse_part(part, error.message());
  } catch (const py::error_already_set& error) {  // of pkg/arrays.py
    if (!error.matches(PyExc_TypeError)) throw;
    refuse_part(part, py::str(error.value()));
  }
}

Place place_of(py::handle part) {
  if (auto tensor = as_tensor(part)) {
    if (is_number(*tensor)) return {item(*tensor).to<int64_t>(), {}};
    return {{}, *tensor};
  }
  const bool sequence = py::isinstance<py::list>(part) || py::isinstance<py::tuple>(part);
  // Arrays have __index__, too: those of one integer answer, but keep their dimensions.
  if (!py::isinstance<py::bool_>(part) && is_dimensionless(part)) {
    if (const auto number = as_int(part)) return {number, {}};
  }
  const Tensor index = index_from(part);
  if (!sequence && is_number(index)) return {item(index).to<int64_t>(), {}};
  const bool empty = sequence && index.numel() == 0;  // x[[]]
  return {{}, empty ? ops::to_dtype(index, DType::Int64) : index};
}

/// A key on its way: the basic parts are applied to `view` as they come; the advanced
/// ones are collected, one per dimension of the view.
class Indexing {
 public:
  Indexing(const Tensor& self, const py::object& key) : view_(self) {
    const py::tuple parts = py::isinstance<py::tuple>(key) ? py::tuple(key)
                                                           : py::make_tuple(key);
    std::vector<Place> places(parts.size());
    int64_t used = 0;
    for (size_t i = 0; i < parts.size(); ++i) {
      if (parts[i].is_none() || py::isinstance<py::ellipsis>(parts[i])) continue;
      if (!py::isinstance<py::slice>(parts[i])) places[i] = place_of(parts[i]);
      const Tensor& index = places[i].index;
      used += index.defined() && index.dtype() == DType::Bool ? index.ndim() : 1;
    }
    PKG_CHECK(used <= self.ndim(), IndexError, "too many indices for tensor of dimension ",
              self.ndim());
    for (size_t i = 0; i < parts.size(); ++i) {
      if (py::isinstance<py::ellipsis>(parts[i])) keep(self.ndim() - used);
      else if (parts[i].is_none()) insert_dim();
      else if (py::isinstance<py::slice>(parts[i])) apply_slice(parts[i]);
      else if (places[i].number) view_ = ops::select(view_, dim_, *places[i].number);
      else apply_index(places[i].index);
    }
  }

  Tensor get(const Tensor& self) const {
    if (advanced_) return ops::index(view_, indices_);
    // x[:] is a new tensor over the same memory, never x itself.
    return view_.is_same(self) ? ops::expand(view_, view_.sizes()) : view_;
  }
  void put(const Tensor& value) const {
    const bool excess = advanced_ || value.ndim() > view_.ndim();
    const Tensor source = excess ? without_leading_ones(value) : value;
    if (advanced_) ops::index_put_(view_, indices_, source, false);
    else ops::copy_(view_, source);
  }

 private:
  static int64_t bound(py::handle part) {
    const auto index = as_int(part);
    if (!index)
      throw py::type_error(str("'", type_name(part),
                               "' object cannot be "
                               "interpreted as an integer"));
    return *index;
  }
  static std::optional<int64_t> optional_bound(const py::object& part) {
    if (part.is_none()) return std::nullopt;
    return bound(part);
  }

  void keep(int64_t count) {
    for (int64_t i = 0; i < count; ++i) indices_.push_back(Tensor());
    dim_ += count;
  }
  void insert_dim() {
    view_ = ops::unsqueeze(view_, dim_);
    keep(1);
  }
  void apply_slice(py::handle part) {
    const auto start = optional_bound(part.attr("start"));
    const auto stop = optional_bound(part.attr("stop"));
    const int64_t step = optional_bound(part.attr("step")).value_or(1);
    if (start || stop || step != 1) view_ = ops::slice(view_, dim_, start, stop, step);
    keep(1);
  }
  void apply_index(Tensor index) {
    if (index.dtype() == DType::Bool && index.ndim() == 0) {
      // A mask of no dimension keeps all or nothing of a new one.
      view_ = ops::unsqueeze(view_, dim_);
      index = ops::reshape(index, Shape{1});
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
  cls.def("__getitem__",
          [](const Tensor& x, const py::object& key) { return Indexing(x, key).get(x); });
  cls.def("__setitem__",
          [](const Tensor& x, const py::object& key, const py::object& value) {
            const Tensor source = [&] {
              try {
                const auto given = as_tensor_like(value);
                return given ? *given : tensor_from_data(value, std::nullopt);
              } catch (const IntTooBig& error) {
                throw error.named("__setitem__", "value");
              }
            }();
            Indexing(x, key).put(source);
          });
  cls.def("__delitem__", [](const Tensor&, const py::object&) {
    throw TypeError("Tensor does not support deleting items");
  });
}

}  // namespace pkg::pybind
