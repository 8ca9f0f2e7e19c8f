# SPDX-License-Identifier: Apache-2.0
"""Layers, losses and the Module that holds them, under PyTorch's names."""

from . import functional, init, utils
from .activation import GELU, Flatten, Identity, ReLU, Sigmoid, SiLU, Softmax, Tanh
from .container import ModuleDict, ModuleList, Sequential
from .conv import Conv2d, MaxPool2d
from .linear import Embedding, Linear
from .loss import CrossEntropyLoss, MSELoss
from .module import Module
from .normalization import Dropout, LayerNorm, RMSNorm
from .parameter import Parameter

__all__ = [
    "Conv2d",
    "CrossEntropyLoss",
    "Dropout",
    "Embedding",
    "Flatten",
    "GELU",
    "Identity",
    "LayerNorm",
    "Linear",
    "MSELoss",
    "MaxPool2d",
    "Module",
    "ModuleDict",
    "ModuleList",
    "Parameter",
    "RMSNorm",
    "ReLU",
    "Sequential",
    "SiLU",
    "Sigmoid",
    "Softmax",
    "Tanh",
    "functional",
    "init",
    "utils",
]
