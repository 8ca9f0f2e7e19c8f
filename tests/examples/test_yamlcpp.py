# SPDX-License-Identifier: Apache-2.0
"""yaml-cpp: values, overloads, containers, errors, lifetime, overriding, threads."""

from __future__ import annotations

import gc
import inspect
from concurrent.futures import ThreadPoolExecutor

import pytest

NAME = "yamlcpp"
TEXT = "{name: demo, ports: [80, 443], nested: {deep: [1.5, yes]}}"


@pytest.fixture
def collector(m):
    """A class of handlers that note what C++ calls."""

    class Collector(m.EventHandler):
        def __init__(self):
            super().__init__()
            self.calls = []

        def OnDocumentStart(self, mark):
            self.calls.append(("start", mark.line))

        def OnDocumentEnd(self):
            self.calls.append("end")

        def OnScalar(self, mark, tag, anchor, value):
            self.calls.append((value, tag, mark.column))

        def OnSequenceStart(self, mark, tag, anchor, style):
            self.calls.append(style)

        def OnSequenceEnd(self):
            self.calls.append("]")

    return Collector


def test_scalars(m):
    """By each of the instances of as<T>, and by the constructors."""
    assert m.Load("7").as_int() == 7 and m.Load("7").as_str() == "7"
    assert m.Load("yes").as_bool() is True and m.Load("2.5").as_float() == 2.5
    assert m.Node("text").Scalar() == "text" and m.Node(2.5).as_float() == 2.5
    assert m.Node("ä€😀").as_str() == "ä€😀"
    assert m.Node().IsNull() and m.Node(m.NodeType.Map).IsMap()
    assert m.Load("!kind text").Tag() == "!kind"


def test_containers(m):
    """Sequences and maps, nested, in and out."""
    root = m.Load(TEXT)
    assert len(root) == 3 and root["ports"].as_ints() == [80, 443]
    assert sorted(root.as_dict()) == ["name", "nested", "ports"]
    assert [each.Scalar() for each in root["nested"]["deep"].as_list()] == [
        "1.5",
        "yes",
    ]
    assert [port.as_int() for port in root["ports"]] == [80, 443]
    assert m.Node([3, 1, 2]).as_ints() == [3, 1, 2]
    assert [each.as_int() for each in m.LoadAll("1\n--- 2\n--- 3")] == [1, 2, 3]
    root["ports"] = m.Node([1])
    root["ports"].push_back(m.Node("2"))
    assert root["ports"].as_ints() == [1, 2] and root.remove("name")
    assert sorted(root.as_dict()) == ["nested", "ports"]


def test_enums(m):
    """Numbers with names, in the class that they are of in C++."""
    node = m.Load(TEXT)
    assert node.Type() is m.NodeType.Map is m.NodeType.value.Map
    assert m.NodeType.Map == 4 and m.NodeType.value(4) is m.NodeType.Map
    assert node.Style() == m.EmitterStyle.Flow
    node.SetStyle(m.EmitterStyle.Block)
    assert m.Dump(node).startswith("name: demo\n")


def test_files_and_streams(m, tmp_path):
    """Overloads by text and by a stream; a file and one that is not there."""
    path = tmp_path / "a.yaml"
    path.write_text("a: 1")
    assert m.LoadFile(str(path))["a"].as_int() == 1
    assert m.Load(m.istringstream("[1]")).as_ints() == [1]
    assert len(m.LoadAll(input=m.istringstream("1\n--- 2"))) == 2
    with pytest.raises(m.BadFile, match="bad file"):
        m.LoadFile(str(tmp_path / "none.yaml"))


def test_errors(m):
    """A hierarchy of classes under ValueError; the texts are the library's."""
    for each in (m.ParserError, m.BadFile, m.InvalidNode, m.BadConversion):
        assert issubclass(each, m.YamlError) and issubclass(each, ValueError)
    root = m.Load(TEXT)
    with pytest.raises(m.BadConversion, match="line 1, column 8: bad conversion"):
        root["name"].as_int()
    with pytest.raises(m.InvalidNode, match='first invalid key: "none"'):
        root["none"].as_int()
    with pytest.raises(m.ParserError, match="end of sequence flow not found"):
        m.Load("[1, 2")
    with pytest.raises(m.YamlError, match="operator\\[\\] call on a scalar"):
        root["name"]["key"]
    with pytest.raises(IndexError, match="no item"):
        root["ports"][2]


def test_wrong_arguments(m, kit):
    """TypeErrors; the kit's say what was expected of which argument."""
    with pytest.raises(TypeError) as info:
        m.Load(3)
    assert not kit or "Load(" in str(info.value)
    with pytest.raises(TypeError) as info:
        m.LoadFile(filename=3)
    if kit:
        assert str(info.value) == "[LoadFile] expected a str for 'filename', got int"
    for wrong in (
        lambda: m.Node().push_back(None),
        lambda: m.Dump("text"),
        lambda: m.Mark(1),
    ):
        with pytest.raises(TypeError):
            wrong()


def test_equality_is_identity(m):
    """As in C++: two handles of one node; so a node has no hash."""
    root = m.Load(TEXT)
    assert root["name"] == root["name"] and root["name"] != root["ports"]
    assert m.Clone(root) != root and root != 3
    with pytest.raises(TypeError, match="unhashable"):
        hash(root)


def test_parts_outlive_what_they_were_taken_from(m):
    """A node shares its tree; a parser keeps the stream that it reads."""
    deep = m.Load(TEXT)["nested"]["deep"]
    values = m.Load(TEXT).as_dict()["ports"].as_list()
    parser = m.Parser(m.istringstream("[1, 2]"))
    gc.collect()
    [m.Load(f"[{each}]") for each in range(100)]  # what was freed is used again
    assert deep[0].as_float() == 1.5 and [each.as_int() for each in values] == [80, 443]
    assert parser.HandleNextDocument(_Quiet.of(m)) and not parser.HandleNextDocument(
        _Quiet.of(m)
    )


class _Quiet:
    """Handlers that do nothing."""

    @staticmethod
    def of(m):
        names = [each for each in vars(m.EventHandler) if each.startswith("On")]
        ignore = dict.fromkeys(names, lambda self, *args: None)
        return type("Quiet", (m.EventHandler,), ignore)()


def test_handler_is_called(m, collector):
    """Arguments come as the classes and enums of the module."""
    handler = collector()
    parser = m.Parser(m.istringstream("[a, !t b]"))
    assert parser and parser.HandleNextDocument(handler)
    flow = m.EmitterStyle.Flow
    expected = [("start", 0), flow, ("a", "?", 1), ("b", "!t", 4), "]", "end"]
    assert handler.calls == expected and isinstance(handler.calls[1], int)


def test_what_a_handler_raises_comes_out(m, collector):
    """The very exception; what is not overridden is an error, not a crash."""
    mistake = KeyError("mine")

    class Raises(collector):
        def OnScalar(self, *args):
            raise mistake

    with pytest.raises(KeyError) as info:
        m.Parser(m.istringstream("[a]")).HandleNextDocument(Raises())
    assert info.value is mistake
    with pytest.raises((RuntimeError, NotImplementedError), match="OnMapStart"):
        m.Parser(m.istringstream("{a: b}")).HandleNextDocument(collector())


def test_threads(m, collector):
    """Parsing lets go of the GIL; handlers are called with it."""

    def work(number):
        handler = collector()
        text = "".join(f"- {number + each}\n" for each in range(200))
        while_parsing = m.Parser(m.istringstream(text))
        assert while_parsing.HandleNextDocument(handler)
        values = [
            int(call[0])
            for call in handler.calls
            if isinstance(call, tuple) and call[2:]
        ]
        return values == m.Load(text).as_ints() == list(range(number, number + 200))

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(work, range(40)))


def test_signatures_and_docstrings(m, kit):
    """From the header's declarations and comments; others have what one writes."""
    if not kit:
        pytest.skip("the twins say no docstrings")
    assert str(inspect.signature(m.LoadFile)) == "(filename)"
    assert "@throws" in m.LoadFile.__doc__ or "malformed" in m.LoadFile.__doc__
    assert "mark, tag, anchor, value)" in str(
        inspect.signature(m.EventHandler.OnScalar)
    )
