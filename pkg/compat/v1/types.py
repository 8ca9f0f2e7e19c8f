# SPDX-License-Identifier: Apache-2.0
"""TensorFlow's types of operations, by the names that this library's ops have."""

from __future__ import annotations

from ...graph.definitions import NAMESPACE, plain_type

__all__ = ["default_name", "type_of"]

_OTHERS = {
    "add": "AddV2", "all": "All", "amax": "Max", "amin": "Min", "any": "Any",
    "argmax": "ArgMax", "argmin": "ArgMin", "avg_pool2d": "AvgPool",
    "bitwise_and": "BitwiseAnd", "bitwise_not": "Invert", "bitwise_or": "BitwiseOr",
    "bitwise_xor": "BitwiseXor", "cat": "ConcatV2", "clamp": "ClipByValue",
    "clone": "Identity", "conv2d": "Conv2D", "cumprod": "Cumprod", "cumsum": "Cumsum",
    "diag": "Diag", "div": "RealDiv", "eq": "Equal", "eye": "MatrixDiag",
    "floor_divide": "FloorDiv", "full": "Fill", "ge": "GreaterEqual", "gt": "Greater",
    "index": "GatherNd", "index_select": "GatherV2", "isfinite": "IsFinite",
    "isinf": "IsInf", "isnan": "IsNan", "le": "LessEqual", "linspace": "LinSpace",
    "lt": "Less", "max_pool2d": "MaxPool", "mul": "Mul", "ne": "NotEqual",
    "nonzero": "Where", "ones": "Fill", "permute": "Transpose", "randn":
    "RandomStandardNormal", "rand": "RandomUniform", "randint": "RandomUniformInt",
    "randperm": "RandomShuffle", "remainder": "FloorMod", "repeat": "Tile",
    "select": "StridedSlice", "slice": "StridedSlice", "split": "SplitV",
    "chunk": "Split", "stack": "Pack", "to": "Cast", "to_dtype": "Cast",
    "topk": "TopKV2", "trunc": "Trunc", "unbind": "Unpack", "unsqueeze": "ExpandDims",
    "Variable": "VariableV2", "where": "Select", "zeros": "Fill",
    "flip": "ReverseV2", "matmul": "MatMul", "masked_select": "GatherNd",
}  # fmt: skip


def type_of(name: str) -> str:
    """TensorFlow's word for an op of this library, "add.Tensor": those that do the same
    in both are spelled with capitals, of others there is a table."""
    if name.startswith(f"{NAMESPACE}::"):
        return plain_type(name)
    base = name.partition(".")[0]
    found = _OTHERS.get(base)
    if found is None:
        found = base if base[:1].isupper() else base.title().replace("_", "")
    return found


def default_name(name: str) -> str:
    """The name of an operation of this op where the program gives none: "Add"."""
    return type_of(name).removesuffix("V2")
