# SPDX-License-Identifier: Apache-2.0
"""The Tensor class: the C++ type with what is nicer to say in Python."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ._binding import core


class Tensor(core.Tensor):
    """An array of numbers of one dtype, with an optional gradient.

    Every result of an op is of this class.  Make one with ``pkg.tensor(data)``.
    """

    __slots__ = ()
    # NumPy leaves mixed expressions to us: np.ones(3) + t is a Tensor.
    __array_ufunc__ = None
    __array_priority__ = 1000

    if TYPE_CHECKING:
        # Ops whose first parameter is `self` are methods, put here at run time.
        def __getattr__(self, name: str) -> Any: ...

    def __repr__(self):
        """Values, dtype and history, as PyTorch prints them."""
        from .printing import tensor_text

        return tensor_text(self)

    def __iter__(self):
        """The slices along the first dimension."""
        if self.ndim == 0:
            raise TypeError("iteration over a 0-d tensor")
        return iter(self.unbind(0))

    def __format__(self, spec):
        """A 0-d tensor formats as its number."""
        if self.ndim == 0 and spec:
            return format(self.item(), spec)
        return object.__format__(self, spec)

    def backward(self, gradient=None, retain_graph=None, create_graph=False):
        """Adds the gradients of this tensor to the .grad of the leaves behind it."""
        keep = create_graph if retain_graph is None else retain_graph
        core._backward((self,), (gradient,), keep, create_graph)

    def register_hook(self, hook):
        """Calls hook(grad) when this tensor's gradient is known in a backward pass.

        A Tensor that it returns replaces the gradient.  The result's remove() undoes it.
        RuntimeError when the tensor requires no gradient.
        """
        return core._register_hook(self, hook)

    def register_post_accumulate_grad_hook(self, hook):
        """Calls hook(self) after a backward pass has added to this leaf's .grad.

        The result's remove() undoes it.  RuntimeError for a tensor that is no leaf.
        """
        return core._register_accumulated_hook(self, hook)

    def retain_grad(self):
        """Keeps the gradient in .grad although an op made this tensor."""
        core._retain_grad(self)

    def numpy(self):
        """The values as a NumPy array over the same memory.

        Waits for pending work.  RuntimeError when the tensor requires grad.
        """
        if self.requires_grad:
            raise RuntimeError(
                "Can't call numpy() on Tensor that requires grad. "
                "Use tensor.detach().numpy() instead."
            )
        import numpy

        return numpy.asarray(core._memory(self))

    def __array__(self, dtype=None, copy=None):
        """NumPy's conversion protocol."""
        array = self.numpy()
        if dtype is not None and array.dtype != dtype:
            return array.astype(dtype)
        return array.copy() if copy else array

    def __reduce_ex__(self, protocol):
        """Pickles values, dtype and requires_grad; not the graph."""
        values = self.detach().contiguous()
        if self.dtype is core.dtype("bfloat16"):  # NumPy has none; float32 is exact
            values = values.float()
        array = values.numpy().copy()
        return _rebuild, (type(self), array, self.requires_grad, self.dtype)

    def __deepcopy__(self, memo):
        """A copy with memory of its own."""
        copy = self._make_subclass(type(self), self.detach().clone(), self.requires_grad)
        memo[id(self)] = copy
        return copy


def _rebuild(cls, array, requires_grad, dtype):
    """Inverse of Tensor.__reduce_ex__."""
    return cls._make_subclass(cls, core.tensor(array, dtype=dtype), requires_grad)


Tensor.__module__ = "pkg"
core.register_tensor_class(Tensor)
