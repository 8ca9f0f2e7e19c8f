# SPDX-License-Identifier: Apache-2.0
"""Runs the code in README.md and docs/: the pages are the source, nothing is copied.

A fenced block may be marked by a comment on the line before it:

    <!-- file: NAME -->    the block is a file; it is written to the page's folder
    <!-- run -->           a bash block that is run in that folder
    <!-- stanza: FILE -->  (and handle, row) a fragment for a file of the project
    <!-- from: FILE -->    the lines stand so in a file that others compile
    <!-- whole: FILE -->   the block is that file
    <!-- stage: NAME -->   the command that makes this stage, which is run
    <!-- needs: MODULE --> a python block that is run where this can be imported

Python blocks are run in order in one process per page: those with >>> as doctests, the
others as they stand.  Fences of `text` or no language are for the reader only.
"""

from __future__ import annotations

import doctest
import importlib.util
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import pkg
from libraries import library
from pages import FENCE, PAGES, Block, blocks_of
from paths import ROOT, SUPPORT, TESTS

sys.path.append(str(TESTS / "walkthrough"))
import stages  # noqa: E402

from twins import QUICK, kit_environment  # noqa: E402


def fragment(page: str, mark: str) -> str:
    """The text of the one block with this mark."""
    found = [b for b in blocks_of(ROOT / "docs" / page) if b.mark.startswith(mark)]
    assert len(found) == 1, f"{page}: expected one block <!-- {mark} ... -->"
    return found[0].text


def environment(*folders: Path) -> dict[str, str]:
    """A shell in which `python` is this one and finds this pkg, and these folders."""
    path = os.pathsep.join([os.path.dirname(sys.executable), os.environ["PATH"]])
    found = os.pathsep.join(map(str, [Path(pkg.__file__).parents[1], *folders]))
    return {**os.environ, "PATH": path, "PYTHONPATH": found}


def run_page(page: Path) -> None:
    """Runs the blocks of a page in the current folder; the child process of a test."""
    names: dict[str, object] = {"__name__": page.stem}
    runner = doctest.DocTestRunner(
        optionflags=doctest.ELLIPSIS | doctest.REPORT_NDIFF, verbose=False
    )
    for block in blocks_of(page):
        if block.mark.startswith("file: "):
            Path(block.mark[len("file: ") :]).write_text(block.text, encoding="utf-8")
        elif block.mark.startswith("stage: "):
            name = block.mark[len("stage: ") :]
            words = shlex.split(block.text.replace("\\\n", " "))
            assert words == stages.page_command(name), name
            sys.path.insert(0, str(stages.build(name, "kit")))
        elif block.mark == "run":
            subprocess.run(["bash", "-euo", "pipefail", "-c", block.text], check=True)
        elif block.language == "python" and can_run(block):
            if ">>> " in block.text:
                test = doctest.DocTestParser().get_doctest(
                    block.text, names, page.name, str(page), block.line - 1
                )
                runner.run(test, clear_globs=False)
                names.update(test.globs)  # the parser copies them
            else:
                source = "\n" * (block.line - 1) + block.text
                exec(compile(source, str(page), "exec"), names)
    if runner.failures:
        raise SystemExit(f"{page.name}: {runner.failures} examples failed")


def can_run(block: Block) -> bool:
    """Whether it is for running, and what it needs is installed."""
    needed = block.mark.removeprefix("needs: ")
    return not needed or (
        needed != block.mark and importlib.util.find_spec(needed) is not None
    )


def run_child(*args: object, cwd: Path, **env: str) -> str:
    """Output of this file's main part in a process of its own."""
    done = subprocess.run(
        [sys.executable, __file__, *map(str, args)],
        cwd=cwd,
        env={**environment(SUPPORT), **env},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stdout[-6000:]
    return done.stdout


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_code_of_the_page_runs(page: Path, tmp_path: Path) -> None:
    """Every block, in order."""
    marks = [b.mark for b in blocks_of(page)]
    if any(m.startswith(("run", "stage: ")) for m in marks) and not shutil.which("g++"):
        pytest.skip("the page needs g++")
    wraps = any("pkg wrap" in b.text for b in blocks_of(page) if b.mark == "run")
    staged = any(mark.startswith("stage: ") for mark in marks)
    if (wraps or staged) and os.environ.get("PKG_BINDING"):
        pytest.skip("what the kit makes asks for no binding of pkg")
    quick = {}
    if wraps and not staged:  # stages.py does the same
        # No time is measured, and the kit's headers have been read.
        quick = {"CXXFLAGS": f"{QUICK} {kit_environment()['CXXFLAGS']}"}
    run_child("page", page, cwd=tmp_path, **quick)


def test_every_block_is_run_or_meant_to_be_read() -> None:
    """A block of code that nothing runs would rot."""
    known = ("file: ", "from: ", "run", "stanza: ", "handle: ", "row: ", "test-command")
    known += ("needs: ", "whole: ", "stage: ")
    for page in PAGES:
        for block in blocks_of(page):
            where = f"{page.name}:{block.line}"
            assert block.language in ("", "text", "python", "cpp", "c", "bash"), where
            assert not block.mark or block.mark.startswith(known), where
            if block.language == "cpp":
                assert block.mark, f"{where}: C++ that no test compiles"
            if block.mark.startswith("from: "):
                source = (ROOT / block.mark[len("from: ") :]).read_text(
                    encoding="utf-8"
                )
                assert block.text in source, f"{where}: not as in {block.mark}"
            if block.mark.startswith("whole: "):
                source = ROOT / block.mark[len("whole: ") :]
                said = f"{where}: {stages.__file__} --pages makes it the file"
                assert block.text == source.read_text(encoding="utf-8"), said
            if block.language == "c":
                assert page.name == "c_api.md", (
                    f"{where}: only test_c_api.py compiles C"
                )


def test_every_page_of_a_stage_shows_its_files_and_its_command() -> None:
    """Header, source, interface; of what stages share, what the page is about."""
    shown = {
        block.mark
        for page in PAGES
        if page.parent.name == "walkthrough"
        for block in blocks_of(page)
    }
    for name in stages.NAMES:
        own = f"docs/walkthrough/stages/{name}/{name}"
        wanted = {f"whole: {own}{suffix}" for suffix in (".h", ".cc", ".i")}
        assert {*wanted, f"stage: {name}"} <= shown, name


def test_links_between_pages_lead_somewhere() -> None:
    """Relative links, and files and folders of the tree named in code quotes."""
    for page in PAGES:
        text = FENCE.sub("", page.read_text(encoding="utf-8"))
        for target in re.findall(r"\]\((?!https?:)([^)#]+)[^)]*\)", text):
            assert (page.parent / target).exists(), f"{page.name}: {target}"
        for name in re.findall(r"`((?:cpp|swig|pkg|tests|docs)/[\w./-]+)`", text):
            if not name.startswith("pkg/lib"):
                assert (ROOT / name).exists(), f"{page.name}: {name}"


def test_every_fault_of_the_walkthrough_has_a_test() -> None:
    """The table of faults.md: all numbers, and tests that exist."""
    page = (ROOT / "docs/walkthrough/faults.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| W(\d+) \|.*\| (.*) \|$", page, re.MULTILINE)
    assert [int(number) for number, _ in rows] == [*range(1, 72), *range(96, 103)]
    sources = [*TESTS.rglob("test_*.py"), *(TESTS / "cpp").glob("*_test.cc")]
    text = "\n".join(source.read_text(encoding="utf-8") for source in sources)
    defined = set(re.findall(r"^def (test_\w+)\(|^TEST\((\w+)\)", text, re.MULTILINE))
    names = {name for pair in defined for name in pair}
    for number, tests in rows:
        named = re.findall(r"`(\w+)`", tests)
        assert named or tests.startswith("none: "), f"W{number}"
        assert set(named) <= names, f"W{number}: {set(named) - names}"
    numbered = {int(n) for n in re.findall(r"^def test_w(\d+)_", text, re.MULTILINE)}
    assert numbered <= {int(n) for n in re.findall(r"`test_w(\d+)_", page)}


def test_sizes_in_the_readme_are_true() -> None:
    """How many ops and how many lines: rounded, and not by much."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    ops = int(re.search(r"more\s+than\s+(\d+) ops", text)[1])
    assert ops < pkg.config.info()["ops"] < ops + 100
    limit = int(re.search(r"less than (\d+),000\s+lines of C\+\+", text)[1]) * 1000
    files = [p for p in (ROOT / "cpp").rglob("*") if p.suffix in (".h", ".cc")]
    lines = sum(len(p.read_text(encoding="utf-8").splitlines()) for p in files)
    assert limit - 3000 < lines < limit


def test_every_environment_variable_is_on_its_page() -> None:
    """Those that the sources read, and no others."""
    read = re.compile(r'(?:getenv\(|environ(?:\.get\(|\[)|\benv\.get\()"(\w+)"')
    found = set()
    for folder in ("cpp", "swig", "pkg", "tests"):
        for path in (ROOT / folder).rglob("*"):
            if path.suffix in (".py", ".cc", ".h", ".i"):
                found |= set(read.findall(path.read_text(encoding="utf-8")))
    found |= set(read.findall((ROOT / "setup.py").read_text(encoding="utf-8")))
    found -= {"PATH", "PYTHONPATH", "PKG_CHILD"}  # the last: a test and its own child
    page = (ROOT / "docs" / "environment.md").read_text(encoding="utf-8")
    assert set(re.findall(r"`([A-Z]+(?:_[A-Z]+)*)`", page)) == found


IN_PROJECT = """\
#include "base/vecmath.h"
#include "ops/loops.h"

namespace pkg::ops {
%(handle)s
namespace {
PKG_LIBRARY_FRAGMENT(pkg, m) {
%(stanza)s
}
}  // namespace
}  // namespace pkg::ops
"""


def compile_in_project(folder: Path, old: str = "", new: str = "") -> Path:
    """The page's stanza and handle as a library for namespace pkg."""
    parts = {m: fragment("add_an_op.md", f"{m}: ") for m in ("stanza", "handle")}
    source = IN_PROJECT % parts
    assert old in source
    path = folder / "added.cc"
    path.write_text(source.replace(old, new), encoding="utf-8")
    return library(path, "-Wall", "-Wextra", "-Werror")


def test_op_added_to_the_project_passes_the_checks_of_its_row(tmp_path: Path) -> None:
    """The stanza, handle and row of add_an_op.md, as a fragment of namespace pkg."""
    out = run_child("row", compile_in_project(tmp_path), cwd=tmp_path)
    assert "squash: 2 dtypes and the gradient" in out


def check_row(library: str) -> None:
    """The checks of test_ops.py and test_autograd.py on the page's row."""
    sys.path[:0] = [str(TESTS / "ops"), str(TESTS / "autograd")]
    import test_autograd
    import test_ops

    import op_table

    pkg.ops.load_library(library)
    (row,) = eval(f"[{fragment('add_an_op.md', 'row: ')}]", vars(op_table))
    assert row.name in dict(pkg.ops.functions()) and hasattr(pkg.Tensor, row.name)
    assert row.name not in {r.name for r in op_table.ELEMENTWISE}
    for dtype in row.dtypes:
        test_ops.test_values_and_layouts(row, dtype)
    test_ops.test_large_input_is_split_over_threads(row)
    test_autograd.test_elementwise_gradients(row)
    print(f"{row.name}: {len(row.dtypes)} dtypes and the gradient")


def test_wrong_gradient_would_be_found(tmp_path: Path) -> None:
    """The check of the row is one that can fail."""
    wrong = compile_in_project(tmp_path, "x * x, 1.5", "x * x, 0.5")
    with pytest.raises(AssertionError, match="Not equal to tolerance"):
        run_child("row", wrong, cwd=tmp_path)


if __name__ == "__main__":
    if sys.argv[1] == "page":
        run_page(Path(sys.argv[2]))
    else:
        check_row(sys.argv[2])
