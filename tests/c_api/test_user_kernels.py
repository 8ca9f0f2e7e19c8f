# SPDX-License-Identifier: Apache-2.0
"""Kernels from outside: whatever Python hands over, they are right or raise precisely.

One library in C++ and one in C are compiled for the whole file; each scenario runs in a
process of its own, since what is loaded stays.
"""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from libraries import libraries, output_of

pytestmark = pytest.mark.skipif(
    shutil.which("g++") is None or shutil.which("gcc") is None, reason="no g++ or gcc"
)

CPP = """
#include "ops/op.h"
using pkg::Tensor;
PKG_LIBRARY(mine, m) {
  // Row-major floats, as a newcomer writes it.
  m.def("plus_index(Tensor self) -> Tensor")
      .dtypes(pkg::DType::Float32)
      .shape([](const Tensor& self) { return self.spec(); })
      .cpu([](Tensor& out, const Tensor& self) {
        const float* x = self.data<float>();
        float* y = out.data<float>();
        for (int64_t i = 0; i < out.numel(); ++i) y[i] = x[i] + float(i);
      })
      .in_place();
  // The same without a declaration: data() checks.
  m.def("unchecked(Tensor self) -> Tensor")
      .shape([](const Tensor& self) { return self.spec(); })
      .cost([](const pkg::Value*, const pkg::Spec*) { return 1e9; })
      .cpu([](Tensor& out, const Tensor& self) {
        out.data<float>()[0] = self.data<float>()[0];
      });
  // Reads what it has written already.
  m.def("reverse(Tensor self) -> Tensor")
      .dtypes(pkg::kFloatDTypes)
      .shape([](const Tensor& self) { return self.spec(); })
      .cpu([](Tensor& out, const Tensor& self) {
        visit_floating("reverse", self.dtype(), [&]<class T>(pkg::TypeTag<T>) {
          const int64_t n = out.numel();
          for (int64_t i = 0; i < n; ++i) out.data<T>()[i] = self.data<T>()[n - 1 - i];
        });
      })
      .in_place();
  // A formula that takes a shape, a dtype, numbers and a second result.
  m.def("stretch(Tensor self, int n, Scalar factor, int[]? unused=None) "
        "-> (Tensor all, Tensor factors)")
      .dtypes(pkg::kFloatDTypes)
      .shape([](const Tensor& self, int64_t n, const pkg::Scalar&,
                const std::optional<pkg::Shape>&) {
        pkg::Shape sizes = self.sizes();
        sizes.insert(0, n);
        return std::array<pkg::Spec, 2>{pkg::Spec{sizes, self.dtype(), self.device()},
                                        pkg::Spec{{}, self.dtype(), self.device()}};
      })
      .cpu([](Tensor& all, Tensor& factors, const Tensor& self, int64_t,
              const pkg::Scalar& factor, const std::optional<pkg::Shape>&) {
        pkg::copy_into(factors, Tensor(factor));
        pkg::copy_into(all, self * factor);
      })
      .derivative("self", "self.shape self.dtype n factor unused result1",
                  [](const Tensor& grad, const pkg::Shape& shape, pkg::DType dtype,
                     int64_t n, const pkg::Scalar& factor,
                     const std::optional<pkg::Shape>& unused, const Tensor& factors) {
                    if (unused || n < 1) throw pkg::ValueError("stretch");
                    if (!(pkg::item(factors) == factor)) throw pkg::ValueError("other");
                    const pkg::ops::Dims front(pkg::Shape{0});
                    const Tensor sum = pkg::ops::sum(grad, front, false, dtype);
                    return pkg::ops::reshape(sum * factor, shape);
                  });
  m.def("product(Tensor a, Tensor b) -> Tensor")
      .dtypes(pkg::DTypeSet{pkg::DType::Float32, pkg::DType::Float64})
      .shape([](const Tensor& a, const Tensor&) { return a.spec(); })
      .cpu([](Tensor& out, const Tensor& a, const Tensor& b) {
        visit_floating("product", a.dtype(), [&]<class T>(pkg::TypeTag<T>) {
          for (int64_t i = 0; i < out.numel(); ++i) {
            out.data<T>()[i] = a.data<T>()[i] * b.data<T>()[b.numel() == 1 ? 0 : i];
          }
        });
      });
  m.def("pick(Tensor self, Tensor index) -> Tensor")
      .dtypes(pkg::DType::Float32)
      .dtypes("index", pkg::DType::Int64)
      .shape([](const Tensor& self, const Tensor& index) {
        return pkg::Spec{index.sizes(), self.dtype(), self.device()};
      })
      .cpu([](Tensor& out, const Tensor& self, const Tensor& index) {
        for (int64_t i = 0; i < out.numel(); ++i) {
          out.data<float>()[i] = self.data<float>()[index.data<int64_t>()[i]];
        }
      });
  // Without a shape rule: results and written arguments.
  m.def("fill_index_(Tensor(a!) self, Tensor step) -> Tensor(a!)")
      .dtypes(pkg::DType::Float32)
      .non_differentiable()
      .cpu([](const Tensor& self, const Tensor& step) {
        float* x = self.data<float>();
        const float by = *step.data<float>();
        for (int64_t i = 0; i < self.numel(); ++i) x[i] = float(i) * by;
        return self;
      });
  m.def("fill_two_(Tensor(a!) a, Tensor(b!) b) -> Tensor[]")
      .dtypes(pkg::DType::Float32)
      .non_differentiable()
      .cpu([](const Tensor& a, const Tensor& b) {
        for (int64_t i = 0; i < a.numel(); ++i) a.data<float>()[i] = float(i);
        for (int64_t i = 0; i < b.numel(); ++i) b.data<float>()[i] = -float(i);
        return pkg::TensorList{b, a};
      });
  m.def("strides(Tensor self) -> Tensor")
      .shape([](const Tensor& self) {
        return pkg::Spec{pkg::Shape{self.ndim()}, pkg::DType::Int64, self.device()};
      })
      .cpu([](Tensor& out, const Tensor& self) {
        for (int64_t d = 0; d < self.ndim(); ++d) {
          out.data<int64_t>()[d] = self.strides()[size_t(d)];
        }
      }, pkg::kStrided);
  m.def("thrower(Tensor self) -> Tensor")
      .shape([](const Tensor& self) { return self.spec(); })
      .cost([](const pkg::Value*, const pkg::Spec*) { return 1e9; })
      .cpu([](Tensor&, const Tensor&) { throw 42; });
}
"""

C = """
#include "c_api/c_api.h"
static void plus_index(void* user_data, const pkg_value* args, int32_t n_args,
                       pkg_tensor* const* results, int32_t n_results,
                       pkg_status* status) {
  const float* x = pkg_tensor_data(args[0].as.tensor, status);
  float* y = pkg_tensor_mutable_data(results[0], status);
  for (int64_t i = 0; i < pkg_tensor_numel(results[0]); ++i) y[i] = x[i] + (float)i;
  (void)user_data, (void)n_args, (void)n_results;
}
static void add_first(void* user_data, const pkg_value* args, int32_t n_args,
                      pkg_tensor* const* results, int32_t n_results,
                      pkg_status* status) {
  const double* x = pkg_tensor_data(args[0].as.tensor, status);
  const double* y = pkg_tensor_data(args[1].as.tensor, status);
  double* out = pkg_tensor_mutable_data(results[0], status);
  const int64_t step = *pkg_tensor_strides(args[0].as.tensor);
  for (int64_t i = 0; i < pkg_tensor_numel(results[0]); ++i) out[i] = x[i * step] + *y;
  (void)user_data, (void)n_args, (void)n_results;
}
bool pkg_library_init(pkg_status* status) {
  const pkg_op_definition definition = {.schema = "plus_index(Tensor self) -> Tensor",
                                        .compute = plus_index,
                                        .dtypes = "float32"};
  const pkg_op_definition strided = {
      .schema = "add_first(Tensor a, Tensor b) -> Tensor",
      .compute = add_first,
      .dtypes = "float64",
      .strided = true};
  return pkg_register_op("in_c", &definition, status) &&
         pkg_register_op("in_c", &strided, status);
}
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Both libraries."""
    folder = tmp_path_factory.mktemp("kernels")
    return libraries(folder, {"mine.cc": CPP, "in_c.c": C})


PRELUDE = """
import pkg
pkg.ops.load_library("mine.so"), pkg.ops.load_library("in_c.so")
mine, in_c = pkg.ops.mine, pkg.ops.in_c
def refused(kind, text, f, *args):
    try:
        f(*args)
    except Exception as error:
        assert type(error).__name__ == kind and text in str(error), repr(error)
    else:
        raise AssertionError(text)
"""


def run(folder: Path, code: str) -> None:
    """Runs a Python program in that folder."""
    output_of(PRELUDE + code, folder)


def test_views_arrive_row_major(folder: Path) -> None:
    """Transposed, sliced, expanded, empty and 0-d tensors; from C++ and from C."""
    run(
        folder,
        """
base = pkg.arange(12.0).reshape(3, 4)
views = [base, base.t(), base[:, 1::2], base[1:, 2], pkg.ones(1, 4).expand(3, 4),
         base.flip(0), base[:0], base[1, 2], base.t()[1:3].t()]
for op in (mine.plus_index, in_c.plus_index):
    for x in views:
        want = x.contiguous() + pkg.arange(float(x.numel())).reshape(x.shape)
        got = op(x)
        assert got.shape == x.shape and (got == want).all().item(), (op, x, got)
        assert op(x.to("meta")).shape == x.shape
x = base.t()
assert mine.strides(x).tolist() == [1, 4]
big = pkg.ones(700, 900).t()
want = pkg.ones(900, 700) + pkg.arange(630000.0).reshape(900, 700)
assert (mine.plus_index(big) == want).all().item()
assert (in_c.plus_index(big) == want).all().item()
""",
    )


def test_other_dtypes_are_refused_before_anything_runs(folder: Path) -> None:
    """float64, bytes, halves, empty, meta: one text that names the op."""
    run(
        folder,
        """
for op in (mine.plus_index, in_c.plus_index):
    for x in (pkg.ones(2).double(), pkg.ones(2).to(pkg.uint8), pkg.ones(0).half(),
              pkg.ones(3, device="meta").double(), pkg.ones(1000, 900).double()):
        name = str(x.dtype).split(".")[1]
        refused("NotImplementedError",
                f"[plus_index] expected float32 tensors, got {name} (self={name})",
                op, x)
x = pkg.ones(2).double()
refused("NotImplementedError", "[plus_index_] expected float32", mine.plus_index_, x)
assert mine.plus_index(2.5).tolist() == 2.5 and in_c.plus_index(2.5).tolist() == 2.5
refused("NotImplementedError", "got int64", mine.plus_index, 2)
refused("NotImplementedError", "expected tensors of one dtype, got several (a=float32, "
        "b=float64)", mine.product, pkg.ones(2), x)
assert mine.product(pkg.ones(2), 3).tolist() == [3, 3]
assert mine.product(x, 0.1).tolist() == [0.1, 0.1]
refused("RuntimeError", "[pick] expected int64 for 'index', got float32", mine.pick,
        pkg.ones(2), pkg.ones(2))
assert mine.pick(pkg.arange(6.0)[::2], pkg.tensor([2, 0])).tolist() == [4, 0]
""",
    )


def test_a_strided_kernel_in_c_gets_the_dtypes_it_declared(folder: Path) -> None:
    """Its arguments stay as they lie, but one dtype it is; a bare number has it too."""
    run(
        folder,
        """
for x in (pkg.arange(6.0).double()[::2], pkg.ones(700_000).double()[::2]):
    for number in (2, 2.5, True):
        assert (in_c.add_first(x, number) == x + number).all().item(), number
    assert (in_c.add_first(x, x[1:]) == x + x[1]).all().item()
    for other in (pkg.int32, pkg.float32):
        name = str(other).split(".")[1]
        refused("NotImplementedError", "[add_first] expected tensors of one dtype, got "
                f"several (a=float64, b={name})", in_c.add_first, x,
                pkg.ones(3).to(other))
""",
    )


def test_data_checks_where_nothing_was_declared(folder: Path) -> None:
    """Also in a task: the error comes at the wait, and it is an ordinary one."""
    run(
        folder,
        """
text = "[unchecked] expected a tensor of float32, got float64"
refused("TypeError", text, lambda: mine.unchecked(pkg.ones(2).double()).tolist())
big = pkg.ones(100_000).double()
refused("TypeError", text, lambda: mine.unchecked(big).sum().item())
for x in (pkg.ones(2), pkg.ones(100_000)):
    refused("RuntimeError", "", lambda: mine.thrower(x).sum().item())
assert mine.unchecked(pkg.ones(2))[0].item() == 1
""",
    )


def test_a_formula_takes_what_it_names(folder: Path) -> None:
    """Shape and dtype of an argument, numbers, an optional list, a second result."""
    run(
        folder,
        """
for dtype in (pkg.float32, pkg.float64):
    x = pkg.ones(2, 3, dtype=dtype, requires_grad=True)
    everything, factor = mine.stretch(x, 4, 2.5)
    (everything * pkg.arange(4).reshape(4, 1, 1)).sum().backward()
    assert x.grad.dtype == x.dtype and (x.grad == 15).all(), x.grad
    everything, _ = mine.stretch(x, 1, 2.5)
    (g,) = pkg.autograd.grad(everything, x, pkg.ones(1, 2, 3, dtype=dtype))
    assert (g == 2.5).all() and g.shape == (2, 3)
""",
    )


def test_results_share_no_memory_with_arguments(folder: Path) -> None:
    """In-place forms and written arguments, dense and as views."""
    run(
        folder,
        """
x = pkg.arange(6.0)
assert mine.reverse(x).tolist() == [5, 4, 3, 2, 1, 0]
assert mine.reverse_(x) is x and x.tolist() == [5, 4, 3, 2, 1, 0]
base = pkg.arange(6.0).reshape(2, 3)
mine.reverse_(base.t())
assert base.tolist() == [[5, 4, 3], [2, 1, 0]]
wide = pkg.arange(4.0).double()
mine.reverse_(wide[::2])
assert wide.tolist() == [2, 1, 0, 3]
refused("RuntimeError", "more than one element", mine.reverse_, pkg.ones(1).expand(3))

base = pkg.zeros(2, 3)
view = base.t()
before = base._version
assert mine.fill_index_(view, 2) is view
assert base.tolist() == [[0, 4, 8], [2, 6, 10]] and base._version > before
refused("RuntimeError", "more than one element", mine.fill_index_,
        pkg.ones(1).expand(3), 1)
x = pkg.arange(4.0)
mine.fill_index_(x, x[3:])
assert x.tolist() == [0, 3, 6, 9]
import numpy as np
array = np.arange(5, dtype="float32")
mine.fill_index_(pkg.from_numpy(array[1:]), pkg.from_numpy(array[3:4]))
assert array.tolist() == [0, 0, 3, 6, 9]
""",
    )


def test_two_written_arguments_share_no_element(folder: Path) -> None:
    """Parts of one tensor that lie apart may be written; a list returns them."""
    run(
        folder,
        """
x = pkg.ones(3, 3)
for a, b in [(x, x.t()), (x.t(), x), (x.t(), x.t()), (x, x), (x[:, 0], x[1])]:
    refused("RuntimeError", "[fill_two_] expected written arguments that share no "
            "memory, got 'a' and 'b' with elements in common (shapes ",
            mine.fill_two_, a, b)
assert x.tolist() == pkg.ones(3, 3).tolist() and x._version == 0
import numpy as np
array = np.ones(5, "float32")
near, far = pkg.from_numpy(array[2:4]), pkg.from_numpy(array[3:])
refused("RuntimeError", "share no memory", mine.fill_two_, near, far)
mine.fill_two_(pkg.from_numpy(array[:2]), far)
assert array.tolist() == [0, 1, 1, 0, -1], array
mine.fill_two_(x, x[:0])
a, b = x[:, 0], x[:, 2]
got = mine.fill_two_(a, b)
assert got[0] is b and got[1] is a
assert x.tolist() == [[0, 1, 0], [1, 4, -1], [2, 7, -2]], x
mine.fill_two_(x[0], x[1:].t())
assert x.tolist() == [[0, 1, 2], [0, -2, -4], [-1, -3, -5]], x
""",
    )
