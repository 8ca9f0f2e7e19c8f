# SPDX-License-Identifier: Apache-2.0
"""docs/examples/ops/embedding: a lookup of one's own in place of a graph's Gather."""

from __future__ import annotations

import importlib
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import pkg
import pkg.compat.v1 as tf
import pkg.graph as pg
from paths import ROOT
from pkg.framework import check_gradient
from pkg.graph import gradient_registry

EXAMPLE = ROOT / "docs" / "examples" / "ops" / "embedding"
TABLE = np.random.default_rng(0).normal(size=(5, 3))


@pytest.fixture(scope="module")
def example(
    compiled: Callable[..., Path], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[ModuleType]:
    """Its module, over a library that is compiled without optimisation."""
    folder = tmp_path_factory.mktemp("embedding")
    shutil.copy(compiled(EXAMPLE / "embedding.cc"), folder / "embedding.so")
    before = dict(gradient_registry._registered)
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(EXAMPLE))
        patch.setenv("EMBEDDING_BUILD", str(folder))
        yield importlib.import_module("embedding_ops")
    gradient_registry._registered.clear()
    gradient_registry._registered.update(before)


def expected(ids: Any, scale: float = 1.0) -> Any:
    """By NumPy."""
    ids = np.asarray(ids)
    return np.where((ids < 0)[..., None], 0.0, scale * TABLE[ids])


@pytest.mark.parametrize("ids", [[], [0], [4, 4, -1, 0], [[1, 2], [3, -1]], 3])
@pytest.mark.parametrize("dtype", [pkg.float32, pkg.float64])
@pytest.mark.parametrize("kind", [pkg.int32, pkg.int64])
def test_values_and_shapes(
    example: ModuleType, ids: Any, dtype: Any, kind: Any
) -> None:
    """Of all dtypes and numbers of dimensions."""
    ids = np.asarray(ids, dtype="int64")
    found = example.embedding_lookup(
        pkg.tensor(TABLE, dtype=dtype), pkg.tensor(ids, dtype=kind), scale=2.0
    )
    assert found.dtype == dtype and tuple(found.shape) == (*ids.shape, 3)
    np.testing.assert_allclose(found.numpy(), expected(ids, 2.0), rtol=1e-6)


def test_what_is_refused(example: ModuleType) -> None:
    """With the number and where it stands; when the graph is built, what is known."""
    lookup = example.embedding_lookup
    with pytest.raises(ValueError, match=r"ids\[1\] = 5 is not in \[-1, 5\)"):
        lookup(TABLE, [0, 5])
    with pytest.raises(ValueError, match=r"ids\[0\] = -2 is not in \[-1, 5\)"):
        lookup(TABLE, [-2])
    with pytest.raises(ValueError, match="table must be a matrix|must be rank 2"):
        lookup(TABLE[0], [0])
    with pytest.raises(TypeError, match="'I' of float32 .* values: int32, int64"):
        lookup(TABLE, [0.5])
    with pg.Graph().as_default():
        with pytest.raises(ValueError, match="must be rank 2"):
            lookup(pg.placeholder(pkg.float32, [3]), [0])


def test_the_gradient(example: ModuleType) -> None:
    """Rows that are looked up several times get the sum."""
    ids = pkg.tensor([[0, 4], [4, -1]])
    error = check_gradient(
        lambda table: example.embedding_lookup(table, ids, scale=3.0), TABLE
    )
    assert error < 1e-6, error.report
    table = pkg.tensor(TABLE, requires_grad=True)
    example.embedding_lookup(table, ids, scale=3.0).sum().backward()
    assert table.grad[:, 0].tolist() == [3, 0, 0, 0, 6]


def test_an_exported_graph_with_the_op(example: ModuleType, tmp_path: Path) -> None:
    """Equal results, equal steps of training, and a file that has the op."""
    with pg.Graph().as_default() as graph:
        ids = pg.placeholder(pkg.int64, [None], "ids")
        table = pg.Variable(TABLE.astype("float32"), name="table")
        score = pkg.index_select(table, 0, ids).sum(1)
        with pg.Session() as session:
            session.run(table.initializer)
            pg.export_graph(graph, tmp_path / "old", session=session)
    with pg.Graph().as_default() as old:
        (score,) = pg.import_graph(tmp_path / "old", return_elements=[score.name])
    change = example.replace_gathers(old)
    assert [op.type for op in change.matches()] == ["index_select"]
    assert change.check({"ids:0": [0, 4, 4, 1]}) == {score.name: 0.0}
    assert "+index_select/EmbeddingLookup = tf::EmbeddingLookup(" in change.diff()
    new = change.apply()
    assert "index_select" not in [op.type for op in new.get_operations()]
    grads = []
    # Gradients are operations, and a change of the old graph makes another new one.
    both = [old.get_tensor_by_name(name) for name in (score.name, "table:0")]
    for graph, symbols in ((new, [change.element(e) for e in both]), (old, both)):
        (slope,) = pg.gradients(symbols[0], [symbols[1]])
        with pg.Session(graph=graph) as session:
            pg.restore_variables(tmp_path / "old", session)
            grads.append(session.run(slope, {"ids:0": [0, 4, 4, 1]}).tolist())
    assert grads[0] == grads[1] and grads[0][4] == [2, 2, 2]
    with pg.Graph().as_default(), pg.Session() as session:
        pg.export_graph(change.apply(), tmp_path / "new")
        (again,) = pg.import_graph(tmp_path / "new", return_elements=["sum:0"])
        assert again.op.inputs[0].op.type == "EmbeddingLookup"


def test_as_tensorflow_has_it(example: ModuleType) -> None:
    """The same library, whose calls are operations."""
    module = tf.load_op_library(example._library.LIBRARY)
    with tf.Graph().as_default(), tf.Session() as session:
        table = tf.placeholder(tf.float64, [5, 3])
        rows = module.embedding_lookup(table, [[1], [4]])
        assert rows.shape.as_list() == [2, 1, 3] and rows.op.type == "EmbeddingLookup"
        found = session.run(rows, {table: TABLE})
        with pytest.raises(tf.errors.InvalidArgumentError, match="ids.0. = 7"):
            session.run(module.embedding_lookup(table, [7]), {table: TABLE})
    np.testing.assert_array_equal(found, TABLE[[[1], [4]]])
