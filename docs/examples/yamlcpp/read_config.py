# SPDX-License-Identifier: Apache-2.0
"""yaml-cpp from Python: nodes, containers, errors, and a handler that C++ calls."""

from yamlcpp import (
    BadConversion,
    Clone,
    Dump,
    EmitterStyle,
    EventHandler,
    InvalidNode,
    Load,
    LoadAll,
    Mark,
    Node,
    NodeType,
    Parser,
    ParserError,
    YamlError,
    istringstream,
)

CONFIG = """\
name: demo
retries: 3
ratios: [0.5, 2]
ports: [80, 443]
proxy: {host: example.org, tls: yes}
"""

config = Load(CONFIG)
assert config.IsMap() and config.Type() is NodeType.Map and len(config) == 5
assert config["name"].as_str() == "demo" and config["retries"].as_int() == 3
assert config["ports"].as_ints() == [80, 443] and config["ports"][1].as_int() == 443
assert [ratio.as_float() for ratio in config["ratios"].as_list()] == [0.5, 2]
assert {key: value.Scalar() for key, value in config["proxy"].as_dict().items()} == {
    "host": "example.org",
    "tls": "yes",
}
assert config["proxy"]["tls"].as_bool()
assert [port.as_int() for port in config["ports"]] == [80, 443]
assert [each.as_int() for each in LoadAll("1\n---\n2\n")] == [1, 2]

# A Node is a handle: what is taken from a tree stays part of it, and keeps it alive.
proxy = Load(CONFIG)["proxy"]
proxy["tls"] = Node("no")
assert not proxy["tls"].as_bool() and Clone(proxy) != proxy

made = Node(NodeType.Sequence)
made.push_back(Node(1.5))
made.push_back(Node([1, 2]))
made.push_back(Node("text"))
made.SetStyle(EmitterStyle.Flow)
assert Dump(made).startswith("[1.5, ")

for key, kind, text in (
    ("name", BadConversion, "line 1, column 7: bad conversion"),
    ("missing", InvalidNode, 'first invalid key: "missing"'),
):
    try:
        config[key].as_int()
    except YamlError as error:
        assert type(error) is kind and text in str(error), error
    else:
        raise AssertionError(key)


class Scalars(EventHandler):
    """Collects texts with their places, and refuses a value."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[tuple[str, int]] = []

    def OnDocumentStart(self, mark: Mark) -> None: ...
    def OnDocumentEnd(self) -> None: ...
    def OnSequenceStart(
        self, mark: Mark, tag: str, anchor: int, style: EmitterStyle.value
    ) -> None: ...
    def OnSequenceEnd(self) -> None: ...

    def OnScalar(self, mark: Mark, tag: str, anchor: int, value: str) -> None:
        if value == "secret":
            raise PermissionError(f"line {mark.line}")
        self.found.append((value, mark.line))


handler = Scalars()
parser = Parser(istringstream("- a\n- b\n--- [c]\n--- secret\n"))
assert parser.HandleNextDocument(handler) and parser.HandleNextDocument(handler)
assert handler.found == [("a", 0), ("b", 1), ("c", 2)]
try:
    parser.HandleNextDocument(handler)
except PermissionError as error:  # the one that was raised, through C++
    assert str(error) == "line 3"
else:
    raise AssertionError("refused")
try:
    Load("[1, 2")
except ParserError as error:
    assert "end of sequence flow not found" in str(error)
else:
    raise AssertionError("no YAML")
