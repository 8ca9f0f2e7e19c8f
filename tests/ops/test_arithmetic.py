# SPDX-License-Identifier: Apache-2.0
"""Numbers of callers at the ends of 64 bits: an error that names the op, or the
answer, never a wrapped size, memory of others, or work without end.

The calls run in children with limited memory: what they guard against ends a process.
"""

import json

import pytest

from child import run_child

MOST, LEAST = 2**63 - 1, -(2**63)

#: Expressions and what must come of them: a part of the error's text, or the value.
#: `x` has 3 elements, `wide` 2**62, `image` is (1, 1, 3, 3), `line` (1, 1, 3).
ERRORS = {
    "pkg.bincount(pkg.tensor([2**63 - 1]))": "[bincount]",
    "pkg.bincount(pkg.tensor([2**63 - 2]))": "[bincount]",
    "pkg.bincount(pkg.tensor([1]), minlength=2**62)": "[bincount]",
    "F.conv1d(line, line, dilation=2**63 - 1, padding=2**63 - 1)": "[conv1d]",
    "F.conv1d(line, line, padding=2**62)": "[conv1d]",
    "F.conv2d(image, image, stride=2**41, padding=2**40)": "[conv2d]",
    "F.conv2d(image, image, groups=2**62)": "[conv2d]",
    "pkg.cat([wide] * 4)": "[cat]",
    "pkg.cat([wide])": "[cat]",
    "F.max_pool1d(line, 2**63 - 1, padding=2**62 - 1)": "[max_pool1d]",
    "F.max_pool2d(pkg.ones(1, 1, 0, 3), 2, padding=1)": "[max_pool2d]",
    "F.avg_pool1d(line, 2**63 - 1, padding=2**62 - 1)": "[avg_pool1d]",
    "F.adaptive_avg_pool1d(line, 2**62)": "[adaptive_avg_pool1d]",
    "F.adaptive_avg_pool2d(image, (2**31, 2**31))": "[adaptive_avg_pool2d]",
    "pkg.ones(16).repeat(2**60)": "[repeat]",
    "pkg.ones(16).repeat(2**40, 2**40)": "[repeat]",
    "x.tile((2**62,))": "[tile]",
    "F.pad(x, (2**63 - 1,) * 2)": "[pad]",
    "F.pad(x, (-2**63, 2**63 - 1))": "[pad]",
    "F.pad(x, (-2**63, -2**63))": "[pad]",
    "pkg.ones(1).expand(2**32, 2**32)": "[expand]",
    "pkg.ones(1).expand(-5)": "[expand]",
    "pkg.ones(1).expand(-1, 1)": "[expand]",
    "pkg.ones(0).view(2**40, 2**40, 0)": "[view]",
    "pkg.ones(0).reshape(0, 2**40, 2**40)": "[reshape]",
    "x.unflatten(0, (2**40, 2**40, -1))": "[unflatten]",
    "x.narrow(0, 1, 2**63 - 1)": "[narrow]",
    "pkg.repeat_interleave(x, pkg.tensor([2**63 - 1] * 3))": "[repeat_interleave]",
    "pkg.repeat_interleave(x, 2**62)": "[repeat_interleave]",
    "pkg.kron(wide, wide)": "[kron]",
    "pkg.diag(x, 2**63 - 1)": "[diag",
    "pkg.diag_embed(x, -2**63)": "[diag_embed]",
    "pkg.eye(2**40)": "[eye]",
    "pkg.zeros(2**40, 2**40)": "[zeros]",
    "pkg.arange(-2**63, 2**63 - 1)": "[arange]",
    "pkg.arange(0, 1e30)": "[arange]",
    "pkg.arange(0, 1, 1e-320)": "[arange]",
    "pkg.arange(0, 1, float('nan'))": "[arange]",
    "pkg.linspace(0, 1, 2**63 - 1)": "[linspace]",
    "pkg.logspace(0, 1, 2**62)": "[logspace]",
    "pkg.randperm(2**62)": "[randperm]",
    "pkg.one_hot(pkg.tensor([2**63 - 1]))": "[one_hot]",
    "pkg.one_hot(pkg.tensor([-2**63]), 3)": "[one_hot]",
    "pkg.one_hot(pkg.tensor([1]), 2**62)": "[one_hot]",
    "wide.unbind()": "[unbind]",
    "list(wide)": "[unbind]",
    "wide.split(1)": "[split]",
    "pkg.ones(1).expand(2**40).split(1)": "[split]",
    "x.split([2**62, 2**62])": "[split]",
    "x.tensor_split(2**62)": "[tensor_split]",
    "pkg.ones(0).chunk(2**62)": "[chunk]",
    "wide.sum()": "[sum]",
    "wide + 1": "[add]",
    "wide.sort()": "[sort]",
    "wide[wide > 0]": "[gt]",
    "wide.tolist()": "",
    # Private ops can be called by anyone.
    "pkg.ops._cross_entropy_backward(x, image[0, 0], image, 0, 'sum')": "[",
    "pkg.ops._max_pool2d_backward(image, image.long() + 99, [1, 1, 3, 3])": "[",
    "pkg.ops._strided_view(x, [1, 3], [0], 0)": "[_strided_view]",
    "pkg.ops._strided_view(x, [2], [2**62], 0)": "[_strided_view]",
    "pkg.ops._strided_view(x, [3], [1], -1)": "[_strided_view]",
    "pkg.ops._index(x, [x.long(), x.long()])": "[_index]",
    "pkg.ops._softmax_backward(x, image, False)": "[_softmax_backward]",
    "pkg.ops._relu_backward(image, x[:1])": "[_relu_backward]",
    "pkg.ops._select_backward(image, [3], 0, 0)": "[_select_backward]",
    "pkg.ops._conv2d_input_grad(image, image, [9, 9], 1, 0, 1, 1)": "[_conv2d",
}
VALUES = {
    "x[::2**63 - 1].tolist()": [0.0],
    "x[1::2**62].tolist()": [1.0],
    "x[1::2**62][::2**62].tolist()": [1.0],
    "x[::2**62].unsqueeze(0).shape": [1, 1],
    "(x[::2**62] + x).tolist()": [0.0, 1.0, 2.0],
    "x[-2**63:2**63 - 1].tolist()": [0.0, 1.0, 2.0],
    "pkg.ones(3, 3)[::2**40].mm(pkg.ones(3, 3)).tolist()": [[3.0, 3.0, 3.0]],
    "pkg.ones(3, 3).tril(2**63 - 1).sum().item()": 9.0,
    "pkg.ones(3, 3).triu(-2**63).sum().item()": 9.0,
    "pkg.ones(3, 3).tril(-2**63).sum().item()": 0.0,
    "pkg.ones(3, 3).diagonal(-2**63).shape": [0],
    "x.roll(-2**63).tolist()": [2.0, 0.0, 1.0],
    "x.roll(2**63 - 1).tolist()": [2.0, 0.0, 1.0],
    "x.chunk(2**63 - 1)[2].tolist()": [2.0],
    "x.split(2**63 - 1)[0].tolist()": [0.0, 1.0, 2.0],
    "x.diff(2**31 - 1, 0).tolist()": [],
    "x.diff(2**63 - 1).tolist()": [],
    "x.diff(2).tolist()": [0.0],
    "pkg.arange(2**63 - 5, 2**63 - 1, 3).tolist()": [2**63 - 5, 2**63 - 2],
    "pkg.rot90(pkg.ones(2, 2), -2**63).shape": [2, 2],
    "F.max_pool2d(image, 2**40, 2**40, padding=2**39).tolist()": [[[[8.0]]]],
    "F.max_pool1d(line, 2**62, padding=2**61).tolist()": [[[2.0]]],
    "F.conv1d(line, line[..., :1], stride=2**62).tolist()": [[[0.0]]],
    "F.adaptive_avg_pool1d(line, 5).tolist()": [[[0.0, 0.5, 1.0, 1.5, 2.0]]],
    "repr(wide)": "tensor([0., 0., 0.,  ..., 0., 0., 0.])",
    "wide.select(0, 2**62 - 1).item()": 0.0,
    "(pkg.tensor(2**63 - 1) + 1).item()": -(2**63),
    "(pkg.tensor(-2**63) * -1).item()": -(2**63),
    "pkg.tensor([2**63 - 1, 1]).sum().item()": -(2**63),
}
PREAMBLE = """
import json, resource, signal
import pkg
F = pkg.nn.functional
resource.setrlimit(resource.RLIMIT_AS, (8 << 30, 8 << 30))
signal.alarm(60)
x = pkg.arange(3.0)
wide = pkg.zeros(1).expand(2**62)
image, line = pkg.arange(9.0).reshape(1, 1, 3, 3), pkg.arange(3.0).reshape(1, 1, 3)
"""


def results_of(expressions):
    """Of each expression the value, or "error: text", or "" where the child ended."""
    done, left = {}, list(expressions)
    while left:
        code = f"""{PREAMBLE}
for text in {left!r}:
    print(end="> ", flush=True)
    try:
        value = eval(text)
    except Exception as error:
        value = f"error: {{error}}"
    print(json.dumps(value, default=str), flush=True)
"""
        status, out, err, _ = run_child(code, timeout=120)
        got = [json.loads(line[2:]) for line in out.splitlines() if line[2:]]
        assert got or status, err[-500:]
        if status:
            got = [*got, f"the process ended: {status} {err[-200:]}"]
        done.update(zip(left, got))
        left = left[len(got) :]
    return done


@pytest.fixture(scope="module")
def results():
    """All at once: a child for each would take longer than the calls."""
    return results_of([*ERRORS, *VALUES])


@pytest.mark.parametrize("text", ERRORS)
def test_what_overflows_or_has_no_end_is_an_error_of_the_op(results, text):
    got = results[text]
    assert isinstance(got, str) and got.startswith("error: " + ERRORS[text]), got


@pytest.mark.parametrize("text", VALUES)
def test_what_is_near_the_end_is_still_right(results, text):
    assert results[text] == VALUES[text]


def test_random_integers_reach_both_ends_of_their_range():
    """A range of more than 2**63 numbers; the upper end is excluded."""
    import pkg

    for low, high in [(LEAST, MOST), (MOST - 1, MOST), (LEAST, LEAST + 1), (-5, MOST)]:
        numbers = pkg.randint(low, high, (1000,)).tolist()
        assert all(low <= n < high for n in numbers)
    assert len(set(pkg.randint(LEAST, MOST, (1000,)).tolist())) == 1000
