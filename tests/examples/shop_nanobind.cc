// SPDX-License-Identifier: Apache-2.0
// docs/coming_from.md, as one writes it with nanobind.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/operators.h>
#include <nanobind/stl/chrono.h>
#include <nanobind/stl/function.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>
#include <nanobind/trampoline.h>

#include "discounts.h"
#include "errors.h"
#include "functions.h"
#include "lists.h"
#include "shelf.h"

namespace nb = nanobind;
using namespace nb::literals;

struct PyDiscount : Discount {
  NB_TRAMPOLINE(Discount, 1);
  double of(double price) const override { NB_OVERRIDE_PURE(of, price); }
};

NB_MODULE(shop, m) {
  m.def("rounded", &rounded, "value"_a, "digits"_a = 0, "Rounds to a number of digits.");
  m.def("shown", nb::overload_cast<int>(&shown), "value"_a);
  m.def("shown", nb::overload_cast<const std::string&>(&shown), "value"_a);

  nb::class_<Money>(m, "Money", "An amount in a currency.")
      .def(nb::init<long>(), "cents"_a = 0)
      .def_rw("currency", &Money::currency)
      .def_prop_rw("cents", &Money::get_cents, &Money::set_cents)
      .def("text", &Money::text)
      .def(nb::self + nb::self)
      .def(nb::self == nb::self)
      .def(nb::self < nb::self)
      .def("__hash__", &Money::get_cents)
      .def("__repr__", [](const Money& self) { return "<" + self.text() + ">"; })
      .def("__getstate__", &Money::get_cents)
      .def("__setstate__", [](Money& self, long cents) { new (&self) Money(cents); });
  m.def("money_of", &money_of, "cents"_a);

  nb::class_<Discount, PyDiscount>(m, "Discount")
      .def(nb::init<>())
      .def("of", &Discount::of, "price"_a);
  nb::class_<Percent, Discount>(m, "Percent").def(nb::init<double>(), "percent"_a);
  nb::class_<Till>(m, "Till")
      .def(nb::init<>())
      .def("use", &Till::use, "discount"_a)
      .def("used", &Till::used)
      .def("price", &Till::price, "full"_a);

  nb::class_<Shelf>(m, "Shelf")
      .def(nb::init<std::vector<Money>>(), "prices"_a)
      .def("at", &Shelf::at, "place"_a, nb::rv_policy::reference_internal);
  nb::class_<Cart>(m, "Cart")
      .def(nb::init<>())
      .def("put", &Cart::put, "price"_a, nb::keep_alive<1, 2>())
      .def("first", &Cart::first);
  m.def("new_shelf", &new_shelf, "places"_a, nb::rv_policy::take_ownership);
  nb::class_<Shop>(m, "Shop")
      .def_static("the", &Shop::the, nb::rv_policy::reference)
      .def_rw("visitors", &Shop::visitors);

  nb::exception<SoldOut>(m, "SoldOut", PyExc_LookupError);
  nb::enum_<Size>(m, "Size", nb::is_arithmetic())
      .value("Small", Size::Small)
      .value("Large", Size::Large);
  nb::enum_<Mark>(m, "Mark", nb::is_flag(), nb::is_arithmetic())
      .value("Fragile", Mark::Fragile)
      .value("Cold", Mark::Cold);
  m.def("order", &order, "count"_a);
  m.def("marks", &marks, "mark"_a);
  m.def("deliver", &deliver, "time"_a, nb::call_guard<nb::gil_scoped_release>());

  m.def("first", &first, "prices"_a, "name"_a);
  m.def("names", &names, "prices"_a, "keep"_a);
  using Array = nb::ndarray<double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
  m.def(
      "total", [](const Array& values) { return total({values.data(), values.size()}); },
      "values"_a);
  m.def(
      "scale",
      [](const Array& values, double factor) {
        scale({values.data(), values.size()}, factor);
      },
      nb::arg("values").noconvert(), "factor"_a);
}
