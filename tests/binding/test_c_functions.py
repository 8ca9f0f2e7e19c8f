# SPDX-License-Identifier: Apache-2.0
"""Each function of c_api.h is called by the binding, or its reason is in the list.

The list is UNCALLED of docs/programs/symbols_page.py, which docs/symbols.md shows.
"""

from __future__ import annotations

import re
import sys

from c_header import declared, exported
from paths import ROOT
from pkg import _symbol_table
from pkg._binding import core

sys.path.append(str(ROOT / "docs" / "programs"))

import symbols_page  # noqa: E402

CALLED = _symbol_table.c_functions_of(core)


def called() -> set[str]:
    """All C functions of the table."""
    return {name for names in CALLED.values() for name in names}


def test_every_c_function_is_called_or_has_its_reason():
    """By exactly one line of the list; the table has no function that is not there."""
    functions = exported()
    assert functions == declared() and len(functions) > 100
    assert called() <= functions
    covered: list[str] = []
    for group, reason in symbols_page.UNCALLED.items():
        assert reason
        for pattern in group.split():
            shape = re.compile(pattern.replace("*", r"\w+"))
            found = {f for f in functions - called() if shape.fullmatch(f)}
            assert found, f"{pattern}: no function is meant"
            covered += found
    assert sorted(covered) == sorted(functions - called())


def test_the_table_is_of_calls_as_the_source_has_them():
    """graph_handles.cc calls C functions by PKG_C alone; each caller is a name."""
    source = (ROOT / "cpp" / "c_api" / "graph_handles.cc").read_text(encoding="utf-8")
    marked = set(re.findall(r"\bPKG_C\((pkg_\w+)\)\(", source))
    assert marked == called()
    assert not marked & set(re.findall(r"\b(pkg_\w+)\(", source))
    for caller in CALLED:
        owner, _, method = caller.lstrip("~").partition(".")
        assert hasattr(core, owner), caller
        assert not method or callable(getattr(getattr(core, owner), method)), caller
    assert CALLED["SessionHandle"] == ("pkg_session_new",)
    assert CALLED["~SessionHandle"] == ("pkg_session_delete",)
    assert CALLED["CallableHandle.run"] == ("pkg_callable_run",)
    assert CALLED["failed_operation"] == ("pkg_failed_operation",)
    # Every method of these classes but the numbers that C++ makes of handles, and the
    # rows of a plan, which pictures are drawn from.
    classes = [c for c in vars(core) if c.endswith("Handle") and c != "HookHandle"]
    plain = {
        f"{name}.{method}"
        for name in classes
        for method, value in vars(getattr(core, name)).items()
        if not method.startswith("_") and callable(getattr(getattr(core, name), method))
    }
    without = {"CallableHandle.plan", "GraphHandle.id", "OperationHandle.id"}
    assert plain - set(CALLED) == without
