# SPDX-License-Identifier: Apache-2.0
"""The page docs/bindings.md, from the data that compare.py gathered."""

from __future__ import annotations

from calls import CALLS, ratio
from probes import PROBES, WRONG

# What was asked for: the call, and at most so many times the peer's time.
TARGETS = [
    (call.name, peer, limit)
    for call in CALLS
    for peer, limit in (("nanobind", 1.0), ("pybind11", 0.5))
]

# From the tools' manuals; nothing of it was run here.
MANUALS = {
    "swig_ours": {
        "reads": "the C++ header",
        "overloads": "yes",
        "GIL released": "`%releases_gil`",
        "virtual methods in Python": "`%overridable`: directors",
        "buffer protocol": "`std::span`, `%buffer`",
        "stable ABI": "no",
        "free threading": "no",
        "type stubs": "written with the module",
    },
    "swig_default": {
        "reads": "the C++ header",
        "overloads": "yes, without keywords",
        "GIL released": "`-threads`: every call",
        "virtual methods in Python": "directors",
        "buffer protocol": "`pybuffer.i`, arguments only",
        "stable ABI": "yes",
        "free threading": "`-nogil`",
        "type stubs": "`-pyi`, experimental",
    },
    "swig_builtin": {
        "reads": "the C++ header",
        "overloads": "yes, without keywords",
        "GIL released": "`-threads`: every call",
        "virtual methods in Python": "directors",
        "buffer protocol": "type slots by hand",
        "stable ABI": "no",
        "free threading": "`-nogil`",
        "type stubs": "`-pyi`, experimental",
    },
    "pybind11": {
        "reads": "one line per name, in C++",
        "overloads": "yes",
        "GIL released": "`py::call_guard`",
        "virtual methods in Python": "trampolines",
        "buffer protocol": "`py::buffer_protocol`",
        "stable ABI": "no",
        "free threading": "`py::mod_gil_not_used`",
        "type stubs": "pybind11-stubgen",
    },
    "nanobind": {
        "reads": "one line per name, in C++",
        "overloads": "yes",
        "GIL released": "`nb::call_guard`",
        "virtual methods in Python": "trampolines",
        "buffer protocol": "`nb::ndarray`, type slots",
        "stable ABI": "from Python 3.12",
        "free threading": "`FREE_THREADED`, locks per argument",
        "type stubs": "its stubgen",
    },
    "cython": {
        "reads": "declarations written again",
        "overloads": "by hand",
        "GIL released": "`with nogil`",
        "virtual methods in Python": "by hand",
        "buffer protocol": "memoryviews, `__getbuffer__`",
        "stable ABI": "partly, by a macro",
        "free threading": "a directive",
        "type stubs": "by hand",
    },
    "cffi": {
        "reads": "C declarations",
        "overloads": "C has none",
        "GIL released": "every call",
        "virtual methods in Python": "C has none",
        "buffer protocol": "`ffi.buffer`, `ffi.from_buffer`",
        "stable ABI": "yes",
        "free threading": "from cffi 2.0",
        "type stubs": "by hand, as the face is Python",
    },
    "ctypes": {
        "reads": "nothing: declared in Python",
        "overloads": "C has none",
        "GIL released": "every call",
        "virtual methods in Python": "C has none",
        "buffer protocol": "`from_buffer`",
        "stable ABI": "no extension at all",
        "free threading": "yes",
        "type stubs": "by hand, as the face is Python",
    },
    "capi": {
        "reads": "nothing: all by hand",
        "overloads": "by hand",
        "GIL released": "by hand",
        "virtual methods in Python": "by hand",
        "buffer protocol": "type slots",
        "stable ABI": "if written for it",
        "free threading": "a slot; locking by hand",
        "type stubs": "by hand",
    },
}

HEAD = """\
<!-- Written by tests/benchmarks/bindings/compare.py --write; do not edit. -->

# One surface, nine bindings

`pkg` is bound with SWIG. This page says what that costs and gains against the other
ways to call C++ from Python, over one small surface: numbers, a string, a vector, a
class with methods, properties and operators, keywords, an exception and a callback
({header}).

    python tests/benchmarks/bindings/compare.py --write

builds everything, measures it and writes this page; `--quick` is a short look and
`--json FILE` gives the data. All numbers here are of one run on one machine:

"""


def page(data: dict) -> str:
    """The whole page."""
    parts = [
        HEAD.format(header="[`toy.h`](../tests/benchmarks/bindings/toy.h)"),
        _machine(data),
        _variants(data),
        _targets(data),
        _calls(data),
        _tensors(data),
        _losses(data),
        _products(data),
        _errors(data),
        _support(data),
        _manuals(data),
        LIMITS,
    ]
    return "\n".join(part.rstrip("\n") + "\n" for part in parts)


def measured_targets(data: dict) -> list[tuple[str, str, float, float | None]]:
    """Each target with the ratio found; None where the peer is missing."""
    calls = [
        (call, peer, limit, ratio(data["calls"][call], "swig_ours", peer))
        for call, peer, limit in TARGETS
    ]
    tensors = [
        (row["work"], row["peer"], row["target"], row["ratio"])
        for row in data["tensors"]
        if row["work"] == "a + b, 2x2"
    ]
    return calls + tensors


def _table(head: list[str], rows: list[list[str]], right: bool = False) -> str:
    lines = ["| " + " | ".join(head) + " |"]
    lines.append("|---" + ("|---:" if right else "|---") * (len(head) - 1) + "|")
    lines += ["| " + " | ".join(row) + " |" for row in rows]
    return "\n".join(lines) + "\n"


def _machine(data: dict) -> str:
    m = data["machine"]
    rows = [
        f"- {m['processor']}, {m['cores']} cores; load at the start {m['load']}",
        f"- {m['system']}; Python {m['python']}; {m['compiler']}",
        f"- flags of all C++: `{m['flags']}`",
        f"- {m['date']}, {data['rounds']} rounds",
    ]
    return "\n".join(rows) + "\n"


def _variants(data: dict) -> str:
    rows = []
    for v in data["variants"].values():
        rows.append([v["title"], v["missing"] or v["tool"], f"`{v['source']}`"])
    return (
        "\n"
        + _table(["binding", "tool", "what one writes"], rows)
        + """
*SWIG, ours* is SWIG 4.5.1 with the kit of this package (`swig/kit/`, see
[wrap_your_library.md](wrap_your_library.md)): SWIG reads the header and writes a
function for each of C++'s, conversions are chosen by C++ templates, and a step after
SWIG makes the classes, the choice among overloads and entries in CPython's fast calling
convention. *SWIG, default* and *SWIG -builtin* are what SWIG's manual leads to; most
wrappers in the world use the first.
ctypes and cffi call a C face of the surface, as they cannot call C++; their classes are
Python.
"""
    )


FLOORS = """
- A text or a list of floats is a few calls of CPython's, whoever makes them.
- `apply`: a `std::function` of ours shares the callable, so that C++ may copy it on
  any thread without the GIL, which nanobind takes for each copy.
"""


def targets_table(data: dict) -> str:
    """The targets and what was found."""
    rows = []
    for call, peer, limit, found in measured_targets(data):
        verdict = (
            "missing" if found is None else "met" if found <= limit else "**missed**"
        )
        shown = "" if found is None else f"{found:.2f}"
        if verdict == "**missed**" and call in data["calls"]:
            floor = ratio(data["calls"][call], "capi", peer)
            verdict += "" if floor is None else f"; by hand {floor:.2f}"
        rows.append([f"`{call}`", peer, f"{limit:g}", shown, verdict])
    return _table(["call", "peer", "at most", "found", ""], rows)


def _targets(data: dict) -> str:
    return (
        "\n## The targets\n\nOurs divided by the peer's, median of the rounds. Beside "
        "a miss stands the C API by\nhand divided by the peer: what no tool falls "
        "below by much.\n\n" + targets_table(data) + FLOORS
    )


def _number(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.1f}"


def _calls(data: dict) -> str:
    names = list(data["calls"][CALLS[0].name]["ns"])
    peers = [p for p in ("nanobind", "pybind11") if p in names]
    head = ["ns per call", *(data["variants"][n]["title"] for n in names)]
    rows, refused = [], {}
    for call in CALLS:
        result = data["calls"][call.name]
        row = [f"`{call.name}`"]
        row += [_number(result["ns"][n]) if n in result["ns"] else "-" for n in names]
        for peer in peers:
            found = ratio(result, "swig_ours", peer)
            row.append("" if found is None else f"{found:.2f}")
        rows.append(row)
        for name, why in result["unsupported"].items():
            refused.setdefault(name, why)
    notes = [
        f"- {data['variants'][n]['title']} cannot make the calls marked `-`: `{why}`."
        for n, why in refused.items()
    ]
    return (
        "\n## Nanoseconds per call\n\n"
        + _table(head + [f"ours / {peer}" for peer in peers], rows, right=True)
        + "\n"
        + "\n".join(notes)
        + """
- Stock SWIG has an option `-keyword`; with `-builtin` its output for this surface does
  not compile (the slots of operators and of std::vector's iterator).
- The loop's own time is taken off. `apply` includes one call of a Python function.
  Stock SWIG cannot take a Python function: its callback is an object of a class derived
  from a C++ class in Python, made before the loop.
- `scaled`: stock SWIG gives a proxy of `std::vector` (default) or a tuple; the others
  give a list.
"""
    )


def _tensors(data: dict) -> str:
    if not data["tensors"]:
        return ""
    rows: dict[str, dict[str, dict]] = {}
    for row in data["tensors"]:
        rows.setdefault(row["work"], {})[row["peer"]] = row
    peers = ["pybind11", "numpy", "torch"]
    table = []
    for work, by_peer in rows.items():
        ours = next(iter(by_peer.values()))["ours_us"]
        line = [f"`{work}`", _number(ours * 1e3)]
        for peer in peers:
            row = by_peer.get(peer)
            if row is None:
                line.append("")
            elif row["ratio"] is None:
                line.append("missing")
            else:
                line.append(f"{_number(row['peer_us'] * 1e3)} ({row['ratio']:.2f})")
        table.append(line)
    head = ["ns per call", "pkg over SWIG", "pkg over pybind11", "NumPy", "PyTorch"]
    return (
        "\n## The real package\n\nThe whole binding exists twice: `swig/`, and "
        "idiomatic pybind11 in `tests/bindings/`. Both\nrun in one process over one "
        "`libpkg_core.so`, on one thread; the ratio of ours to each is in\nbrackets. "
        "The time of an empty call, some 30 ns, is part of every number.\n\n"
        + _table(head, table, right=True)
        + """
The SWIG binding's Tensor is hand-written: this table compares type slots and vectorcall
with `py::class_`, not what the two tools generate.
"""
    )


def _losses(data: dict) -> str:
    lines = []
    for peer, v in data["variants"].items():
        if peer == "swig_ours" or v["missing"]:
            continue
        slower = []
        for call in CALLS:
            found = ratio(data["calls"][call.name], "swig_ours", peer)
            if found is not None and found > 1.1:  # less is noise
                slower.append(f"`{call.name}` {found:.2f}")
        if slower:
            lines.append(f"- {v['title']}: {', '.join(slower)}")
    return (
        "\n## Where SWIG loses\n\nOur SWIG is slower, by more than 10 %, than\n\n"
        + "\n".join(lines or ["- none."])
        + """

and beyond the clock:

- The kit rewrites SWIG's output, which a new SWIG may break: it is tied to one release,
  and stops the build at what it does not know.
- There are two tools to run before the compiler, SWIG and the step, and errors of the
  compiler name generated code.
- SWIG parses C++ with a parser of its own: what it cannot read (some templates, lambdas
  as default values) has to be hidden from it or declared in the interface.
- No stable ABI and no free-threaded Python; nanobind has both.
"""
    )


def _products(data: dict) -> str:
    rows = []
    for v in data["variants"].values():
        if v["missing"]:
            continue
        build = f"{v['build_seconds']:.1f}"
        if v["once_seconds"] > 0:
            build += f" (and {v['once_seconds']:.1f} once)"
        rows.append(
            [
                v["title"],
                f"{v['import_ms']:.1f}",
                f"{v['library_bytes'] / 1024:,.0f}",
                f"{v['python_bytes'] / 1024:,.1f}",
                build,
            ]
        )
    head = ["", "import, ms", "stripped libraries, KB", "Python files, KB",
            "generate and compile, s"]  # fmt: skip
    return (
        "\n## Import, size, build\n\n"
        + _table(head, rows, right=True)
        + """
Import: in a fresh interpreter with the `.pyc` at hand, median; what the binding imports
itself (`ctypes`, `typing`, cffi's back end) counts. Build: processor time of the
generator, the compiler and the linker, one process. nanobind's support library is
compiled once per project and is part of its library's size; pybind11 has none, its
headers are compiled with every file.
"""
    )


def _quoted(text: str) -> str:
    """Any text as inline code, on one line."""
    flat = " ⏎ ".join(line for line in text.splitlines() if line.strip())
    fence = "``" if "`" in flat else "`"
    return f"{fence}{flat}{fence}"


def _errors(data: dict) -> str:
    parts = [
        "\n## What a wrong argument is told\n\nWord for word; ⏎ is a line break.\n"
    ]
    for call in WRONG:
        parts.append(f"\n`{call}`\n\n")
        said: dict[str, list[str]] = {}
        for name, texts in data["answers"].items():
            said.setdefault(texts[call], []).append(data["variants"][name]["title"])
        parts += [f"- {', '.join(who)}: {_quoted(t)}\n" for t, who in said.items()]
    return "".join(parts)


def _support(data: dict) -> str:
    names = list(data["answers"])
    head = ["", *(data["variants"][n]["title"] for n in names)]
    rows = [
        [what, *(_short(data["answers"][n][what]) for n in names)] for what in PROBES
    ]
    return (
        "\n## What works, tried here\n\nEach answer comes from running it, in a "
        "process of its own.\n\n"
        + _table(head, rows)
        + """
pybind11 and nanobind leave out what costs memory unless asked: attributes of an
instance (`dynamic_attr`) and, in nanobind, weak references. Cython does both with a
line each in the class (`cdef dict __dict__`, `cdef object __weakref__`).
"""
    )


def _short(text: str) -> str:
    """yes; no; **crash**: what failed stands in the JSON."""
    if text.startswith("crash"):
        return "**" + text + "**"
    return text


def _manuals(data: dict) -> str:
    names = [n for n, v in data["variants"].items() if not v["missing"]]
    head = ["", *(data["variants"][n]["title"] for n in names)]
    rows = [[what, *(MANUALS[n][what] for n in names)] for what in MANUALS["capi"]]
    return (
        "\n## What the manuals say\n\nNot run here: the tools' own statements, "
        "in short.\n\n" + _table(head, rows)
    )


LIMITS = """
## What this does not show

- One small surface: a big one shifts size, build and import time (pybind11's and
  nanobind's fixed parts weigh less, templates of stock SWIG more).
- One machine, one compiler, one Python. Absolute times are of this run; only the ratios
  between the bindings are meant to be read, and differences below 10 % are noise.
- No calls from several threads, no release of the GIL, no virtual methods overridden in
  Python, no shared ownership, no free-threaded Python, no PyPy (which likes cffi best).
- Each binding is written as its manual shows, by people who know SWIG best. Whoever
  finds one written badly: the sources are beside `compare.py`.
- Other tools with a place here: Boost.Python, SIP, Pythran, HPy, cppyy.
"""
