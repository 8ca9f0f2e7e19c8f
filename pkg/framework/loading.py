# SPDX-License-Identifier: Apache-2.0
"""Libraries of ops as Python modules of wrappers."""

from __future__ import annotations

import hashlib
import linecache
import os
import re
import stat
import sys
import threading
from importlib.machinery import ModuleSpec
from types import CodeType, ModuleType
from typing import Any

from .. import ops
from .._binding import core
from ..files import replacing
from ..graph import errors
from ..graph.definitions import OpDefinition, definition_of
from .eager import give_history
from .generating import module_text

__all__ = ["OpList", "load_op_library"]

_lock = threading.RLock()
_modules: dict[tuple[str, str], ModuleType] = {}


class OpList(tuple[OpDefinition, ...]):
    """The definitions of a library's ops."""

    __slots__ = ()

    @property
    def op(self) -> OpList:
        """The same, by TensorFlow's name for it."""
        return self


class _Source:
    """The loader of a module that has no file: it has the source, for tracebacks,
    ``inspect`` and debuggers."""

    def __init__(self, text: str, path: str) -> None:
        self._text, self._path = text, path

    def get_source(self, fullname: str) -> str:
        """The text of the module."""
        return self._text

    def get_filename(self, fullname: str) -> str:
        """The name that its code has."""
        return self._path

    def get_code(self, fullname: str) -> CodeType:
        """Its code, compiled again."""
        return compile(self._text, self._path, "exec", dont_inherit=True)

    def create_module(self, spec: ModuleSpec) -> None:
        """None: an ordinary module."""

    def exec_module(self, module: ModuleType) -> None:
        """Runs the text as the module's."""
        exec(self.get_code(module.__name__), module.__dict__)  # noqa: S102


# What the registry says of an op or a namespace that there is already.
_TAKEN = r": (\[define\] \S+ is already registered at |Only a single PKG_LIBRARY can )"


def _error_of(error: Exception, path: str) -> errors.OpError:
    # Of the class that TensorFlow has for it, and of ours.
    name = "InvalidArgument"
    if isinstance(error, ImportError):
        # The path may be any text, and what the loader says begins with it, too.
        said = str(error).replace(path, "", 1).removeprefix("[load_library] ")
        said = re.sub(r"^, block at [^\n]*?(?=: expected a )", "", said)
        name = "NotFound"
        if said.startswith(": expected a library compiled for "):
            name = "FailedPrecondition"
        elif said.startswith((": expected ", ": its constructors ")):
            name = "InvalidArgument"
    elif re.search(_TAKEN, str(error)):
        name = "AlreadyExists"
    return errors.of_kind(name, error)


def _written(name: str, text: str) -> str:
    # The file with the text, for tracebacks and debuggers; where there can be none, a
    # name that is none.  No other user may have a hand in it.
    base = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    folder = os.path.join(base, "pkg", "wrappers")
    content = text.encode()
    key = hashlib.sha256(content).hexdigest()[:12]
    path = os.path.join(folder, f"{name}_{key}.py")
    try:
        os.makedirs(folder, mode=0o700, exist_ok=True)
        state = os.lstat(folder)
        private = stat.S_ISDIR(state.st_mode) and not state.st_mode & 0o022
        if not private or state.st_uid != os.geteuid():
            return f"<wrappers {name}>"
        if not os.path.islink(path) and os.path.exists(path):
            with open(path, "rb") as file:
                if file.read() == content:
                    return path
        with replacing(path, follow=False) as made:
            made.write(content)
    except (OSError, ValueError):
        return f"<wrappers {name}>"
    return path


def _module_of(path: str, identity: str, style: str) -> ModuleType:
    names = core.library_ops(identity)
    file_name = os.path.basename(path)
    title = file_name.partition(".")[0]
    word = re.sub(r"\W", "_", title)
    suffix = "" if style == "pkg" else f"_{style}"
    name = f"pkg.op_libraries.{word}_{identity[:12]}{suffix}"
    text = module_text(file_name, names, style)
    source = _written(f"{word}_{identity[:12]}{suffix}", text)
    loader: Any = _Source(text, source)
    module = ModuleType(name)
    module.__spec__ = ModuleSpec(name, loader, origin=source)
    module.__loader__ = loader
    module.__file__ = source
    if not os.path.exists(source):
        linecache.cache[source] = (len(text), None, text.splitlines(True), source)
    module.__dict__["__source__"] = text
    loader.exec_module(module)
    found = [definition_of(op) for op in sorted(names)]
    definitions = OpList(definition for definition in found if definition is not None)
    for definition in definitions:
        give_history(definition)
    module.__dict__["OP_LIST"] = definitions
    module.__dict__["LIBRARY"] = path
    sys.modules[name] = module
    return module


def load_op_library(library_filename: Any, style: str = "pkg") -> ModuleType:
    """Loads a shared library of ops; returns a module with a function for each.

    library_filename: a path.  What tells libraries apart is what they contain: a link
    or a copy of one that was loaded gives the same module, a file that was replaced is
    another library.
    style: see ``module_text``.
    The module is in ``sys.modules``; ``OP_LIST`` has the definitions of its ops and
    ``__source__`` its text.  A function takes the op's inputs, its attributes by name,
    and ``name=``.

    What goes wrong is an OpError of pkg.graph.errors that is also the error of
    ``pkg.ops.load_library``: NotFoundError with the loader's text for what cannot be
    opened, FailedPreconditionError for a library that was compiled for another core,
    AlreadyExistsError for an op that another library has, InvalidArgumentError for
    other faults of the library.  None of its ops is registered then, and nothing else
    has changed; but for names that pkg uses itself: ``pkg.ops.load_library`` says what
    becomes of such.
    """
    path = os.path.abspath(os.fspath(library_filename))
    with _lock:
        try:
            identity = ops.load_library_of(path)
        except (ImportError, RuntimeError, ValueError) as error:
            raise _error_of(error, path) from None
        found = _modules.get((identity, style))
        if found is None:
            try:
                found = _module_of(path, identity, style)
            except (SyntaxError, ValueError) as error:
                raise errors.of_kind("Internal", error) from error
            _modules[identity, style] = found
        return found
