# SPDX-License-Identifier: Apache-2.0
"""Fetches and feeds of sessions: structures, names, shapes, arrays, defaults."""

from collections import OrderedDict, namedtuple

import numpy as np
import pytest

import pkg
import pkg.graph as pg
from pkg._binding import core
from pkg.graph import errors

pytestmark = pytest.mark.usefixtures("fresh_graph")


def test_fetches_keep_their_structure():
    """Lists, tuples, named tuples and dicts, in any nesting; operations give None."""
    a, b = pg.constant(1.0), pg.constant([2.0, 3.0])
    nothing = pg.group(a)
    pair = namedtuple("pair", "left right")
    session = pg.Session()
    assert session.run(a).item() == 1
    assert session.run(a.name).item() == 1
    assert session.run(nothing) is None
    assert session.run([]) == []
    result = session.run([a, (b, a), {"x": b, "y": [a]}, pair(a, nothing), "Const:0"])
    assert isinstance(result, list) and isinstance(result[1], tuple)
    assert result[0].item() == result[1][1].item() == result[2]["y"][0].item() == 1
    assert result[1][0].tolist() == result[2]["x"].tolist() == [2, 3]
    assert type(result[3]) is pair and result[3].right is None
    assert result[4].item() == 1


@pytest.mark.parametrize("fetch", [None, 3, [None], {"a": 1.5}, object()])
def test_what_is_no_fetch_is_a_type_error(fetch):
    """With the type in the message."""
    pg.constant(1.0)
    with pytest.raises(TypeError, match="has invalid type"):
        pg.Session().run(fetch)


@pytest.mark.parametrize("name", ["nothing:0", "Const:7", "nothing", "Const:x"])
def test_names_that_are_not_there_are_value_errors(name):
    """As a fetch; TypeError as a key of feed_dict."""
    c = pg.constant(1.0)
    with pytest.raises(ValueError, match="cannot be interpreted as a Tensor"):
        pg.Session().run(name)
    with pytest.raises(TypeError, match="Cannot interpret feed_dict key as Tensor"):
        pg.Session().run(c, {name: 1.0})


def test_elements_of_another_graph_are_refused():
    """As fetches, feeds and operands."""
    a = pg.constant(1.0)
    with pg.Graph().as_default():
        b = pg.constant(2.0)
        session = pg.Session()
        with pytest.raises(ValueError, match="is not an element of this graph"):
            session.run(a)
        with pytest.raises(TypeError, match="is not an element of this graph"):
            session.run(b, {a: 1.0})
        with pytest.raises(ValueError, match="is not an element of this graph"):
            a + b


def test_every_symbol_may_be_fed():
    """And nothing before it is run."""
    x = pg.placeholder(pkg.float32, [2])
    y = x * 2
    z = y + 1
    assert pg.Session().run(z, {y: np.array([1, 2])}).tolist() == [2, 3]


@pytest.mark.parametrize("shape", [(3,), (2, 2), ()])
def test_a_feed_of_another_shape_is_a_value_error(shape):
    """With both shapes."""
    x = pg.placeholder(pkg.float32, [None, 3], "x")
    match = "Cannot feed value of shape .* for Tensor 'x:0', which has shape"
    with pytest.raises(ValueError, match=match):
        pg.Session().run(x, {x: np.zeros(shape)})
    assert pg.Session().run(x, {x: np.zeros((0, 3))}).shape == (0, 3)


def test_an_unfed_placeholder_is_named():
    """With dtype, shape and the line that made it."""
    x = pg.placeholder(pkg.float32, [None, 3], "x")
    with pytest.raises(
        errors.InvalidArgumentError, match="must feed a value"
    ) as caught:
        pg.Session().run(x + 1)
    assert caught.value.op is x.op
    said = str(caught.value)
    assert "'x'" in said and "test_fetches_and_feeds.py:" in said
    assert caught.value.node_def["name"] == "x" and caught.value.error_code == 3


def test_a_default_stands_where_nothing_is_fed():
    """It must have the shape of the placeholder."""
    x = pg.placeholder(pkg.float32, [None], default=[1.0, 2.0])
    y = x + 1
    session = pg.Session()
    assert session.run(y).tolist() == [2, 3]
    assert session.run(y, {x: [5]}).tolist() == [6]
    with pytest.raises(ValueError, match="default"):
        pg.placeholder(pkg.float32, [3], default=[1.0, 2.0])


def test_equal_fetches_and_feeds_are_not_taken_for_each_other():
    """A tuple of fetches and a fetch with a feed; tuples of several classes."""
    pair = namedtuple("pair", "left right")
    a, b = pg.constant(1.0), pg.constant(2.0)
    session = pg.Session()
    assert session.run(a, {b: 5.0}).item() == 1
    assert [t.item() for t in session.run((a, b))] == [1, 2]
    assert type(session.run(pair(a, b))) is pair
    assert type(session.run((a, b))) is tuple


def test_a_list_of_fetches_is_planned_once():
    """Whatever list it is: the plan goes with what is in it."""
    x = pg.placeholder(pkg.float32, [None])
    y, z = x + 1, x * 2
    session = pg.Session()
    for n in (2, 3, 2, 3):
        session.run([y, {"z": z}], {x: np.ones(n)})
    assert len(session._callables) == 1


def test_one_of_several_outputs_may_be_fed():
    """The others are computed beside it."""
    x = pg.placeholder(pkg.float32, [3])
    values, places = x.sort(0, False)
    result = pg.Session().run([values, places], {x: [3, 1, 2], values: [7, 8, 9]})
    assert result[0].tolist() == [7, 8, 9] and result[1].tolist() == [1, 2, 0]


@pytest.mark.parametrize("dtype", ["float32", "float64", "int64", "bool"])
def test_an_array_that_is_fed_is_not_copied(dtype):
    """One of the right dtype that is row-major; others are."""

    array = np.ones(1 << 24, dtype)
    x = pg.placeholder(getattr(pkg, dtype), [None])
    session = pg.Session()
    y = x[:10].sum()
    session.run(y, {x: array[:100].copy()})
    core.empty_cache()
    before = core.peak_bytes()
    assert session.run(y, {x: array}).item() == 10
    assert core.peak_bytes() - before < 1 << 20
    array.flags.writeable = False
    assert session.run(y, {x: array}).item() == 10
    assert session.run(y, {x: array[::-1]}).item() == 10
    assert session.run(y, {x: array.astype("uint8")}).item() == 10


def test_what_is_fetched_twice_is_given_twice():
    """One may be written to, and the other stays; so for names, views and arrays."""
    import pkg.compat.v1 as tf

    x = pg.placeholder(pkg.float32, [3])
    y = pkg.mul(x, 2.0)
    same = pkg.mul(x, 2.0)  # which a plan computes once
    flat = pkg.reshape(y, [3, 1])
    with pg.Session() as session:
        for fetches in ([y, y], [y, same], [y, y.name], [y, flat], [x, x], [x, y, x]):
            got = session.run(fetches, {x: [1.0, 2.0, 3.0]})
            last = got[-1].tolist()
            assert got[0] is not got[-1]
            got[0].fill_(9.0)
            assert got[-1].tolist() == last
        got = session.run({"a": y, "b": (y, [y])}, {x: [1.0, 2.0, 3.0]})
        got["a"].fill_(9.0), got["b"][0].fill_(8.0)
        assert got["b"][1][0].tolist() == [2, 4, 6]
    with tf.Graph().as_default(), tf.Session() as session:
        z = tf.constant([1.0, 2.0])
        a, b = session.run([z, z])
        a[:] = 9
        assert b.tolist() == [1, 2]


class _OwnList(list):
    pass


def _leaves(item, of_leaf):
    """Flat list of what a structure holds."""
    if isinstance(item, dict):
        item = list(item.values())
    if isinstance(item, (list, tuple)):
        return [leaf for part in item for leaf in _leaves(part, of_leaf)]
    return [of_leaf(item)]


def test_structures_that_were_run_before_keep_their_classes():
    """Flat ones are looked up by what is in them."""
    x = pg.placeholder(pkg.float32, [], "x")
    y, z = x + 1, x * 2
    session = pg.Session()
    pair = namedtuple("pair", "left right")
    structures = [
        [y, z], (y, z), pair(y, z), _OwnList([y, z]), {"y": y, "z": z}, [y, (z,)],
        [z, y], {"y": z, "z": y}, OrderedDict(y=y, z=z), ["add:0", z], (y,), [], (), {},
        {y: z},
    ]  # fmt: skip
    for number in (1.0, 2.0, 3.0):
        wanted = {y: number + 1, "add:0": number + 1, z: number * 2}
        for structure in structures:
            got = session.run(structure, {x: number})
            assert type(got) is type(structure)
            assert _leaves(got, lambda value: value.item()) == _leaves(
                structure, wanted.__getitem__
            )
            if isinstance(structure, dict):
                assert list(got) == list(structure)


def test_a_fetch_of_a_structure_is_not_taken_for_a_feed():
    """Nor one list of fetches for another with more feeds."""
    with pg.Graph().as_default():
        x = pg.placeholder(pkg.float32, [], "x")
        y = x + 1
        session = pg.Session()
        assert session.run([x, y], {x: 1.0})[1].item() == 2
        assert session.run([x], {x: 5.0, y: 7.0})[0].item() == 5
        assert [v.item() for v in session.run([x, y], {x: 5.0, y: 7.0})] == [5, 7]
        with pytest.raises(pg.errors.InvalidArgumentError, match="You must feed"):
            session.run([x, y])
        session.close()
        with pytest.raises(RuntimeError, match="closed Session"):
            session.run([x, y], {x: 1.0})
