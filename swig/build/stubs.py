# SPDX-License-Identifier: Apache-2.0
"""Writes the stub _pywrap_core.pyi.

The build runs it (products.py) on SWIG's parse tree and the extension that it has just
linked:

    python swig/build/stubs.py TREE EXTENSION STUB

What SWIG wraps has the kit's stub, from the tree; what is made by hand says the module
itself, with the types of TYPES where they are worth knowing.
"""

from __future__ import annotations

import importlib.util
import inspect
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType, WrapperDescriptorType

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from kit.build import python_types, tree  # noqa: E402
from kit.build.declared import declared  # noqa: E402
from kit.build.stubs import stub as wrapped  # noqa: E402

# What our conversions take and give.
python_types.PLAIN |= {
    "pkg::Tensor": ("_Tensor", "_Tensor"),
    "pkg::DType": ("typing.Any", "dtype"),
    "pkg::Device": ("typing.Any", "device"),
}
# What stands above the class.
BY_HAND = {"Tensor": "", "Operator": "@typing.final\n", "OpWrapper": "@typing.final\n"}
# Results of what is hand-written; Any for the rest.
TYPES = {
    "shape": "tuple[int, ...]",
    "dtype": "dtype",
    "device": "device",
    "__dlpack_device__": "tuple[int, int]",
    "schemas": "list[str]",
}
INTS = "numel storage_offset dim data_ptr element_size ndim itemsize nbytes _version"
BOOLS = "is_contiguous is_floating_point is_ready requires_grad is_leaf retains_grad"
TYPES |= dict.fromkeys(INTS.split(), "int")
TYPES |= dict.fromkeys([*BOOLS.split(), "_is_view", "is_method"], "_bool")
TENSORS = ("detach", "detach_", "T", "data", "wait")
TYPES |= dict.fromkeys(TENSORS, "_Tensor")
# Type slots whose result the language fixes; the others of Tensor give Tensors.
SLOTS = {
    "__len__": "int",
    "__bool__": "_bool",
    "__int__": "int",
    "__index__": "int",
    "__float__": "float",
    "__setitem__": "None",
    "__delitem__": "None",
    # object has these too, with a bool: another type would be an error to mypy.
    **dict.fromkeys(("__eq__", "__ne__"), "Any"),
    **dict.fromkeys(("__lt__", "__le__", "__gt__", "__ge__"), "Any"),
}
NEW = {
    "Tensor": "    def __init__(self, *args: Any, **kwargs: Any) -> None: ...",
    "Operator": "    def __new__(cls, name: str, ns: str = 'pkg', /) -> Operator: ...",
    "OpWrapper": "    def __new__(cls, function: Any, op: str, "
    "parameters: dict[str, str], result: Any = None, /) -> OpWrapper: ...",
}
HEADER = """\
# SPDX-License-Identifier: Apache-2.0
# Written by swig/build/stubs.py: do not edit.
from pkg.tensor import Tensor as _Tensor  # what is registered as the class of results

_bool = bool  # the module's own `bool` is a dtype

"""
# Of every class these are the language's.
LANGUAGE = {"__doc__", "__module__", "__new__", "__weakref__", "__dict__", "__init__"}
LANGUAGE |= {"__slotnames__"}  # which pickling adds
LANGUAGE |= {"__text_signature__", "__vectorcalloffset__", "__weaklistoffset__"}
LANGUAGE |= {"__dictoffset__"}
LANGUAGE |= {"__reduce__", "__getattribute__", "__hash__", "__repr__", "__str__"}


def stub(core: ModuleType, parsed: Path) -> str:
    """The text of _pywrap_core.pyi."""
    text = wrapped(tree.read(parsed), declared(parsed)).replace("typing.Any", "Any")
    rules, imports, body = re.fullmatch(
        r"((?:#.*\n)*)((?:import .*\n)*)\n((?:.*\n)*)", text
    ).groups()
    made = "".join(f"{line}\n" for line in by_hand(core))
    listed = ",\n    ".join(f'"{name}"' for name in core.__all__)
    head = f"{rules}from typing import Any\n{imports}{HEADER}"
    body = re.sub(r"\bbool\b", "_bool", body)
    return f"{head}__all__ = [\n    {listed},\n]\n{body}{made}"


def by_hand(core: ModuleType) -> Iterator[str]:
    for row in core._symbols():
        name, value = row[0], getattr(core, row[0])
        if name in BY_HAND:
            yield from [f"{BY_HAND[name]}class {name}:", *_members(name, value)]
        elif isinstance(value, type) and issubclass(value, BaseException):
            yield f"class {name}({', '.join(b.__name__ for b in value.__bases__)}): ..."
        elif isinstance(value, core.dtype):
            yield f"{name}: dtype"


def _members(name: str, cls: type) -> Iterator[str]:
    yield NEW[name]
    for member, value in sorted(vars(cls).items()):
        if member in LANGUAGE:
            continue
        result = TYPES.get(member, "Any")
        if isinstance(value, WrapperDescriptorType):
            result = SLOTS.get(member, "_Tensor" if name == "Tensor" else "Any")
        if isinstance(value, staticmethod):
            yield "    @staticmethod"
            value = value.__func__
        if callable(value):
            yield f"    def {member}{_parameters(value)} -> {result}: ..."
        elif hasattr(type(value), "__get__"):
            yield f"    {member}: {result}"
        else:
            yield f"    {member}: {type(value).__name__}"


def _parameters(value: object) -> str:
    """(a: Any, b: Any = ...), as the signature has it."""
    try:
        signature = inspect.signature(value)
    except ValueError:
        return "(self, *args: Any, **kwargs: Any)"
    parameters = [
        p if p.name == "self" else p.replace(annotation=_Raw("Any"))
        for p in signature.parameters.values()
    ]
    return str(signature.replace(parameters=parameters))


class _Raw:
    """An annotation that prints as it is."""

    def __init__(self, text: str) -> None:
        self.text = text

    def __repr__(self) -> str:
        return self.text


def load(extension: Path) -> ModuleType:
    """The extension where the build made it, without the package around it."""
    spec = importlib.util.spec_from_file_location("pkg._pywrap_core", extension)
    assert spec and spec.loader, extension
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def main() -> None:
    parsed, extension, output = map(Path, sys.argv[1:])
    output.write_text(stub(load(extension), parsed), encoding="utf-8")


if __name__ == "__main__":
    main()
