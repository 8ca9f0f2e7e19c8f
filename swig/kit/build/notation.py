# SPDX-License-Identifier: Apache-2.0
"""SWIG's notation of types and names, and C++'s."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

__all__ = [
    "LITERAL",
    "cpp_text",
    "cpp_type",
    "is_ostream",
    "pointee",
    "scope",
    "split_arguments",
    "split_function",
]

# A text or a character, in which no name is one.
LITERAL = r'"(?:[^"\\]|\\.)*"|\'(?:[^\'\\]|\\.)*\''


def pointee(cpp: str) -> str:
    """The class behind references, pointers and std::shared_ptr."""
    plain = re.sub(r"\bconst\b|[&*]", "", cpp).strip()
    shared = re.fullmatch(r"std::shared_ptr<\s*(.*?)\s*>", plain)
    return shared[1].strip() if shared else plain


def cpp_text(text: str) -> str:
    """The text as a literal of C++."""
    return json.dumps(text, ensure_ascii=False)


def is_ostream(cpp: str) -> bool:
    """Whether it is what C++ prints to."""
    return re.match(r"(?:std::)?(?:basic_)?ostream\b", cpp) is not None


def scope(name: str) -> str:
    """The part before the last :: that is not in a template's arguments."""
    depth = 0
    for i in range(len(name) - 1, 0, -1):
        depth += (name[i] == ">") - (name[i] == "<")
        if depth == 0 and name[i - 1 : i + 1] == "::":
            return name[: i - 1]
    return ""


def split_function(encoded: str) -> tuple[str, str]:
    """The arguments of f(...). and what follows."""
    if not encoded.startswith("f("):
        return "", encoded
    depth = 0
    for i, letter in enumerate(encoded):
        depth += (letter == "(") - (letter == ")")
        if depth == 0 and letter == ")":
            return encoded[2:i], encoded[i + 1 :].removeprefix(".")
    return "", encoded


def cpp_type(encoded: str) -> str:
    """SWIG's notation of a type, such as r.q(const).std::vector<(int)>, as C++'s."""
    return _declared(encoded, "").strip()


def _declared(encoded: str, around: str) -> str:
    if encoded.startswith("p."):
        return _declared(encoded[2:], "*" + around)
    if encoded.startswith("r."):
        return _declared(encoded[2:], "&" + around)
    if encoded.startswith("z."):
        return _declared(encoded[2:], "&&" + around)
    found = re.match(r"q\(([^)]*)\)\.", encoded)
    if found:
        rest = encoded[found.end() :]
        if re.match(r"[prz]\.", rest):  # of the pointer itself
            return _declared(rest, f" {found[1]}{around}")
        return f"{found[1]} " + _declared(rest, around)
    found = re.match(r"a\(([^)]*)\)\.", encoded)
    if found:
        return _declared(encoded[found.end() :], f"{around}[{found[1]}]")
    if encoded.startswith("f("):
        arguments, rest = split_function(encoded)
        inner = ", ".join(cpp_type(a) for a in split_arguments(arguments))
        middle = f"({around})" if around else " "
        return f"{_declared(rest, '')}{middle}({inner})"
    return _template(encoded) + (" " + around if around else "")


def _template(name: str) -> str:
    """NAME<(a,b)>::REST with its arguments."""
    at = name.find("<(")
    if at < 0:
        return name
    depth = 0
    for end in range(at, len(name) - 1):
        two = name[end : end + 2]
        depth += (two == "<(") - (two == ")>")
        if depth == 0:
            break
    inner = ", ".join(cpp_type(a) for a in split_arguments(name[at + 2 : end]))
    return f"{name[:at]}<{inner}>" + _template(name[end + 2 :])


def split_arguments(arguments: str) -> Iterator[str]:
    """The arguments between commas that are not in brackets."""
    depth, start = 0, 0
    for i, letter in enumerate(arguments):
        depth += (letter in "(<") - (letter in ")>")
        if letter == "," and depth == 0:
            yield arguments[start:i]
            start = i + 1
    if arguments[start:]:
        yield arguments[start:]
