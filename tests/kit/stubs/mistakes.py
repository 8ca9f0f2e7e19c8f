# SPDX-License-Identifier: Apache-2.0
"""Each line that ends with `# wrong` is one that mypy --strict refuses, no other."""

import garden

garden.half([])  # wrong
garden.plant(3)  # wrong
garden.plant("oak", hight=1)  # wrong
garden.nothing("oak")  # wrong
garden.next(2)  # wrong
garden.upper([1])  # wrong
garden.weigh({1: 1.0})  # wrong
garden.maybe("x")  # wrong
garden.map_points([], lambda p: p.name)  # wrong
garden.total("text")  # wrong
garden.Point("x")  # wrong
print(garden.Point().name)  # wrong
garden.Point() + 1  # wrong
garden.Point().x = "x"  # wrong
garden.Plant("ivy").age = 2  # wrong
garden.Plant("ivy").tall = True  # wrong
garden.Tree("oak")  # wrong
garden.Bed()  # wrong
print(garden.Bed.first().find("moss").name)  # wrong
print(garden.Color.Pink)  # wrong
garden.IntBox("x")  # wrong
print(garden.Missing)  # wrong
garden.Pot(liters=3)  # wrong
garden.Pot(3).times(by=2)  # wrong
garden.Pot(3)(by=2)  # wrong
garden.Pot.of(liters=2)  # wrong
garden.Pot(3).__add__(other=garden.Pot(3))  # wrong
garden.volume([3])  # wrong
garden.failure(3)  # wrong
garden.half(2)
garden.Point(1).x = 2
