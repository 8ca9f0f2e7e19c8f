# SPDX-License-Identifier: Apache-2.0
"""The modules of pkg/ import downwards only, in functions too, and never in a circle.

cpp/ has the same rule for its includes: test_house.py.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

from paths import ROOT

PACKAGE = ROOT / "pkg"
# Top to bottom.  A module or subpackage imports from lines below its own; docs/
# architecture.md shows this list.  The line "pkg" is pkg/__init__.py.
LAYERS = """
    __main__
    cli
    pkg
    compat distributed library utils datasets models
    framework
    optim graph
    nn data serialization testing
    autograd functional
    exchange printing random
    arrays config generator linalg numpy_functions type_info
    dlpack nested ops
    _symbols build explaining profiler scheduler tensor
    _binding _version cuda files pages swigkit sysconfig
    _trace
    _symbol_table
"""
LEVEL = {
    name: -line
    for line, names in enumerate(LAYERS.strip().splitlines())
    for name in names.split()
}
WRITTEN_BY_THE_BUILD = {"pkg.pywrap_core"}  # and type stubs, which never run


def module_name(path: Path) -> str:
    """pkg/nn/init.py is pkg.nn.init, pkg/nn/__init__.py is pkg.nn."""
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


# rglob does not follow links, and swigkit is one.
FILES = {*PACKAGE.rglob("*.py"), *(PACKAGE / "swigkit").rglob("*.py")}
MODULES = {module_name(path): path for path in sorted(FILES)}


def statements(node: ast.AST) -> Iterator[ast.Import | ast.ImportFrom]:
    """Imports that may run, in functions too: not those for type checkers."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.If) and "TYPE_CHECKING" in ast.unparse(child.test):
            for other in child.orelse:
                yield from statements(other)
        elif isinstance(child, ast.Import | ast.ImportFrom):
            yield child
        else:
            yield from statements(child)


def imported(text: str, package: str) -> set[str]:
    """The modules of pkg that a module with this text in this package imports."""
    found = set()
    for node in statements(ast.parse(text)):
        if isinstance(node, ast.Import):
            found |= {name.name for name in node.names}
            continue
        base = node.module or ""
        if node.level:
            above = package.split(".")[: len(package.split(".")) - node.level + 1]
            base = ".".join([*above, *([base] if base else [])])
        whole = (f"{base}.{name.name}" for name in node.names)
        found |= {name if name in MODULES else base for name in whole}
    return {name for name in found if name.split(".")[0] == "pkg"}


def package_of(name: str) -> str:
    """What a relative import in the module starts from."""
    package = MODULES[name].name == "__init__.py"
    return name if package else name.rpartition(".")[0]


def arrows() -> dict[str, set[str]]:
    """What each module imports."""
    return {
        name: imported(path.read_text(encoding="utf-8"), package_of(name))
        for name, path in MODULES.items()
        if name not in WRITTEN_BY_THE_BUILD
    }


def unit(name: str) -> str:
    """The module's name in LAYERS: its first part below pkg."""
    return name.split(".")[1] if "." in name else "pkg"


def wrong_arrow(name: str, target: str) -> bool:
    """Whether the import goes up or sideways, other than inside one subpackage."""
    here, there = unit(name), unit(target)
    inside = here == there and here != "pkg"
    return not inside and LEVEL[there] >= LEVEL[here]


def test_every_module_has_its_layer() -> None:
    """And every name in the list is a module."""
    units = {unit(name) for name in MODULES if name not in WRITTEN_BY_THE_BUILD}
    assert units == set(LEVEL)


def test_imports_point_down() -> None:
    """Module-level imports and late ones alike."""
    wrong = [
        f"{name} imports {target}"
        for name, targets in arrows().items()
        for target in sorted(targets)
        if target.split(".")[-1] not in ("_pywrap_core", "_op_types")
        and wrong_arrow(name, target)
    ]
    assert not wrong, "\n".join(wrong)


def test_no_circles() -> None:
    """Inside the subpackages neither."""
    sorter = TopologicalSorter(arrows())
    try:
        sorter.prepare()
    except CycleError as error:
        pytest.fail(f"a circle of imports: {' -> '.join(error.args[1])}")


def test_wrong_arrows_would_be_found() -> None:
    """Late ones, relative ones, and those of names that are modules."""
    late = "def f():\n    from .functional import unique\n"
    assert imported(late, "pkg") == {"pkg.functional"}
    assert wrong_arrow("pkg.tensor", "pkg.functional")
    assert imported("from .. import ops, __version__", "pkg.nn") == {"pkg.ops", "pkg"}
    assert wrong_arrow("pkg.nn.init", "pkg") and not wrong_arrow("pkg.nn", "pkg.ops")
    assert wrong_arrow("pkg.exchange", "pkg.printing")
    typing = "if TYPE_CHECKING:\n    from .nn import Module\n"
    assert imported(typing, "pkg") == set()


def test_the_architecture_page_shows_the_layers() -> None:
    """The same list, line for line."""
    page = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    assert LAYERS.strip("\n") in page
