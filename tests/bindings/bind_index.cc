// SPDX-License-Identifier: Apache-2.0
// tests/bindings/bind_index.cc: x[key] and x[key] = value: Python's keys taken apart.
#include "bind.h"
#include "memory.h"
#include "ops/functions.h"
#include "ops/indexing.h"
#include "tensor/as_number.h"

namespace pkg::pybind {
namespace {

/// What a part of a key means when it is neither None, ... nor a slice.
struct Place {
  std::optional<int64_t> number;
  Tensor index;
};

Tensor index_from(py::handle part) {
  try {
    return tensor_from_data(part, std::nullopt);
  } catch (const IntTooBig& error) {
    throw error.named("index", "key");
  } catch (const TypeError& error) {
    Indexing::refuse(type_name(part), error.message());
  } catch (const py::error_already_set& error) {  // of pkg/arrays.py
    if (!error.matches(PyExc_TypeError)) throw;
    Indexing::refuse(type_name(part), py::str(error.value()));
  }
}

Place place_of(py::handle part) {
  if (auto tensor = as_tensor(part)) {
    if (Indexing::is_number(*tensor)) return {item(*tensor).to<int64_t>(), {}};
    return {{}, *tensor};
  }
  const bool sequence = py::isinstance<py::list>(part) || py::isinstance<py::tuple>(part);
  // Arrays have __index__, too: those of one integer answer, but keep their dimensions.
  if (!py::isinstance<py::bool_>(part) && is_dimensionless(part)) {
    if (const auto number = as_int(part)) return {number, {}};
  }
  const Tensor index = index_from(part);
  if (!sequence && Indexing::is_number(index)) return {item(index).to<int64_t>(), {}};
  const bool empty = sequence && index.numel() == 0;  // x[[]]
  return {{}, empty ? ops::to_dtype(index, DType::Int64) : index};
}

int64_t bound(py::handle part) {
  const auto index = as_int(part);
  if (!index) {
    throw py::type_error(
        str("'", type_name(part), "' object cannot be interpreted as an integer"));
  }
  return *index;
}
std::optional<int64_t> optional_bound(const py::object& part) {
  if (part.is_none()) return std::nullopt;
  return bound(part);
}

Indexing applied(const Tensor& self, const py::object& key) {
  const py::tuple parts = py::isinstance<py::tuple>(key) ? py::tuple(key)
                                                         : py::make_tuple(key);
  std::vector<Place> places(parts.size());
  int64_t dims = 0;
  for (size_t i = 0; i < parts.size(); ++i) {
    if (parts[i].is_none() || py::isinstance<py::ellipsis>(parts[i])) continue;
    if (!py::isinstance<py::slice>(parts[i])) places[i] = place_of(parts[i]);
    const Tensor& index = places[i].index;
    dims += index.defined() ? Indexing::dims_of(index) : 1;
  }
  Indexing at(self, dims);
  for (size_t i = 0; i < parts.size(); ++i) {
    const py::object part = parts[i];
    if (py::isinstance<py::ellipsis>(part)) {
      at.ellipsis();
    } else if (part.is_none()) {
      at.new_dim();
    } else if (py::isinstance<py::slice>(part)) {
      const auto start = optional_bound(part.attr("start"));
      const auto stop = optional_bound(part.attr("stop"));
      at.slice(start, stop, optional_bound(part.attr("step")).value_or(1));
    } else if (places[i].number) {
      at.select(*places[i].number);
    } else {
      at.index(places[i].index);
    }
  }
  return at;
}

}  // namespace

void bind_index(TensorClass& cls) {
  cls.def("__len__", &length_of);
  cls.def("__getitem__",
          [](const Tensor& x, const py::object& key) { return applied(x, key).get(); });
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
            applied(x, key).put(source);
          });
  cls.def("__delitem__", [](const Tensor&, const py::object&) {
    throw TypeError("Tensor does not support deleting items");
  });
}

}  // namespace pkg::pybind
