# SPDX-License-Identifier: Apache-2.0
"""Datasets and the loader that makes batches of them, under PyTorch's names."""

from .dataset import Dataset, Subset, TensorDataset, random_split
from .loader import DataLoader, default_collate

__all__ = [
    "DataLoader",
    "Dataset",
    "Subset",
    "TensorDataset",
    "default_collate",
    "random_split",
]
