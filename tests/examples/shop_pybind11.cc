// SPDX-License-Identifier: Apache-2.0
// docs/coming_from.md, as one writes it with pybind11: the page quotes these lines.
#include <pybind11/chrono.h>
#include <pybind11/functional.h>
#include <pybind11/native_enum.h>
#include <pybind11/numpy.h>
#include <pybind11/operators.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>
#include <pybind11/trampoline_self_life_support.h>

#include "discounts.h"
#include "errors.h"
#include "functions.h"
#include "lists.h"
#include "shelf.h"

namespace py = pybind11;
using namespace py::literals;

struct PyDiscount : Discount, py::trampoline_self_life_support {
  using Discount::Discount;
  double of(double price) const override {
    PYBIND11_OVERRIDE_PURE(double, Discount, of, price);
  }
};

PYBIND11_MODULE(shop, m) {
  m.def("rounded", &rounded, "value"_a, "digits"_a = 0, "Rounds to a number of digits.");
  m.def("shown", py::overload_cast<int>(&shown), "value"_a);
  m.def("shown", py::overload_cast<const std::string&>(&shown), "value"_a);

  py::class_<Money>(m, "Money", "An amount in a currency.")
      .def(py::init<long>(), "cents"_a = 0)
      .def_readwrite("currency", &Money::currency)
      .def_property("cents", &Money::get_cents, &Money::set_cents)
      .def("text", &Money::text)
      .def(py::self + py::self)
      .def(py::self == py::self)
      .def(py::self < py::self)
      .def("__hash__", &Money::get_cents)
      .def("__repr__", [](const Money& self) { return "<" + self.text() + ">"; })
      .def(py::pickle([](const Money& self) { return self.get_cents(); }, &money_of));
  m.def("money_of", &money_of, "cents"_a);

  py::class_<Discount, PyDiscount, py::smart_holder>(m, "Discount")
      .def(py::init<>())
      .def("of", &Discount::of, "price"_a);
  py::class_<Percent, Discount, py::smart_holder>(m, "Percent")
      .def(py::init<double>(), "percent"_a);
  py::class_<Till>(m, "Till")
      .def(py::init<>())
      .def("use", &Till::use, "discount"_a)
      .def("used", &Till::used)
      .def("price", &Till::price, "full"_a);

  py::class_<Shelf>(m, "Shelf")
      .def(py::init<std::vector<Money>>(), "prices"_a)
      .def("at", &Shelf::at, "place"_a, py::return_value_policy::reference_internal);
  py::class_<Cart>(m, "Cart")
      .def(py::init<>())
      .def("put", &Cart::put, "price"_a, py::keep_alive<1, 2>())
      .def("first", &Cart::first);
  m.def("new_shelf", &new_shelf, "places"_a, py::return_value_policy::take_ownership);
  py::class_<Shop, std::unique_ptr<Shop, py::nodelete>>(m, "Shop")
      .def_static("the", &Shop::the, py::return_value_policy::reference)
      .def_readwrite("visitors", &Shop::visitors);

  py::register_exception<SoldOut>(m, "SoldOut", PyExc_LookupError);
  py::native_enum<Size>(m, "Size", "enum.IntEnum")
      .value("Small", Size::Small)
      .value("Large", Size::Large)
      .finalize();
  py::native_enum<Mark>(m, "Mark", "enum.IntFlag")
      .value("Fragile", Mark::Fragile)
      .value("Cold", Mark::Cold)
      .finalize();
  m.def("order", &order, "count"_a);
  m.def("marks", &marks, "mark"_a);
  m.def("deliver", &deliver, "time"_a, py::call_guard<py::gil_scoped_release>());

  m.def("first", &first, "prices"_a, "name"_a);
  m.def("names", &names, "prices"_a, "keep"_a);
  using Array = py::array_t<double, py::array::c_style>;
  m.def(
      "total",
      [](const Array& values) { return total({values.data(), size_t(values.size())}); },
      "values"_a);
  m.def(
      "scale",
      [](Array& values, double factor) {
        scale({values.mutable_data(), size_t(values.size())}, factor);
      },
      py::arg("values").noconvert(), "factor"_a);
}
