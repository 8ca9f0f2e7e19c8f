# SPDX-License-Identifier: Apache-2.0
"""The recorded graph as data, as DOT, as JSON and as a page that shows itself."""

from __future__ import annotations

import html
import json
import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from .._binding import core
from ..tensor import Tensor


@dataclass
class GraphNode:
    """One recorded operation.

    number: position in the export, results first.  name: of the node, "MulBackward".
    op: qualified name of the op, or None.  shapes: of the inputs (None when unknown).
    saved: (name, shape, dtype, bytes) of what is kept for backward.  saved_bytes:
    memory that this node holds and no node before it in the export does.  call_site:
    "file:line" of the forward call.  inputs: numbers of the nodes that made the inputs,
    None for an input without gradient.
    """

    number: int
    name: str
    op: str | None
    shapes: list[Any]
    saved: list[tuple[str, tuple[int, ...], str, int]]
    saved_bytes: int
    call_site: str
    inputs: list[int | None] = field(default_factory=list)


class Graph:
    """What ``graph(y)`` found; each of ``nodes`` comes before its inputs."""

    def __init__(self, nodes: list[GraphNode]) -> None:
        self.nodes = nodes

    @property
    def saved_bytes(self) -> int:
        """Memory that the graph keeps for backward, each storage counted once."""
        return sum(node.saved_bytes for node in self.nodes)

    def holders(self) -> list[GraphNode]:
        """The nodes that hold memory, largest first."""
        held = [n for n in self.nodes if n.saved_bytes]
        return sorted(held, key=lambda n: -n.saved_bytes)

    def to_json(self) -> str:
        """The nodes as a JSON array of objects with the fields of GraphNode."""
        return json.dumps([vars(node) for node in self.nodes], indent=1)

    def to_dot(self) -> str:
        """Text for Graphviz; arrows go from results to inputs."""
        lines = ["digraph autograd {", '  node [shape=box, fontname="monospace"];']
        for node in self.nodes:
            label = _label(node).replace("\\", "\\\\").replace('"', '\\"')
            label = label.replace("\n", "\\n")
            lines.append(f'  n{node.number} [label="{label}"];')
        lines += [f"  n{a} -> n{b};" for a, b in self._edges()]
        return "\n".join([*lines, "}", ""])

    def to_html(self) -> str:
        """A self-contained page: the graph as a table with links, memory and lines."""
        rows = []
        for node in self.nodes:
            links = " ".join(
                "-" if i is None else f'<a href="#n{i}">{i}</a>' for i in node.inputs
            )
            saved = ", ".join(f"{n} {list(s)} {d}" for n, s, d, _ in node.saved)
            cells = [str(node.number), node.name, str(node.shapes), saved,
                     f"{node.saved_bytes:,}", node.call_site]  # fmt: skip
            body = "".join(f"<td>{html.escape(c)}</td>" for c in cells)
            rows.append(f'<tr id="n{node.number}">{body}<td>{links}</td></tr>')
        heads = ("#", "node", "input shapes", "saved", "bytes held", "line", "inputs")
        head = "".join(f"<th>{h}</th>" for h in heads)
        return (
            "<!doctype html><meta charset='utf-8'><title>autograd graph</title>"
            "<style>body{font:14px sans-serif}td,th{padding:2px 8px;text-align:left;"
            "border-bottom:1px solid #ccc}tr:target{background:#ffc}"
            "td:nth-child(5){text-align:right}</style>"
            f"<h1>{len(self.nodes)} nodes, {self.saved_bytes:,} bytes held</h1>"
            f"<table><tr>{head}</tr>{''.join(rows)}</table>\n"
        )

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the export that the suffix names: .dot, .json or .html."""
        name = os.fspath(path)
        suffix = os.path.splitext(name)[1]
        writers = {".dot": self.to_dot, ".json": self.to_json, ".html": self.to_html}
        if suffix not in writers:
            raise ValueError(
                "[graph] expected a path that ends in .dot, .json or .html, got "
                f"{name!r}."
            )
        with open(name, "w", encoding="utf-8") as file:
            file.write(writers[suffix]())

    def _edges(self) -> list[tuple[int, int]]:
        return [(n.number, i) for n in self.nodes for i in n.inputs if i is not None]


def _label(node: GraphNode) -> str:
    parts = [node.name]
    if any(node.shapes):
        parts.append(" ".join(str(list(s)) for s in node.shapes if s is not None))
    if node.saved_bytes:
        parts.append(f"holds {node.saved_bytes:,} bytes")
    if node.call_site:
        parts.append(node.call_site)
    return "\n".join(parts)


def graph(outputs: Tensor | Sequence[Tensor]) -> Graph:
    """The graph behind one or several tensors, as it was recorded.

    RuntimeError when none of them has a history.
    """
    tensors = [outputs] if isinstance(outputs, Tensor) else list(outputs)
    roots = [t.grad_fn for t in tensors if t.grad_fn is not None]
    if not roots:
        raise RuntimeError(
            "[graph] expected a tensor with a grad_fn, got none (outputs)."
        )
    found: dict[core.Node, int] = {}
    stack = list(roots)
    while stack:
        node = stack.pop()
        if node in found:
            continue
        found[node] = 0
        stack += [n for n, _ in node.next_functions if n is not None]
    # Inputs always have smaller numbers than what was made from them.
    order = sorted(found, key=lambda n: -n._sequence_nr())
    numbers = {node: i for i, node in enumerate(order)}
    seen: set[int] = set()
    return Graph([_describe(node, numbers, seen) for node in order])


def _describe(
    node: core.Node, numbers: dict[core.Node, int], seen: set[int]
) -> GraphNode:
    held = 0
    saved = []
    for name, tensor in node.saved:
        saved.append((name, tuple(tensor.shape), str(tensor.dtype), tensor.nbytes))
        if tensor._storage_id() not in seen:
            seen.add(tensor._storage_id())
            held += tensor._storage_nbytes()
    inputs = [None if n is None else numbers[n] for n, _ in node.next_functions]
    return GraphNode(
        numbers[node], node.name(), node.op, list(node.input_shapes), saved, held,
        node.call_site, inputs,
    )  # fmt: skip
