# SPDX-License-Identifier: Apache-2.0
"""Why some cells are slower than PyTorch or NumPy: reasons that were measured."""

from __future__ import annotations

from .recipe import ALL, FLOATS

TWO_PARTS = "within 1 ulp: the logarithm is a sum of two numbers"

ROUNDED = (
    "sums of 32 or 64 terms are rounded to bfloat16 from a buffer, a fifth of the "
    "time; a transposed operand is turned round in pairs"
)

#: Measured with more lines than a processor can learn: 3253x4, 20000x4; 8, 100 lines.
LEARNT = (
    "PyTorch's loop jumps; of one input, repeated, the processor has learnt the jumps: "
    "a line of four takes it 2.4 ns there and 7.5 in a larger tensor"
)
LEARNT_SORT = (
    "PyTorch sorts with jumps, which of one input, repeated, the processor has learnt: "
    "a line of 97 takes it 0.8 us among eight, 2.0 among a hundred"
)

GATHERED = "what is stepped is gathered into a buffer: twice the time of the test"

#: (peer, op, "family dtype" or parts of a name with " ... " between): the reason; the
#: first that fits counts.  A part that is a dtype is the cell's dtype: what the
#: arithmetic of floats costs is said of no integer.
REASONS: dict[tuple[str, str], str] = {
    **{
        ("PyTorch", f"x {x}, y {y} | bfloat16"): ROUNDED
        for x, y in (("32x128x32", "32x32x128"), ("64x64x64", "64x64x64"))
    },
    **{
        ("PyTorch", f"conv ... {dtype}"): "16 bits are computed in float32, PyTorch's "
        "products of them take 0.4 of its time for float32"
        for dtype in ("bfloat16", "float16")
    },
    ("PyTorch", "F.cross_entropy(x, t) | x 16x21"): "classes that do not lie last are "
    "gathered to lie so",
    ("PyTorch", "grad(F.max_pool1d"): "places of the maxima are computed and kept",
    **{
        ("NumPy", f"T.{call} ... {dtype}"): why
        for dtype in FLOATS
        for call, why in {
            "tan(x)": "the angle and its polynomial are in double",
            "log2(x)": TWO_PARTS,
            "log10(x)": TWO_PARTS,
            "atan2(x, y)": "half of the time chooses between quadrants, zeros and "
            "infinities: atan takes the other half",
            "pow(x, y)": "within 2 ulp: the logarithm is a sum of two doubles",
        }.items()
    },
    ("PyTorch", "grad(T.prod("): "products before and after each element, in double, "
    "each waiting for the one before it; PyTorch divides where there is no zero",
    **{
        ("PyTorch", f"T.prod( ... {dtype}"): "multiplied in double, as a part may "
        "overflow where the whole does not; PyTorch multiplies in float32"
        for dtype in FLOATS
        if dtype != "float64"
    },
    (
        "PyTorch",
        "_( ... x 250x400 | float64 | x stepped",
    ): "what is stepped and written in "
    "place is gathered, computed and scattered: a third, a fifth and a quarter of the "
    "time; PyTorch does each element at once",
    **{
        ("PyTorch", f"T.norm( ... {dtype}"): "16 bits are converted into a buffer, so "
        "that what squares lose or overflow can be computed in double"
        for dtype in ("bfloat16", "float16")
    },
    **{
        ("NumPy", f"T.{call} ... {dtype}"): why
        for dtype in ("float32", "float64", "int32", "int64")
        for call, why in {
            "sort(x)[0]": "places are sorted with the values; NumPy sorts values alone",
            "unique(x)": "three or four passes over the values, 0.7 of the time; NumPy "
            "compares whole vectors in a quicksort",
        }.items()
    },
    **{
        ("PyTorch", f"T.linalg_vector_norm( ... {dtype}"): "half of the time converts "
        "16 bits into a buffer"
        for dtype in ("bfloat16", "float16")
    },
    **{
        (
            "NumPy",
            f"T.{op}(",
        ): "NumPy's zeros are pages that the system clears at "
        "the first touch, one for each row: np.zeros of this size takes 40 us"
        for op in ("eye", "diag")
    },
    (
        "NumPy",
        "x.t().reshape(-1) ... x transposed",
    ): "two calls that make views: 0.17 us, NumPy's 0.14",
    ("PyTorch", "_( ... x 2000x2000 ... x stepped"): "what is stepped and written in "
    "place is gathered (half of the time, which waits for memory), computed and "
    "scattered (a quarter)",
    **{
        ("PyTorch", f"{call} ... x 20000x200, i 20000 ... x broadcast"): "a table of "
        "one row, repeated, stays in cache: waited for, a call takes 0.7 of PyTorch's "
        "time; here several are under way, each of which writes other memory"
        for call in ("F.embedding(i, x)", "T.index_select(x, 0, i)")
    },
    ("PyTorch", "F.embedding( ... x transposed"): "rows of a table that lies the other "
    "way round are picked from as many lines of memory as they have elements: 0.96 of "
    "the time",
    ("PyTorch", "T.index_put( ... y stepped"): "values with gaps are gathered first, a "
    "third of the time",
    **{
        (
            "PyTorch",
            f"T.{op}(x, 1) | x 8x500000 ... bfloat16",
        ): "16 bits that lie "
        "apart are gathered, a third of the time, and compared in float32"
        for op in ("cummax", "cummin")
    },
    ("PyTorch", "T.max(x, 1)"): LEARNT,
    ("PyTorch", "T.min(x, 1)"): LEARNT,
    ("PyTorch", "T.mode("): LEARNT_SORT,
    ("PyTorch", "T.randperm("): "a third of the time puts places into groups, another "
    "draws numbers that do not depend on threads",
    ("PyTorch", "x.index_add_( ... bfloat16"): "short rows are widened, added to and "
    "narrowed one by one: conversions are 0.35 of the time",
    ("PyTorch", "x.clamp_min_(y) ... float16 | y column"): "two thirds of the time to "
    "float32, compared there, and back; a tenth repeats the column into a buffer",
    **{
        (peer, f"T.{op}(x) ... x stepped"): GATHERED
        for op in ("isnan", "isinf", "isfinite", "logical_not")
        for peer in ("NumPy", "PyTorch")
    },
    ("PyTorch", "y 250x400 | int32 | y column"): "a column is repeated into a block's "
    "buffer: rows of 2 KB and less are not worth a loop each",
}


def _fits(part: str, row: dict) -> bool:
    """Whether a part of a key is the row's dtype, or else of its name."""
    return part == row["dtype"] if part in ALL else part in row["name"]


def reason(row: dict, peer: str) -> str:
    """The reason of a cell that is behind `peer`, or that none is known."""
    for (who, text), why in REASONS.items():
        kind = f"{row['family']} {row['dtype']}"
        parts = all(_fits(part, row) for part in text.split(" ... "))
        if who == peer and (text in (row["op"], kind) or parts):
            return why
    return "not known yet"
