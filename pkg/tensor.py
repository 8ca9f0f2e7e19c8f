# SPDX-License-Identifier: Apache-2.0
"""The Tensor class: the C++ type with what is nicer to say in Python."""

from __future__ import annotations

from copy import deepcopy
from typing import TYPE_CHECKING, Any, TypeVar

from ._binding import core

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    import numpy as np

    from ._op_types import OpMethods

    class _Base(core.Tensor, OpMethods): ...
else:
    _Base = core.Tensor  # pkg/ops.py adds the methods

_Class = TypeVar("_Class", bound="Tensor")


class _Above(dict[str, Any]):
    """Functions of modules above this one, by name; each is loaded at its first use.

    This module imports none of them: ``pkg/__init__.py`` sets ``load``.
    """

    load: Callable[[str], Any]

    def __missing__(self, name: str) -> Any:
        """Finds the function, which stays here."""
        self[name] = function = self.load(name)
        return function


above = _Above()


class Tensor(_Base):
    """An array of numbers of one dtype, with an optional gradient.

    Every result of an op is of this class.  Make one with ``pkg.tensor(data)``.
    """

    __slots__ = ()
    __array_priority__ = 1000
    __pandas_priority__ = 5000  # above its frames: `series + t` is a tensor

    def as_subclass(self, cls: type[_Class]) -> _Class:
        """An object of ``cls``, a subclass of Tensor, over the same memory.

        It has no history: RuntimeError where gradients are recorded and this tensor
        requires them.  TypeError when ``cls`` is no such class.
        """
        if not (isinstance(cls, type) and issubclass(cls, core.Tensor)):
            kind = cls.__name__ if isinstance(cls, type) else type(cls).__name__
            raise TypeError(
                f"[as_subclass] expected a subclass of Tensor for 'cls', got {kind}"
            )
        if self.requires_grad and core.is_grad_enabled():
            raise RuntimeError(
                "[as_subclass] expected a tensor that requires no grad, since the "
                "result has no history. Use x.detach().as_subclass(cls)."
            )
        made: _Class = self._make_subclass(cls, self.detach())
        return made

    def __repr__(self) -> str:
        """Values, dtype and history, as PyTorch prints them."""
        text: str = above["tensor_text"](self)
        return text

    def __iter__(self) -> Iterator[Tensor]:
        """The slices along the first dimension."""
        if self.ndim == 0:
            raise TypeError("iteration over a 0-d tensor")
        slices: tuple[Tensor, ...] = self.unbind(0)
        return iter(slices)

    def __contains__(self, item: object) -> bool:
        """Whether an element equals ``item``, a number or a tensor that broadcasts."""
        if not hasattr(item, "__float__"):  # NumPy's numbers have it, str has not
            raise RuntimeError(
                "Tensor.__contains__ expected a Tensor or a number, got "
                f"{type(item).__name__}"
            )
        return bool((self == item).any())

    def __format__(self, spec: str) -> str:
        """A 0-d tensor formats as its number, as PyTorch's does: f"{loss}"."""
        if self.ndim == 0:
            return format(self.item(), spec)
        return object.__format__(self, spec)

    def backward(
        self,
        gradient: Tensor | None = None,
        retain_graph: bool | None = None,
        create_graph: bool = False,
        inputs: Tensor | Sequence[Tensor] | None = None,
    ) -> None:
        """Adds the gradients of this tensor to the .grad of the leaves behind it.

        The parameters are those of ``pkg.autograd.backward``.
        """
        if inputs is not None:
            options = (gradient, retain_graph, create_graph, inputs)
            above["backward"](self, *options)
            return
        keep = create_graph if retain_graph is None else retain_graph
        core._backward((self,), (gradient,), keep, create_graph, ())

    def register_hook(self, hook: Callable[[Tensor], Tensor | None]) -> core.HookHandle:
        """Calls hook(grad) when this tensor's gradient is known in a backward pass.

        A Tensor that it returns replaces the gradient.  The result's remove() undoes
        it.  RuntimeError when the tensor requires no gradient.
        """
        return core._register_hook(self, hook)

    def register_post_accumulate_grad_hook(
        self, hook: Callable[[Tensor], None]
    ) -> core.HookHandle:
        """Calls hook(self) after a backward pass has added to this leaf's .grad.

        The result's remove() undoes it.  RuntimeError for a tensor that is no leaf.
        """
        return core._register_accumulated_hook(self, hook)

    def requires_grad_(self, requires_grad: bool = True) -> Tensor:
        """Sets requires_grad; returns self."""
        self.requires_grad = requires_grad
        return self

    def retain_grad(self) -> None:
        """Keeps the gradient in .grad although an op made this tensor."""
        core._retain_grad(self)

    # --- PyTorch's other names --------------------------------------------------------

    @property
    def is_cuda(self) -> bool:
        """False: there is no GPU back end."""
        return False

    @property
    def mT(self) -> Tensor:  # noqa: N802  (PyTorch's name)
        """The last two dimensions swapped; RuntimeError with less than two."""
        if self.ndim < 2:
            raise RuntimeError(
                "[mT] expected a matrix or a batch of matrices, got shape "
                f"{tuple(self.shape)}."
            )
        return self.transpose(-2, -1)

    @property
    def H(self) -> Tensor:  # noqa: N802
        """The transpose of a matrix: no dtype is complex."""
        if self.ndim not in (0, 2):
            raise RuntimeError(
                f"[H] expected a matrix, got shape {tuple(self.shape)}. Use mT."
            )
        return self.T

    def cpu(self) -> Tensor:
        """The tensor itself, which is in main memory; an error on "meta"."""
        return self.to("cpu")

    def type(self, dtype: Any = None) -> Any:
        """The name of the type ("pkg.FloatTensor"), or with ``dtype`` ``to(dtype)``.

        A name that it returned is taken as ``dtype``, too.
        """
        names = {code: f"pkg.{kind}Tensor" for code, kind in _KINDS.items()}
        if dtype is None:
            return names[self.dtype.name]
        named = [code for code, name in names.items() if name == dtype]
        return self.to(getattr(core, named[0]) if named else core.dtype(dtype))

    def type_as(self, other: Tensor) -> Tensor:
        """With the dtype and device of ``other``."""
        return self.to(other)

    def byte(self) -> Tensor:
        """With the dtype uint8."""
        return self.to(core.uint8)

    def char(self) -> Tensor:
        """With the dtype int8."""
        return self.to(core.int8)

    def nonzero(self, *, as_tuple: bool = False) -> Any:
        """Where the elements are that are not 0: see ``pkg.nonzero``."""
        return above["nonzero"](self, as_tuple=as_tuple)

    def nelement(self) -> int:
        """Number of elements: ``numel()``."""
        return self.numel()

    def ndimension(self) -> int:
        """Number of dimensions: ``dim()``."""
        return self.ndim

    def ravel(self) -> Tensor:
        """One dimension: a view where the layout allows it, else a copy."""
        return self.reshape(-1)

    def where(self, condition: Tensor, other: Any) -> Tensor:
        """Own elements where ``condition`` is true, those of ``other`` elsewhere."""
        chosen: Tensor = _where(condition, self, other)
        return chosen

    def unique(
        self,
        sorted: bool = True,
        return_inverse: bool = False,
        return_counts: bool = False,
        dim: int | None = None,
    ) -> Any:
        """The different values, or slices along ``dim``: see ``pkg.unique``."""
        return above["unique"](self, sorted, return_inverse, return_counts, dim)

    def multinomial(self, num_samples: int, replacement: bool = False) -> Tensor:
        """Indices drawn with these weights: see ``pkg.multinomial``."""
        drawn: Tensor = above["multinomial"](self, num_samples, replacement)
        return drawn

    def new_tensor(
        self,
        data: Any,
        *,
        dtype: Any = None,
        device: Any = None,
        requires_grad: bool = False,
    ) -> Tensor:
        """A tensor of ``data``, copied, with the dtype and device of this one."""
        made = core.tensor(data, dtype=self.dtype if dtype is None else dtype)
        made = made.to(self.device if device is None else device)
        return made.requires_grad_(requires_grad)

    # --- other libraries --------------------------------------------------------------

    def numpy(self) -> np.ndarray[Any, Any]:
        """The values as a NumPy array over the same memory.

        Waits for pending work.  RuntimeError when the tensor requires grad and grad
        mode is on.
        """
        if self.requires_grad and core.is_grad_enabled():
            raise RuntimeError(
                "Can't call numpy() on Tensor that requires grad. "
                "Use tensor.detach().numpy() instead."
            )
        import numpy

        array: np.ndarray[Any, Any] = numpy.asarray(core._memory(self))
        return array

    def __array__(
        self, dtype: Any = None, copy: bool | None = None
    ) -> np.ndarray[Any, Any]:
        """NumPy's conversion protocol."""
        array = self.numpy()
        if dtype is not None and array.dtype != dtype:
            if copy is False:
                raise ValueError(
                    f"[__array__] expected dtype {array.dtype}, whose memory NumPy can "
                    f"share, got {dtype} (copy=False)."
                )
            return array.astype(dtype)
        return array.copy() if copy else array

    def __array_ufunc__(
        self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any
    ) -> Any:
        """NumPy's operators and ufuncs: the op of that name, see numpy_functions.py."""
        return above["apply_ufunc"](self, ufunc, method, *inputs, **kwargs)

    def __array_function__(self, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        """NumPy's other functions: reductions are ops, the rest gets the values."""
        return above["apply_function"](self, func, types, args, kwargs)

    def __reduce_ex__(self, protocol: Any) -> tuple[Any, ...]:
        """Pickles values, dtype, requires_grad and attributes; not the graph."""
        values = self.detach().contiguous()
        if self.dtype is core.dtype("bfloat16"):  # NumPy has none; float32 is exact
            values = values.float()
        array = values.numpy().copy()
        made = type(self), array, self.requires_grad, self.dtype
        # Classes derived from this one may have attributes.
        return _rebuild, made, getattr(self, "__dict__", None) or None

    def __copy__(self) -> Tensor:
        """A leaf over the same memory, with the same attributes."""
        copy: Tensor = self._make_subclass(
            type(self), self.detach(), self.requires_grad
        )
        if hasattr(self, "__dict__"):
            copy.__dict__.update(self.__dict__)
        return copy

    def __deepcopy__(self, memo: dict[int, Any]) -> Tensor:
        """A copy with memory of its own, .grad and attributes included.

        RuntimeError if this is not a leaf.
        """
        if not self.is_leaf:
            raise RuntimeError(
                "Only Tensors created explicitly by the user (graph leaves) support "
                "the deepcopy protocol at the moment. Use detach() or clone()."
            )
        values = self.detach().clone()
        copy: Tensor = self._make_subclass(type(self), values, self.requires_grad)
        memo[id(self)] = copy
        if self.grad is not None:
            copy.grad = self.grad.detach().clone()
        if hasattr(self, "__dict__"):
            copy.__dict__.update(deepcopy(self.__dict__, memo))
        return copy


_where = core.Operator("where")

# PyTorch's words for the types that Tensor.type() names.
_KINDS = {
    "bool": "Bool",
    "uint8": "Byte",
    "int8": "Char",
    "int32": "Int",
    "int64": "Long",
    "float16": "Half",
    "bfloat16": "BFloat16",
    "float32": "Float",
    "float64": "Double",
}


def _rebuild(
    cls: type[Tensor], array: Any, requires_grad: bool, dtype: core.dtype
) -> Tensor:
    """Inverse of Tensor.__reduce_ex__."""
    values = core.tensor(array, dtype=dtype)
    made: Tensor = cls._make_subclass(cls, values, requires_grad)
    return made


Tensor.__module__ = "pkg"
core.register_tensor_class(Tensor)
