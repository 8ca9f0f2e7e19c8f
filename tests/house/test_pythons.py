# SPDX-License-Identifier: Apache-2.0
"""tests/pythons.py: which interpreters it finds, and which of two it takes."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

import pythons

SAID = {"name": "cpython", "free": False, "final": True, "pip": True, "headers": True}


@pytest.fixture
def found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """find() where PATH has only the interpreters that the test makes."""
    monkeypatch.setenv("PATH", "")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("PYENV_ROOT", str(tmp_path / "pyenv"))

    def make(folder: str, file: str, version: tuple[int, int, int], **said: object):
        path = tmp_path / folder / file
        path.parent.mkdir(parents=True, exist_ok=True)
        answer = {**SAID, "path": str(path), "version": version, **said}
        path.write_text(f"#!/bin/sh\necho '{json.dumps(answer)}'\n")
        path.chmod(0o755)
        return path

    def find(*folders: str):
        places = [str(tmp_path / folder) for folder in folders]
        monkeypatch.setenv("PATH", ":".join([*places, "/usr/bin", "/bin"]))
        return {
            version: python.path
            for version, python in pythons.find().items()
            if str(python.path).startswith(str(tmp_path))
        }

    find.make = make
    return find


def test_this_interpreter_says_what_it_is():
    """Through its virtual environment, if it is one."""
    python = pythons.ask(Path(sys.executable))
    assert python is not None
    assert python.version == sys.version_info[:3] and python.path.exists()


def test_the_newest_of_each_version_is_taken(found):
    """From PATH and pyenv's folders; what lacks something is the last choice."""
    found.make("a", "python3.12", (3, 12, 90))
    newest = found.make("pyenv/versions/3.12.91/bin", "python3.12", (3, 12, 91))
    found.make("b", "python3.12", (3, 12, 99), headers=False)
    found.make("c", "python3.12", (3, 12, 98), final=False)
    only = found.make("b", "python3.14", (3, 14, 90), pip=False)
    assert found("a", "b", "c") == {"3.12": newest, "3.14": only}
    assert pythons.find()["3.14"].lacks == "pip"


def test_other_interpreters_are_passed_over(found):
    """PyPy, a build without the GIL, shims that do nothing, versions out of range."""
    found.make("a", "python3.13", (3, 13, 90), name="pypy")
    found.make("b", "python3.13", (3, 13, 91), free=True)
    found.make("c", "python3", (3, 10, 90))
    (found.make("d", "python3.13", (3, 13, 92))).write_text("#!/bin/sh\nexit 127\n")
    assert found("a", "b", "c", "d") == {}


def test_versions_are_those_of_the_metadata():
    """The floor, and a classifier for each that is tried (but those yet to come)."""
    text = (pythons.ROOT / "pyproject.toml").read_text(encoding="utf-8")
    assert f'requires-python = ">={pythons.VERSIONS[0]}"' in text
    named = [v for v in pythons.VERSIONS if f'Python :: {v}"' in text]
    assert named == list(pythons.VERSIONS[: len(named)]) and len(named) >= 3
    assert f"Python >= {pythons.VERSIONS[0]}" in (pythons.ROOT / "README.md").read_text(
        encoding="utf-8"
    )


def test_what_it_cannot_run_is_an_exit_status(capsys, monkeypatch):
    monkeypatch.setattr(pythons, "find", dict)
    monkeypatch.setattr(sys, "argv", ["pythons.py", "3.12"])
    assert pythons.main() == 2
    assert "3.12  not found" in capsys.readouterr().out
    monkeypatch.setattr(sys, "argv", ["pythons.py", "2.7"])
    with pytest.raises(SystemExit, match="2"):
        pythons.main()
    assert "got 2.7" in capsys.readouterr().err
