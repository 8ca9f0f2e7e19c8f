# SPDX-License-Identifier: Apache-2.0
"""What a run found: the distribution of ratios, by kind of cell, and the worst."""

from __future__ import annotations

import math
from collections import defaultdict

from .behind import reason

LIMITS = (1.0, 1.2, 2.0)
#: A ratio above this is named with its reason (behind.py).
NAMED = 1.2
GROUPS = ("family", "size", "dtype", "layout", "pass", "threads")


def machine():
    """Where the numbers are from (summary.py asks the machine)."""
    from summary import machine

    return machine()


def line(row):
    """A row as text."""
    times = f"{row['ours_us']:11.1f} {row['torch_us']:11.1f}"
    return f"{row['ratio']:6.2f} {times}  {row['name']}"


def distribution(ratios):
    """Count, geometric mean, and the shares above the limits."""
    mean = math.exp(sum(math.log(r) for r in ratios) / len(ratios))
    shares = [sum(r > limit for r in ratios) / len(ratios) for limit in LIMITS]
    return len(ratios), mean, *shares


def kind(row, group):
    """What a row is counted under; a layout without the tensor's name."""
    value = str(row[group])
    return value.split()[-1] if group == "layout" else value


def numpy_ratios(rows):
    return [(r["ours_us"] / r["numpy_us"], r) for r in rows if r.get("numpy_us")]


def tables(kept):
    """The distributions as rows of text: title, count, mean, shares."""
    rows = kept["rows"]
    yield ("all, against PyTorch", *distribution([r["ratio"] for r in rows]))
    numpys = [ratio for ratio, _ in numpy_ratios(rows)]
    if numpys:
        yield ("against NumPy, where it has the op", *distribution(numpys))
    for group in GROUPS:
        parts = defaultdict(list)
        for row in rows:
            parts[kind(row, group)].append(row["ratio"])
        for name in sorted(parts):
            yield (f"{group}: {name}", *distribution(parts[name]))


def show(kept, options):
    """Prints all, and writes the page if one is asked for."""
    rows = kept["rows"]
    if not rows:
        print("no cell was timed")
    else:
        print("Shares of cells above 1.0, 1.2 and 2.0 in the last three columns.")
        for title, count, mean, *shares in tables(kept):
            text = " ".join(f"{share:7.1%}" for share in shares)
            print(f"{title:38} {count:6} cells  mean {mean:5.2f}  {text}")
        worst = sorted(rows, key=lambda r: -r["ratio"])[: options.worst]
        print(f"\nThe {len(worst)} worst (ratio, our us, PyTorch's us):")
        print(*map(line, worst), sep="\n")
        behind = sorted(numpy_ratios(rows), key=lambda p: -p[0])[: options.worst]
        behind = [f"{ratio:6.2f}  {r['name']}" for ratio, r in behind if ratio > 1.2]
        if behind:
            print("\nAbove 1.2 of NumPy:", *behind, sep="\n")
    one_sided = [r for r in kept["refused"] if r["what"] != "both"]
    print(f"\n{kept['population']} cells in all, {len(rows)} timed in "
          f"{kept['seconds']:.0f} s; {len(one_sided)} calls that one side refuses, or "
          "that differ")  # fmt: skip
    for r in one_sided[: 10 + 1000 * options.verbose]:
        print(f"  {r['what']}: {r['name']} {r['dtype']}: {r['said'][:150]}")
    if options.page and rows:
        options.page.write_text(page(kept, options.worst), encoding="utf-8")


def named(rows):
    """The cells that are behind PyTorch or NumPy, each with its reason."""
    behind = [(r["ratio"], "PyTorch", r) for r in rows if r["ratio"] > NAMED]
    behind += [(x, "NumPy", r) for x, r in numpy_ratios(rows) if x > NAMED]
    if not behind:
        yield f"No cell is above {NAMED} of PyTorch or NumPy."
        return
    yield f"## Every cell above {NAMED}, with its reason"
    yield ""
    yield "| ratio | to | cell | reason |"
    yield "|---:|---|---|---|"
    for ratio, peer, row in sorted(behind, key=lambda b: (b[1], -b[0])):
        name = row["name"].replace("|", "·")
        yield f"| {ratio:.2f} | {peer} | {name} | {reason(row, peer)} |"


def page(kept, worst):
    """The page as Markdown."""
    rows = kept["rows"]
    drawn = kept.get("sizes") == "drawn"
    title = "Every op, timed" + " with sizes that nobody chose" * drawn
    file = f"{'--sizes drawn ' * drawn}--page docs/benchmark{'_sizes' * drawn}.md"
    text = [
        "<!-- Written by tests/benchmarks/generated.py --page; do not edit. -->",
        f"# {title}",
        "",
        f"{len(rows):,} cells of {kept['population']:,}, drawn by seed {kept['seed']}, "
        "from every op as many: calls x sizes x dtypes x layouts x passes x threads. "
        "Our time divided by PyTorch's (below 1: ours is faster), the fastest of "
        "interleaved runs. Results are compared before they are timed.",
        "",
        "    python tests/benchmarks/generated.py --cells "
        f"{len(rows)} --seed {kept['seed']} {file}",
        "",
        kept["machine"],
        "",
        "| cells | count | geometric mean | above 1 | above 1.2 | above 2 |",
        "|---|---:|---:|---:|---:|---:|",
    ]
    for title, count, mean, *shares in tables(kept):
        cells = " | ".join(f"{share:.1%}" for share in shares)
        text.append(f"| {title} | {count:,} | {mean:.2f} | {cells} |")
    text += [
        "",
        f"## The {worst} worst",
        "",
        "| ratio | ours, us | PyTorch, us | cell |",
    ]
    text += ["|---:|---:|---:|---|"]
    for r in sorted(rows, key=lambda r: -r["ratio"])[:worst]:
        name = r["name"].replace("|", "·")
        text.append(
            f"| {r['ratio']:.2f} | {r['ours_us']:.1f} | {r['torch_us']:.1f} | {name} |"
        )
    text += ["", *named(rows)]
    refused = defaultdict(set)
    for r in kept["refused"]:
        if r["what"].startswith("refused"):
            refused[r["what"]].add(f"`{r['name']}` {r['dtype']}")
    if refused:
        text += ["", "## Calls that one side refuses", ""]
        for what, calls in sorted(refused.items()):
            text.append(f"{what}: {', '.join(sorted(calls))}.\n")
    text += ["## Public ops without a cell", ""]
    text += [f"- `{op}`: {why}" for op, why in kept["without"].items()]
    return "\n".join(text) + "\n"
