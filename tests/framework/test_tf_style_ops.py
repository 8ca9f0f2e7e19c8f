# SPDX-License-Identifier: Apache-2.0
"""Ops written with REGISTER_OP and REGISTER_KERNEL_BUILDER: the examples of
docs/examples/ops, compiled by the line that docs/custom_ops.md prints."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import pkg
from libraries import OP_EXAMPLES, op_examples
from pkg._binding import core
from pkg.graph import Graph, Session

WARNINGS = ("-Wall", "-Wextra", "-Werror")


@pytest.fixture(scope="module")
def tf(compiled: Callable[..., Path]):
    """The namespace with the examples' ops."""
    for source in op_examples("tensorflow"):
        pkg.ops.load_library(compiled(source, f"-I{OP_EXAMPLES}", *WARNINGS))
    return pkg.ops.tf


def test_option_prints_the_folder_of_the_headers() -> None:
    """--compat-include tf1; another name is one line of error."""
    printed = subprocess.run(
        [sys.executable, "-m", "pkg", "--compat-include", "tf1"],
        stdout=subprocess.PIPE, text=True, check=True,
    ).stdout.strip()  # fmt: skip
    assert printed == pkg.sysconfig.get_compat_include("tf1")
    assert (Path(printed) / "tensorflow/core/framework/op.h").is_file()
    with pytest.raises(ValueError, match="expected one of tf1, torch"):
        pkg.sysconfig.get_compat_include("tf9")


@pytest.mark.parametrize("dtype", ["float32", "float64", "int32", "uint8", "bfloat16"])
def test_kernels_of_each_type_and_an_attribute(tf, dtype: str) -> None:
    """KeepOne keeps the element of its attribute, 0 by default."""
    x = pkg.tensor([[5, 4, 3], [2, 1, 7]]).to(getattr(pkg, dtype))
    assert tf.KeepOne(x).tolist() == [[5, 0, 0], [0, 0, 0]]
    kept = tf.KeepOne(x.t(), preserve_index=3)  # a view: rows of it are copied
    assert kept.tolist() == [[0, 0], [0, 1], [0, 0]]
    assert kept.dtype == x.dtype


def test_errors_of_a_kernel_are_those_of_the_call(tf) -> None:
    """Of the constructor and of Compute, and the op is usable afterwards."""
    x = pkg.ones(4)
    with pytest.raises(
        ValueError, match=r"Need preserve_index >= 0, got -1 \[Op:KeepOne"
    ):
        tf.KeepOne(x, preserve_index=-1)
    with pytest.raises(ValueError, match="preserve_index out of range: 4 of 4"):
        tf.KeepOne(x, preserve_index=4)
    assert tf.KeepOne(x).tolist() == [1, 0, 0, 0]


def test_a_type_that_the_op_does_not_allow_is_refused(tf) -> None:
    """By the attr's list; what it allows is computed."""
    assert tf.Twice(pkg.tensor([[1, 2], [3, 4]]).to(pkg.int32)).tolist() == [
        [2, 4],
        [6, 8],
    ]
    assert tf.Twice(pkg.tensor([0.5, 2.0])).tolist() == [1, 4]
    text = ("Value for attr 'T' of float64 is not in the list of allowed values: "
            "int32, float32")  # fmt: skip
    with pytest.raises(TypeError, match=text):
        tf.Twice(pkg.ones(2, dtype=pkg.float64))


def test_large_calls_are_scheduled_and_agree(tf) -> None:
    """The shape function says the result before it runs."""
    x = pkg.arange(200_000, dtype=pkg.float32)
    twice = tf.Twice(pkg.matmul(x.reshape(400, 500), pkg.eye(500)))
    assert np.array_equal(twice.numpy().ravel(), 2 * np.arange(200_000))


def test_shapes_without_values(tf) -> None:
    """On the Meta device, by the shape function."""
    y = tf.KeepOne(pkg.ones(2, 3, device="meta"))
    assert y.device.type == "meta" and tuple(y.shape) == (2, 3)


def test_in_a_graph_with_unknown_sizes(tf) -> None:
    """The static shape is the placeholder's; runs agree with the eager call."""
    with Graph().as_default():
        x = pkg.graph.placeholder("float32", (None, 3))
        y = tf.KeepOne(tf.Twice(x), preserve_index=1)
        assert list(y.shape) == [None, 3]
        with Session() as session:
            for rows in (1, 2):
                value = np.arange(3.0 * rows, dtype="float32").reshape(rows, 3) + 1
                expected = np.zeros_like(value)
                expected.flat[1] = 2 * value.flat[1]
                found = session.run(y, {x: value})
                assert np.array_equal(np.asarray(found), expected)


def test_an_asynchronous_kernel_reports_from_its_thread(tf) -> None:
    """The result of another thread, and its error."""
    assert tf.NegateLater(pkg.tensor([1.0, -2.0])).tolist() == [-1, 2]
    with pytest.raises(RuntimeError, match="ABORTED: the other side hung up"):
        tf.NegateLater(pkg.ones(1), fails=True)


def test_tables_of_rows_by_sign(tf) -> None:
    """Pull brings each sign's row once; push changes the server's rows."""
    table = tf.RowTable(capacity=4, width=2)
    signs = pkg.tensor([7, 9, 7])
    assert [p.tolist() for p in tf.RowsPull([table], [signs])] == [[0, 1, 0]]
    assert tf.RowTableRead(table).tolist()[:2] == [[7, 7], [9, 9]]
    tf.RowsPush([signs], [pkg.tensor([[0.5, 1.0], [-1.0, 0.0]])])
    tf.RowsPull([table], [signs])
    assert tf.RowTableRead(table).tolist()[:2] == [[7.5, 8], [8, 9]]


def test_what_is_wrong_with_a_table_is_said(tf) -> None:
    """Too many signs, too few gradients, lists of other lengths, no handle."""
    table = tf.RowTable(capacity=1, width=2)
    signs = pkg.tensor([1, 2])
    with pytest.raises(MemoryError, match="2 different signs for a table of 1 rows"):
        tf.RowsPull([table], [signs])
    with pytest.raises(ValueError, match="gradients of 1 rows for 2 different signs"):
        tf.RowsPush([signs], [pkg.ones(1, 2)])
    with pytest.raises(
        ValueError,
        match="'signs' to 'RowsPull' Op with length 1 must match "
        "length 2 of argument 'tables'",
    ):
        tf.RowsPull([table, table], [signs])
    with pytest.raises(
        ValueError, match="expected a handle of a resource that is alive"
    ):
        tf.RowTableRead(pkg.tensor(12345))
    stale = tf.RowTable(capacity=1, width=2) + 0  # the number alone
    with pytest.raises(
        ValueError, match="expected a handle of a resource that is alive"
    ):
        tf.RowTableRead(stale)
    with pytest.raises(ValueError, match="less than minimum 1"):
        tf.RowTable(capacity=0, width=2)


def test_rows_of_another_width_are_refused(tf) -> None:
    """By who pulls and who pushes, and nothing is written then."""
    two, three = (tf.RowTable(capacity=2, width=width) for width in (2, 3))
    mine, other = pkg.tensor([501]), pkg.tensor([502])
    tf.RowsPush([mine], [pkg.ones(1, 2)])
    with pytest.raises(ValueError, match="row of sign 501 has 2 columns, expected 3"):
        tf.RowsPush([other, mine], [pkg.ones(1, 3), pkg.ones(1, 3)])
    with pytest.raises(ValueError, match="row of sign 501 has 2 columns, expected 3"):
        tf.RowsPull([three], [mine])
    with pytest.raises(ValueError, match="of 2 and of 3 columns in one push"):
        tf.RowsPush([other, other], [pkg.ones(1, 2), pkg.ones(1, 3)])
    with pytest.raises(ValueError, match="of 2 and of 3 columns in one pull"):
        tf.RowsPull([two, three], [other, other])
    tf.RowsPull([two], [pkg.tensor([501, 502])])
    assert tf.RowTableRead(two).tolist() == [[502, 502], [502, 502]]
    assert tf.RowTableRead(three).tolist() == [[0, 0, 0], [0, 0, 0]]


def test_a_hundred_pulls_on_two_threads_finish(tf) -> None:
    """Who waits for the server keeps no worker from its work."""
    failures = []

    def pull(k: int) -> None:
        table = tf.RowTable(capacity=2, width=3)
        tf.RowsPull([table], [pkg.tensor([1000 + k, 1000 + k])])
        if tf.RowTableRead(table).tolist()[0] != [1000.0 + k] * 3:
            failures.append(k)

    threads = [threading.Thread(target=pull, args=(k,)) for k in range(100)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert not failures and not any(t.is_alive() for t in threads)


def test_definitions_are_shown(tf) -> None:
    """core.op_definition() has what REGISTER_OP said; other ops have none."""
    pull = json.loads(core.op_definition("tf::RowsPull"))
    assert pull["inputs"] == [
        {"name": "tables", "type": "resource", "number_attr": "N"},
        {"name": "signs", "type": "int64", "number_attr": "N"},
    ]
    assert pull["attrs"] == [
        {"name": "N", "type": "int", "minimum": 1, "inferred": True}
    ]
    assert pull["one_list"] and pull["stateful"]
    keep = json.loads(core.op_definition("tf::KeepOne"))
    assert [a["name"] for a in keep["attrs"] if not a["inferred"]] == ["preserve_index"]
    assert keep["attrs"][0]["default"] == 0
    assert core.op_definition("pkg::add") == core.op_definition("tf::NoSuchOp") == ""


def test_errors_of_a_run_have_the_code_of_the_status(tf) -> None:
    """What a session raises is of the class that the kernel's code has."""
    with Graph().as_default():
        x = pkg.graph.placeholder("float32", (None,))
        kept = tf.KeepOne(x, preserve_index=5)
        hung_up = tf.NegateLater(x, fails=True)
        with Session() as session:
            with pytest.raises(
                pkg.graph.errors.InvalidArgumentError, match="out of range"
            ):
                session.run(kept, {x: [1.0]})
            with pytest.raises(pkg.graph.errors.AbortedError, match="hung up"):
                session.run(hung_up, {x: [1.0]})
            assert session.run(kept, {x: np.ones(6, "float32")}).tolist()[5] == 1
