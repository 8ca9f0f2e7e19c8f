# SPDX-License-Identifier: Apache-2.0
"""The networks that `python -m pkg train` offers; also examples of how to write one."""

from __future__ import annotations

from . import nn
from .tensor import Tensor

__all__ = ["CNN", "MLP", "MODELS"]


class MLP(nn.Module):
    """Two linear layers, 64 - 128 - 10: about 9,600 parameters."""

    def __init__(self, hidden: int = 128, dropout: float = 0.2) -> None:
        """Create it with ``hidden`` units between the layers."""
        super().__init__()
        self.layers = nn.Sequential(
            nn.Flatten(),
            nn.Linear(64, hidden),
            nn.ReLU(),
            nn.Dropout(dropout),
            nn.Linear(hidden, 10),
        )

    def forward(self, images: Tensor) -> Tensor:
        """Return ten scores for each image of (N, 1, 8, 8)."""
        scores: Tensor = self.layers(images)
        return scores


class CNN(nn.Module):
    """Two 3x3 convolutions, a pooling and a linear layer: about 29,000 parameters."""

    def __init__(self, channels: int = 32, dropout: float = 0.5) -> None:
        """Create it with ``channels`` after the first convolution, then twice that."""
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(1, channels, 3, padding=1),
            nn.ReLU(),
            nn.Conv2d(channels, 2 * channels, 3, padding=1),
            nn.ReLU(),
            nn.MaxPool2d(2),
        )
        self.classifier = nn.Sequential(
            nn.Flatten(), nn.Dropout(dropout), nn.Linear(2 * channels * 16, 10)
        )

    def forward(self, images: Tensor) -> Tensor:
        """Return ten scores for each image of (N, 1, 8, 8)."""
        scores: Tensor = self.classifier(self.features(images))
        return scores


MODELS: dict[str, type[nn.Module]] = {"mlp": MLP, "cnn": CNN}
