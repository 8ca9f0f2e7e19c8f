# SPDX-License-Identifier: Apache-2.0
"""The benchmarks run and tell the truth about what is missing; no time is asserted."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
BINDINGS = ROOT / "tests" / "benchmarks" / "bindings"
OWN = ["swig_ours", "swig_default", "swig_builtin", "capi"]  # need no other package

pytestmark = pytest.mark.skipif(
    bool(os.environ.get("PKG_BINDING")),
    reason="builds its own extensions; the package's binding takes no part",
)


@pytest.fixture(scope="module")
def compared(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict, str]:
    """The data and the page of a short run without the other tools."""
    file = tmp_path_factory.mktemp("compare") / "data.json"
    command = [sys.executable, BINDINGS / "compare.py", "--quick", "--json", file]
    done = subprocess.run(
        [*command, "--only", *OWN],
        cwd=file.parent,
        capture_output=True,
        encoding="utf-8",
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(file.read_text()), done.stdout


def test_every_call_is_timed(compared: tuple[dict, str]) -> None:
    data, _ = compared
    for call, result in data["calls"].items():
        absent = set(result["unsupported"])
        assert absent <= {"swig_builtin"}, call  # the others can make every call
        assert all(result["ns"][name] > 0 for name in set(OWN) - absent)
    assert data["calls"]["add(a=1.0, b=2.0)"]["unsupported"]


def test_our_settings_keep_what_they_promise(compared: tuple[dict, str]) -> None:
    answers = compared[0]["answers"]["swig_ours"]
    cannot = {
        what for what, said in answers.items() if said.startswith(("no", "crash"))
    }
    # The faults of SWIG's classes that docs/bindings.md owns up to; the package's
    # classes are written by hand and have none of them.
    assert cannot == {
        "`inspect.signature` shows the names",
        "reference cycles are collected",
        "objects give back their class reference",
    }


def test_the_page_shows_all(compared: tuple[dict, str]) -> None:
    _, page = compared
    for text in ("## The targets", "`p.norm2()`", "crash (SIGSEGV)", "import, ms"):
        assert text in page
    # The peers were left out: no ratio may be made up.
    assert "| `p.x` | nanobind | 1.0 |  | missing |" in page


def test_a_missing_tool_is_shown(tmp_path: Path) -> None:
    script = (
        "import sys; sys.path.insert(0, sys.argv[1])\n"
        "sys.modules['pybind11'] = None\n"
        "import compare, pathlib\n"
        "v = next(v for v in compare.all_variants() if v.name == 'pybind11')\n"
        "print(compare.build(v, pathlib.Path('x'), 1)['missing'])"
    )
    command = [sys.executable, "-c", script, str(BINDINGS)]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.stdout.startswith("missing: pybind11 is not installed"), done.stderr


def test_the_walkthrough_is_measured() -> None:
    """A short run has the rows of the published pages, in their order."""
    pytest.importorskip("pybind11")
    program = ROOT / "tests" / "benchmarks" / "walkthrough" / "measure.py"
    command = [sys.executable, program, "--quick"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    pages = sorted((ROOT / "docs" / "walkthrough").glob("[1-7]_*.md"))
    published = "".join(page.read_text(encoding="utf-8") for page in pages)

    def works(text: str) -> list[str]:
        rows = re.findall(r"^\| ([^|]*) \|[^|]+\|[^|]+\|$", text, re.MULTILINE)
        # Sizes and counts are smaller in a short run.
        return [re.sub(r"[\d,]+", "#", row) for row in rows]

    assert works(done.stdout) == works(published)


def test_the_published_page_is_of_this_program() -> None:
    """Every call and question of the program stands in docs/bindings.md, no other."""
    sys.path.insert(0, str(BINDINGS))
    try:
        from calls import CALLS
        from probes import PROBES, WRONG
    finally:
        sys.path.remove(str(BINDINGS))
    page = (ROOT / "docs" / "bindings.md").read_text(encoding="utf-8")

    def first_column(heading: str) -> list[str]:
        part = page.split(f"## {heading}\n", 1)[1].split("\n## ", 1)[0]
        rows = [line for line in part.splitlines() if line.startswith("| ")]
        return [row.split(" | ")[0].removeprefix("| ") for row in rows[1:]]

    assert first_column("Nanoseconds per call") == [f"`{c.name}`" for c in CALLS]
    assert first_column("What works, tried here") == list(PROBES)
    assert [line for line in WRONG if f"\n`{line}`\n" not in page] == []
    assert (
        "missing: " not in page and "| missing |" not in page
    )  # it was written with every tool at hand
