// SPDX-License-Identifier: Apache-2.0
// tests/kit/cases/interface_pybind11.cc: interface.h by pybind11.
#include "interface.h"

#include <pybind11/native_enum.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

namespace py = pybind11;
using namespace interface;

namespace {

class PyRank : public Rank {
 public:
  bool operator<(const Rank& other) const override {
    PYBIND11_OVERRIDE_NAME(bool, Rank, "__lt__", operator<, other);
  }
  int operator()(int x) const override {
    PYBIND11_OVERRIDE_NAME(int, Rank, "__call__", operator(), x);
  }
};

void bind_outputs(py::module_& m) {
  m.def(
      "name_of",
      [](int number) {
        std::string name;
        name_of(number, name);
        return name;
      },
      py::arg("number"));
  m.def(
      "divide",
      [](int a, int b) {
        int quotient = 0, remainder = 0;
        const bool done = divide(a, b, quotient, &remainder);
        return std::make_tuple(done, quotient, remainder);
      },
      py::arg("a"), py::arg("b"));
  m.def("corners", [] {
    Item center;
    auto result = corners(center);
    return std::make_tuple(result, center);
  });
  m.def(
      "find",
      [](int value) {
        std::unique_ptr<Item> found;
        find(value, found);
        return found;
      },
      py::arg("value"));
  m.def(
      "grow",
      [](std::vector<int> numbers, int by) {
        const int size = grow(numbers, by);
        return std::make_tuple(size, numbers);
      },
      py::arg("numbers"), py::arg("by"));
  py::class_<Source>(m, "Source").def(py::init<>()).def("next", [](Source& self) {
    double value = 0;
    const bool more = self.next(value);
    return std::make_tuple(more, value);
  });
}

void bind_names(py::module_& m) {
  py::enum_<Kind>(m, "Kind")
      .value("None_", Kind::None)
      .value("True_", Kind::True)
      .value("other", Kind::other);
  py::class_<Words> words(m, "Words");
  py::enum_<Words::Inner>(words, "Inner")
      .value("import_", Words::import)
      .value("plain", Words::plain);
  words.def(py::init<>())
      .def_readwrite("from_", &Words::from)
      .def_readwrite_static("with_", &Words::with)
      .def("self", &Words::self, py::arg("x"))
      .def("yield_", &Words::yield, py::arg("pass_"))
      .def_static("in_", &Words::in, py::arg("as_"));
  m.def("del_", &del, py::arg("lambda_"));
}

}  // namespace

class OpenGuarded : public Guarded {
 public:
  using Guarded::doubled;
  using Guarded::Guarded;
  using Guarded::level_;
  using Guarded::steps;
  int extra() const override { PYBIND11_OVERRIDE(int, Guarded, extra); }
};

PYBIND11_MODULE(interface, m) {
  m.doc() = "What an interface says (in a line).\nAnd \"more\".";
  auto item = py::class_<Item, py::smart_holder>(m, "Item")
                  .def(py::init<int>(), py::arg("value") = 0)
                  .def_readwrite("value", &Item::value)
                  .def(
                      "__add__",
                      [](const std::shared_ptr<Item>& a, const std::shared_ptr<Item>& b) {
                        return a + b;
                      },
                      py::is_operator())
                  .def(
                      "__rmul__",
                      [](const std::shared_ptr<Item>& b, int k) { return k * b; },
                      py::is_operator());
  item.attr("version") = 3;
  item.attr("label") = "a, b";
  item.attr("__array_ufunc__") = py::none();
  bind_outputs(m);
  bind_names(m);
  py::register_exception_translator([](std::exception_ptr error) {
    try {
      if (error) std::rethrow_exception(error);
    } catch (const Slow& slow) {
      py::set_error(PyExc_TimeoutError, slow.what());
    } catch (const Stopped&) {
      py::set_error(py::module_::import("asyncio").attr("CancelledError"), "");
    }
  });
  py::class_<Guarded, OpenGuarded>(m, "Guarded")
      .def(py::init<int>(), py::arg("level") = 1)
      .def("weight", &Guarded::weight)
      .def("doubled", &OpenGuarded::doubled, py::arg("times") = 2)
      .def_readwrite("level_", &OpenGuarded::level_)
      .def_static("steps", &OpenGuarded::steps);
  py::class_<Ticket>(m, "Ticket")
      .def(py::init<int>(), py::arg("number"))
      .def_readwrite("number", &Ticket::number);
  m.def("tear", [](Ticket& ticket) { return tear(std::move(ticket)); });
  m.def("print_ticket", &print_ticket, py::arg("number"));
  m.def("weigh", &weigh, py::arg("item"));
  py::class_<Rank, PyRank>(m, "Rank")
      .def(py::init<>())
      .def_readwrite("rank", &Rank::rank)
      .def("__lt__", &Rank::operator<)
      .def("__call__", &Rank::operator());
  m.def("is_less", &is_less);
  m.def("call", &call);
  py::native_enum<Grade>(m, "Grade", "enum.IntEnum").value("Good", Grade::Good).finalize();
  py::class_<Chooser>(m, "Chooser")
      .def(py::init<>())
      .def("choose", py::overload_cast<Grade>(&Chooser::choose, py::const_))
      .def("choose", py::overload_cast<int>(&Chooser::choose, py::const_))
      .def("choose", py::overload_cast<double>(&Chooser::choose, py::const_));
  m.def("wait", &interface::wait, py::arg("seconds"));
  m.def("next_wide", &next_wide);
  m.def("next_16", &next_16);
  m.def("next_32", &next_32);
  m.def("wide", &wide, py::arg("text"));
  m.def("text_16", &text_16, py::arg("text"));
  m.def("text_32", &text_32, py::arg("text"));
}
