# SPDX-License-Identifier: Apache-2.0
"""Module: the base class of layers and networks.

It keeps parameters, buffers and child modules in three dicts, fed by attribute
assignment.  Walking the tree is here; saving and loading it is in state.py.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, TypeVar

from ..tensor import Tensor
from .parameter import Parameter
from .state import collect_state, load_state

__all__ = ["Module"]

M = TypeVar("M", bound="Module")


class Module:
    """A part of a network: assign Parameters and Modules to it, define ``forward``.

    ``module(x)`` calls ``forward(x)`` with the hooks around it.
    """

    training: bool = True

    def __init__(self) -> None:
        """Prepare the dicts; subclasses call this before they assign anything."""
        put = object.__setattr__
        put(self, "_parameters", {})
        put(self, "_buffers", {})
        put(self, "_modules", {})
        put(self, "_transient", set())
        put(self, "_forward_hooks", {})
        put(self, "_forward_pre_hooks", {})
        put(self, "training", True)

    # --- attributes ---------------------------------------------------------------

    def __setattr__(self, name: str, value: Any) -> None:
        """Parameters, Modules and buffers go to their dict, the rest to the object."""
        own = self.__dict__
        if isinstance(value, (Parameter, Module)) and "_parameters" not in own:
            raise AttributeError(
                f"cannot assign {type(value).__name__} before Module.__init__() call"
            )
        if isinstance(value, Parameter):
            self._forget(name)
            own["_parameters"][name] = value
        elif isinstance(value, Module):
            self._forget(name)
            own["_modules"][name] = value
        elif value is None and name in own.get("_parameters", ()):
            own["_parameters"][name] = None
        elif name in own.get("_parameters", ()):
            raise TypeError(
                f"cannot assign '{type(value).__name__}' as parameter '{name}' "
                "(Parameter or None expected)"
            )
        elif name in own.get("_buffers", ()):
            if value is not None and not isinstance(value, Tensor):
                raise TypeError(
                    f"cannot assign '{type(value).__name__}' as buffer '{name}' "
                    "(Tensor or None expected)"
                )
            own["_buffers"][name] = value
        else:
            own.get("_modules", {}).pop(name, None)
            object.__setattr__(self, name, value)

    def __getattr__(self, name: str) -> Any:
        """Looked up only when the object itself has no such attribute."""
        for kind in ("_parameters", "_buffers", "_modules"):
            found = self.__dict__.get(kind)
            if found is not None and name in found:
                return found[name]
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")

    def __delattr__(self, name: str) -> None:
        """Remove an attribute of any kind."""
        if not self._forget(name):
            object.__delattr__(self, name)

    def __dir__(self) -> list[str]:
        """Ordinary attributes and the names of what is registered."""
        kinds = (self._parameters, self._buffers, self._modules)
        return sorted({*object.__dir__(self), *(n for kind in kinds for n in kind)})

    def _forget(self, name: str) -> bool:
        self.__dict__.get("_transient", set()).discard(name)
        kinds = ("_parameters", "_buffers", "_modules")
        found = [k for k in kinds if name in self.__dict__.get(k, ())]
        for kind in found:
            del self.__dict__[kind][name]
        if not found and name in self.__dict__:
            del self.__dict__[name]
            return True
        return bool(found)

    def register_parameter(self, name: str, param: Parameter | None) -> None:
        """Add a parameter under ``name``; None keeps the place empty."""
        if param is not None and not isinstance(param, Parameter):
            raise TypeError(
                f"[register_parameter] expected a Parameter or None, got "
                f"{type(param).__name__} (name={name!r})."
            )
        self._check_name(name)
        self._forget(name)
        self._parameters[name] = param

    def register_buffer(
        self, name: str, tensor: Tensor | None, persistent: bool = True
    ) -> None:
        """Add a tensor that is state but not trained; saved when ``persistent``."""
        if tensor is not None and not isinstance(tensor, Tensor):
            raise TypeError(
                f"[register_buffer] expected a Tensor or None, got "
                f"{type(tensor).__name__} (name={name!r})."
            )
        self._check_name(name)
        self._forget(name)
        self._buffers[name] = tensor
        if not persistent:
            self._transient.add(name)

    def add_module(self, name: str, module: Module | None) -> None:
        """Add a child module under ``name``."""
        if module is not None and not isinstance(module, Module):
            raise TypeError(
                f"[add_module] expected a Module or None, got {type(module).__name__} "
                f"(name={name!r})."
            )
        self._check_name(name)
        self._forget(name)
        self._modules[name] = module

    register_module = add_module

    def _check_name(self, name: str) -> None:
        if not name or "." in name:
            raise KeyError(f"name must be non-empty and hold no '.', got {name!r}")
        known = {**self._parameters, **self._buffers, **self._modules}
        if hasattr(self, name) and name not in known:
            raise KeyError(f"attribute '{name}' already exists")

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
        for pre in list(self._forward_pre_hooks.values()):
            changed = pre(self, args)
            if changed is not None:
                args = changed if isinstance(changed, tuple) else (changed,)
        result = self.forward(*args, **kwargs)
        for hook in list(self._forward_hooks.values()):
            changed = hook(self, args, result)
            if changed is not None:
                result = changed
        return result

    def register_forward_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Call ``hook(module, args, output)`` after forward; may return another output."""
        return RemovableHandle(self._forward_hooks, hook)

    def register_forward_pre_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Call ``hook(module, args)`` before forward; may return other arguments."""
        return RemovableHandle(self._forward_pre_hooks, hook)

    # --- walking the tree -----------------------------------------------------------

    def named_modules(
        self, prefix: str = "", memo: set[Module] | None = None
    ) -> Iterator[tuple[str, Module]]:
        """Yield this module and all below it with their dotted names, each once."""
        memo = set() if memo is None else memo
        if self in memo:
            return
        memo.add(self)
        yield prefix, self
        for name, child in self._modules.items():
            if child is not None:
                yield from child.named_modules(_join(prefix, name), memo)

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
        """Yield the modules directly below this one."""
        return (child for _, child in self.named_children())

    def _named(self, kind: str, prefix: str, recurse: bool) -> Iterator[tuple[str, Any]]:
        seen: set[int] = set()
        places = self.named_modules(prefix) if recurse else iter([(prefix, self)])
        for path, module in places:
            for name, tensor in module.__dict__[kind].items():
                if tensor is not None and id(tensor) not in seen:
                    seen.add(id(tensor))
                    yield _join(path, name), tensor

    def named_parameters(
        self, prefix: str = "", recurse: bool = True
    ) -> Iterator[tuple[str, Parameter]]:
        """Yield all parameters with their dotted names; a shared one comes once."""
        return self._named("_parameters", prefix, recurse)

    def parameters(self, recurse: bool = True) -> Iterator[Parameter]:
        """Yield all parameters."""
        return (p for _, p in self.named_parameters(recurse=recurse))

    def named_buffers(
        self, prefix: str = "", recurse: bool = True
    ) -> Iterator[tuple[str, Tensor]]:
        """Yield all buffers with their dotted names."""
        return self._named("_buffers", prefix, recurse)

    def buffers(self, recurse: bool = True) -> Iterator[Tensor]:
        """Yield all buffers."""
        return (b for _, b in self.named_buffers(recurse=recurse))

    def get_submodule(self, target: str) -> Module:
        """Return the module of a dotted name; AttributeError when there is none."""
        module = self
        for part in filter(None, target.split(".")):
            child = module._modules.get(part)
            if child is None:
                raise AttributeError(
                    f"{type(module).__name__} has no child '{part}' (target={target!r})"
                )
            module = child
        return module

    # --- changing everything below ----------------------------------------------------

    def train(self: M, mode: bool = True) -> M:
        """Put this module and all below it into training mode, or out of it."""
        for module in self.modules():
            module.training = mode
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
        """Drop the gradients of all parameters, or set them to zero."""
        for parameter in self.parameters():
            if set_to_none or parameter.grad is None:
                parameter.grad = None
            else:
                parameter.grad = parameter.grad.detach() * 0

    def apply(self: M, fn: Callable[[Module], Any]) -> M:
        """Call ``fn`` on every module below this one, then on this one."""
        for child in self.children():
            child.apply(fn)
        fn(self)
        return self

    def to(self: M, dtype: Any) -> M:
        """Convert floating-point parameters, gradients and buffers to ``dtype``."""
        for module in self.modules():
            present = [p for p in module._parameters.values() if p is not None]
            for parameter in present:
                if parameter.is_floating_point() and parameter.dtype != dtype:
                    grad, parameter.grad = parameter.grad, None
                    parameter.data = parameter.data.to(dtype)
                    parameter.grad = None if grad is None else grad.detach().to(dtype)
            for name, buffer in module._buffers.items():
                if buffer is not None and buffer.is_floating_point():
                    module._buffers[name] = buffer.to(dtype)
        return self

    def float(self: M) -> M:
        """Convert to float32."""
        from .. import float32

        return self.to(float32)

    def double(self: M) -> M:
        """Convert to float64."""
        from .. import float64

        return self.to(float64)

    # --- saving and showing -------------------------------------------------------------

    def state_dict(self, prefix: str = "") -> dict[str, Tensor]:
        """Return parameters and persistent buffers by dotted name; shares memory."""
        return collect_state(self, prefix)

    def load_state_dict(self, state_dict: dict[str, Tensor], strict: bool = True) -> Any:
        """Copy values in by name; RuntimeError names missing, unexpected and misshapen.

        Nothing is copied when there is an error.  Not ``strict`` skips missing and
        unexpected names and returns them as ``(missing_keys, unexpected_keys)``.
        """
        return load_state(self, state_dict, strict)

    def extra_repr(self) -> str:
        """Return what stands between the parentheses of the repr."""
        return ""

    def __repr__(self) -> str:
        """The tree of modules, as PyTorch prints it."""
        lines = [f"({n}): " + repr(m).replace("\n", "\n  ") for n, m in self._modules.items()]
        extra = self.extra_repr()
        if not lines:
            return f"{type(self).__name__}({extra})"
        body = "\n  ".join([*extra.splitlines(), *lines])
        return f"{type(self).__name__}(\n  {body}\n)"


class RemovableHandle:
    """Undoes the registration of a hook."""

    _next = 0

    def __init__(self, hooks: dict[int, Any], hook: Callable[..., Any]) -> None:
        """Add ``hook`` to ``hooks``."""
        self._hooks = hooks
        self._key = RemovableHandle._next
        RemovableHandle._next += 1
        hooks[self._key] = hook

    def remove(self) -> None:
        """Take the hook out; again is harmless."""
        self._hooks.pop(self._key, None)

    def __enter__(self) -> RemovableHandle:
        """Keep the hook for the length of a ``with`` block."""
        return self

    def __exit__(self, *exc: object) -> None:
        """Remove the hook."""
        self.remove()


def _join(prefix: str, name: str) -> str:
    return f"{prefix}.{name}" if prefix else name
