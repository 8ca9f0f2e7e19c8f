# SPDX-License-Identifier: Apache-2.0
"""What kernels keep between calls, and what handles of resources keep."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

import pkg
from paths import ROOT
from pkg._binding import core
from pkg.compat.v1 import load_op_library
from pkg.graph import Graph, Session

Compile = Callable[..., Path]
WARNINGS = ("-Wall", "-Wextra", "-Werror")
NO_HANDLE = "expected a handle of a resource that is alive"


@pytest.fixture(scope="module")
def tables(compiled: Compile) -> Path:
    """The library of the example with tables, as test_tf_style_ops.py compiles it."""
    examples = ROOT / "docs" / "examples" / "ops"
    return compiled(examples / "sparse_rows.cc", f"-I{examples}", *WARNINGS)


@pytest.fixture(scope="module")
def tf(compiled: Compile, tables: Path):
    """The namespace with the ops of sources/kernels.cc and of the tables."""
    pkg.load_op_library(compiled("kernels.cc"))
    pkg.ops.load_library(tables)
    pkg.ops.tf.TestState()  # what its kernel keeps is no leak of a test
    return pkg.ops.tf


def test_results_that_a_kernel_keeps_are_copies(tf) -> None:
    """Neither the kernel's tensor nor the other result changes with a result."""
    a, b = tf.TestState()
    a.fill_(7)
    assert a.tolist() == [7, 7] and b.tolist() == [3, 3]
    assert [y.tolist() for y in tf.TestState()] == [[3, 3], [3, 3]]


def test_an_uninitialised_result_is_refused(tf) -> None:
    """With the op's name, not a crash of who reads it."""
    with pytest.raises(core.InternalError, match="is not initialised.*Op:TestUnset"):
        tf.TestUnset()


def test_numbers_of_attributes_are_told_apart_by_their_bits(tf) -> None:
    """-0.0 is not 0.0, and NaN is one form."""
    assert tf.TestMade(by=0.0)[1].item() == 1
    assert tf.TestMade(by=-0.0)[1].item() == -1
    first, again = (tf.TestMade(by=math.nan)[0].item() for _ in range(2))
    assert first == again


def test_calls_at_once_make_one_kernel(tf) -> None:
    """All see the kernel that the first of them makes."""
    before = tf.TestMade(by=100.0)[0].item()
    barrier, numbers = threading.Barrier(4), []

    def call() -> None:
        barrier.wait()
        numbers.append(tf.TestMade(by=101.0)[0].item())

    threads = [threading.Thread(target=call) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert numbers == [before + 1] * 4


def test_a_kernel_outlives_its_asynchronous_call(tf) -> None:
    """Also of one call alone, which kernels are from 256 forms on."""
    for form in range(257):
        assert tf.TestLate(form=form).item() == 0
    with pytest.raises(core.InternalError, match="begun, and thrown"):
        tf.TestLate(form=1000, throws=True)
    assert tf.TestLate(form=0).item() == 0
    threading.Event().wait(0.3)
    assert tf.TestLate(form=0).item() == 0


def test_a_handle_whose_number_was_written_to(tf) -> None:
    """The slot goes with its own tensor, and no other one goes."""
    h = tf.RowTable(capacity=1, width=2)
    g = tf.RowTable(capacity=2, width=2)
    mine = g.item()
    g.fill_(h.item())
    del g
    assert tuple(tf.RowTableRead(h).shape) == (1, 2)
    with pytest.raises(ValueError, match=NO_HANDLE):
        tf.RowTableRead(pkg.tensor(mine))


def test_a_handle_that_is_passed_on(tf) -> None:
    """Has a slot of its own, which keeps the table."""
    h = tf.RowTable(capacity=3, width=1)
    same = tf.TestSameHandle(h)
    assert same.item() != h.item()
    del h
    assert tuple(tf.RowTableRead(same).shape) == (3, 1)
    with pytest.raises(ValueError, match=NO_HANDLE):
        tf.TestSameHandle(pkg.tensor(5))


def test_computed_numbers_are_no_handles(tf) -> None:
    """Those of other tables are nowhere near."""
    tables = [tf.RowTable(capacity=1, width=1) for _ in range(8)]
    numbers = {table.item() for table in tables}
    assert len(numbers) == 8 and all(number > 0 for number in numbers)
    for table in tables:
        for step in (-1, 1):
            with pytest.raises(ValueError, match=NO_HANDLE):
                tf.RowTableRead(table + step)


def test_handles_in_a_graph(tf, tables: Path) -> None:
    """An op with a shape function that gives one runs like any other."""
    ops = load_op_library(tables)
    with Graph().as_default():
        handle = ops.row_table(capacity=2, width=3)
        rows = ops.row_table_read(handle)
        with Session() as session:
            assert session.run(rows).tolist() == [[0, 0, 0], [0, 0, 0]]
            assert session.run(handle).shape == ()


def test_classes_of_one_name_in_two_libraries(tf) -> None:
    """Of unnamed namespaces: a resource of the one is none of the other."""
    with pytest.raises(ValueError, match="Trying to access resource 'rows' of type"):
        tf.TestRowTable(tf.RowTable(capacity=1, width=1))
