# SPDX-License-Identifier: Apache-2.0
"""Prints, as JSON, what the binding in use exports: names, signatures, docstrings.

Run by tests/binding/test_binding_contract.py in a process of its own, once per binding.
"""

import json

import pkg
from pkg._binding import core

# Of every object these belong to the language or the generator, not to the surface.
IGNORED = {"__all__", "__doc__", "__file__", "__loader__", "__name__", "__package__"}
IGNORED |= {"__spec__", "__module__", "__new__", "__init__", "__slots__", "__dict__"}
IGNORED |= {"__weakref__", "__vectorcalloffset__", "__weaklistoffset__"}


def is_special(name):
    return name.startswith("__") and name.endswith("__")


def describe(value):
    """Kind, docstring and signature of a function, property or constant."""
    if isinstance(value, staticmethod):
        return {**describe(value.__func__), "kind": "static method"}
    if callable(value) and not isinstance(value, type):
        signature = getattr(value, "__text_signature__", None)
        if signature:  # CPython's word for what is bound; pybind11 binds by itself
            signature = signature.replace("$self", "self")
        return {"kind": "function", "doc": value.__doc__, "signature": signature}
    if hasattr(type(value), "__get__"):
        return {"kind": "property", "doc": value.__doc__ or None}
    return {"kind": type(value).__name__, "repr": repr(value)}


def describe_class(cls):
    members = {n: v for n, v in vars(cls).items() if n not in IGNORED}
    doc = vars(cls).get("__doc__")
    return {
        "kind": "class",
        "doc": doc if isinstance(doc, str) and doc else None,
        "bases": [
            base.__name__ for base in cls.__mro__ if base.__module__ == "builtins"
        ],
        "subclassable": bool(cls.__flags__ & (1 << 10)),
        "members": {n: describe(v) for n, v in members.items() if not is_special(n)},
        # Docstrings of special methods are CPython's where they are type slots.
        "special": sorted(n for n in members if is_special(n)),
    }


def surface():
    names = {n: v for n, v in vars(core).items() if not is_special(n)}
    result = {
        n: describe_class(v) if isinstance(v, type) else describe(v)
        for n, v in names.items()
    }
    # Types without a name in the module.
    node = pkg.ones(1, requires_grad=True).sum().grad_fn
    result["Node"] = describe_class(type(node))
    result["TensorMemory"] = describe_class(type(core._memory(pkg.ones(1))))
    return result


if __name__ == "__main__":
    print(json.dumps(surface()))
