# SPDX-License-Identifier: Apache-2.0
"""Libraries that are damaged, replaced, slow or strange while they are loaded."""

from __future__ import annotations

import os
import stat
import struct
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

import pkg
from child import child_environment, run_child
from libraries import library, output_of
from pkg.graph import errors

Compile = Callable[..., Path]


@pytest.fixture(scope="module")
def odd(compiled: Compile) -> Path:
    """What does as the environment says, in the process where it is tried."""
    return compiled("unfit.cc", "-DODD")


@pytest.mark.parametrize("what", ["daemon", "loud", "killed", "ends"])
def test_constructors_that_do_no_harm(
    odd: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, what: str
) -> None:
    """A process that stays, much text, a signal from elsewhere, a fault at exit."""
    monkeypatch.setenv("ODD", what)
    begun = time.monotonic()
    code = f"import pkg; print(pkg.load_op_library({str(odd)!r}).__all__)"
    assert output_of(code, tmp_path) == "[]\n"
    assert time.monotonic() - begun < 15  # the process that stays takes 20


def test_constructors_that_do_not_return(
    odd: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """An error when the time has passed that they may take."""
    monkeypatch.setenv("ODD", "hangs")
    monkeypatch.setenv("PKG_LIBRARY_PROBE_SECONDS", "0.5")
    path = tmp_path / "slow.so"
    path.write_bytes(odd.read_bytes() + b"another one")
    with pytest.raises(errors.InvalidArgumentError, match="after 0.5 seconds") as info:
        pkg.load_op_library(path)
    assert isinstance(info.value, ImportError) and str(path) in str(info.value)


def test_constructors_that_use_the_terminal(
    odd: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Are not stopped for it, though they run in the background."""
    monkeypatch.setenv("ODD", "terminal")
    code = f"""
import fcntl, os, pty, signal, termios
import pkg
ours, its = pty.openpty()
if os.fork() == 0:
    os.setsid()
    fcntl.ioctl(its, termios.TIOCSCTTY, 0)
    assert os.tcgetpgrp(its) == os.getpgrp()
    try:
        print(pkg.load_op_library({str(odd)!r}).__all__, flush=True)
    finally:
        os._exit(0)
os.wait()
"""
    begun = time.monotonic()
    status, out, err, _ = run_child(code, PKG_LIBRARY_PROBE_SECONDS="10")
    assert (status, out, err) == (0, "[]\n", "")
    assert time.monotonic() - begun < 10


def test_constructors_whose_caller_is_killed(odd: Path, tmp_path: Path) -> None:
    """End with it."""
    code = f"import pkg; pkg.load_op_library({str(odd)!r})"
    caller = subprocess.Popen(
        [sys.executable, "-c", code],
        cwd=tmp_path,
        env={**child_environment(), "ODD": "tells"},
    )
    place = tmp_path / "number"
    until = time.monotonic() + 30
    while not place.exists() and time.monotonic() < until:
        time.sleep(0.01)
    number = place.read_text(encoding="utf-8")
    assert alive(number)
    caller.kill()
    caller.wait()
    until = time.monotonic() + 10
    while alive(number) and time.monotonic() < until:
        time.sleep(0.01)
    assert not alive(number)


def alive(number: str) -> bool:
    """Whether a process runs: one that nobody waits for has ended as well."""
    try:
        text = Path("/proc", number, "stat").read_text(encoding="utf-8")
    except FileNotFoundError:
        return False
    return text.rpartition(")")[2].split()[0] not in "ZX"


def test_what_is_opened_is_what_was_read(
    odd: Path, compiled: Compile, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file that takes its place while it is tried is read, and tried, again."""
    monkeypatch.setenv("ODD", "replaced")
    (tmp_path / "here.so").write_bytes(odd.read_bytes())
    (tmp_path / "next.so").write_bytes(compiled("plain.cc").read_bytes())
    (tmp_path / "twin.so").write_bytes(compiled("plain.cc").read_bytes())
    code = """
import pkg
module = pkg.load_op_library("here.so")
assert pkg.load_op_library("twin.so") is module
print(module.__all__)
"""
    assert output_of(code, tmp_path) == "['pick', 'same']\n"


def test_a_copy_stands_beside_the_library(
    compiled: Compile, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So what it needs is found there; errors name the file that was given, and what
    ends the program that tries a library leaves no core file."""
    monkeypatch.setenv("TMPDIR", str(tmp_path / "nowhere"))
    (tmp_path / "part.cc").write_text("int part() { return 3; }")
    (tmp_path / "whole.cc").write_text("int part(); int whole = part();")
    for command in (
        ["part.cc", "-o", "libpart.so"],
        ["whole.cc", "-o", "whole.so", "-L.", "-lpart", "-Wl,-rpath,$ORIGIN"],
    ):
        subprocess.run(["g++", "-fPIC", "-shared", *command], cwd=tmp_path, check=True)
    code = f"""
import os, resource, shutil
import pkg
most = resource.getrlimit(resource.RLIMIT_CORE)[1]
resource.setrlimit(resource.RLIMIT_CORE, (most, most))
def put(source):
    shutil.copy(source, "new.so")
    os.replace("new.so", "here.so")
    return pkg.load_op_library("here.so")
put({str(compiled("plain.cc"))!r})
assert put("whole.so").__all__ == []
for source in ({str(compiled("unfit.cc", "-DTHROWS"))!r},
               {str(compiled("unfit.cc", "-DMISSING"))!r}):
    try:
        put(source)
    except ImportError as error:
        print(error)
try:
    put({str(compiled("plain.cc", "-DOTHER"))!r})
except RuntimeError as error:
    print(error)
print(sorted(os.listdir()))
"""
    out = output_of(code, tmp_path)
    assert out.count(f"[load_library] {tmp_path}/here.so: ") == 2, out
    assert f" of {tmp_path}/here.so; latest at " in out and "here.so." not in out[:-300]
    left = ["here.so", "libpart.so", "part.cc", "whole.cc", "whole.so"]
    assert out.endswith(f"{left}\n"), out


def test_a_small_file_takes_little_memory(compiled: Compile, tmp_path: Path) -> None:
    """Sixty thousand sections that each claim to be the whole file."""
    contents = bytearray(compiled("plain.cc").read_bytes())
    (start,) = struct.unpack_from("<Q", contents, 40)
    size, count, names = struct.unpack_from("<3H", contents, 58)
    headers = [
        bytearray(contents[start + i * size : start + (i + 1) * size])
        for i in range(count)
    ]
    (texts,) = struct.unpack_from("<Q", headers[names], 24)
    (one,) = (
        header
        for header in headers
        if contents[texts + int.from_bytes(header[:4], "little") :].startswith(
            b".pkg_stamp\0"
        )
    )
    many = 60000
    struct.pack_into("<QQ", one, 24, 0, len(contents))
    struct.pack_into("<Q", contents, 40, len(contents))
    struct.pack_into("<H", contents, 60, count + many)
    path = tmp_path / "damaged.so"
    path.write_bytes(contents + b"".join(headers) + one * many)
    code = f"""
import resource
import pkg
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
try:
    pkg.load_op_library({str(path)!r})
except pkg.graph.errors.OpError:
    pass
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""
    assert int(output_of(code, tmp_path)) < 200_000  # KB


def test_what_other_threads_define_meanwhile(tmp_path: Path) -> None:
    """It is not of the library."""
    source = tmp_path / "threads.cc"
    source.write_text(
        """
#include <thread>

#include "dispatcher/library.h"

static void define(const char* schema) {
  pkg::Dispatcher::get().define("meanwhile", pkg::parse_schema(schema), "threads.cc");
}
static const bool done = [] {
  define("mine(Tensor x) -> Tensor");
  std::thread([] { define("other(Tensor x) -> Tensor"); }).join();
  define("also_mine(Tensor x) -> Tensor");
  return true;
}();
"""
    )
    code = f"""
import pkg
core = pkg._binding.core
identity = core.load_library({str(library(source))!r})
print(core.operator_names("meanwhile"))
print(core.library_ops(identity))
"""
    assert output_of(code, tmp_path).splitlines() == [
        "['also_mine', 'mine', 'other']", "['meanwhile::also_mine', 'meanwhile::mine']",
    ]  # fmt: skip


def test_what_is_not_read(tmp_path: Path) -> None:
    """A file that is too large, and what has no end."""
    large, pipe = tmp_path / "large.so", tmp_path / "pipe.so"
    with open(large, "wb") as file:
        file.truncate(1 << 40)
    with pytest.raises(errors.InvalidArgumentError, match="at most 2147483648 bytes"):
        pkg.load_op_library(large)
    os.mkfifo(pipe)
    with pytest.raises(errors.InvalidArgumentError, match="a file, got a pipe"):
        pkg.load_op_library(pipe)


def test_the_class_of_an_error_is_not_that_of_a_name(tmp_path: Path) -> None:
    """Whatever words are in the path."""
    for name in ("signal.so", "expected a whole library.so", "already registered.so",
                 "x: expected a library compiled for y.so"):  # fmt: skip
        with pytest.raises(errors.NotFoundError, match="cannot open shared"):
            pkg.load_op_library(tmp_path / name)
    with pytest.raises(errors.InvalidArgumentError, match="surrogates") as info:
        pkg.load_op_library(os.fsdecode(b"/nowhere/\xff.so"))
    assert isinstance(info.value, ValueError)


def test_the_cache_is_the_users_own(
    compiled: Compile, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A link in it is replaced, not followed; one that others may write is not used."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    code = f"""
import pkg
module = pkg.load_op_library({str(compiled("plain.cc"))!r})
print(module.__file__)
"""
    made = Path(output_of(code, tmp_path).strip())
    folder = made.parent
    assert folder == tmp_path / "pkg/wrappers"
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    text = made.read_bytes()
    target = tmp_path / "mine.txt"
    target.write_bytes(b"not theirs")
    made.unlink()
    made.symlink_to(target)
    assert output_of(code, tmp_path).strip() == str(made)
    assert target.read_bytes() == b"not theirs" and not made.is_symlink()
    assert made.read_bytes() == text
    folder.chmod(0o777)
    assert output_of(code, tmp_path).startswith("<wrappers plain_")
