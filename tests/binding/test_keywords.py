# SPDX-License-Identifier: Apache-2.0
"""Keywords of ops: found by the object that they are, or by their text."""

from __future__ import annotations

import threading

import pytest

import pkg


class Name(str):
    """A keyword that is no plain str."""


def fresh(name: str) -> str:
    """The same text in a new object, as programs make it."""
    made = "".join(list(name))
    assert made == name
    return made


def test_names_made_at_run_time_are_the_same_names() -> None:
    """Also of a class of one's own, and by NumPy's spelling."""
    x = pkg.tensor([[1.0, 2.0], [3.0, 4.0]])
    for name in ("dim", "axis"):
        for key in (name, fresh(name), Name(name)):
            assert x.sum(**{key: 0}).tolist() == [4, 6]
            assert x.sum(**{key: 1, fresh("keepdim"): True}).tolist() == [[3], [7]]
            assert pkg.cat(**{"tensors": [x, x], key: 1}).shape == (2, 4)
    assert pkg.add(**{fresh("input"): x, Name("other"): 1, "alpha": 2}).tolist() == [
        [3, 4], [5, 6],
    ]  # fmt: skip


@pytest.mark.parametrize("make", [str, fresh, Name])
def test_wrong_names_have_the_same_words(make: type) -> None:
    """Unknown, given twice by place and name, by both spellings, and missing."""
    x = pkg.ones(2, 2)
    for call, text in [
        (lambda: pkg.neg(x, **{make("other"): 1}), "unexpected keyword .*'other'"),
        (lambda: pkg.neg(x, **{make("self"): x}), "multiple values .*'self'"),
        (lambda: pkg.neg(x, **{make("input"): x}), "multiple values .*'input'"),
        (lambda: pkg.matmul(x, **{make("self"): x}), "multiple values .*'self'"),
        (lambda: pkg.matmul(**{make("self"): x}), "missing required .*'other'"),
        (lambda: pkg.neg(x, **{make("\u00e9"): 1}), "unexpected keyword .*'\u00e9'"),
    ]:
        with pytest.raises(TypeError, match=text):
            call()
    with pytest.raises(TypeError, match="invalid combination|multiple values"):
        x.sum(**{make("dim"): 0, make("axis"): 0})


def test_overloads_have_names_of_their_own() -> None:
    """The same name may stand at another place of another overload."""
    x = pkg.tensor([[3.0, 1.0], [2.0, 5.0]])
    for _ in range(2):
        assert x.max(dim=0).values.tolist() == [3, 5]
        assert pkg.max(x, other=pkg.tensor(2.5)).tolist() == [[3, 2.5], [2.5, 5]]
        assert x.max(keepdim=True, dim=1).values.tolist() == [[3], [5]]
        assert pkg.sum(x, dim=1).tolist() == [4, 7]


def test_threads_with_names_of_their_own() -> None:
    """The first calls with keywords of one op come at once."""
    for op in (pkg._binding.core.Operator("sum") for _ in range(20)):
        x, wrong = pkg.tensor([[1.0, 2.0], [3.0, 4.0]]), []
        start = threading.Barrier(3)

        def work(
            named: dict[str, object], wanted: object, op=op, x=x, wrong=wrong,
            start=start,
        ) -> None:  # fmt: skip
            start.wait()
            for _ in range(50):
                if op(x, **named).tolist() != wanted:
                    wrong.append(named)

        threads = [
            threading.Thread(target=work, args=given)
            for given in [
                ({"dim": 0}, [4, 6]),
                ({"keepdim": True, "dim": 1}, [[3], [7]]),
                ({"dtype": pkg.int64}, 10),
            ]
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert not wrong
