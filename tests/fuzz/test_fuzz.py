# SPDX-License-Identifier: Apache-2.0
"""The fuzzer of ops: a short run with fixed seeds, and that it would find faults."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import pkg
from child import child_environment, run_child
from fuzz import judge, ops, report, text
from fuzz.check import Checker
from fuzz.generate import Call, generate
from fuzz.schema import schemas
from fuzz.shrink import shrink, still_found
from fuzz.values import Data
from pkg._binding import core

FUZZ = Path(__file__).resolve().parent
KINDS = (
    "accepted", "memory", "refused", "value", "dtype", "shape", "requires_grad", "grad",
    "grad accepted", "grad refused", "grad dtype", "grad shape", "grad requires_grad",
    "layout", "meta", "meta accepts", "digits", "in place", "names no op",
)  # fmt: skip


def fuzz(*arguments):
    """The command; returns its exit status and what it printed."""
    done = subprocess.run(
        [sys.executable, str(FUZZ / "ops.py"), *arguments],
        env=child_environment(),
        capture_output=True,
        text=True,
        timeout=120,
    )
    return done.returncode, done.stdout + done.stderr


def test_short_run():
    """A few thousand calls of every op find nothing, as far as no peer is needed."""
    status, said = fuzz("--calls", "6000", "--seed", "20261122", "--no-torch")
    assert "6000 calls" in said, said
    assert status == 0, said
    assert "never succeed" not in said, said


def test_case_is_the_same_again():
    """The number of a case is all that it takes."""
    for op in list(schemas())[::7]:
        assert text.line(generate(op, "3.5")) == text.line(generate(op, "3.5"))
    status, said = fuzz("--case", "add:20261122.3", "--no-torch")
    assert status == 0 and text.line(generate("add", "20261122.3")) in said


def test_schemas_are_read_whole():
    """The schema of every op is understood, with names and defaults."""
    found = [s for overloads in schemas().values() for s in overloads]
    assert len(found) == sum(
        len(core.Operator(name, "pkg").schemas) for name in core.operator_names("pkg")
    )
    conv = schemas()["conv2d"][0]
    stride = conv.param("stride")
    assert stride.list and stride.length == 2 and stride.default == [1, 1]
    assert schemas()["add_"][0].params[0].written
    assert schemas()["index"][0].param("indices").optional_item


def test_line_makes_the_call():
    """What is printed is Python that gives the call's result."""
    compared = 0
    checker = Checker(torch=False)
    for call in calls_of("add", 60):
        line = text.line(call)
        out = checker.run_ours(call)
        if "numbers(" in line or "; " in line or "object" in line or out.error:
            continue
        names = {"pkg": pkg, "np": np, "nan": np.nan, "inf": np.inf}
        again = judge.results(eval(line, names), core.Tensor)  # noqa: S307
        assert judge.form(out.results, again) is None, line
        compared += 1
    assert compared > 10


def calls_of(op, count):
    """Calls that take little memory: this process has no limit."""
    for number in range(count):
        call = generate(op, f"1.{number}")
        if all(data.numel < 100_000 for data in call.tensors()):
            yield call


class Wrong(Checker):
    """A checker whose ops are those of pkg, but for one."""

    def __init__(self, op, function):
        super().__init__(torch=False)
        self.wrong = op, function

    def function(self, call):
        name, function = self.wrong
        return function if call.op == name else super().function(call)


def kinds_found(checker, op, calls=300):
    """Kinds of findings, each with a call."""
    found = {}
    for call in calls_of(op, calls):
        for kind, said in checker.check(call, thorough=True)[1]:
            found.setdefault(kind, (call, kind, said))
    return found


class Spoiled(Checker):
    """A checker whose results, or gradients, are wrong by half and one, or errors."""

    def __init__(self, kind):
        super().__init__(torch=True)
        self.kind = kind
        self.spoils_gradients = kind == "grad"
        self.compared = False

    def run_ours(self, call, read=True):
        out = super().run_ours(call, read)
        if self.kind == "value":
            self.spoil(out.results)
        elif self.kind == "refused" and out.error is None:
            self.compared = True
            out.error = NotImplementedError(f"[{call.op}] expected others, got these")
        return out

    def gradients(self, outcome, torch, *way):
        found = super().gradients(outcome, torch, *way)
        if self.spoils_gradients and isinstance(found, list):
            if torch is None:
                self.spoil(found)
            else:
                self.compared = True
        return found

    def spoil(self, results):
        for result in results:
            array = result.array
            if array is None:
                continue
            self.compared |= not self.spoils_gradients
            if array.dtype == bool:
                result.array = ~array
            elif array.dtype.kind == "f":
                with np.errstate(all="ignore"):
                    more = 1 if self.spoils_gradients else 0  # most zeros are right
                    result.array = (array * 1.5 + more).astype(array.dtype)
            else:
                result.array = array + array.dtype.type(1)


def overlooked(op, checker, kind, calls):
    """Whether wrong results of an op are nothing new in so many calls."""
    rows = [row for row in report.known_differences() if kind in row.kinds]
    checker.compared = False
    for call in calls_of(op, calls):
        if call.kind != "plausible" or any(d.meta for d in call.tensors()):
            continue
        if kind == "grad" and not any(d.grad for d in call.tensors()):
            continue
        for found, said in checker.check(call)[1]:
            head = said.partition(" | ")[0]
            if found == kind and not any(r.covers(op, found, head) for r in rows):
                return False
    return checker.compared


@pytest.mark.parametrize("kind, calls", [("value", 60), ("grad", 50), ("refused", 60)])
def test_faults_are_no_known_differences(kind, calls):
    """Wrong results and errors of every op that PyTorch has."""
    pytest.importorskip("torch")
    checker = Spoiled(kind)
    checked = [
        op
        for op, overloads in schemas().items()
        if not op.startswith("_") and not any(s.random for s in overloads)
        if checker.torch.op(Call(op, overloads[0])) is not None
    ]
    assert len(checked) > 300
    assert not [op for op in checked if overlooked(op, checker, kind, calls)]


def dense_only(x):
    """exp that takes the strides of its input for those of a dense tensor."""
    if isinstance(x, pkg.Tensor) and not x.is_contiguous() and x.numel() > 1:
        return (x + 1).exp()
    return pkg.exp(x)


def no_meta(x):
    """exp that gives another dtype on Meta."""
    on_meta = isinstance(x, pkg.Tensor) and x.device.type == "meta"
    return pkg.exp(x).to(pkg.float64) if on_meta else pkg.exp(x)


def internal(x):
    """exp that breaks a promise."""
    raise core.InternalError("[exp] broken")


@pytest.mark.parametrize(
    "function, kind",
    [(dense_only, "layout"), (no_meta, "meta"), (internal, "internal")],
)
def test_faults_are_found(function, kind):
    """Faults that were put in, one for each way to see them."""
    assert kind in kinds_found(Wrong("exp", function), "exp")


def test_faults_are_shrunk():
    """A finding becomes a short line."""
    checker = Wrong("exp", dense_only)
    call, kind, said = kinds_found(checker, "exp")["layout"]
    small = shrink(call, still_found(checker, kind, said))
    assert isinstance(small.args[0], Data)
    assert small.args[0].numel <= call.args[0].numel
    assert "layout" in dict(checker.check(small)[1])


def test_death_is_told(tmp_path):
    """A child that ends, or does not end, gives the case it was at."""
    status, said, _, _ = run_child(f"""
        import os, sys, time
        sys.path[:0] = [{str(FUZZ.parent)!r}]
        from fuzz.check import Checker
        from fuzz.generate import generate
        from fuzz.shrink import still_dies

        class Dies(Checker):
            def function(self, call):
                return lambda *a, **k: os.abort() if self.dies else time.sleep(9)

        checker = Dies(torch=False)
        call = generate("exp", "1.1")
        for checker.dies in (True, False):
            assert still_dies(checker, 1)(call)
    """)
    assert status == 0, said


def test_a_child_that_does_not_start_is_told(monkeypatch):
    """And the run goes on with the next range."""
    monkeypatch.setattr(sys, "executable", "/bin/false")
    run = ops.Run(ops.options_of(["--calls", "10", "--jobs", "5", "--no-torch"]))
    ops.Job(run).run()
    (kind,) = run.report.new
    assert kind.kind == "fuzzer" and "did not start: crash status 1" in kind.text
    assert kind.ops == {"-": 5} and run.next == 10


def test_known_differences_are_of_ops():
    """Each row of docs/differences.md names ops and kinds that there are."""
    rows = report.known_differences()
    for row in rows:
        for pattern in row.ops:
            assert any(report.fnmatch.fnmatchcase(op, pattern) for op in schemas()), (
                pattern
            )
        assert set(row.kinds) <= set(KINDS) and row.texts and row.why, row


def test_known_differences_are_put_aside(tmp_path):
    """Rows cover findings of their ops, kinds and texts, and none that is a crash."""
    page = tmp_path / "page.md"
    page.write_text(
        "| ops | kind | text | why |\n|---|---|---|---|\n"
        "| `hyp*`, `exp` | accepted, value | `OP[1] is * here` | because |\n"
    )
    (row,) = report.known_differences(page)
    assert row.covers("hypot", "accepted", "OP[1] is not here")
    assert not row.covers("hypot", "refused", "OP[1] is not here")
    assert not row.covers("log", "value", "OP[1] is not here")
    found = report.Report()
    found.known = [row]
    assert found.add("exp", "value", "OP[1] is a here | 1 for 2").known is row
    assert found.add("exp", "crash", "OP[1] is a here").known is None
    assert [kind.kind for kind in found.new] == ["crash"]


def test_rounding_is_no_difference():
    """Errors of the last digits pass, others and NaN do not."""
    want = np.array([1.0, 1000.0, np.nan], "float32")
    assert judge.near(want * np.float32(1 + 1e-7), want, "float32") is None
    assert judge.near(want * np.float32(1.001), want, "float32")
    assert judge.near(np.nan_to_num(want), want, "float32") == "0.0 for nan"
    assert judge.near(np.array([3]), np.array([4]), "int64") == "3 for 4"


def test_calls_are_plain_data():
    """A call can be printed whatever is in it."""
    for op in schemas():
        for number in range(3):
            call = generate(op, f"9.{number}")
            assert isinstance(call, Call) and text.line(call)
