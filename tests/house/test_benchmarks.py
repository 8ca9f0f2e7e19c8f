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

from paths import ROOT

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
    # What docs/bindings.md owns up to; the package's classes are written by hand.
    assert cannot == {"new attributes on an instance"}


def test_the_page_shows_all(compared: tuple[dict, str]) -> None:
    _, page = compared
    for text in ("## The targets", "`p.norm2()`", "crash (SIGSEGV)", "import, ms"):
        assert text in page
    # The peers were left out: no ratio may be made up.
    assert "| `p.x` | nanobind | 1 |  | missing |" in page


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


def test_the_cost_of_a_stage_is_measured() -> None:
    """By each binding that is there; one that is left out has no ratio."""
    program = ROOT / "tests" / "benchmarks" / "walkthrough" / "costs.py"
    command = [sys.executable, program, "--quick", "--only", "pydemo_int"]
    command += ["--bindings", "kit"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    row = r"^\| `pydemo_int\.add\(1, 2\)` \| [\d.]+ \| - \| - \| - \| - \|$"
    assert re.search(row, done.stdout, re.MULTILINE), done.stdout


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


def test_the_summary_writes_its_table(tmp_path: Path) -> None:
    """Rows that were kept come back as the table of a page, misses marked."""
    rows = [
        {"work": "a + b, 2x2", "ours_us": 0.13, "peer_us": 1.3, "peer": "torch",
         "ratio": 0.1, "target": 0.12},
        {"work": "matmul 512, 1 thread(s)", "ours_us": 2000.0, "peer_us": 1000.0,
         "peer": "numpy", "ratio": 2.0, "target": 1.0},
        {"work": "matmul 128, 1 thread(s)", "ours_us": 1.0, "peer_us": 1.0,
         "peer": "numpy", "ratio": 1.0, "target": 1.0},
        {"work": "import", "ours_us": 5e4, "peer_us": None, "peer": "torch",
         "ratio": None, "target": None},
    ]  # fmt: skip
    kept, page = tmp_path / "rows.json", tmp_path / "page.md"
    ten = tmp_path / "ten.md"
    kept.write_text(json.dumps({"machine": "here", "rows": rows}))
    page.write_text("before\n<!-- measured -->\nold\n<!-- end -->\nafter\n")
    ten.write_text("<!-- measured: ten -->\nold\n<!-- end -->\n")
    program = ROOT / "tests" / "benchmarks" / "summary.py"
    command = [sys.executable, program, "--from", kept, "--write", page, ten]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "2 of 3 targets reached" in done.stdout
    assert page.read_text().splitlines() == [
        "before",
        "<!-- measured -->",
        "",
        "here",
        "",
        "| work | ours | peer | | ratio | target |",
        "|---|---:|---:|---|---:|---:|",
        "| a + b, 2x2 | 130 ns | 1.3 us | torch | 0.10 | 0.12 |",
        "| matmul 512, 1 thread(s) | 2 ms | 1 ms | numpy | **2.00** | 1 |",
        "| import | 50 ms | not installed | torch |  |  |",
        "",
        "Bold: the target is missed.",
        "",
        "<!-- end -->",
        "after",
    ]
    rows = [line for line in ten.read_text().splitlines() if line.startswith("| ")]
    assert [row.split(" | ")[0] for row in rows] == ["| work", "| a + b, 2x2"]


def test_the_readme_has_ten_rows_of_the_page() -> None:
    """Written by one command, from one run."""
    page = (ROOT / "docs" / "measured.md").read_text(encoding="utf-8")
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    marked = readme.split("<!-- measured: ten -->\n", 1)[1].split("<!-- end -->", 1)[0]
    rows = [line for line in marked.splitlines() if line.startswith("| ")]
    assert len(rows) == 11 and set(rows) <= set(page.splitlines())
