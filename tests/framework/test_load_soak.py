# SPDX-License-Identifier: Apache-2.0
"""Many loads, by counts: soak.py makes a thousand of each kind, and watches memory."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

from libraries import output_of


def test_many_loads(compiled_all: Callable[..., list[Path]], tmp_path: Path) -> None:
    """Copies and files that are cut off leave nothing; what is refused leaves no op."""
    same, own = compiled_all(("changing.cc",), ("changing.cc", "-DOWN_NAME"))
    code = f"""
import sys
from pathlib import Path
sys.path.insert(0, {str(Path(__file__).parent)!r})
import soak
same, own = (Path(p).read_bytes() for p in ({str(same)!r}, {str(own)!r}))
folder = Path(".")
assert soak.load("copies", same, folder, 0)
for kind in soak.KINDS:
    base = own if kind == "new" else same
    good, each, ops = soak.soak(kind, base, folder, 20)
    print(kind, good, ops)
    if kind in ("copies", "cut"):
        assert each < 20_000, (kind, each)
"""
    out = output_of(code, tmp_path)
    assert out == "copies 20 0\nrefused 0 0\ncut 0 0\nnew 20 20\n", sys.version + out
