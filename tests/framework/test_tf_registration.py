# SPDX-License-Identifier: Apache-2.0
"""Mistakes of REGISTER_OP and of kernels: what is said, and what stays whole."""

from __future__ import annotations

from pathlib import Path

import pytest

import pkg
from libraries import compile_all, library
from pkg._binding import core

COMPAT = f"-I{pkg.sysconfig.get_compat_include('tf1')}"
HEAD = """
#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/framework/shape_inference.h"
using namespace tensorflow;
"""
KERNELS = (
    HEAD
    + """
#define OP(name) REGISTER_OP(name).Input("x: float").Output("y: float")
#define ON_CPU(name) Name(name).Device(DEVICE_CPU)
OP("Lonely");
OP("Gpu");
OP("Ambiguous");
OP("Preferred");
OP("Forgets");
OP("Throws");
OP("Checks");
OP("Drops");
OP("Same");
OP("Elsewhere");
OP("WrongRule").SetShapeFn(shape_inference::UnchangedShape);
REGISTER_OP("Persists").Output("n: int64").SetIsStateful();
REGISTER_OP("Nothing").Input("x: float");
REGISTER_OP("Many").Output("a: N * int64").Output("b: float").Attr("N: int >= 0");
REGISTER_OP("Attrs")
    .Output("y: float")
    .Attr("i: int = 3").Attr("f: float = 1.5").Attr("b: bool = true")
    .Attr("s: string = 'two words'").Attr("t: {int32, float} = DT_FLOAT")
    .Attr("shape: shape = { dim { size: 2 } dim { size: -1 } }")
    .Attr("li: list(int) = [2, 3]").Attr("lt: list(type) >= 1 = [DT_INT32]")
    .Attr("e: {'apple', 'orange'} = 'apple'").Attr("a: int >= 2 = 2");

struct Plain : OpKernel {
  using OpKernel::OpKernel;
  void Compute(OpKernelContext* c) override { c->set_output(0, Tensor(1.0f)); }
};
struct Zero : OpKernel {
  using OpKernel::OpKernel;
  void Compute(OpKernelContext* c) override { c->set_output(0, Tensor(0.0f)); }
};
REGISTER_KERNEL_BUILDER(Name("Gpu").Device(DEVICE_GPU), Plain);
REGISTER_KERNEL_BUILDER(ON_CPU("Ambiguous"), Plain);
REGISTER_KERNEL_BUILDER(ON_CPU("Ambiguous"), Zero);
REGISTER_KERNEL_BUILDER(ON_CPU("Preferred").Priority(1), Plain);
REGISTER_KERNEL_BUILDER(ON_CPU("Preferred"), Zero);
struct Forgets : OpKernel {
  using OpKernel::OpKernel;
  void Compute(OpKernelContext*) override {}
};
REGISTER_KERNEL_BUILDER(ON_CPU("Forgets"), Forgets);
struct Throws : OpKernel {
  using OpKernel::OpKernel;
  void Compute(OpKernelContext*) override { throw std::logic_error("oh no"); }
};
REGISTER_KERNEL_BUILDER(ON_CPU("Throws"), Throws);
struct Checks : OpKernel {
  using OpKernel::OpKernel;
  void Compute(OpKernelContext* c) override {
    CHECK_LT(c->input(0).NumElements(), size_t(2)) << "at most one";
    CHECK(c->num_outputs() == 2);
  }
};
REGISTER_KERNEL_BUILDER(ON_CPU("Checks"), Checks);
struct Drops : AsyncOpKernel {
  using AsyncOpKernel::AsyncOpKernel;
  void ComputeAsync(OpKernelContext*, DoneCallback) override {}
};
REGISTER_KERNEL_BUILDER(ON_CPU("Drops"), Drops);
struct Same : OpKernel {
  using OpKernel::OpKernel;
  void Compute(OpKernelContext* c) override { c->set_output(0, c->input(0)); }
};
REGISTER_KERNEL_BUILDER(ON_CPU("Same"), Same);
struct Elsewhere : OpKernel {
  using OpKernel::OpKernel;
  void Compute(OpKernelContext* c) override {
    auto wrong = c->input(0).flat<int32>();
    c->set_output(0, Tensor(float(wrong(0))));
  }
};
REGISTER_KERNEL_BUILDER(ON_CPU("Elsewhere"), Elsewhere);
struct WrongRule : OpKernel {
  using OpKernel::OpKernel;
  void Compute(OpKernelContext* c) override {
    Tensor* y = nullptr;
    OP_REQUIRES_OK(c, c->allocate_output(0, {7}, &y));
    y->flat<float>().setZero();
  }
};
REGISTER_KERNEL_BUILDER(ON_CPU("WrongRule"), WrongRule);
struct Persists : OpKernel {
  explicit Persists(OpKernelConstruction* c) : OpKernel(c) {
    Tensor* count = nullptr;
    OP_REQUIRES_OK(c, c->allocate_persistent(DT_INT64, {}, &count_, &count));
    count->scalar<int64>()() = 0;
  }
  void Compute(OpKernelContext* c) override {
    Tensor* count = count_.AccessTensor(c);
    count->scalar<int64>()() += 1;
    Tensor room;
    OP_REQUIRES_OK(c, c->allocate_temp(DT_FLOAT, {1000}, &room));
    c->set_output(0, Tensor(count->scalar<int64>()()));
  }
  PersistentTensor count_;
};
REGISTER_KERNEL_BUILDER(ON_CPU("Persists"), Persists);
struct Nothing : OpKernel {
  using OpKernel::OpKernel;
  void Compute(OpKernelContext*) override {}
};
REGISTER_KERNEL_BUILDER(ON_CPU("Nothing"), Nothing);
struct Many : OpKernel {
  using OpKernel::OpKernel;
  void Compute(OpKernelContext* c) override {
    OpOutputList a;
    OP_REQUIRES_OK(c, c->output_list("a", &a));
    for (int i = 0; i < a.size(); ++i) a.set(i, Tensor(int64(i)));
    OP_REQUIRES_OK(c, c->set_output("b", Tensor(0.5f)));
  }
};
REGISTER_KERNEL_BUILDER(ON_CPU("Many"), Many);
struct Attrs : OpKernel {
  explicit Attrs(OpKernelConstruction* c) : OpKernel(c) {
    int i; float f; double d; bool b; std::string s, e; DataType t;
    PartialTensorShape shape; std::vector<int> li; std::vector<DataType> lt;
    OP_REQUIRES_OK(c, c->GetAttr("i", &i));
    OP_REQUIRES_OK(c, c->GetAttr("f", &f));
    OP_REQUIRES_OK(c, c->GetAttr("f", &d));
    OP_REQUIRES_OK(c, c->GetAttr("b", &b));
    OP_REQUIRES_OK(c, c->GetAttr("s", &s));
    OP_REQUIRES_OK(c, c->GetAttr("e", &e));
    OP_REQUIRES_OK(c, c->GetAttr("t", &t));
    OP_REQUIRES_OK(c, c->GetAttr("shape", &shape));
    OP_REQUIRES_OK(c, c->GetAttr("li", &li));
    OP_REQUIRES_OK(c, c->GetAttr("lt", &lt));
    text_ = strings::StrCat(i, " ", f, " ", d, " ", b, " ", s, " ", e, " ",
                            DataTypeString(t), " ", shape.DebugString(), " ", li.size(),
                            " ", DataTypeVectorString(lt));
  }
  void Compute(OpKernelContext* c) override {
    c->SetStatus(errors::FailedPrecondition(text_));
  }
  std::string text_;
};
REGISTER_KERNEL_BUILDER(ON_CPU("Attrs"), Attrs);
"""
)
WRONG = {
    "type": ('REGISTER_OP("Wrong").Input("x: flaot");', "expected a type or the name"),
    "attr": ('REGISTER_OP("Wrong").Attr("a: itn");', "not 'itn'"),
    "minimum": ('REGISTER_OP("Wrong").Attr("a: bool >= 2");', "only int and list"),
    "default": (
        'REGISTER_OP("Wrong").Attr("a: int = two");',
        "expected an int, got 'two'",
    ),
    "allowed": (
        'REGISTER_OP("Wrong").Attr("t: {int32} = DT_FLOAT");',
        "not in the list",
    ),
    "twice": (
        'REGISTER_OP("Fine");',
        "Op Fine is already registered, by .*wrong_twice.so",
    ),
    "no_op": (
        "struct K : OpKernel { using OpKernel::OpKernel;"
        "  void Compute(OpKernelContext*) override {} };"
        'REGISTER_KERNEL_BUILDER(Name("NoSuchOp").Device(DEVICE_CPU), K);',
        "expected an op that REGISTER_OP has registered, got 'NoSuchOp'",
    ),
}


@pytest.fixture(scope="module")
def tf(tmp_path_factory: pytest.TempPathFactory):
    """The namespace with KERNELS' ops."""
    source = tmp_path_factory.mktemp("kernels") / "kernels.cc"
    source.write_text(KERNELS, encoding="utf-8")
    pkg.ops.load_library(library(source, COMPAT, "-Wall", "-Wextra", "-Werror"))
    pkg.ops.tf.Persists()  # what its kernel keeps is no leak of a test
    return pkg.ops.tf


@pytest.fixture(scope="module")
def wrong(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a library of each mistake."""
    folder = tmp_path_factory.mktemp("wrong")
    sources = []
    for name, (line, _) in WRONG.items():
        source = folder / f"wrong_{name}.cc"
        source.write_text(f'{HEAD}REGISTER_OP("Fine").Output("y: float");\n{line}\n')
        sources.append(source)
    compile_all(lambda source: library(source, COMPAT), sources)
    return folder


@pytest.mark.parametrize("mistake", WRONG)
def test_a_mistake_leaves_nothing_of_its_library(mistake: str, wrong: Path) -> None:
    """The error has the place; the op before it in the same library is not there."""
    with pytest.raises(RuntimeError, match=WRONG[mistake][1]) as info:
        pkg.ops.load_library(wrong / f"wrong_{mistake}.so")
    assert f"wrong_{mistake}.cc:" in str(info.value)
    assert core.op_definition("tf::Fine") == core.op_definition("tf::Wrong") == ""


def test_no_kernel_and_too_many(tf) -> None:
    """Which there are is said; the priority decides between two."""
    x = pkg.ones(1)
    with pytest.raises(
        NotImplementedError,
        match="No OpKernel was registered to support Op 'Lonely'(.|\n)*<no registered",
    ):
        tf.Lonely(x)
    with pytest.raises(NotImplementedError, match="(.|\n)*device='GPU'"):
        tf.Gpu(x)
    with pytest.raises(
        ValueError, match="Multiple OpKernel registrations match NodeDef"
    ):
        tf.Ambiguous(x)
    assert tf.Preferred(x).item() == 1


def test_faults_of_kernels_are_errors_of_their_calls(tf) -> None:
    """A forgotten output, exceptions, CHECK, a dropped callback, another type."""
    x = pkg.ones(3)
    with pytest.raises(core.InternalError, match="missing value for output 0 of node"):
        tf.Forgets(x)
    with pytest.raises(core.InternalError, match=r"oh no \[Op:Throws\]"):
        tf.Throws(x)
    with pytest.raises(core.InternalError, match=r"\(3 vs. 2\) at most one"):
        tf.Checks(x)
    with pytest.raises(core.InternalError, match="Check failed: c->num_outputs"):
        tf.Checks(pkg.ones(1))
    with pytest.raises(core.InternalError, match="dropped its callback"):
        tf.Drops(x)
    with pytest.raises(TypeError, match="expected a tensor of int32"):
        tf.Elsewhere(x)


def test_a_shape_function_that_errs_is_found_out(tf) -> None:
    """Where results were allocated by it: in a plan."""
    with pkg.graph.Graph().as_default():
        y = tf.WrongRule(pkg.graph.placeholder("float32", (2,)))
        with pkg.graph.Session() as session:
            with pytest.raises(
                Exception, match="has the shape .7., but the shape function"
            ):
                session.run(y, {y.op.inputs[0]: [1.0, 2.0]})


def test_a_result_is_no_argument(tf) -> None:
    """What a kernel passes on is a copy: it may be written in place."""
    x = pkg.ones(2)
    y = tf.Same(x)
    y.add_(1)
    assert x.tolist() == [1, 1] and y.tolist() == [2, 2]


def test_persistent_and_temporary_tensors(tf) -> None:
    """The kernel keeps the one; the other goes with the call."""
    before = [tf.Persists().item() for _ in range(3)]
    assert before == [before[0], before[0] + 1, before[0] + 2]
    bytes_before = core.bytes_in_use()
    for _ in range(10):
        tf.Persists()
    assert core.bytes_in_use() <= bytes_before


def test_no_outputs_and_lists_of_them(tf) -> None:
    """Zero results, and as many as an attribute says."""
    assert not tf.Nothing(pkg.ones(1))
    assert [r.tolist() for r in tf.Many(N=2)] == [0, 1, 0.5]
    assert [r.tolist() for r in tf.Many(N=0)] == [0.5]
    with pytest.raises(ValueError, match="Attr 'N' of 'Many' Op passed -1 less than"):
        tf.Many(N=-1)


def test_attributes_reach_the_kernel(tf) -> None:
    """Defaults and given ones, of each type."""
    with pytest.raises(
        RuntimeError,
        match="FAILED_PRECONDITION: 3 1.5 1.5 true two words "
        r"apple float \[2,\?\] 2 int32",
    ):
        tf.Attrs()
    with pytest.raises(
        RuntimeError,
        match=r"4 0.1\d* 0.1 false x orange int32 <unknown> 1 "
        "float, bool",
    ):
        tf.Attrs(i=4, f=0.1, b=False, s="x", e="orange", t=pkg.int32, shape="<unknown>",
                 li=[1], lt=["float32", "bool"])  # fmt: skip
    with pytest.raises(
        ValueError, match='of "pear" is not in the list of allowed|pear'
    ):
        tf.Attrs(e="pear")
    with pytest.raises(
        ValueError, match="Attr 'a' of 'Attrs' Op passed 1 less than min"
    ):
        tf.Attrs(a=1)
