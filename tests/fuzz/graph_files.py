# SPDX-License-Identifier: Apache-2.0
"""Fuzzes pkg.graph.import_graph: files of graphs with seeded damage.

    python tests/fuzz/graph_files.py [--cases 10000] [--seed 1] [--case SEED]

Each case writes a graph of some ops of the op table, of loops, choices and gradients of
one's own, and changes its JSON, the values in it or the bytes of one of its files.  It
must load as a graph that can be written and read again, or be refused by an error of
ours that leaves the graph as it was; within limits of time and memory.  What is
wrong ends the run and prints the seed.
"""

from __future__ import annotations

import argparse
import copy
import faulthandler
import json
import random
import resource
import sys
import tempfile
from collections import Counter
from pathlib import Path

TESTS = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(TESTS), str(TESTS / "support")]
sys.path.append(str(TESTS.parent))  # behind what PYTHONPATH says

import pkg  # noqa: E402
import pkg.graph as pg  # noqa: E402
from op_table import CASES  # noqa: E402
from op_values import inputs_of, outputs  # noqa: E402
from pkg._binding import core  # noqa: E402

SECONDS = 20  # of one case
MEMORY = 64 << 20  # bytes of tensors that a small file may need
ADDRESSES = 8 << 30

USED = [case for case in CASES if case.name not in ("allclose", "equal")]
NUMBERS = [
    0, 1, -1, 2, 7, 2**31, 2**40, 2**62, 2**63 - 1, -(2**63), 2**63, 2**64, 10**30,
    0.0, 1.5, -1e300, 1e-320, 1e18,
]  # fmt: skip
TEXTS = [
    "", "x", "x:0", "^x", "^", ":", ":0", "x:99", "x:-1", "x:999999999999", "\0",
    "a\0b", "\ud800", "é", "/", "x/", "add", "add.Tensor", "Const", "Variable",
    "Assign", "NoOp", "Gradients", "pkg::add", "nowhere::op", "float32", "float",
    "int64", "bfloat16", "cpu", "meta", "cuda:7", "inf", "nan", "variables", "tensor",
    "input", "operation", "relu_", "split", "one_hot", "bincount", "unbind",
    "Placeholder", "zeros", "x" * 5000, "While", "If", "function", "cond/If:if_true",
    "while/While:body",
]  # fmt: skip


def base(rng, folder):
    """A valid folder: a few ops, and sometimes variables and gradients."""
    with pg.Graph().as_default() as graph:
        x = pg.placeholder(pkg.float32, rng.choice([[None, 3], [2, 3], None]), "x")
        for case in rng.sample(USED, 4):
            given = [pg.placeholder(pkg.tensor(a).dtype, a.shape)
                     if rng.random() < 0.5 else pg.constant(pkg.tensor(a))
                     for a in inputs_of(case)]  # fmt: skip
            outputs(graph.record(None, case.call, pkg, *given))
        if rng.random() < 0.6:
            parts(rng, x)
        session = None
        if rng.random() < 0.6:
            w = pg.Variable(pkg.ones(3, 2), name="w")
            y = (pkg.relu(x) @ w * 2.5).sum()
            (grad,) = pg.gradients(y, [w])
            with graph.device("cpu"), graph.control_dependencies([y]):
                w.assign_sub(grad)
            init = pg.global_variables_initializer()
            session = pg.Session()
            session.run(init)
        pg.export_graph(graph, folder, session=session)


def parts(rng, x):
    """Loops and choices, in each other too, and a gradient of one's own."""
    w = pg.Variable(pkg.ones(2), name="v")
    last = pg.constant(0.5)

    def turn(i, v):
        inner = pg.cond(v.sum() > 3, lambda: v * w.sum(), lambda: v + pkg.tensor(0.5))
        if rng.random() < 0.5:
            _, inner = pg.while_loop(lambda j, u: j < i, lambda j, u: (j + 1, u * 2),
                                     (0, inner))  # fmt: skip
        if rng.random() < 0.3:
            w.assign_add(pkg.ones(2))
        return i + 1, inner

    for _ in range(rng.choice([1, 2])):
        _, last = pg.while_loop(lambda i, v: i < 4, turn, (0, last))
    if rng.random() < 0.7:
        pg.with_gradient([last, w], [last * w.sum(), last + 1],
                         lambda g, h: (g * last + h, w * g))  # fmt: skip
    if rng.random() < 0.5:
        pg.gradients(last, [w])


def places(value, found, path=()):
    """Paths to everything in nested lists and dicts."""
    found.append(path)
    items = (
        value.items()
        if isinstance(value, dict)
        else enumerate(value)
        if isinstance(value, list)
        else ()
    )
    for key, item in items:
        places(item, found, (*path, key))
    return found


def at(value, path):
    """What a path leads to."""
    for key in path:
        value = value[key]
    return value


def strange(rng, data, paths):
    """Another value: a number, a text, something of the file, a nest."""
    kind = rng.randrange(8)
    if kind == 0:
        return rng.choice(NUMBERS)
    if kind == 1:
        return rng.choice(TEXTS)
    if kind == 2:
        return rng.choice([None, True, False, [], {}, [[]], {"": None}])
    if kind == 3:
        tag = rng.choice(["input", "tensor", "number", "float", "dtype", "operation",
                          "function"])
        return {tag: rng.choice(NUMBERS + TEXTS)}
    if kind == 4:
        return [rng.choice(NUMBERS) for _ in range(rng.randrange(5))]
    if kind == 5:
        value = rng.choice(NUMBERS + TEXTS)
        for _ in range(rng.choice([2, 50])):
            value = rng.choice([[value], {"a": value}])
        return value
    return copy.deepcopy(at(data, rng.choice(paths)))


def bend(rng, data):
    """Changes one thing of a definition, in place."""
    paths = places(data, [])
    path = rng.choice(paths[1:])
    parent, key = at(data, path[:-1]), path[-1]
    old = parent[key]
    kind = rng.randrange(10)
    if kind == 0:
        del parent[key]
    elif kind == 1 and isinstance(parent, list):
        parent.insert(key, copy.deepcopy(rng.choice(parent)))
    elif kind == 2 and isinstance(parent, list):
        rng.shuffle(parent)
    elif kind == 3 and isinstance(parent, dict):
        parent[rng.choice([rng.choice(TEXTS), rng.choice(list(parent))])] = old
    elif kind == 4 and isinstance(old, str):
        cut = rng.randrange(len(old) + 1)
        parent[key] = old[:cut] + rng.choice(["", "_", ":0", "/"]) + old[cut:][1:]
    elif kind in (5, 6) and type(old) in (int, float):
        parent[key] = rng.choice([old + 1, old - 1, -old, old * 2, rng.choice(NUMBERS)])
    elif kind == 7:  # with another of the same kind
        like = [p for p in paths if p and type(at(data, p)) is type(old)]
        parent[key] = copy.deepcopy(at(data, rng.choice(like)))
    else:
        parent[key] = strange(rng, data, paths)


DTYPES = "bool uint8 int8 int32 int64 float16 bfloat16 float32 float64".split()
SHAPES = [[], [0], [1], [None], [2, 3], [None, 3], [2**31, 2**31], [2**40], None]
OPS = [op.schemas[0].partition("(")[0] for _, op in pkg.ops.functions()]


def another(rng, value):
    """A value of the same kind, which the types alone do not tell from a good one."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        ints = [n for n in NUMBERS if type(n) is int and abs(n) < 2**63]
        return rng.choice([value + 1, value - 1, -value, *ints])
    if isinstance(value, float):
        return rng.choice([-value, 0.0, 1e18, {"float": "inf"}, {"float": "nan"}])
    if isinstance(value, list):
        made = [another(rng, v) if rng.random() < 0.5 else v for v in value]
        return rng.choice([made, made[1:], made + made, made[::-1]])
    if isinstance(value, dict) and "dtype" in value:
        return {"dtype": rng.choice(DTYPES)}
    if isinstance(value, dict) and "number" in value:
        return {"number": another(rng, value["number"])}
    return value


def mislead(rng, data):
    """Changes what only the ops themselves can refuse, in place."""
    functions = data.get("functions", {})
    for function in functions.values():
        if rng.random() < 0.1:  # calls one with what another takes
            function["captured"] = function["captured"][::-1]
            function["inputs"] = function["inputs"][::-1]
    kinds = [data, *functions.values()]
    nodes = (data if rng.random() < 0.5 else rng.choice(kinds))["nodes"]
    for node in nodes:  # says nothing of results, which would be compared
        if node["op"] not in ("Placeholder", "Variable", "PlaceholderWithDefault"):
            for output in node["outputs"]:
                output["shape"] = None
    for _ in range(rng.choice([1, 1, 2, 3])):
        at = rng.randrange(len(nodes))
        node = nodes[at]
        kind = rng.randrange(4)
        if kind == 0 and node["attributes"]:
            name = rng.choice(list(node["attributes"]))
            node["attributes"][name] = another(rng, node["attributes"][name])
        elif kind == 1 and node["inputs"]:
            before = [
                f"{other['name']}:{i}"
                for other in nodes[:at]
                for i in range(len(other["outputs"]))
            ]
            place = rng.randrange(len(node["inputs"]))
            if before and not node["inputs"][place].startswith("^"):
                node["inputs"][place] = rng.choice(before)
        elif kind == 2 and node["attributes"]:
            node["op"] = rng.choice(OPS)
            if rng.random() < 0.7:
                first = next(iter(node["attributes"].values()))
                node["attributes"] = {"self": first}
                node["inputs"] = node["inputs"][:1]
        elif node["outputs"] and node["op"] == "Placeholder":
            node["outputs"][0]["shape"] = rng.choice(SHAPES)
            if rng.random() < 0.3:
                node["outputs"][0]["dtype"] = rng.choice(DTYPES)


def broken(rng, content):
    """Changes bytes."""
    made = bytearray(content)
    for _ in range(rng.choice([1, 1, 2, 8])):
        here = rng.randrange(len(made) + 1)
        kind = rng.randrange(5)
        if kind == 0:
            del made[here:]
        elif kind == 1:
            made[here:here] = rng.randbytes(rng.choice([1, 4, 300]))
        elif kind == 2:
            there = rng.randrange(len(made) + 1)
            made[here:here] = made[there : there + rng.randrange(200)]
        elif kind == 3:
            del made[here : here + rng.randrange(1, 20)]
        else:
            made[here : here + 1] = bytes([rng.randrange(256)])
    return bytes(made)


def damage(rng, folder):
    """Changes one of the two files; says how."""
    text = folder / "graph.json"
    data = json.loads(text.read_bytes())
    tensors = folder / data["tensors_file"]
    kind = rng.choice(
        ["mislead"] * 6 + ["values"] * 4 + ["text", "text", "tensors", "header", "nest"]
    )
    if kind == "mislead":
        mislead(rng, data)
        text.write_text(json.dumps(data))
    elif kind == "values":
        for _ in range(rng.choice([1, 1, 1, 2, 4])):
            bend(rng, data)
        text.write_text(json.dumps(data))
    elif kind == "text":
        text.write_bytes(broken(rng, text.read_bytes()))
    elif kind == "tensors":
        tensors.write_bytes(broken(rng, tensors.read_bytes()))
    elif kind == "header":
        content = tensors.read_bytes()
        length = int.from_bytes(content[:8], "little")
        header = json.loads(content[8 : 8 + length])
        if header:
            bend(rng, header)
        made = json.dumps(header).encode()
        size = rng.choice([len(made)] * 9 + [2**63, len(made) + 1])
        tensors.write_bytes(size.to_bytes(8, "little") + made + content[8 + length :])
    else:
        deep = rng.choice(['{"nodes":', "[", '{"a":[']) * rng.choice([100, 10**5])
        many = "1" * rng.choice([10, 5000, 10**5])
        text.write_text(rng.choice([deep, f'{{"version": {many}}}', deep + many]))
    return kind


def check(seed):
    """One case; returns what became of it, or raises AssertionError."""
    rng = random.Random(seed)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        base(rng, folder)
        kind = damage(rng, folder)
        graph = pg.Graph()
        with graph.as_default():
            pg.placeholder(pkg.float32, [2, 3], "here")
        before = graph.version
        bytes_before = core.bytes_in_use()
        try:
            pg.import_graph(folder, graph, rng.choice(["", "part"]))
        except pg.GraphDefError as error:
            assert graph.version == before, f"{error} changed the graph"
            assert len(str(error)) < 3000, "a message of many pages"
            result = "refused"
        else:
            again = pg.Graph()
            pg.import_graph(graph.as_graph_def(), again)
            assert len(again.get_operations()) == len(graph.get_operations())
            result = "loaded"
        used = core.peak_bytes() - bytes_before
        assert used < MEMORY, f"{used} bytes of tensors"
        return f"{kind} {result}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--cases", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=1, help="of the first case")
    parser.add_argument("--case", type=int, help="this seed only")
    options = parser.parse_args()
    seeds = range(options.seed, options.seed + options.cases)
    if options.case is not None:
        seeds = [options.case]
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (ADDRESSES, hard))
    counts = Counter()
    for seed in seeds:
        # Where the process dies, the last line says of what.
        print(f"\rseed {seed}", end="", file=sys.stderr, flush=True)
        faulthandler.dump_traceback_later(SECONDS, exit=True)
        try:
            counts[check(seed)] += 1
        except BaseException:
            print(f"\nfailed: python {sys.argv[0]} --case {seed}", flush=True)
            raise
    faulthandler.cancel_dump_traceback_later()
    print()
    for what, count in sorted(counts.items()):
        print(f"{count:8} {what}")
    print(f"{sum(counts.values())} cases, nothing found")


if __name__ == "__main__":
    main()
