# SPDX-License-Identifier: Apache-2.0
"""The generated benchmark: no op is missing, cells differ, wrong calls are told."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from paths import ROOT


def generated(*arguments: str, **more: object) -> subprocess.CompletedProcess:
    """The generated benchmark, run as a command."""
    program = ROOT / "tests" / "benchmarks" / "generated.py"
    command = [sys.executable, str(program), *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=300, **more)


def cover():
    """The module that knows which ops have cells."""
    sys.path.insert(0, str(ROOT / "tests" / "benchmarks"))
    try:
        from cells import cover
    finally:
        sys.path.pop(0)
    return cover


def test_every_public_op_has_cells_or_a_reason_to_have_none() -> None:
    """A new op that no recipe of tests/benchmarks/cells/ names fails here."""
    assert cover().uncovered() == []
    assert cover().stale() == []  # nor does a recipe name what is no op
    timed = {op for made in cover().recipes() for op in made.ops}
    assert not timed & set(cover().reasons())


def test_a_row_of_the_table_is_enough() -> None:
    """A new elementwise op gets its cells from the row that it must have anyway."""
    from op_table import Row

    made = cover().derived(Row("new_op", abs, 2))
    cells = list(cover().cells_of(made, "new_op", (1,)))
    assert {c.call.split("(")[0] for c in cells} == {"T.new_op", "T.autograd.grad"}
    assert len({c.layout for c in cells}) > 5


def test_cells_differ_in_all_that_is_promised() -> None:
    """All sizes, dtypes, layouts, passes and threads of one op, no name twice."""
    cells = cover().population((1, 2))["add"]
    assert len({c.name for c in cells}) == len(cells)
    assert {c.size for c in cells} == {"small", "cache", "memory"}
    assert len({c.dtype for c in cells}) == 8
    layouts = {c.layout.split()[-1] for c in cells}
    assert layouts >= {"dense", "transposed", "stepped", "broadcast", "row", "column"}
    assert {c.way for c in cells} == {"forward", "forward and backward"}
    assert {c.threads for c in cells} == {1, 2}


def test_sizes_can_be_drawn() -> None:
    """By the seed alone, between those of the recipe, and others for other seeds."""

    def cells(op: str, seed: str) -> list:
        made = [m for m in cover().recipes() if op in m.ops]
        return [c for m in made for c in cover().cells_of(m, op, (1,), seed)]

    for op in ("cumsum", "mm", "pad"):
        first, again, other = ({c.name for c in cells(op, s)} for s in ("5", "5", "6"))
        assert first == again and first != other
    assert {c.size for c in cells("cumsum", "5")} == {"small", "cache", "memory"}
    views = [c.name for c in cells("unsqueeze", "")]  # which have one size
    assert [c.name for c in cells("unsqueeze", "5")] == views


def test_a_sample_of_all_cells_is_timed(tmp_path: Path) -> None:
    """Twenty of them: rows, page, and the same again by their names."""
    pytest.importorskip("torch")
    kept, page = tmp_path / "rows.json", tmp_path / "page.md"
    drawn = ["--cells", "20", "--seed", "7", "--threads", "1"]
    done = generated(*drawn, "--json", str(kept), "--page", str(page))
    assert done.returncode == 0, done.stderr
    rows = json.loads(kept.read_text())["rows"]
    assert len(rows) == 20 and len({row["op"] for row in rows}) > 15
    assert all(row["ours_us"] > 0 and row["torch_us"] > 0 for row in rows)
    text = page.read_text(encoding="utf-8")
    assert "geometric mean" in text and "## The 30 worst" in text
    again = generated("--list", "--threads", "1", "--only", rows[0]["name"])
    assert again.stdout.splitlines() == [rows[0]["name"]]


def test_a_wrong_result_is_not_timed() -> None:
    """Calls that differ, or that one side refuses, are told and left out."""
    pytest.importorskip("torch")
    sys.path.insert(0, str(ROOT / "tests" / "benchmarks"))
    try:
        import torch
        from cells import timing
        from cells.recipe import recipe
    finally:
        sys.path.pop(0)

    def first(**changed: object):
        made = recipe("pointwise", "add", "T.add(x, 2)", "x:RC", **changed)
        return next(cover().cells_of(made, "add", (1,)))

    assert len(timing.prepare(first(), torch)) == 2
    with pytest.raises(timing.Wrong, match="values"):
        timing.prepare(first(torch="T.add(x, 3)"), torch)
    with pytest.raises(timing.Wrong, match="shapes"):
        timing.prepare(first(torch="T.sum(x)"), torch)
    with pytest.raises(timing.Refused) as refused:
        timing.prepare(first(torch="T.add(x, 'three')"), torch)
    assert refused.value.sides == ("torch",)


@pytest.mark.parametrize(
    ("ours", "theirs", "clear"), [(1, 10, True), (10, 10, False), (10, 1, False)]
)
def test_a_glance_clears_what_is_ahead_alone(
    ours: int, theirs: int, clear: bool
) -> None:
    """The others are timed in full."""
    code = f"""
import sys, time
sys.path.insert(0, {str(ROOT / "tests" / "benchmarks")!r})
from cells import timing
sides = [timing.Side(lambda n=n: time.sleep(n * 1e-3), lambda: None)
         for n in ({ours}, {theirs})]
seconds = timing.glance(sides)
assert (seconds is not None) == {clear}, seconds
assert seconds is None or seconds[0] < seconds[1], seconds
"""
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)


def test_what_floats_cost_is_said_of_no_integer() -> None:
    """Keys of reasons name dtypes: a part of a name would let bfloat16 be float16."""
    cover()
    from cells.behind import reason

    def of(dtype: str, name: str) -> str:
        row = {"op": "pow", "family": "pointwise", "dtype": dtype, "name": name}
        return reason(row, "NumPy")

    assert "logarithm" in of("float32", "T.pow(x, y) | x 16x32, y 16x32 | float32")
    for dtype in ("uint8", "int64"):
        name = f"T.pow(x, y) | x 16x32, y 16x32 float32 | {dtype}"
        assert of(dtype, name) == "not known yet"
