# SPDX-License-Identifier: Apache-2.0
"""The least time of a training step: its matrix products alone.

The products are those that the profiler notes in one step, with their shapes.  One of
matrices is timed as a plain call; a convolution is counted and takes what so many
products take where they are fastest on this machine.  A 3x3 convolution with step 1
counts as 36 products for 16 outputs (kernels/cpu/nn/winograd.h) where that is fewer.
All else counts nothing, so no step that multiplies by OpenBLAS is faster.
"""

import math
import re
import time

import pkg
from pkg import profiler

CONVOLUTIONS = ("_conv2d", "_conv2d_input_grad", "_conv2d_weight_grad")
PEAK_SIDES = (256, 512, 768)


def shapes(event):
    """The sizes of an event's tensors."""
    found = re.findall(r"\(([\d, ]*)\)", event.shapes)
    return [tuple(int(n) for n in text.split(",") if n.strip()) for text in found]


def calls(step):
    """Name and shapes of all calls of one step, as the profiler notes them."""
    step()
    with profiler.profile(["ops"], shapes=True, lines=False) as seen:
        step()
    return [(event.name, shapes(event)) for event in seen.events]


def matrices(noted):
    """(batches, m, k, n) of the products of matrices among some calls."""
    for name, sizes in noted:
        if name == "linear":
            (*rows, inner), weight = sizes[:2]
            yield 1, math.prod(rows), inner, weight[0]
        elif name == "mm":
            yield 1, *sizes[0], sizes[1][1]
        elif name == "bmm":
            yield *sizes[0], sizes[1][2]


def convolution_products(noted):
    """How many numbers the convolutions among some calls multiply, at least.

    A call of _conv2d tells the kernel, that of its weight's gradient the maps.  Which
    belong together is told by the sizes of images and maps; where two kernels have both
    alike, each is met once all the same.
    """
    forward = [sizes for name, sizes in noted if name == "_conv2d"]
    total = 0
    step_one = {}  # of maps and a weight: whether the kernel goes by single places
    for name, sizes in noted:
        if name != "_conv2d_weight_grad":
            continue
        maps, images = sizes
        for i, (seen, weight, *_) in enumerate(forward):
            if seen == images and weight[0] == maps[1]:
                del forward[i]
                break
        else:
            raise ValueError(f"no _conv2d gave maps {maps} of images {images}")
        # With a longer step the zeros around do not make up for the rows left out.
        step_one[maps, weight] = all(
            map_side > side - kernel
            for map_side, side, kernel in zip(maps[2:], images[2:], weight[2:])
        )
        # As many for the maps as for the weight's gradient.
        total += 2 * fewest(maps, weight, step_one[maps, weight])
    for name, sizes in noted:
        if name == "_conv2d_input_grad":
            maps, weight = sizes
            total += fewest(maps, weight, step_one[maps, weight])
    return total


def fewest(maps, weight, step_one):
    """Products of a convolution: plain, or of tiles of 4x4 outputs."""
    batch, _, height, width = maps
    plain = batch * height * width * math.prod(weight)
    if weight[2:] != (3, 3) or not step_one:
        return plain
    tiles = batch * math.ceil(height / 4) * math.ceil(width / 4)
    return min(plain, tiles * 36 * weight[0] * weight[1])


def fastest(function, repeats=15):
    """Seconds of the fastest of some calls."""
    best = math.inf
    for _ in range(repeats):
        start = time.perf_counter()
        function()
        best = min(best, time.perf_counter() - start)
    return best


def product(batches, m, k, n):
    """A call that multiplies matrices of these sizes."""
    if batches == 1:
        a, b = pkg.randn(m, k), pkg.randn(k, n)
        return lambda: pkg.mm(a, b)
    a, b = pkg.randn(batches, m, k), pkg.randn(batches, k, n)
    return lambda: pkg.bmm(a, b)


def floor(step):
    """Seconds that the products of a step take on the threads now set."""
    noted = calls(step)
    before = pkg.scheduler.async_enabled()
    pkg.scheduler.set_async(False)
    try:
        seconds = sum(fastest(product(*sizes)) for sizes in matrices(noted))
        per_product = min(fastest(product(1, n, n, n)) / n**3 for n in PEAK_SIDES)
    finally:
        pkg.scheduler.set_async(before)
    return seconds + convolution_products(noted) * per_product
