# SPDX-License-Identifier: Apache-2.0
"""pkg.load_op_library: which library it is, and what each kind of fault says.

What is loaded stays, so most scenarios run in a process of their own.
"""

from __future__ import annotations

import inspect
import linecache
import shutil
import sys
import traceback
from collections.abc import Callable
from pathlib import Path

import pytest

import pkg
import pkg.compat.v1 as tf
from libraries import output_of
from pkg.graph import errors

Compile = Callable[..., Path]

# Name, options, class of the error, parts of its text.
UNFIT = [
    ("MISSING", "NotFoundError",
     ["undefined symbol: _ZN9elsewhere6wantedEdPKc (elsewhere::wanted(double, char",
      "add its source file or -lNAME", "g++ -fPIC -shared SOURCES"]),
    ("MISSING_CORE", "NotFoundError",
     ["(pkg::no_such_function(int))", "It is of the core", "pkg.sysconfig"]),
    ("STAMPED", "FailedPreconditionError",
     ["got one for C++ interface 999", "Compile it again"]),
    ("ABORTS", "InvalidArgumentError", ["constructors end the process by signal 6"]),
    ("CRASHES", "InvalidArgumentError", ["constructors end the process by signal 11"]),
    ("THROWS", "InvalidArgumentError",
     ["signal 6", "std::runtime_error", "the constructor threw"]),
]  # fmt: skip


@pytest.fixture(scope="module")
def plain(compiled: Compile) -> Path:
    """The library of sources/plain.cc."""
    return compiled("plain.cc")


def test_a_module_of_wrappers(plain: Path) -> None:
    """Functions, their source, and the module in sys.modules."""
    module = pkg.load_op_library(plain)
    x = pkg.ones(2)
    assert module.same(x) is x and module.pick(x, 3, mode="b") is x
    assert module.__all__ == ["pick", "same"]
    assert sys.modules[module.__name__] is module
    assert str(inspect.signature(module.pick)).startswith(
        "(self: 'Any', times: 'Any' = 1, *, mode: 'Any' = 'a', name: 'str | None' ="
    )
    assert "self, whatever else is given." in (module.pick.__doc__ or "")
    assert module.__source__.startswith("# MACHINE GENERATED")
    assert inspect.getsource(module) == module.__source__
    assert inspect.getsource(module.same) in module.__source__
    assert module.OP_LIST.op == () and module.LIBRARY == str(plain)


def test_tracebacks_show_the_wrapper(plain: Path) -> None:
    """Its line, also when no cache of lines is there any more."""
    module = pkg.load_op_library(plain)
    for clear in (lambda: None, linecache.clearcache):
        clear()
        with pytest.raises(IndexError, match="expected dimensions") as info:
            module.same(pkg.tensor(1.0))
        assert "return _same(self)" in "".join(traceback.format_exception(info.value))


def test_where_a_call_was_made(tmp_path: Path) -> None:
    """Is the line that called the wrapper, in whatever folder users' files are."""
    text = "def square(x):\n    return x * x\n"
    file = str(tmp_path / "pkg" / "wrappers" / "mine.py")

    def site(module: str) -> str:
        spaces = {"__name__": module}
        exec(compile(text, file, "exec"), spaces)  # noqa: S102
        y = spaces["square"](pkg.ones(2, requires_grad=True))  # type: ignore[operator]
        return pkg.autograd.graph(y).nodes[0].call_site

    assert site("mine") == f"{file}:2"
    assert site("pkg.op_libraries.mine").startswith(__file__)


def test_a_cache_that_cannot_be_written(plain: Path, tmp_path: Path) -> None:
    """The source is shown all the same."""
    blocked = tmp_path / "file"
    blocked.touch()
    code = f"""
import inspect, os, traceback
os.environ["XDG_CACHE_HOME"] = {str(blocked)!r}
import pkg
module = pkg.load_op_library({str(plain)!r})
print(module.__file__)
assert inspect.getsource(module.same) in module.__source__
try:
    module.same(pkg.tensor(1.0))
except IndexError:
    assert "return _same(self)" in traceback.format_exc()
"""
    assert output_of(code, tmp_path).startswith("<wrappers plain_")


def test_links_and_copies_are_one_library(plain: Path, tmp_path: Path) -> None:
    """What they contain is what tells libraries apart."""
    module = pkg.load_op_library(plain)
    link, twin = tmp_path / "link.so", tmp_path / "twin.so"
    link.symlink_to(plain)
    shutil.copy(plain, twin)
    for path in (plain, str(plain), link, twin):
        assert pkg.load_op_library(path) is module
    pkg.ops.load_library(twin)
    core = pkg._binding.core
    assert core.load_library(str(twin)) == core.load_library(str(link))
    with pytest.raises(LookupError, match="library_ops"):
        core.library_ops("no such identity")


def test_the_same_ops_from_another_library(plain: Path, compiled: Compile) -> None:
    """Both are named, and the first one stays."""
    module = pkg.load_op_library(plain)
    other = compiled("plain.cc", "-DOTHER")
    with pytest.raises(errors.AlreadyExistsError) as info:
        pkg.load_op_library(other)
    assert isinstance(info.value, RuntimeError)
    assert str(plain) in str(info.value) and str(other) in str(info.value)
    x = pkg.ones(1)
    assert module.same(x) is x and pkg.load_op_library(plain) is module


def test_a_file_that_was_replaced_is_another_library(
    compiled_all: Callable[..., list[Path]], tmp_path: Path
) -> None:
    """Whether the one before was loaded or has failed."""
    plain, more, other = compiled_all(
        ("plain.cc",), ("plain.cc", "-DMORE"), ("plain.cc", "-DTHROWS")
    )
    code = f"""
import os, shutil
import pkg
path = "here.so"
def put(source):
    shutil.copy(source, "new.so")
    os.replace("new.so", path)
put({str(other)!r})
try:
    pkg.load_op_library(path)
except pkg.graph.errors.InvalidArgumentError as error:
    assert "the block threw" in str(error), error
else:
    raise AssertionError
put({str(plain)!r})
first = pkg.load_op_library(path)
put({str(more)!r})
second = pkg.load_op_library(path)
x = pkg.ones(1)
assert first is not second and first.same(x) is second.same(x) is x
assert pkg.ops.loading.same(x) is pkg.ops.more_loading.same(x) is x
assert pkg.load_op_library(path) is second
print(first.__name__ != second.__name__)
"""
    assert output_of(code, tmp_path) == "True\n"


def test_a_file_that_was_written_to(
    compiled_all: Callable[..., list[Path]], tmp_path: Path
) -> None:
    """The library that is loaded is damaged: the error says so."""
    plain, more = compiled_all(("plain.cc",), ("plain.cc", "-DMORE"))
    code = f"""
import os, shutil
import pkg
shutil.copy({str(plain)!r}, "here.so")
pkg.load_op_library("here.so")
shutil.copy({str(more)!r}, "here.so")  # into the same file
try:
    pkg.load_op_library("here.so")
except ImportError as error:
    print(error, flush=True)
os._exit(0)  # without what the library does at exit
"""
    assert "was written to while this process uses it" in output_of(code, tmp_path)


@pytest.mark.parametrize("option,kind,parts", UNFIT, ids=[row[0] for row in UNFIT])
def test_what_cannot_be_loaded(
    compiled: Compile, tmp_path: Path, option: str, kind: str, parts: list[str]
) -> None:
    """A precise error, twice; nothing of it ran, and the process goes on."""
    path = compiled("unfit.cc", f"-D{option}")
    code = f"""
import pkg
from pkg.graph import errors
for attempt in range(2):
    try:
        pkg.load_op_library({str(path)!r})
    except errors.OpError as error:
        assert isinstance(error, errors.{kind}) and isinstance(error, ImportError)
        print(error)
print(pkg.ones(2).add(1).tolist())
"""
    out = output_of(code, tmp_path)
    assert out.endswith("[2.0, 2.0]\n") and "a constructor ran" not in out
    assert out.count(path.name) == 2
    for part in parts:
        assert out.count(part) == 2, out


def test_files_that_are_no_libraries(plain: Path, tmp_path: Path) -> None:
    """Missing, text, a folder, cut off anywhere."""
    text = tmp_path / "text.so"
    text.write_text("not a library, but longer than the header of one would be" * 9)
    with pytest.raises(errors.NotFoundError, match="cannot open shared object file"):
        pkg.load_op_library(tmp_path / "nowhere.so")
    with pytest.raises(errors.NotFoundError, match="invalid ELF header"):
        pkg.load_op_library(text)
    with pytest.raises(errors.NotFoundError, match="pkg.sysconfig"):
        pkg.load_op_library(tmp_path)
    contents = plain.read_bytes()
    for size in (0, 10, 100, 1000, len(contents) // 2):
        text.write_bytes(contents[:size])
        with pytest.raises(errors.OpError, match="text.so: ") as info:
            pkg.load_op_library(text)
        if size >= 1000:
            assert "expected a whole library" in str(info.value)


def test_bytes_that_were_damaged(plain: Path, tmp_path: Path) -> None:
    """Each of the headers' bytes: an error, and never a crash."""
    contents = bytearray(plain.read_bytes())
    damaged = {at: contents[at] ^ 0xFF for at in (4, 32, 40, 52, 54, 56, 58, 60, 62)}
    for at, byte in damaged.items():
        # A file of its own: the loader may have mapped what another byte spoilt.
        path = tmp_path / f"damaged_{at}.so"
        path.write_bytes(bytes([*contents[:at], byte, *contents[at + 1 :]]))
        with pytest.raises((ImportError, RuntimeError)):
            pkg.load_op_library(path)


def test_names_are_tensorflows(plain: Path) -> None:
    """Both ways to spell it, one module of wrappers that make graphs."""
    module = tf.load_op_library(str(plain))
    assert module is tf.load_library.load_op_library(plain)
    assert module is not pkg.load_op_library(plain)
    assert pkg.load_op_library(plain) is pkg.framework.load_op_library(plain)


def test_threads_load_and_call(
    compiled_all: Callable[..., list[Path]], tmp_path: Path
) -> None:
    """Several at once; all of a library get the same module."""
    paths = compiled_all(("plain.cc",), ("plain.cc", "-DMORE"))
    code = f"""
import threading
import pkg
found, wrong = [], []
def work(k):
    x = pkg.ones(2)
    try:
        for i in range(50):
            module = pkg.load_op_library({[str(p) for p in paths]!r}[(i + k) % 2])
            assert module.same(x) is x
            found.append(module)
    except BaseException as error:
        wrong.append(error)
threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
for thread in threads: thread.start()
for thread in threads: thread.join()
assert not wrong, wrong
print(len(found), len(set(map(id, found))))
"""
    assert output_of(code, tmp_path) == "200 2\n"
