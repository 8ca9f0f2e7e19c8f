# SPDX-License-Identifier: Apache-2.0
"""TensorFlow 1's meta graphs: graphs with their collections, as data and in files."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ...graph.describing import describe
from ...graph.files import import_graph, read_definition, write_definition
from .elements import get_default_graph

__all__ = ["export_meta_graph", "import_meta_graph"]


def _without_devices(definition: dict[str, Any]) -> dict[str, Any]:
    # What has another form than a definition is left to who reads it.
    def cleared(part: Any) -> Any:
        if not isinstance(part, dict) or not isinstance(part.get("nodes"), list):
            return part
        nodes = [
            {**node, "device": ""} if isinstance(node, dict) else node
            for node in part["nodes"]
        ]
        return {**part, "nodes": nodes}

    made: dict[str, Any] = dict(cleared(definition))  # which may be the caller's
    functions = made.get("functions")
    if isinstance(functions, dict):
        made["functions"] = {key: cleared(part) for key, part in functions.items()}
    return made


def export_meta_graph(
    filename: Any = None, collection_list: Iterable[str] | None = None,
    graph: Any = None, clear_devices: bool = False,
) -> dict[str, Any]:  # fmt: skip
    """A graph as plain data, which is written into a folder if ``filename`` is given.

    collection_list: the collections to keep, all if None.  graph: the default one if
    None.  The format is that of ``pkg.graph.export_graph``.

    GraphDefError, a ValueError, for an operation that cannot be written, such as a
    Python function; OSError where the folder cannot be written.
    """
    graph = get_default_graph() if graph is None else graph
    made = describe(graph)
    if collection_list is not None:
        wanted = set(collection_list)
        found = made["collections"].items()
        made["collections"] = {key: value for key, value in found if key in wanted}
    if clear_devices:
        made = _without_devices(made)
    if filename is not None:
        write_definition(made, filename)
    return made


def import_meta_graph(
    meta_graph_or_file: Any, clear_devices: bool = False,
    import_scope: str | None = None, input_map: Mapping[str, Any] | None = None,
    return_elements: Iterable[str] | None = None,
) -> Any:  # fmt: skip
    """Adds a graph of a folder, or of ``export_meta_graph``, to the default graph.

    import_scope: what stands before the names of all.  input_map, return_elements, and
    what is given back: as of ``pkg.graph.import_graph``.  There is no Saver: values of
    variables come by ``pkg.graph.restore_variables``, or their initializers.

    Errors are those of ``pkg.graph.import_graph``; then nothing was added.
    """
    definition = read_definition(meta_graph_or_file)
    if clear_devices:
        definition = _without_devices(definition)
    graph = get_default_graph()
    name = import_scope or ""
    return import_graph(definition, graph, name, input_map, return_elements)
