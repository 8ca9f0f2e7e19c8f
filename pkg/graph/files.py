# SPDX-License-Identifier: Apache-2.0
"""Graphs to and from folders: a text of JSON, and tensors in the safetensors format."""

from __future__ import annotations

import glob
import hashlib
import json
import os
import re
import stat
from collections.abc import Iterable, Mapping
from typing import Any

from ..files import replacing
from ..serialization import load_file, save_file
from .building import Graph
from .describing import describe
from .graph_def import GraphDefError, brief, shown
from .importing import add_definition
from .reading import read
from .symbols import Operation

__all__ = [
    "export_graph", "import_graph", "read_definition", "restore_variables",
    "write_definition",
]  # fmt: skip

_TEXT = "graph.json"
_TENSORS = re.compile(r"tensors-[0-9a-f]{16}\.safetensors")
Path = str | os.PathLike[str]


def export_graph(
    graph: Graph,
    path: Path,
    variables: Iterable[Any] | None = None,
    session: Any = None,
) -> None:
    """Writes a graph into a folder: graph.json and one safetensors file.

    variables: those whose values in the session are written, too; None: all that have
    one there.  Tensors with values among arguments are written as they are now.
    The folder is made if it is not there.  What it held counts until the last step, the
    renaming of graph.json, so that a crash leaves the old graph or the new one.

    OSError when it cannot be written; ValueError for tensors without values, and
    variables without one in the session.
    """
    if not isinstance(graph, Graph):
        raise TypeError(
            f"Argument `graph` must be a Graph, got {type(graph).__name__}."
        )
    data = describe(graph)
    data["variables"] = _values(graph, data["tensors"], variables, session)
    write_definition(data, path)


def write_definition(definition: dict[str, Any], path: Path) -> None:
    """Writes what ``as_graph_def`` gives into a folder, as ``export_graph`` does."""
    data = dict(definition)
    tensors = data.pop("tensors")
    for name, tensor in tensors.items():
        if tensor.device != "cpu":
            raise ValueError(
                f"[export_graph] expected tensors with values, got one on the device "
                f"{str(tensor.device)!r} ({name!r})."
            )
    # What cannot be read must not take the place of a graph that can.
    read({key: value for key, value in definition.items() if key != "variables"})
    folder = os.fspath(path)
    os.makedirs(folder, exist_ok=True)
    # A name of its contents: the tensors of the graph that is there stay as they are.
    fresh = os.path.join(folder, f"tensors.{os.getpid()}.tmp")
    try:
        save_file(tensors, fresh)
        with open(fresh, "rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()[:16]
        data["tensors_file"] = f"tensors-{digest}.safetensors"
        os.replace(fresh, os.path.join(folder, data["tensors_file"]))
    except BaseException:
        if os.path.exists(fresh):
            os.unlink(fresh)
        raise
    text = json.dumps(data, indent=1, allow_nan=False, ensure_ascii=False)
    with replacing(os.path.join(folder, _TEXT)) as file:
        file.write(text.encode())
    for old in glob.glob(os.path.join(glob.escape(folder), "tensors-*.safetensors")):
        if os.path.basename(old) != data["tensors_file"]:
            os.unlink(old)


def _values(
    graph: Graph, tensors: dict[str, Any], variables: Iterable[Any] | None, session: Any
) -> dict[str, str]:
    if session is None:
        if variables is not None:
            raise ValueError(
                "[export_graph] expected a session, which has the values of variables."
            )
        return {}
    if session.graph is not graph:
        raise ValueError("[export_graph] expected a session of this graph.")
    session._check_open()
    if variables is None:
        ops = [op for op in graph.get_operations() if _is_variable(op)]
    else:
        elements = [graph.as_graph_element(variable) for variable in variables]
        ops = [e if isinstance(e, Operation) else e.op for e in elements]
    names = {}
    for op in ops:
        value = session._handle.variable(op._handle) if _is_variable(op) else None
        if value is not None:
            names[op.name] = f"{op.name}:variable"
            tensors[names[op.name]] = value
        elif variables is not None:
            raise ValueError(
                f"[export_graph] expected variables with a value in the session, got "
                f"{op.name!r} ({op.type})."
            )
    return names


def _is_variable(op: Operation) -> bool:
    return bool(op._handle.type() == "Variable")


def import_graph(
    path_or_def: Any,
    graph: Graph | None = None,
    name: str = "",
    input_map: Mapping[str, Any] | None = None,
    return_elements: Iterable[str] | None = None,
) -> Any:
    """Adds a graph of a folder, or of ``Graph.as_graph_def()``, to a graph.

    graph: the default one if None.  name: what stands before the names of all, made
    unique; "": nothing, and names that are taken are an error.
    input_map: symbols of the graph, by the name of what they take the place of.
    return_elements: names of the symbols ("x:0") and operations ("x") to return.

    All is checked and built in another graph first: what fails leaves the given one as
    it was.  (Another thread must not take the names meanwhile.)  Controls and devices
    of contexts do not count for what is added, the prefix of a name scope does.  Values
    of variables: see ``restore_variables``.

    OSError for what cannot be read; ``GraphDefError``, a ValueError, for a folder or
    definition that is damaged, with the name of the node; RuntimeError for a finalized
    graph; TypeError for wrong arguments.
    """
    data = read_definition(path_or_def)
    data = {key: value for key, value in data.items() if key != "variables"}
    return add_definition(data, graph, name, input_map, return_elements)


def read_definition(path_or_def: Any) -> dict[str, Any]:
    """The definition in a folder, of which nothing but its form was checked; one that
    is no path is given back."""
    return path_or_def if isinstance(path_or_def, dict) else _load(path_or_def)


def restore_variables(path: Path, session: Any, name: str = "") -> list[str]:
    """Gives the variables of a session the values that a folder has, all at once.

    name: what stands before their names in the graph of the session, if it was imported
    with one ("imported", or "imported/").  Returns the names in the graph.

    OSError and GraphDefError as of ``import_graph``; KeyError for a variable that is
    not in the graph; ValueError for another dtype or shape.  Then nothing is changed.
    """
    data = _load(path)
    prefix = name.removesuffix("/") + "/" if name else ""
    values = {
        prefix + variable: data["tensors"][tensor]
        for variable, tensor in data["variables"].items()
    }
    session.swap_weights(values)
    return list(values)


def _load(path: Any) -> dict[str, Any]:
    folder = os.fspath(path)
    with open(_member(folder, _TEXT), "rb") as file:
        content = file.read()
    try:
        data = json.loads(content.decode(), parse_constant=_refuse_constant)
    except RecursionError:
        raise GraphDefError(f"{_TEXT}: lists or dicts are nested too deeply") from None
    except ValueError as error:  # of UTF-8, of JSON, of ints of too many digits
        raise GraphDefError(f"{_TEXT} is damaged: {brief(error)}") from error
    if not isinstance(data, dict):
        raise GraphDefError(f"{_TEXT}: expected a dict, got {shown(data)}")
    file_name = data.pop("tensors_file", None)
    if not isinstance(file_name, str) or not _TENSORS.fullmatch(file_name):
        raise GraphDefError(
            f"{_TEXT}: expected 'tensors-<digits>.safetensors' as tensors_file, got "
            f"{shown(file_name)}"
        )
    if "tensors" in data:
        raise GraphDefError(f"{_TEXT}: tensors are in {file_name} only")
    tensors_path = _member(folder, file_name)
    try:
        data["tensors"] = load_file(tensors_path)
    except (ValueError, RecursionError) as error:
        raise GraphDefError(f"{file_name} is damaged: {brief(error)}") from error
    data["variables"] = _variables(data, data.get("variables", {}))
    return data


def _member(folder: str, name: str) -> str:
    # Reading a pipe or device of that name would wait, or have no end.
    path = os.path.join(folder, name)
    if not stat.S_ISREG(os.stat(path).st_mode):
        raise GraphDefError(f"{name}: expected a file, got a folder, pipe or device")
    return path


def _refuse_constant(text: str) -> Any:
    raise ValueError(f"{text} is no JSON")


def _variables(data: dict[str, Any], names: Any) -> dict[str, str]:
    if not isinstance(names, dict):
        raise GraphDefError(f"expected a dict for variables, got {shown(names)}")
    for variable, tensor in names.items():
        if not isinstance(tensor, str) or tensor not in data["tensors"]:
            raise GraphDefError(f"there is no tensor {shown(tensor)}", variable)
    return names
