# SPDX-License-Identifier: Apache-2.0
"""The names of the article: the op library, _allreduce, versions that are installed."""

import inspect
import json
import sysconfig
import warnings

import pytest

import pkg
import pkg.distributed as hvd
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
    code = compile("path('data')", str(tmp_path / "caller.py"), "eval")
    found = eval(code, {"path": compat.get_path_to_datafile})
    assert found == str(tmp_path / "data")


def test_the_article_s_way_to_load_keeps_the_cause(tmp_path, monkeypatch):
    """try, except check and raise: the error is that of loading, or comes from it."""
    metadata = tmp_path / "metadata.json"
    monkeypatch.setattr(versions, "METADATA", str(metadata))
    (tmp_path / "broken.so").write_text("no library")
    source = """
try:
    lib = load("broken.so")
except Exception as e:
    check("tensorflow", "2.0", e)
    raise e
"""
    code = compile(source, str(tmp_path / "caller.py"), "exec")
    names = {"load": compat._load_library, "check": compat.check_installed_version}
    for text in (None, "[]", "{}", "\xff", json.dumps({"tensorflow": "2.0"})):
        if text is not None:
            metadata.write_text(text, encoding="latin-1")
        with pytest.raises(graph.errors.NotFoundError, match="broken.so"):
            exec(code, dict(names))
    metadata.write_text(json.dumps({"tensorflow": "1.15"}))
    with pytest.raises(compat.HorovodVersionMismatchError) as raised:
        exec(code, dict(names))
    assert isinstance(raised.value.__cause__, graph.errors.NotFoundError)


def test_what_stands_in_a_graph_runs_with_its_factors():
    """In a world of one; all of them by keyword."""
    hvd.init()
    with graph.Graph().as_default() as g:
        x = graph.placeholder(pkg.float64, (2,), "x")
        y = compat._allreduce(
            tensor=x, name="y", op=hvd.Sum, prescale_factor=1 / 3,
            postscale_factor=3.0, ignore_name_scope=True,
        )  # fmt: skip
    with graph.Session(graph=g) as session:
        assert session.run(y, {x: [1.0, 2.0]}).tolist() == [1.0, 2.0]
    hvd.shutdown()
    with pytest.raises(pkg.distributed.HorovodInternalError, match="shut down"):
        compat._allreduce(pkg.ones(1)).wait()


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
