# SPDX-License-Identifier: Apache-2.0
"""PKG_TRACE=calls, in processes of their own: what a program calls, down to C."""

from __future__ import annotations

import re

import pytest

from child import run_child
from pkg._binding import core

SWIG = core.__name__ == "pkg._pywrap_core"
MODULE = core.__name__
LINE = re.compile(r"calls: \S+ -> \S+ -> .+")


def lines_of(code, **env):
    """(what the program printed, its lines of calls as triples)."""
    status, out, err, _ = run_child(code, PKG_TRACE="calls", **env)
    lines = err.splitlines()
    assert status == 0 and all(LINE.fullmatch(line) for line in lines), err
    split = [tuple(line[len("calls: ") :].split(" -> ")) for line in lines]
    return out, [(python, wrapper.removeprefix(f"{MODULE}."), behind)
                 for python, wrapper, behind in split]  # fmt: skip


def test_a_run_is_shown_from_the_session_to_the_c_function():
    """Making, running and closing; in the order of the calls."""
    code = """
    import pkg
    import pkg.graph as pg

    x = pg.placeholder(pkg.float32, [2], "x")
    y = x * 2
    with pg.Session() as session:
        print(session.run(y, {x: pkg.ones(2)}).tolist())
    """
    out, lines = lines_of(code)
    assert out == "[2.0, 2.0]\n"
    run = "pkg.graph.sessions.Session."
    wanted = [
        ("pkg.graph.functions.placeholder", "GraphHandle", "pkg_graph_new"),
        ("pkg.graph.functions.placeholder", "GraphHandle.placeholder",
         "pkg_graph_placeholder"),
        (f"{run}__init__", "SessionHandle", "pkg_session_new"),
        (f"{run}run", "SessionHandle.make_callable", "pkg_session_make_callable"),
        (f"{run}run", "CallableHandle.run", "pkg_callable_run"),
        (f"{run}__exit__", "SessionHandle.close", "pkg_session_close"),
    ]  # fmt: skip
    assert [line for line in lines if line in wanted] == wanted
    # Of an object without a row the class is shown, of a call outside pkg its own name.
    multiplied = [line for line in lines if line[1] == "Tensor.__mul__"]
    behind = "class pkg::Tensor" if SWIG else "C++"
    assert multiplied == [("Tensor.__mul__", "Tensor.__mul__", behind)]


def test_wrappers_of_ops_are_shown():
    """By the name of the function that they have, which they call as without."""
    code = """
    import pkg
    from pkg._binding import core

    def negated(x, name=None):
        return type(x).__name__

    f = core.OpWrapper(negated, "pkg::neg", {"x": "self"})
    print(f(x=pkg.ones(1)).tolist(), f([1.0]))
    """
    out, lines = lines_of(code)
    assert out == "[-1.0] list\n"
    wanted = ("__main__.negated", "OpWrapper", "pkg::neg")
    assert lines.count(wanted) == 2


def test_ops_functions_and_methods_are_shown_and_work_as_without():
    """Values, errors, and what programs ask of the objects."""
    code = """
    import inspect
    import pkg
    from pkg._binding import core

    x = pkg.add(pkg.ones(2, requires_grad=True), 1)
    assert x.mul(3).tolist() == [6.0, 6.0] and (1 - x).tolist() == [-1.0, -1.0]
    assert isinstance(pkg.add, core.Operator) and pkg.add.schemas and pkg.add.__doc__
    assert isinstance(pkg.graph.Graph()._handle, core.GraphHandle)
    assert str(inspect.signature(core.shutdown)) == "(seconds=10.0)"
    pkg.manual_seed(3)
    assert pkg.scheduler.submit(lambda: 5).result() == 5
    try:
        pkg.add(x, "a")
    except TypeError as error:
        print(error)
    x.sum().backward()
    """
    out, lines = lines_of(code)
    assert "expected a Tensor or a number for 'other', got str" in out
    assert lines[0] == ("pkg.ones", "Operator", "pkg::ones")
    assert lines[1] == ("pkg.add", "Operator", "pkg::add")
    assert ("pkg.mul", "Operator", "pkg::mul") in lines
    by_wrapper = {wrapper: (python, behind) for python, wrapper, behind in lines}
    assert by_wrapper["Tensor.__rsub__"][0] == "Tensor.__rsub__"
    assert by_wrapper["_backward"][0] == "pkg.tensor.Tensor.backward"
    python, behind = by_wrapper["manual_seed"]
    assert python == "pkg.random.manual_seed"
    seed = "void pkg::settings::manual_seed(int64_t)"
    assert behind == (seed if SWIG else "C++")


@pytest.mark.skipif(not SWIG, reason="the table is SWIG's")
def test_what_stands_for_ops_and_classes_can_be_copied():
    """copy asks for attributes before there are any; ops have no deep copies."""
    code = """
    import copy
    import pkg
    from pkg._binding import core

    assert copy.copy(pkg.add)(pkg.ones(2), 1).tolist() == [2.0, 2.0]
    made = copy.copy(core.GraphHandle)
    assert isinstance(pkg.graph.Graph()._handle, made)
    try:
        copy.deepcopy(pkg.add)
    except TypeError as error:
        print(error)
    """
    out, _ = lines_of(code)
    assert "Operator" in out


@pytest.mark.skipif(not SWIG, reason="the table is SWIG's")
def test_what_is_behind_is_what_the_table_says():
    """One source: each line's last part is in the row of pkg.symbols()."""
    code = """
    import pkg
    rows = {row.name: row for row in pkg.symbols()}
    for name in ("num_threads", "isa_name", "pending_tasks", "failed_operation"):
        getattr(pkg._binding.core, name)()
        print(name, "|", ", ".join(rows[name].c_functions) or rows[name].signature)
    """
    out, lines = lines_of(code)
    rows = dict(line.split(" | ") for line in out.splitlines())
    assert {w: behind for _, w, behind in lines if w in rows} == rows and len(rows) == 4


def test_without_the_variable_nothing_is_replaced():
    """Nor is the module loaded that would; a wrong value is refused."""
    code = """
    import sys
    import pkg
    from pkg._binding import core
    assert "pkg._trace" not in sys.modules
    assert not hasattr(core.num_threads, "__wrapped__")
    assert pkg.ones(2).sum().item() == 2
    """
    assert run_child(code, PKG_TRACE="")[:3] == (0, "", "")
    status, _, err, _ = run_child("import pkg", PKG_TRACE="ops")
    text = "[pkg] expected 'calls', got 'ops' (PKG_TRACE=ops). Unset PKG_TRACE to"
    assert status == 1 and text in err
