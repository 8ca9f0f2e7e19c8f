# SPDX-License-Identifier: Apache-2.0
"""The kit's type stubs: what NAME.pyi says is true, and mypy understands it."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from kit_modules import CASES, build

from paths import ROOT
from pkg.swigkit.build.python_types import Alias, PythonTypes, parse
from twins import QUICK, kit_environment

HERE = Path(__file__).resolve().parent / "stubs"
pytest.importorskip("mypy", reason="mypy is not installed")


def run(
    *command: object, cwd: Path, path: Path = ROOT, **env: str
) -> subprocess.CompletedProcess:
    """The command's end and output, both streams in one."""
    known = {"PYTHONPATH": str(path), "MYPYPATH": str(path)}
    return subprocess.run(
        [sys.executable, *map(str, command)],
        cwd=cwd,
        env={"PATH": "/usr/bin:/bin", **known, **env},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


@pytest.fixture(scope="module")
def garden() -> Path:
    """The folder of the module and its stub."""
    out = ROOT / "build" / "kit" / f"stubs-{sys.implementation.cache_tag}"
    command = ["swig/kit", "wrap", HERE / "garden.i", QUICK, "--swig-option=-w315,329"]
    done = run(*command, "--out", out, cwd=ROOT, **kit_environment())
    assert done.returncode == 0, done.stdout
    return out


def mypy(garden: Path, *files: object) -> subprocess.CompletedProcess:
    """Strict, with the settings of no project."""
    options = ["--strict", "--config-file=", f"--cache-dir={garden / '.mypy_cache'}"]
    return run("-m", "mypy", *options, *files, cwd=garden, path=garden)


def test_a_program_passes_and_runs(garden: Path) -> None:
    """Its assert_type()s hold for mypy, its asserts when it runs."""
    done = mypy(garden, "garden.pyi", HERE / "program.py")
    assert done.returncode == 0, done.stdout
    done = run(HERE / "program.py", cwd=garden, path=garden)
    assert done.returncode == 0, done.stdout


SIGNATURES = """
import inspect, garden
asked = []
for name, thing in vars(garden).items():
    if inspect.isbuiltin(thing):
        asked.append((name, thing))
    elif type(thing) is type and thing.__module__ == "garden":
        if not issubclass(thing, BaseException):
            asked += [(name, thing)] if thing is not garden.Bed else []  # C++ makes it
            asked += [
                (f"{name}.{own}", getattr(thing, own))
                for own, value in vars(thing).items()
                if not own.startswith("_") and callable(value)
                and not inspect.isclass(value)
            ]
for name, thing in asked:
    inspect.signature(thing)
print(len(asked))
"""


def test_many_declarations_take_few_lines_and_have_signatures(garden: Path) -> None:
    lines = (HERE / "garden.i").read_text(encoding="utf-8").splitlines()
    assert len(lines) <= 40
    done = run("-c", SIGNATURES, cwd=garden, path=garden)
    assert done.returncode == 0, done.stdout
    assert int(done.stdout) >= 40


def test_mistakes_are_found(garden: Path) -> None:
    """Every one, and nothing else."""
    done = mypy(garden, HERE / "mistakes.py")
    lines = (HERE / "mistakes.py").read_text().splitlines()
    wrong = {i for i, line in enumerate(lines, 1) if line.endswith("# wrong")}
    found = re.findall(r"mistakes\.py:(\d+): error", done.stdout)
    assert set(map(int, found)) == wrong, done.stdout


def test_stubs_of_all_cases_are_strict(garden: Path, tmp_path: Path) -> None:
    """Those of tests/kit/cases, beside their modules, which others test."""
    themes = sorted(path.stem for path in CASES.glob("*.i"))
    assert len(themes) > 8
    for theme in themes:
        shutil.copy(build(theme, "kit").with_name(f"{theme}.pyi"), tmp_path)
    done = mypy(garden, *sorted(tmp_path.glob("*.pyi")))
    assert done.returncode == 0, done.stdout


# What the module has and the stub does not tell, or the other way round, with reasons.
ALLOWED = r"""
garden\.__all__
# Type slots come in pairs; these halves refuse what they get.
garden\..*\.__(gt|le|ge|lt|ne|radd|rmul)__
# iter() takes what has a length and items by number.
garden\.Bed\.__iter__
# Python's own type has *args, though the class takes none.
garden\..*\.__init__
# Its constants are attributes of a class of the class.
garden\.Point
# 1.5f of C++ is told by the stub alone.
garden\.plant
"""


def test_the_stub_is_true(garden: Path, tmp_path: Path) -> None:
    """mypy's stubtest compares it with the module as it was loaded."""
    allowed = tmp_path / "allowed"
    allowed.write_text(ALLOWED)
    options = ["--allowlist", allowed, "--ignore-unused-allowlist"]
    done = run("-m", "mypy.stubtest", "garden", *options, cwd=tmp_path, path=garden)
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize(
    ("cpp", "taken", "given"),
    [
        ("const std::string &", "str", "str"),
        ("const char *", "str", "str"),
        ("unsigned long long", "int", "int"),
        ("void", "None", "None"),
        ("geo::Point &", "Point", "Point"),
        ("const geo::Point *", "Point", "Point | None"),
        ("geo::Point *const &", "Point", "Point | None"),
        ("std::unique_ptr< geo::Point >", "Point | None", "Point"),
        ("std::shared_ptr<geo::Point const>", "Point | None", "Point"),
        ("std::weak_ptr<geo::Point>", "Point | None", "Point | None"),
        ("geo::Box< int >", "IntBox", "IntBox"),
        ("enum geo::Color", "Color", "Color"),
        ("std::variant<std::monostate, bool>", "None | bool", "None | bool"),
        ("std::tuple<>", "tuple[()]", "tuple[()]"),
        ("std::chrono::hours", "datetime.timedelta | float", "datetime.timedelta"),
        ("std::vector<std::byte>", "_typeshed.ReadableBuffer", "bytes"),
        ("PyObject *", "typing.Any", "typing.Any"),
        ("void *", "typing.Any", "typing.Any"),
        ("double [3]", "collections.abc.Sequence[float] | _Array", "list[float]"),
        ("char const [8]", "str", "str"),
        ("other::Unknown<int>", "typing.Any", "typing.Any"),
        (
            "std::function<std::vector<int> (const geo::Point &, std::string)>",
            "collections.abc.Callable[[Point, str], "
            "collections.abc.Sequence[int] | _Array] | None",
            "collections.abc.Callable[[Point, str], list[int]]",
        ),
        ("Wide", "WideBox", "WideBox"),
        (
            "const geo::Row<Int> &",
            "collections.abc.Mapping[int, IntBox]",
            "dict[int, IntBox]",
        ),
        ("Boxes", "collections.abc.Sequence[IntBox]", "list[IntBox]"),
        (
            "Table",
            "collections.abc.Mapping[str, collections.abc.Sequence[Point]]",
            "dict[str, list[Point]]",
        ),
    ],
)
def test_types(cpp: str, taken: str, given: str) -> None:
    """What a parameter takes and what a result is."""
    own = {"geo::Point": "Point", "geo::Box<int>": "IntBox", "geo::Color": "Color"}
    own["geo::Box<int64_t>"] = "WideBox"
    typedefs = {"geo::Row": "std::vector<geo::Point>"}
    typedefs |= {"geo::Boxes": "std::vector<Box<Int> >", "geo::Int": "int"}
    typedefs |= {"int64_t": "long", "geo::Wide": "Box<int64_t>"}
    typedefs["geo::Shop::Table"] = "std::map<std::string, Row>"
    aliases = {"geo::Row": Alias(("T", "N"), ("", "int"), "std::map<N, Box<T> >")}
    types = PythonTypes(own, typedefs, aliases)
    assert types.taken(cpp, "geo::Shop").replace("builtins.", "") == taken
    assert types.given(cpp, "geo::Shop").replace("builtins.", "") == given


def test_types_are_read_as_cpp_has_them() -> None:
    """Pointers, constants, functions, templates in templates."""
    text = "const std::map<std::pair<int, A<B>>, std::function<void()(int)>> &"
    key, value = "std::pair<int, A<B>>", "std::function<()<void, int>>"
    assert str(parse(text)) == f"std::map<{key}, {value}>&"
    assert parse("A const *").const and not parse("A *const").const
    assert parse("A **").marks == "**"
