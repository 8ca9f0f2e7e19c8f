# SPDX-License-Identifier: Apache-2.0
"""The part of docs/ops.md about what PyTorch has and pkg lacks.

Called by ops_page.py.  Where PyTorch is installed its modules are compared with ours,
name by name; elsewhere the part that stands in the page is kept.
"""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import pkgutil
import re
import textwrap
import warnings
from types import ModuleType
from typing import Any

BEGIN = "<!-- what PyTorch has: written where it is installed -->"
END = "<!-- end -->"
PART = re.compile(re.escape(BEGIN) + r"\n(.*?)" + re.escape(END) + "\n", re.DOTALL)

HEAD = """\
## What PyTorch has besides

"""
INTRODUCTION = """\
Public names of PyTorch {version} that `pkg` has not, of whatever runs on a CPU. Left
out are what serves its compilers and quantisation, and its own second names of what is
listed. An absent name is an AttributeError with that name, so that a program that uses
one stops there.
"""
# Of PyTorch's insides, or of formats and devices that are not here at all.
INSIDE = re.compile(
    r"^(?:sym_|quantize|fake_quant|q_|sparse_|to_sparse|to_mkldnn|cudnn|miopen|mkldnn|"
    r"fbgemm|parse_|import_ir|is_(?:xla|xpu|mps|ipu|mtia|vulkan|quantized|sparse|shared)|"
    r"has_torch_function|handle_torch_function|unsafe_|merge_type|unify_type|resolve_|"
    r"typename|thread_safe|init_num|guaranteed|argument_|runtime_|functional_|hash_tensor"
    r"|boolean_dispatch|bits?\d*|u?int[1-7]$|qu?int|float[48]_|contrib$|cpp$|testing$"
    r"|lib$|bin$|include$|share$|numa$|package$|ao$|segment_reduce|nonzero_static|lobpcg|compiled_with|const_data|module_load)"
    r"|_copy$|_ex$|_with_indices$"
)


def text(old: str) -> str:
    """The part, new or out of the page as it is."""
    if importlib.util.find_spec("torch") is None:
        kept = PART.search(old)
        inside = kept[1] if kept else "Not known: PyTorch was not installed.\n"
    else:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of names on their way out
            inside = compared(importlib.import_module("torch"))
    return f"{HEAD}{BEGIN}\n{inside}{END}\n"


def compared(torch: ModuleType) -> str:
    """A paragraph for each module."""
    version = torch.__version__.partition("+")[0]
    paragraphs = [textwrap.fill(INTRODUCTION.format(version=version), 90)]
    functions = missing(torch, "pkg", is_function)
    rows = [
        ("Modules", sorted(modules(torch))),
        ("Dtypes", missing(torch, "pkg", lambda v: isinstance(v, torch.dtype))),
        ("Functions of `torch`", functions),
        ("Methods of `Tensor`", methods(torch, set(functions))),
        ("`nn`", missing(torch.nn, "pkg.nn", is_module_class(torch))),
        ("`nn.functional`", missing(torch.nn.functional, "pkg.nn.functional")),
        ("`nn.init`", missing(torch.nn.init, "pkg.nn.init")),
        ("`nn.utils`", missing(torch.nn.utils, "pkg.nn.utils")),
        ("`optim`", missing(torch.optim, "pkg.optim", inspect.isclass)),
        (
            "`optim.lr_scheduler`",
            missing(
                torch.optim.lr_scheduler, "pkg.optim.lr_scheduler", inspect.isclass
            ),
        ),
        ("`linalg`", missing(torch.linalg, "pkg.linalg")),
        ("`autograd`", missing(torch.autograd, "pkg.autograd", callable)),
        ("`utils.data`", missing(torch.utils.data, "pkg.utils.data", inspect.isclass)),
    ]
    for title, names in rows:
        if names:
            line = f"**{title}**: " + ", ".join(f"`{name}`" for name in names) + "."
            paragraphs.append(
                textwrap.fill(line, 90, break_long_words=False, break_on_hyphens=False)
            )
    return "\n\n".join(paragraphs) + "\n"


def missing(theirs: ModuleType, ours: str, wanted: Any = None) -> list[str]:
    """Documented names of their module that ours has not."""
    home = importlib.import_module(ours)
    found = []
    for name in dir(theirs):
        if name.startswith("_") or INSIDE.search(name):
            continue
        value = getattr(theirs, name)
        within = theirs.__name__ if inspect.isclass(value) else "torch"
        if not hasattr(home, name) and belongs(value, within):
            found += [name] * bool((wanted or is_function)(value))
    return alphabetical(found)


def alphabetical(names: list[str]) -> list[str]:
    return sorted(names, key=lambda name: (name.lower(), name))


def belongs(value: Any, within: str) -> bool:
    """Whether it is PyTorch's own, and no name that it imported."""
    home = getattr(value, "__module__", None)
    return home is None or home.startswith(within)


def is_function(value: Any) -> bool:
    """A documented function; a copy of another under a second name is one too."""
    if not callable(value) or inspect.isclass(value) or inspect.ismodule(value):
        return False
    return bool(getattr(value, "__doc__", None))


def is_module_class(torch: ModuleType) -> Any:
    def is_one(value: Any) -> bool:
        return (
            inspect.isclass(value)
            and issubclass(value, torch.nn.Module)
            and not value.__name__.startswith("Lazy")
        )

    return is_one


def methods(torch: ModuleType, functions: set[str]) -> list[str]:
    """Of Tensor, without those that stand among the functions, in place or not."""
    ours = importlib.import_module("pkg").Tensor
    found = [
        name
        for name in dir(torch.Tensor)
        if not name.startswith("_")
        and getattr(torch.Tensor, name).__doc__
        and not INSIDE.search(name)
        and not hasattr(ours, name)
        and name.rstrip("_") not in functions
    ]
    return alphabetical(found)


def modules(torch: ModuleType) -> list[str]:
    """Subpackages of PyTorch, imported or not."""
    home = importlib.import_module("pkg")
    return [
        info.name
        for info in pkgutil.iter_modules(torch.__path__)
        if info.ispkg
        and not info.name.startswith("_")
        and not INSIDE.search(info.name)
        and not hasattr(home, info.name)
    ]
