# SPDX-License-Identifier: Apache-2.0
"""What gradients become on their way between ranks."""

from __future__ import annotations

from typing import Any

from .._binding import core
from ..tensor import Tensor

__all__ = ["Compression", "Compressor"]


class Compressor:
    """Base class: makes a tensor smaller, and itself again."""

    @staticmethod
    def compress(tensor: Tensor) -> tuple[Tensor, Any]:
        """What is sent, and what decompress() needs to know."""
        raise NotImplementedError("Compressors define compress()")

    @staticmethod
    def decompress(tensor: Tensor, ctx: Any) -> Tensor:
        """The tensor as it was, or nearly."""
        raise NotImplementedError("Compressors define decompress()")


class NoneCompressor(Compressor):
    """The tensor itself."""

    @staticmethod
    def compress(tensor: Tensor) -> tuple[Tensor, Any]:
        """The tensor."""
        return tensor, None

    @staticmethod
    def decompress(tensor: Tensor, ctx: Any) -> Tensor:
        """The tensor."""
        return tensor


class FP16Compressor(Compressor):
    """Floating tensors as float16."""

    @staticmethod
    def compress(tensor: Tensor) -> tuple[Tensor, Any]:
        """It as float16, and its dtype."""
        if not tensor.is_floating_point():
            return tensor, None
        return tensor.to(core.float16), tensor.dtype

    @staticmethod
    def decompress(tensor: Tensor, ctx: Any) -> Tensor:
        """It in the dtype that it had."""
        return tensor if ctx is None else tensor.to(ctx)


class Compression:
    """The compressors to choose from."""

    none = NoneCompressor
    fp16 = FP16Compressor
