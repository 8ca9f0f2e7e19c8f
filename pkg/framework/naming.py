# SPDX-License-Identifier: Apache-2.0
"""The names in a module of wrappers: Python's own stay, and no two are the same."""

from __future__ import annotations

import builtins
import keyword
import re
from collections.abc import Iterable

__all__ = [
    "BODY_NAMES", "MODULE_NAMES", "fields", "free", "function_name", "parameters",
    "safe",
]  # fmt: skip

# What the functions use, which no parameter may hide; and what those of earlier
# versions did, since parameters keep their names.
BODY_NAMES = frozenset(
    "Exception _Tensor _apply _direct _error _named _outputs _raw_op _refused _type "
    "dict".split()
)
# And what the module has besides, which no function may replace.
MODULE_NAMES = BODY_NAMES | set(
    "Any LIBRARY NamedTuple OP_LIST Sequence annotations".split()
)


def safe(name: str) -> str:
    """The name with an underscore behind it, if it is Python's."""
    taken = keyword.iskeyword(name) or name in dir(builtins)
    return f"{name}_" if taken else name


def function_name(op_name: str) -> str:
    """The name of an op's wrapper: "zero_out" of "ZeroOut"; none of Python's own."""
    plain = re.sub(r"\W", "_", op_name.rpartition("::")[2])
    words = re.sub(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z0-9])(?=[A-Z][a-z])", "_", plain)
    return safe(words.lower())


def free(name: str, taken: set[str]) -> str:
    """The name, or that with a number behind it; it is taken from now on."""
    made, number = name, 2
    while made in taken:
        made, number = f"{name.rstrip('_')}_{number}", number + 1
    taken.add(made)
    return made


def _unlike(wanted: dict[str, str], taken: set[str]) -> dict[str, str]:
    # Names that may stay as they are do; the others get underscores.
    made = {name: name for name, want in wanted.items()
            if name == want and name not in taken}  # fmt: skip
    taken = taken | set(made)
    for name, want in wanted.items():
        if name not in made:
            while want in taken:
                want += "_"
            taken.add(want)
            made[name] = want
    return made


def parameters(names: Iterable[str], used: Iterable[str]) -> dict[str, str]:
    """A parameter's name for each input and attribute; used: by the function's body."""
    # `name` is that of the operation; `l` and its like are no names to a linter.
    taken = {"name", "l", "O", "I", *BODY_NAMES, *used}
    wanted = {n: f"{n}_" if keyword.iskeyword(n) or n in taken else n for n in names}
    return _unlike(wanted, taken)


def fields(names: Iterable[str]) -> dict[str, str]:
    """A field of a named tuple for each output."""
    wanted = {}
    for name in names:
        plain = name.strip("_") or "output"
        if plain[0].isdigit():
            plain = f"output_{plain}"
        clash = keyword.iskeyword(name) or name[:1] == "_" or hasattr(tuple, name)
        wanted[name] = f"{plain}_" if clash else name
    return _unlike(wanted, set())
