# SPDX-License-Identifier: Apache-2.0
"""Tensors as resources, in libraries that declare by themselves how to look them up."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import pkg
from pkg._binding import core
from pkg.compat import v1 as compat

WARNINGS = ("-Wall", "-Wextra", "-Werror")


@pytest.fixture(scope="module")
def library(compiled: Callable[..., Path]) -> Path:
    """That of sources/declared.cc; sources/variables.cc is another."""
    pkg.ops.load_library(compiled("variables.cc", *WARNINGS))
    path = compiled("declared.cc", *WARNINGS)
    pkg.ops.load_library(path)
    return path


@pytest.fixture
def tf(library: Path):
    """The namespace of both libraries' ops."""
    return pkg.ops.tf


def test_a_variable_of_another_library(tf) -> None:
    """Is written to, by a thread of the kernel's own."""
    var = tf.VarOf(pkg.zeros(3, 2))
    signs = pkg.tensor([7, 9, 7])
    assert [p.tolist() for p in tf.DeclaredFill([var], [signs])] == [[0, 1, 0]]
    assert tf.VarValue(var).tolist() == [[7, 7], [9, 9], [0, 0]]
    tf.DeclaredScale(var, pkg.tensor(0.5))
    assert tf.VarValue(var).tolist() == [[3.5, 3.5], [4.5, 4.5], [0, 0]]


def test_references_are_given_back(tf) -> None:
    """Whoever looks one up has one of its own: if one is left, so is the tensor, which
    conftest.py finds."""
    var = tf.VarOf(pkg.zeros(3, 2))
    for _ in range(3):
        tf.DeclaredFill([var], [pkg.tensor([1, 2])])
        tf.DeclaredScale(var, pkg.tensor(2.0))
        assert tf.VarText(var).item() == len("float/[3,2]")


def test_what_is_checked_is_an_error(tf) -> None:
    """Of the call, with the place; the process goes on."""
    var = tf.VarOf(pkg.zeros(2, 1))
    with pytest.raises(
        core.InternalError, match=r"declared\.cc:\d+: Check failed: .*3 vs"
    ):
        tf.DeclaredFill([var], [pkg.tensor([1, 2, 3])])
    with pytest.raises(
        ValueError, match=r"expected a matrix, saw: \[2\].*DeclaredFill"
    ):
        tf.DeclaredFill([tf.VarOf(pkg.zeros(2))], [pkg.tensor([1])])
    with pytest.raises(
        ValueError, match="expected a handle of a resource that is alive"
    ):
        tf.DeclaredFill([pkg.tensor(5)], [pkg.tensor([1])])
    (places,) = tf.DeclaredFill([var], [pkg.tensor([4, 4])])
    assert places.tolist() == [0, 0]
    assert tf.VarValue(var).tolist() == [[4], [0]]


def test_a_hundred_calls_on_two_threads(tf) -> None:
    """All of which wait for threads of their own."""
    before = pkg.get_num_threads()
    pkg.set_num_threads(2)
    try:
        variables = [tf.VarOf(pkg.zeros(2, 4)) for _ in range(100)]

        def fill(k: int) -> list[int]:
            (places,) = tf.DeclaredFill([variables[k]], [pkg.tensor([k, k + 1, k])])
            return places.tolist()

        with ThreadPoolExecutor(20) as pool:
            assert list(pool.map(fill, range(100))) == [[0, 1, 0]] * 100
    finally:
        pkg.set_num_threads(before)
    for k, variable in enumerate(variables):
        assert tf.VarValue(variable).tolist() == [[k] * 4, [k + 1] * 4]


def test_variables_in_a_graph(library: Path, tf) -> None:
    """A node's handle keeps its variable within the run."""
    ops = compat.load_op_library(library)
    with compat.Graph().as_default():
        table = compat.placeholder(compat.int64, [])
        signs = compat.placeholder(compat.int64, [None])
        (places,) = ops.declared_fill([table], [signs])
        var = tf.VarOf(pkg.zeros(3, 1))
        with compat.Session() as session:
            found = session.run(places, {table: var, signs: [5, 6, 5]})
    assert found.tolist() == [0, 1, 0]
    assert tf.VarValue(var).tolist() == [[5], [6], [0]]
