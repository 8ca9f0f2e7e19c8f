# SPDX-License-Identifier: Apache-2.0
"""Names of devices: "/job:worker/replica:0/task:1/device:CPU:0", and parts of them."""

from __future__ import annotations

import re
from typing import Any

__all__ = ["merged", "needed", "parsed", "refuse_missing"]

_PART = re.compile(
    r"(?:(job):(\w+)|(replica|task):(\d+)|(?:device:)?(cpu|gpu|tpu|\w+):(\d+|\*)|"
    r"(cpu|gpu|tpu))",
    re.IGNORECASE,
)


def parsed(name: str) -> dict[str, str]:
    """The parts of a name, by what they are; ValueError for what is none."""
    made: dict[str, str] = {}
    for part in filter(None, name.split("/")):
        found = _PART.fullmatch(part)
        kind = found and (found[5] or found[7])
        known = found is not None and (
            not kind
            or part.startswith("device:")
            or kind.lower() in ("cpu", "gpu", "tpu")
        )
        if found is None or not known:
            raise ValueError(
                f"Unknown attribute {part!r} is encountered while parsing the device "
                f"specification: {name!r}. Expected parts as 'job:worker', "
                "'replica:0', 'task:0', 'device:CPU:0', 'cpu:0'."
            )
        if found[1]:
            made["job"] = found[2]
        elif found[3]:
            made[found[3].lower()] = found[4]
        else:
            made["device"] = f"{str(kind).upper()}:{found[6] or 0}"
    return made


def merged(outer: str, inner: str) -> str:
    """The name of both: what the inner one says counts."""
    parts = {**parsed(outer), **parsed(inner)}
    kinds = [kind for kind in ("job", "replica", "task", "device") if kind in parts]
    return "".join(f"/{kind}:{parts[kind]}" for kind in kinds)


def needed(feeds: list[Any], roots: list[Any]) -> list[Any]:
    """The operations that must run for the roots, where the feeds are given."""
    given = {id(symbol) for symbol in feeds}
    seen: dict[int, Any] = {}
    open_ = list(roots)
    while open_:
        op = open_.pop()
        if id(op) in seen:
            continue
        seen[id(op)] = op
        open_ += op.control_inputs
        open_ += [symbol.op for symbol in op.inputs if id(symbol) not in given]
    return list(seen.values())


def refuse_missing(operations: list[Any], n_cpus: int) -> tuple[str, Any] | None:
    """What to say of the first operation whose device is not there, and that one."""
    for op in operations:
        parts = parsed(op.device)
        kind, _, number = parts.get("device", "CPU:0").partition(":")
        there = kind == "CPU" and (number == "*" or int(number) < n_cpus)
        if not there or parts.get("job", "localhost") != "localhost":
            return (
                f"Cannot assign a device for operation {op.name}: Operation was "
                f"explicitly assigned to {op.device} but available devices are "
                f"CPU:0 to CPU:{n_cpus - 1}. Use allow_soft_placement, or leave the "
                "device out.",
                op,
            )
    return None
