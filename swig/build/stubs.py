# SPDX-License-Identifier: Apache-2.0
"""Writes the stub _pywrap_core.pyi from what the built extension says.

The build runs it (products.py) on the extension it has just linked:

    python swig/build/stubs.py EXTENSION STUB

Names, parameters and defaults come from the module, types of SWIG's functions from the
C++ declarations in its table _symbols(); TYPES has the others where they are worth
knowing.
"""

from __future__ import annotations

import builtins
import importlib.util
import inspect
import re
import sys
from collections.abc import Container
from pathlib import Path
from types import ModuleType, WrapperDescriptorType

# C++ types of SWIG's functions.
PYTHON_TYPES = {
    "void": "None",
    "bool": "bool",
    "int": "int",
    "int64_t": "int",
    "double": "float",
    "std::string": "str",
    "std::string const &": "str",
}
# Results of what is hand-written; Any for the rest.
TYPES = {
    "Tensor.shape": "tuple[int, ...]",
    "Tensor.dtype": "dtype",
    "Tensor.device": "device",
    "Tensor.numel": "int",
    "Tensor.storage_offset": "int",
    "Tensor.dim": "int",
    "Tensor.data_ptr": "int",
    "Tensor.element_size": "int",
    "Tensor.is_contiguous": "_bool",
    "Tensor.is_floating_point": "_bool",
    "Tensor.is_ready": "_bool",
    "Tensor.__dlpack_device__": "tuple[int, int]",
    "Event.done": "_bool",
    "Event.wait": "_bool",
    "Node.name": "str",
    "dtype.name": "str",
    "dtype.itemsize": "int",
    "dtype.is_floating_point": "_bool",
    "device.type": "str",
    "Operator.schemas": "list[str]",
    "Operator.is_method": "_bool",
    "library_ops": "list[str]",
    "operator_names": "list[str]",
    "operator_namespaces": "list[str]",
    "scheduler_stats": "dict[str, int]",
    "submit": "Event",
    "current_stream": "Stream | None",
    "cancel": "_bool",
    "cancel_requested": "_bool",
    "live_nodes": "int",
    "tensor": "_Tensor",
    "from_numpy": "_Tensor",
    "_from_dlpack": "_Tensor",
    "_register_hook": "HookHandle",
    "_register_accumulated_hook": "HookHandle",
    "_symbols": "list[tuple[str, str, str, str]]",
    "_c_calls": "list[tuple[str, str]]",
    "register_tensor_class": "None",
    "failed_operation": "OperationHandle | None",
    "_before_fork": "None",
}
INTS = ("ndim", "itemsize", "nbytes", "_version")
BOOLS = ("requires_grad", "is_leaf", "retains_grad", "_is_view")
TYPES |= {f"Tensor.{name}": "int" for name in INTS}
TYPES |= {f"Tensor.{name}": "_bool" for name in BOOLS}
TENSORS = ("detach", "detach_", "requires_grad_", "T", "data", "wait")
TYPES |= {f"Tensor.{name}": "_Tensor" for name in TENSORS}
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
# Constructors whose parameters the class itself does not tell.
CONSTRUCTORS = {"Operator": "name: str, ns: str = 'pkg', /"}

HEADER = """\
# SPDX-License-Identifier: Apache-2.0
# Written by swig/build/stubs.py from the built module: do not edit.
from typing import Any, final

from pkg.tensor import Tensor as _Tensor  # what is registered as the class of results

_bool = bool  # the module's own `bool` is a dtype

"""
SUBCLASSABLE = 1 << 10  # Py_TPFLAGS_BASETYPE
# Of every class these are the language's.
LANGUAGE = {"__doc__", "__module__", "__new__", "__weakref__", "__dict__", "__init__"}
LANGUAGE |= {"__slotnames__"}  # which pickling adds
LANGUAGE |= {"__text_signature__", "__vectorcalloffset__", "__weaklistoffset__"}
LANGUAGE |= {"__reduce__", "__getattribute__", "__hash__", "__repr__", "__str__"}


def stub(core: ModuleType) -> str:
    """The text of _pywrap_core.pyi."""
    declared = {row[0]: row[1] for row in core._symbols()}
    blocks = []
    for name in sorted(declared):
        value = getattr(core, name)
        if isinstance(value, type):
            blocks.append(_class(name, value, declared))
        elif callable(value):
            blocks.append(_function(name, value, declared[name]))
        else:
            blocks.append(f"{name}: dtype")
    listed = ",\n    ".join(f'"{name}"' for name in core.__all__)
    blocks.insert(0, f"__all__ = [\n    {listed},\n]")
    return HEADER + "\n".join(blocks) + "\n"


def _class(name: str, cls: type, names: Container[str]) -> str:
    bases = [b.__name__ for b in cls.__bases__ if b is not object]
    # What the kit's classes have in common is no name of the module.
    bases = [b for b in bases if b in names or hasattr(builtins, b)]
    lines = []
    for member, value in sorted(vars(cls).items()):
        if member in LANGUAGE:
            continue
        result = _result(name, member, value)
        if isinstance(value, staticmethod):
            lines.append("    @staticmethod")
            lines.append(f"    def {member}{_parameters(value.__func__)} -> Any: ...")
        elif callable(value):
            note = "  # type: ignore[misc]" if member == "__ipow__" else ""  # no third
            lines.append(f"    def {member}{_parameters(value)} -> {result}: ...{note}")
        elif hasattr(type(value), "__get__"):
            lines.append(f"    {member}: {result}")
        else:
            lines.append(f"    {member}: {type(value).__name__}")
    constructor = _constructor(name, cls)
    if constructor:
        lines.insert(0, constructor)
    head = f"class {name}({', '.join(bases)}):" if bases else f"class {name}:"
    if not cls.__flags__ & SUBCLASSABLE:
        head = f"@final\n{head}"
    return "\n".join([head, *(lines or ["    ..."])])


def _result(name: str, member: str, value: object) -> str:
    """The type of an attribute, or of what a method returns."""
    if isinstance(value, WrapperDescriptorType):
        return SLOTS.get(member, "_Tensor" if name == "Tensor" else "Any")
    return TYPES.get(f"{name}.{member}", "Any")


def _constructor(name: str, cls: type) -> str | None:
    if name in CONSTRUCTORS:
        return f"    def __new__(cls, {CONSTRUCTORS[name]}) -> {name}: ..."
    if issubclass(cls, BaseException):
        return None
    if not cls.__text_signature__:  # no constructor for Python
        unusable = "    def __init__(self, *args: Any, **kwargs: Any) -> None: ..."
        return unusable if "__init__" in vars(cls) else None
    shown = _parameters(cls)[1:]
    if "__new__" in vars(cls):
        line = f"    def __new__(cls, {shown} -> {name}: ..."
    else:
        line = f"    def __init__(self, {shown} -> None: ..."
    return line.replace(", )", ")")


def _function(name: str, value: object, signature: str) -> str:
    found = re.fullmatch(r"(.+?) ?\b(?:\w+::)*(\w+)\((.*)\)", signature)
    if found and found[1] in PYTHON_TYPES and "PyObject" not in signature:
        kinds = [PYTHON_TYPES.get(t) for t in found[3].split(",") if t]
        if None not in kinds:
            result = _not_dtype(PYTHON_TYPES[found[1]])
            return f"def {name}{_parameters(value, kinds)} -> {result}: ..."
    result = TYPES.get(name) or ("None" if signature.startswith("void ") else "Any")
    return f"def {name}{_parameters(value)} -> {result}: ..."


def _not_dtype(kind: str) -> str:
    return "_bool" if kind == "bool" else kind


def _parameters(value: object, kinds: list[str] | None = None) -> str:
    """(a: int, b: float = ...), as the signature has it."""
    try:
        signature = inspect.signature(value)
    except ValueError:
        return "(self, *args: Any, **kwargs: Any)"
    parameters = []
    for i, p in enumerate(signature.parameters.values()):
        if p.name == "self":
            parameters.append(p)
            continue
        kind = _not_dtype(kinds[i]) if kinds else "Any"
        parameters.append(p.replace(annotation=_Raw(kind)))
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
    extension, output = map(Path, sys.argv[1:])
    output.write_text(stub(load(extension)), encoding="utf-8")


if __name__ == "__main__":
    main()
