# SPDX-License-Identifier: Apache-2.0
"""The names of the article: the op library, _allreduce, versions that are installed."""

import inspect
import json
import sysconfig
import warnings

import pytest

from pkg import graph
from pkg.distributed import compat, versions


def test_allreduce_has_six_parameters():
    found = inspect.signature(compat._allreduce).parameters.values()
    assert [(p.name, p.default) for p in found] == [
        ("tensor", inspect.Parameter.empty), ("name", None), ("op", 1),
        ("prescale_factor", 1.0), ("postscale_factor", 1.0),
        ("ignore_name_scope", False),
    ]  # fmt: skip


def test_names_of_nodes_follow_from_those_of_tensors():
    assert compat._normalize_name("a/b:0-é.") == "a_b_0___"
    with graph.Graph().as_default() as g:
        x = graph.constant([1.0, 2.0])
        first, second = compat._allreduce(x), compat._allreduce(x)
        with g.name_scope("s"):
            third = compat._allreduce(x, name="mine", ignore_name_scope=True)
    assert first.op.name == "HorovodAllreduce_Const_0"
    assert (
        second.op.name == "HorovodAllreduce_Const_0_1"
    )  # another name for the ranks, too
    assert third.op.name == "s/mine"
    names = [
        dict(op.get_attr("name") and {"name": op.get_attr("name")})["name"]
        for op in (first.op, second.op, third.op)
    ]
    assert names == [first.op.name, second.op.name, "s/mine"]


def test_a_library_is_looked_for_beside_the_caller(tmp_path):
    assert compat.get_ext_suffix() == sysconfig.get_config_var("EXT_SUFFIX")
    with pytest.raises(graph.errors.NotFoundError, match=str(tmp_path)):
        code = compile("load('mpi_lib.so')", str(tmp_path / "caller.py"), "eval")
        eval(code, {"load": compat._load_library})


def test_versions_are_compared(tmp_path, monkeypatch):
    cause = OSError("undefined symbol")
    metadata = tmp_path / "metadata.json"
    monkeypatch.setattr(versions, "METADATA", str(metadata))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        compat.check_installed_version(
            "tensorflow", "2.0", cause
        )  # nothing was written
        metadata.write_text("[")
        compat.check_installed_version("tensorflow", "2.0", cause)
        metadata.write_text(json.dumps({"tensorflow": "1.15"}))
        compat.check_installed_version("tensorflow", "1.15", cause)
    with pytest.raises(versions.HorovodVersionMismatchError) as raised:
        compat.check_installed_version("tensorflow", "2.0", cause)
    error = raised.value
    assert error.__cause__ is cause
    assert (error.name, error.version, error.installed_version) == (
        "tensorflow", "2.0", "1.15",
    )  # fmt: skip
    with pytest.warns(UserWarning, match="1.15 but found version 2.0.*pip install"):
        compat.check_installed_version("tensorflow", "2.0")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        compat.check_installed_version("tensorflow", "2.0")  # once
