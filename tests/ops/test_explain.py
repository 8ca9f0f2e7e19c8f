# SPDX-License-Identifier: Apache-2.0
"""pkg.explain says where a call would go, and the call goes there."""

from __future__ import annotations

import re

import numpy as np
import pytest

import pkg
import pkg.graph as pg
from paths import ROOT


def test_small_tensors_go_to_the_kernel_of_the_processor():
    found = pkg.explain(pkg.add, pkg.ones(2, 3), pkg.ones(3))
    assert found.op == "pkg::add.Tensor" or found.op == "pkg::add"
    assert found.schema in pkg.add.schemas
    assert found.keys == ["CPU"]
    assert found.chosen is found.kernel and found.chosen.key == "CPU"
    assert found.chosen.registered == "kernel"
    assert found.library.endswith("libpkg_core.so")
    assert found.arguments == [
        ("self", "float32 (2, 3)", ["CPU"]),
        ("other", "float32 (3,)", ["CPU"]),
    ]
    assert found.refused == ""


def test_the_table_has_a_row_for_each_key_highest_first():
    found = pkg.explain(pkg.relu, pkg.ones(2))
    names = [row.key for row in found.table]
    assert names == [
        "Python", "Profiler", "Graph", "Autograd", "Plan", "Async", "Meta", "CPU",
    ]  # fmt: skip
    assert [row.key for row in found.table if row.in_call] == found.keys


def test_places_of_registrations_are_lines_of_files():
    found = pkg.explain(pkg.sum, pkg.ones(2, requires_grad=True))
    places = [row.where for row in found.table if row.registered != "nothing"]
    assert len(places) >= 5
    for place in [found.where, *places]:
        file, _, line = place.rpartition(":")
        lines = (ROOT / file).read_text(encoding="utf-8").splitlines()
        assert re.search("PKG_LIBRARY|__LINE__", lines[int(line) - 1]), place
    assert found.kernel.where != found.where  # it stands with the kernels


def test_what_thread_and_arguments_bring_decides():
    leaf, plain = pkg.ones(2, requires_grad=True), pkg.ones(2)
    assert pkg.explain(pkg.mul, leaf, 2).chosen.key == "Autograd"
    assert pkg.explain(pkg.mul, plain, 2).chosen.key == "CPU"
    with pkg.no_grad():
        found = pkg.explain(pkg.mul, leaf, 2)
    assert found.removed_keys == ["Autograd"]
    assert found.keys_of_arguments == ["Autograd", "CPU"]
    assert found.chosen.key == "CPU"
    large = pkg.zeros(1024, 1024)
    assert pkg.explain(pkg.mul, large, 2).keys == ["Async", "CPU"]
    meta = pkg.zeros(2, device="meta")
    assert pkg.explain(pkg.mul, meta, 2).kernel.key == "Meta"
    with pg.Graph().as_default():
        symbol = pg.placeholder(pkg.float32, [None])
        found = pkg.explain(pkg.mul, symbol, 2)
    assert found.chosen.key == "Graph"
    assert found.arguments[0][:2] == ("self", "float32 symbol")


def test_composites_fall_through_to_what_they_call():
    found = pkg.explain(pkg.conv2d, pkg.ones(1, 1, 4, 4), pkg.ones(1, 1, 2, 2))
    registered = {row.key: row.registered for row in found.table}
    assert found.kind == "composite"
    assert registered["Autograd"] == registered["Async"] == "falls through"


def test_overloads_are_chosen_as_in_the_call():
    x = pkg.tensor([[1.0, 5.0], [3.0, 2.0]])
    for args in [(x,), (x, 1), (x, x)]:
        found = pkg.explain(pkg.max, *args)
        results = pkg.max(*args)
        n = len(results) if isinstance(results, tuple) else 1
        returned = found.schema.split("->")[1]
        assert returned.count("Tensor") == n
    by_name = pkg.explain("max", x, dim=1)
    assert by_name == pkg.explain(pkg.max, x, 1)


def test_nothing_is_computed():
    x = pkg.ones(3)
    pkg.explain(pkg.ops.mul_, x, 5)
    np.testing.assert_array_equal(x.numpy(), np.ones(3, "float32"))


def test_refused_dtypes_are_said_as_the_call_says_them():
    x = pkg.ones(3)
    with pytest.raises(NotImplementedError) as error:
        pkg.bitwise_and(x, x)
    assert pkg.explain(pkg.bitwise_and, x, x).refused == str(error.value)


def test_the_text_has_every_key_and_the_kernel():
    found = pkg.explain(pkg.add, pkg.ones(2, requires_grad=True), 1)
    text = str(found)
    for row in found.table:
        assert re.search(rf"^[>* ] {row.key}\s+{row.registered}", text, re.M)
    assert re.search(r"^> Autograd", text, re.M)
    assert f"registered at {found.kernel.where}" in text


def test_wrong_calls():
    with pytest.raises(TypeError, match=r"add\(\) missing required argument: 'self'"):
        pkg.explain(pkg.add)
    with pytest.raises(TypeError, match="expected an op, such as pkg.add"):
        pkg.explain(pkg.nonzero, pkg.ones(2))
    with pytest.raises(TypeError, match=r"method 'add' of a tensor.*\(\"add\", tensor"):
        pkg.explain(pkg.ones(2).add, 2)
    with pytest.raises(pkg.OpLookupError, match="No op registered: pkg::nope"):
        pkg.explain("nope")
    with pytest.raises(pkg.OpLookupError, match="No op registered: mine::add"):
        pkg.explain("mine::add", pkg.ones(2))
