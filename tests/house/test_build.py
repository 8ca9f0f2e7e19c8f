# SPDX-License-Identifier: Apache-2.0
"""The build: what is rebuilt when, each way to install, and what users are told.

Everything runs in a copy of the tree, so that no test touches what others have loaded.
The copy takes over the objects of build/release, so hardly anything is compiled.
"""

from __future__ import annotations

import ctypes
import json
import os
import re
import shutil
import site
import stat
import subprocess
import sys
import time
import venv
from pathlib import Path

import pytest

from paths import ROOT

sys.path[:0] = [str(ROOT / "swig" / "build"), str(ROOT / "swig")]

import products  # noqa: E402
from kit.build.incremental import BuildError, Runner, Step, parse_depfile  # noqa: E402
from kit.build.options import SWIG_VERSION  # noqa: E402
from toolchain import Config  # noqa: E402
from units import APART, FOLDERS, LESS, is_whole, units_of  # noqa: E402

# Kinds of files below pkg/ that every installation must have.
PACKAGED = {".py", ".pyi", ".typed", ".csv", ".gz", ".md", ".txt"}
PACKAGED |= {".i", ".h", ".cmake"}  # of the kit
SETTINGS = ("PKG_DEBUG", "PKG_SANITIZE", "PKG_BUILD_DIR", "PKG_BINDING", "PYTHONPATH")


def run(*command: object, cwd: Path, **env: str) -> str:
    """The output of a command that must succeed, run without this shell's settings."""
    clean = {k: v for k, v in os.environ.items() if k not in SETTINGS}
    done = subprocess.run(
        [str(part) for part in command],
        cwd=cwd,
        env={**clean, "PIP_DISABLE_PIP_VERSION_CHECK": "1", **env},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    assert done.returncode == 0, f"{command}\n{done.stdout}"
    return done.stdout


# --- The engine, on a program of three files -----------------------------------------


class Toy:
    """Two sources and a header that one of them includes."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.flags: list[str] = []
        (root / "used.h").write_text("int g();\n")
        (root / "one.cc").write_text('#include "used.h"\nint f() { return g(); }\n')
        (root / "two.cc").write_text("int g() { return 2; }\n")

    def build(self) -> str:
        self.runner = runner = Runner(self.root, self.root / "build", jobs=2)
        runner.run([self.step(name) for name in ("one", "two")])
        return runner.summary()

    def step(self, name: str) -> Step:
        output, dep = self.root / f"build/{name}.o", self.root / f"build/{name}.d"
        command = ["g++", *self.flags, "-MMD", "-MF", str(dep), "-c", f"{name}.cc"]
        return Step(
            verb="compiled",
            label=name,
            command=[*command, "-o", str(output)],
            output=output,
            inputs=[Path(f"{name}.cc")],
            depfile=dep,
        )


@pytest.fixture
def toy(tmp_path: Path) -> Toy:
    toy = Toy(tmp_path)
    assert toy.build() == "compiled 2 of 2 steps"
    return toy


def test_nothing_is_rebuilt_without_a_change(toy: Toy) -> None:
    assert toy.build() == "nothing to do of 2 steps"


def test_a_changed_source_rebuilds_its_object(toy: Toy, capfd) -> None:
    (toy.root / "two.cc").touch()
    assert toy.build() == "compiled 1 of 2 steps"
    assert "compiled two" in capfd.readouterr().out


def test_a_changed_header_rebuilds_what_includes_it(toy: Toy, capfd) -> None:
    (toy.root / "used.h").touch()
    assert toy.build() == "compiled 1 of 2 steps"
    assert "compiled one" in capfd.readouterr().out


def test_a_changed_command_rebuilds_everything(toy: Toy) -> None:
    toy.flags = ["-O1"]
    assert toy.build() == "compiled 2 of 2 steps"


def test_a_file_saved_while_it_compiles_is_compiled_again(toy: Toy) -> None:
    output = toy.step("two").output
    begun = output.stat().st_mtime_ns
    os.utime(toy.root / "two.cc", ns=(begun + 1, begun + 1))
    assert toy.build() == "compiled 1 of 2 steps"


def test_what_changed_while_a_step_ran_is_noticed_at_once(toy: Toy) -> None:
    step = toy.step("one")
    assert not toy.runner.changed_meanwhile(step)
    begun = step.output.stat().st_mtime_ns
    os.utime(toy.root / "used.h", ns=(begun + 1, begun + 1))
    assert toy.runner.changed_meanwhile(step)


def test_timings_tell_what_the_compiler_took(toy: Toy) -> None:
    """Of the steps that ran: the compiler proper is a child of g++."""
    (toy.root / "two.cc").touch()
    toy.build()
    assert list(toy.runner.cpu_seconds) == ["two"]
    assert toy.runner.cpu_seconds["two"] > 0.003
    assert re.search(r"^other +1 +\d", toy.runner.timings(), re.M)


def test_a_failure_shows_the_command_and_is_tried_again(toy: Toy) -> None:
    (toy.root / "two.cc").write_text("int g( {\n")
    for _ in range(2):
        with pytest.raises(BuildError, match=r"(?s)two: .*g\+\+ .*two\.cc:1"):
            toy.build()


def test_depfile_with_continuations_and_spaces() -> None:
    text = "a\\ b.o: one.cc \\\n  my\\ file.h two.h\n"
    assert parse_depfile(text) == ["one.cc", "my file.h", "two.h"]


def test_a_unit_is_whole_until_one_of_its_files_is_edited(toy: Toy) -> None:
    """Then its files are compiled alone, as long as there are objects of them."""
    members, unit = [toy.step("one"), toy.step("two")], toy.step("both")
    assert not is_whole(unit, members, toy.root)
    for member in members:
        member.output.unlink()
    assert is_whole(unit, members, toy.root)
    unit.output.touch()
    assert is_whole(unit, members, toy.root)
    made = unit.output.stat().st_mtime_ns
    os.utime(toy.root / "two.cc", ns=(made + 1, made + 1))
    assert not is_whole(unit, members, toy.root)


def test_the_file_of_a_unit_that_is_edited_is_compiled_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd
) -> None:
    """The first time, all are: there are no objects of the others.  What is linked has
    each function once, as it is now."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(products, "PRECOMPILED_LAYERS", {})
    flags = ["-O0", "-fPIC"]
    config = Config("toy", ["g++"], "", flags, [], [], precompiles=False, together=True)
    folder, unit = tmp_path / "cpp" / "graph", "unit1.cc"
    folder.mkdir(parents=True)

    def write(name: str, value: int) -> None:
        text = f'extern "C" int {name}() {{ return {value}; }}\n'
        (folder / f"{name}.cc").write_text(text)

    def make() -> tuple[list[str], list[int]]:
        """What was compiled, and what the library's functions are worth."""
        runner = Runner(tmp_path, tmp_path / "build", jobs=2)
        made = products.Products(config, runner, "1").make(core_only=True)
        compiled = re.findall(
            r"^compiled (?:\S*/)?(\S+) ", capfd.readouterr().out, re.M
        )
        copy = tmp_path / f"{time.monotonic_ns()}.so"  # one of a name is loaded once
        shutil.copy(made["lib/libpkg_core.so"], copy)
        library = ctypes.CDLL(str(copy))
        values = [getattr(library, name)() for name in ("one", "two")]
        return sorted(compiled), values

    write("one", 1)
    write("two", 2)
    assert make() == ([unit], [1, 2])
    assert make() == ([], [1, 2])
    write("two", 3)
    assert make() == (["one.cc", "two.cc"], [1, 3])
    write("two", 4)
    assert make() == (["two.cc"], [1, 4])
    shutil.rmtree(tmp_path / "build" / "toy" / "obj")
    assert make() == ([unit], [1, 4])


def test_what_is_said_of_units_is_of_files_that_are_there() -> None:
    """No file is in two, and none that was renamed falls out of a list unnoticed."""
    assert [
        name for name in (*FOLDERS, *APART, *LESS) if not (ROOT / name).exists()
    ] == []
    files = [p.relative_to(ROOT) for f in FOLDERS for p in sorted((ROOT / f).iterdir())]
    files = [file for file in files if file.suffix == ".cc"]
    found = [file for unit in units_of(files).values() for file in unit]
    assert len(found) == len(set(found)) > 100
    assert not {file.as_posix() for file in found} & APART


# --- The tree ------------------------------------------------------------------------


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A built copy of the repository."""
    tree = tmp_path_factory.mktemp("build") / "tree"
    products = shutil.ignore_patterns("*.so", "lib", "include", "__pycache__")
    for name in ("cpp", "swig", "tests", "docs", ".ci"):
        if (ROOT / name).exists():
            shutil.copytree(ROOT / name, tree / name)
    shutil.copytree(ROOT / "pkg", tree / "pkg", symlinks=True, ignore=products)
    for generated in ("pywrap_core.py", "_pywrap_core.pyi", "_op_types.pyi"):
        (tree / "pkg" / generated).unlink(missing_ok=True)
    for path in ROOT.iterdir():
        if path.is_file():
            shutil.copy2(path, tree / path.name)
    if (ROOT / "build" / "release").exists():
        shutil.copytree(ROOT / "build" / "release", tree / "build" / "release")
    run(sys.executable, "setup.py", "build_ext", cwd=tree)
    return tree


def test_build_ext_alone_makes_the_root_importable(tree: Path) -> None:
    script = "import pkg; print(pkg.__file__)"
    out = run(sys.executable, "-c", script, cwd=tree)
    assert out.strip() == str(tree / "pkg" / "__init__.py")


def test_a_second_build_does_nothing(tree: Path) -> None:
    for option in ([], ["--inplace"]):
        out = run(sys.executable, "setup.py", "build_ext", *option, cwd=tree)
        assert "nothing to do" in out


def test_touching_one_source_compiles_that_one(tree: Path) -> None:
    (tree / "cpp" / "base" / "build_info.cc").touch()
    out = run(sys.executable, "setup.py", "build_ext", cwd=tree)
    assert re.findall(r"^(compiled|generated) (\S+) \(", out, re.M) == [
        ("compiled", "cpp/base/build_info.cc")
    ]
    assert "linked libpkg_core.so" in out


def test_the_core_knows_no_python(tree: Path) -> None:
    core = tree / "pkg" / "lib" / "libpkg_core.so"
    symbols = run("nm", "-D", "--undefined-only", core, cwd=tree)
    assert not re.findall(r"\b_?Py\w+", symbols)
    assert "libpkg_core.so" in run("readelf", "-d", core, cwd=tree)


def test_generated_files_are_not_tracked() -> None:
    if not (ROOT / ".git").exists():
        pytest.skip("not a git checkout")
    tracked = run("git", "ls-files", cwd=ROOT).splitlines()
    generated = (
        r"\.(so|o|pyc)$|_wrap\.|^build/|^pkg/(lib|include)/|egg-info|_op_types"
        r"|pywrap_core\.pyi?$"
    )
    assert [name for name in tracked if re.search(generated, name)] == []


def test_build_requirements_are_the_same_in_both_lists() -> None:
    text = (ROOT / "pyproject.toml").read_text()
    build = re.search(r"^requires = \[(.*?)\]", text, re.M | re.S)
    test = re.search(r"^test = \[(.*?)\]", text, re.M | re.S)
    assert build and test
    wanted = set(re.findall(r'"(.*?)"', build[1]))
    assert wanted <= set(re.findall(r'"(.*?)"', test[1]))


def test_the_kit_asks_for_the_swig_that_pip_installs() -> None:
    pinned = re.search(r'"swig==([\d.]+)"', (ROOT / "pyproject.toml").read_text())
    assert pinned and pinned[1] == SWIG_VERSION


def test_ci_runs_the_command_of_the_readme() -> None:
    assert (ROOT / ".ci" / "run").stat().st_mode & stat.S_IXUSR
    readme = (ROOT / "README.md").read_text()
    block = re.search(
        r"^<!-- test-command -->\s*```bash\n(.*?)\n```", readme, re.S | re.M
    )
    assert block and "pytest" in block[1]


# --- Installing ----------------------------------------------------------------------


@pytest.fixture
def environment(tmp_path: Path) -> Path:
    """A virtual environment with links to this one's packages, except pkg itself."""
    folder = tmp_path / "venv"
    venv.create(folder, symlinks=True)
    target = next(folder.glob("lib/python*/site-packages"))
    for packages in map(Path, site.getsitepackages()):
        for path in packages.iterdir() if packages.is_dir() else ():
            if path.name == "pkg" or path.name.startswith(("pkg-", "__editable__")):
                continue
            if not (target / path.name).exists():
                (target / path.name).symlink_to(path)
    return folder


ASK = """
import json, pkg, pkg.sysconfig as s, pkg.swigkit as kit
print(json.dumps([pkg.__file__, pkg.__version__, s.get_include(), s.get_lib(),
                  *kit.get_includes(), kit.get_cmake_dir()]))
"""


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["wheel", "editable", "sdist"])
def test_install(mode: str, tree: Path, environment: Path, tmp_path: Path) -> None:
    python = environment / "bin" / "python"
    what, settings = [str(tree)], {}
    if mode == "editable":
        what = ["-e", str(tree)]
    if mode == "sdist":
        run(sys.executable, "setup.py", "sdist", "-d", tmp_path, cwd=tree)
        what = [str(next(tmp_path.glob("*.tar.gz")))]
        # Its objects are the tree's, if compiled by the same command (PKG_WERROR).
        settings = {"PKG_BUILD_DIR": str(tree / "build"), "PKG_WERROR": "1"}
    options = ["--no-build-isolation", "--no-deps", "--no-index"]
    run(python, "-m", "pip", "install", *options, *what, cwd=tmp_path, **settings)

    facts = json.loads(run(python, "-c", ASK, cwd=tmp_path))
    file, version, include, lib, kit, cmake = facts
    package = Path(file).parent
    assert (package == tree / "pkg") == (mode == "editable")
    assert version in (tree / "pkg" / "_version.py").read_text()
    assert Path(lib, "libpkg_core.so").exists()
    assert Path(lib, "libscipy_openblas.so").exists()
    assert Path(kit, "swigkit.i").exists() and Path(cmake, "SwigKit.cmake").exists()
    headers = {p.relative_to(tree / "cpp") for p in (tree / "cpp").rglob("*.h")}
    assert headers <= {p.relative_to(include) for p in Path(include).rglob("*.h")}
    files = {
        path.relative_to(tree / "pkg")
        for folder in (tree / "pkg", tree / "pkg" / "swigkit")  # the latter is a link
        for path in folder.rglob("*")
        if path.suffix in PACKAGED or path.name == "py.typed"
    }
    assert Path("swigkit/build/wrap.py") in files
    assert [str(name) for name in files if not (package / name).exists()] == []


PROGRAM = """
#include <iostream>
#include "base/build_info.h"
#include "base/error.h"
int main() {
  try {
    PKG_CHECK(false, ValueError, "[main] got ", pkg::version());
  } catch (const pkg::ValueError& err) {
    std::cout << err.what() << std::endl;
  }
}
"""


def test_a_program_builds_with_the_flags_of_sysconfig(tmp_path: Path) -> None:
    import pkg
    from pkg import sysconfig

    (tmp_path / "main.cc").write_text(PROGRAM)
    begin, end = sysconfig.get_compile_flags(), sysconfig.get_link_flags()
    run("g++", *begin, "main.cc", "-o", "main", *end, cwd=tmp_path)
    assert run("./main", cwd=tmp_path).strip() == f"[main] got {pkg.__version__}"
