# SPDX-License-Identifier: Apache-2.0
"""Module: the base class of layers and networks.

Calling and walking the tree is here; what happens on assignment is in attributes.py,
saving and loading in state.py, conversion in convert.py.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeVar

from .._binding import core
from ..tensor import Tensor
from .attributes import Attributes
from .convert import convert, wanted_dtype
from .hooks import RemovableHandle
from .parameter import Parameter, clear_gradients
from .state import IncompatibleKeys, collect_state, load_state

__all__ = ["Module"]

M = TypeVar("M", bound="Module")


class Module(Attributes):
    """A part of a network: assign Parameters and Modules to it, define ``forward``.

    ``module(x)`` calls ``forward(x)`` with the hooks around it.
    """

    _forward_hooks: dict[int, tuple[Callable[..., Any], bool]]
    _forward_pre_hooks: dict[int, tuple[Callable[..., Any], bool]]

    def __init__(self) -> None:
        """Prepare the dicts; subclasses call this before they assign anything."""
        super().__init__()
        self.__dict__["_forward_hooks"] = {}
        self.__dict__["_forward_pre_hooks"] = {}

    # --- calling ------------------------------------------------------------------

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """Compute the result; every subclass defines it."""
        raise NotImplementedError(
            f'Module [{type(self).__name__}] is missing the required "forward" function'
        )

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Run the pre-hooks, ``forward`` and the forward hooks."""
        if not self._forward_pre_hooks and not self._forward_hooks:
            return self.forward(*args, **kwargs)
        for pre, with_kwargs in list(self._forward_pre_hooks.values()):
            if with_kwargs:
                changed = pre(self, args, kwargs)
                args, kwargs = (args, kwargs) if changed is None else changed
            else:
                changed = pre(self, args)
                if changed is not None:
                    args = changed if isinstance(changed, tuple) else (changed,)
        result = self.forward(*args, **kwargs)
        for hook, with_kwargs in list(self._forward_hooks.values()):
            rest = (args, kwargs) if with_kwargs else (args,)
            changed = hook(self, *rest, result)
            result = result if changed is None else changed
        return result

    def register_forward_hook(
        self,
        hook: Callable[..., Any],
        *,
        prepend: bool = False,
        with_kwargs: bool = False,
    ) -> RemovableHandle:
        """Call ``hook(module, args, output)`` after forward; may return another output.

        ``with_kwargs`` makes it ``hook(module, args, kwargs, output)``.
        """
        return RemovableHandle(self._forward_hooks, (hook, with_kwargs), prepend)

    def register_forward_pre_hook(
        self,
        hook: Callable[..., Any],
        *,
        prepend: bool = False,
        with_kwargs: bool = False,
    ) -> RemovableHandle:
        """Call ``hook(module, args)`` before forward; may return other arguments.

        ``with_kwargs`` makes it ``hook(module, args, kwargs)``, returning both or None.
        """
        return RemovableHandle(self._forward_pre_hooks, (hook, with_kwargs), prepend)

    # --- walking the tree -----------------------------------------------------------

    def named_modules(
        self,
        memo: set[Module] | None = None,
        prefix: str = "",
        remove_duplicate: bool = True,
    ) -> Iterator[tuple[str, Module]]:
        """Yield this module and all below it with their dotted names, each once."""
        memo = set() if memo is None else memo
        if self in memo:
            return
        if remove_duplicate:
            memo.add(self)
        yield prefix, self
        for name, child in self._modules.items():
            if child is not None:
                yield from child.named_modules(
                    memo, _join(prefix, name), remove_duplicate
                )

    def modules(self) -> Iterator[Module]:
        """Yield this module and all below it, each once."""
        return (module for _, module in self.named_modules())

    def named_children(self) -> Iterator[tuple[str, Module]]:
        """Yield the modules directly below this one with their names, each once."""
        seen: set[Module] = set()
        for name, child in self._modules.items():
            if child is not None and child not in seen:
                seen.add(child)
                yield name, child

    def children(self) -> Iterator[Module]:
        """Yield the modules directly below this one, each once."""
        return (module for _, module in self.named_children())

    def _named(
        self, kind: str, prefix: str, recurse: bool, remove_duplicate: bool
    ) -> Iterator[tuple[str, Any]]:
        seen: set[int] = set()
        places = iter([(prefix, self)])
        if recurse:
            places = self.named_modules(None, prefix, remove_duplicate)
        for path, module in places:
            for name, tensor in module.__dict__[kind].items():
                if tensor is None or id(tensor) in seen:
                    continue
                if remove_duplicate:
                    seen.add(id(tensor))
                yield _join(path, name), tensor

    def named_parameters(
        self, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Parameter]]:
        """Yield all parameters with their dotted names; a shared one comes once."""
        return self._named("_parameters", prefix, recurse, remove_duplicate)

    def parameters(self, recurse: bool = True) -> Iterator[Parameter]:
        """Yield all parameters, each once."""
        return (p for _, p in self.named_parameters(recurse=recurse))

    def named_buffers(
        self, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Tensor]]:
        """Yield all buffers with their dotted names; a shared one comes once."""
        return self._named("_buffers", prefix, recurse, remove_duplicate)

    def buffers(self, recurse: bool = True) -> Iterator[Tensor]:
        """Yield all buffers, each once."""
        return (b for _, b in self.named_buffers(recurse=recurse))

    def get_submodule(self, target: str) -> Module:
        """Return the module of a dotted name; AttributeError when there is none."""
        module = self
        for part in target.split(".") if target else ():
            child = module._modules.get(part)
            if child is None:
                raise AttributeError(
                    f"{type(module).__name__} has no child '{part}' (target={target!r})"
                )
            module = child
        return module

    def _get_tensor(self, kind: str, what: str, target: str) -> Any:
        path, _, name = target.rpartition(".")
        module = self.get_submodule(path)
        found = module.__dict__[kind].get(name)
        if found is None:
            raise AttributeError(
                f"{type(module).__name__} has no {what} '{name}' (target={target!r})"
            )
        return found

    def get_parameter(self, target: str) -> Parameter:
        """Return the parameter of a dotted name; AttributeError when there is none."""
        found: Parameter = self._get_tensor("_parameters", "parameter", target)
        return found

    def get_buffer(self, target: str) -> Tensor:
        """Return the buffer of a dotted name; AttributeError when there is none."""
        found: Tensor = self._get_tensor("_buffers", "buffer", target)
        return found

    # --- changing everything below ----------------------------------------------------

    def train(self: M, mode: bool = True) -> M:
        """Put this module and all below it into training mode, or out of it."""
        if not isinstance(mode, bool):
            raise ValueError("training mode is expected to be boolean")
        self.training = mode
        for child in self.children():
            child.train(mode)  # a child may define train() to stay frozen
        return self

    def eval(self: M) -> M:
        """Put this module and all below it into evaluation mode."""
        return self.train(False)

    def requires_grad_(self: M, requires_grad: bool = True) -> M:
        """Set whether gradients are computed for the parameters."""
        for parameter in self.parameters():
            parameter.requires_grad_(requires_grad)
        return self

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Drop the gradients of all parameters, or fill them with zeros."""
        clear_gradients(self.parameters(), set_to_none)

    def apply(self: M, fn: Callable[[Module], Any]) -> M:
        """Call ``fn`` on every module below this one, then on this one."""
        for child in self.children():
            child.apply(fn)
        fn(self)
        return self

    def to(
        self: M,
        *args: Any,
        device: Any = None,
        dtype: Any = None,
        non_blocking: bool = False,
    ) -> M:
        """Convert floating-point parameters, gradients and buffers, in place.

        Takes a dtype, a device (only the CPU), both, or a tensor that has them.
        non_blocking: without effect.
        """
        wanted = wanted_dtype(args, device, dtype)
        if wanted is not None:
            convert(self, wanted)
        return self

    def cpu(self: M) -> M:
        """Return the module itself: parameters live in main memory."""
        return self.to("cpu")

    def float(self: M) -> M:
        """Convert to float32."""
        return self.to(core.float32)

    def double(self: M) -> M:
        """Convert to float64."""
        return self.to(core.float64)

    def half(self: M) -> M:
        """Convert to float16."""
        return self.to(core.float16)

    def bfloat16(self: M) -> M:
        """Convert to bfloat16."""
        return self.to(core.bfloat16)

    # --- saving and showing -----------------------------------------------------------

    def state_dict(
        self, *, prefix: str = "", keep_vars: bool = False
    ) -> dict[str, Tensor]:
        """Return parameters and persistent buffers by dotted name; shares memory.

        They are detached unless ``keep_vars``.  A shared one has each of its names.
        """
        return collect_state(self, prefix, keep_vars)

    def load_state_dict(
        self, state_dict: Mapping[str, Tensor], strict: bool = True
    ) -> IncompatibleKeys:
        """Copy values in by name; RuntimeError names missing, unexpected and misshapen.

        Nothing is copied when there is an error.  Not ``strict`` skips missing and
        unexpected names and returns them as ``(missing_keys, unexpected_keys)``.
        """
        return load_state(self, state_dict, strict)

    def extra_repr(self) -> str:
        """Return what stands between the parentheses of the repr."""
        return ""

    def _child_lines(self) -> list[str]:
        return [
            f"({name}): " + repr(child).replace("\n", "\n  ")
            for name, child in self._modules.items()
        ]

    def __repr__(self) -> str:
        """The tree of modules, as PyTorch prints it."""
        extra = self.extra_repr().splitlines()
        children = self._child_lines()
        if not children and len(extra) < 2:
            return f"{type(self).__name__}({''.join(extra)})"
        body = "\n  ".join([*extra, *children])
        return f"{type(self).__name__}(\n  {body}\n)"


def _join(prefix: str, name: str) -> str:
    return f"{prefix}.{name}" if prefix else name
