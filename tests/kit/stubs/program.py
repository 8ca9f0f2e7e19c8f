# SPDX-License-Identifier: Apache-2.0
"""A program that uses garden.h: mypy --strict accepts it, and it runs."""

import array
import datetime
import enum
import pathlib
from collections.abc import Callable
from typing import assert_type

import garden
import numpy as np

# Functions, defaults, keywords, overloads.
assert_type(garden.half(4), int)
assert_type(garden.half(4.0), float)
assert_type(garden.half("four"), str)
assert_type(garden.plant("oak", tall=True, size=2), garden.Plant)
assert_type(garden.kind_of(garden.Tree()), int)
assert_type(garden.kind_of(garden.Plant("ivy")), str)
assert_type(garden.copied(garden.Tree()), garden.Plant)
assert garden.kind_of(garden.Tree()) == 1 and garden.half(3.0) == 1.5
assert garden.nothing() and garden.nothing(None)

# Containers, in and out.
assert_type(garden.upper(("a", "b")), list[str])
assert_type(garden.weigh({"a": 1}), dict[str, float])
assert_type(garden.unique([1, 2, 1]), set[int])
assert_type(garden.unique({1, 2}), set[int])
assert_type(garden.pairs(), list[tuple[int, str]])
assert_type(garden.both((True, 1.5)), tuple[bool, float])
assert_type(garden.triple(), list[float])
assert_type(garden.maybe(None), garden.Point | None)
assert_type(garden.either("a"), int | str)
assert_type(garden.adder(2), Callable[[int], int])
assert garden.adder(2)(3) == 5
assert garden.map_points([garden.Point(1, 2)], lambda p: p.x + p.y) == [3.0]
assert_type(garden.bytes(b"ab"), bytes)
assert_type(garden.turned(1j), complex)
assert_type(garden.parent(pathlib.Path("/a/b")), pathlib.Path)
assert_type(garden.twice(datetime.timedelta(seconds=1)), datetime.timedelta)
assert garden.total(np.ones(3)) == garden.total(array.array("d", [1, 2])) == 3
room = np.zeros(2)
garden.fill(room, 1.5)
assert room.tolist() == [1.5, 1.5]

# Classes: attributes, properties, operators, statics.
point = garden.Point(x=1, y=2)
assert_type(point + point, garden.Point)
assert_type(2 * point, garden.Point)
assert_type(point * 2.5, garden.Point)
assert_type(-point, garden.Point)
assert_type(+point, garden.Point)
point += garden.Point.origin()
assert_type(point.norm(garden.Point.Unit.Metre), float)
assert_type(point == 3, bool)
assert_type(point < point, bool)
assert_type(garden.Point.kDimensions, int)
point.x = 3
plant = garden.Plant("rose")
plant.heights = (1, 2)
assert_type(plant.heights, list[float])
assert_type(plant.leaf, garden.Plant.Leaf)
assert_type(plant.tall, bool)
assert_type(plant.rings, list[int])
plant.rings = (3, 2, 1)
assert plant.rings == [3, 2, 1] and plant.on_growth is None
plant.on_growth = abs
assert plant.on_growth(-2) == 2
plant.size = 2
assert plant.size == 2 and garden.Plant().size == 1.5
assert_type(plant.grown(np.ones(2)), list[float])
tree = garden.Tree()
base: garden.Plant = tree
assert_type(tree.graft(), garden.Tree)
assert_type(tree.water(1), float)

# References, None, and sequences.
bed = garden.Bed.first()
bed.put(garden.Plant("moss"))
found = bed.find("moss")
assert found is not None and found.name == "moss"
assert bed.find("fern") is None
assert_type(bed[0], garden.Plant)
assert [p.name for p in bed] == ["moss"] and len(bed) == 1


class Counter(garden.Visitor):
    """Overrides a method of C++."""

    def visit(self, point: garden.Point) -> int:
        return int(point.x + point.y)

    def count(self, items: list[int]) -> int:
        return sum(items)


assert garden.walk(Counter()) == 3 and garden.count(Counter()) == 6

# Enums, constants, variables, exceptions, templates.
assert_type(garden.next(garden.Color.Red), garden.Color)
colors: type[enum.IntEnum] = garden.Color
assert [int(color) for color in garden.Color] == [1, 2, 16]
assert_type(garden.Spring, garden.Season)
assert_type(garden.mixed(garden.Mode.Fast, garden.Mode.Safe), garden.Mode)
assert_type(garden.GARDEN_VERSION, str)
assert garden.kBeds + garden.kNameless == 11
garden.cvar.g_watered = 3
try:
    garden.dry()
except garden.GardenError as error:
    assert isinstance(error, garden.DroughtError)
    caught: ValueError = error
assert issubclass(garden.GardenError, ValueError)
assert_type(garden.IntBox(3).get(), int)
assert_type(garden.TextBox("a").value, str)
assert_type(garden.Shelf().list(), list[int])
assert_type(garden.Shelf().int([1]), list[int])

# Nobody names what is given to a pot; objects in a span are a sequence of them.
pot = garden.Pot(2)
assert_type(pot + garden.Pot(1), garden.Pot)
assert_type(3 * pot, garden.Pot)
assert_type(pot == garden.Pot(2), bool)
assert pot < garden.Pot(3) and pot[1] == 3 and pot.times(2) == 4
assert_type(pot(3, 1), int)
assert_type(garden.Pot.of(3), garden.Pot)
assert_type(garden.volume([pot, garden.Pot(1)]), int)
assert_type(garden.failure(ValueError("x")), BaseException | None)
assert garden.failure(None) is None
assert_type(garden._hidden(3), int)

# A pointer that counts in its object is the object, or None.
bulb = garden.bulb()
assert_type(bulb, garden.Bulb | None)
assert bulb and garden.is_there(bulb) and bulb.shares == 1
assert garden.bulb(False) is None and not garden.is_there(None)
