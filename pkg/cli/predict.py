# SPDX-License-Identifier: Apache-2.0
"""``python -m pkg predict``: held-out digits drawn as text, with predictions."""

from __future__ import annotations

import argparse
import random
import sys

from .. import nn
from ..autograd import no_grad
from ..datasets import digits
from ..models import MODELS
from ..serialization import read_with_metadata
from .errors import UserError, reason

__all__ = ["run"]

PER_ROW = 5


def run(args: argparse.Namespace) -> None:
    """Draw ``--count`` held-out digits with what the network takes them for."""
    model = _load(args.weights)
    images, labels = digits(train=False).tensors
    count = min(args.count, len(labels.tolist()))
    chosen = random.Random(args.seed).sample(range(images.shape[0]), count)
    model.eval()
    with no_grad():
        guesses = model(images[chosen]).argmax(1).tolist()
    truths = labels[chosen].tolist()
    pictures = [_picture(image) for image in images[chosen].squeeze(1).tolist()]
    for start in range(0, count, PER_ROW):
        row = range(start, min(start + PER_ROW, count))
        for lines in zip(*(pictures[i] for i in row)):
            print("  ".join(lines).rstrip())
        captions = [_caption(guesses[i], truths[i]) for i in row]
        print("  ".join(caption.ljust(16) for caption in captions).rstrip())
        print()
    right = sum(g == t for g, t in zip(guesses, truths))
    print(f"{right} of {count} right")


def _caption(guess: int, truth: int) -> str:
    return f"{guess}" if guess == truth else f"{guess} (wrong: {truth})"


def _picture(rows: list[list[float]]) -> list[str]:
    # Two characters a pixel make it about square.
    shades = " ░▒▓█"
    try:
        shades.encode(sys.stdout.encoding or "ascii")
    except (UnicodeEncodeError, LookupError):
        shades = " .:+#"
    return [
        "".join(2 * shades[round(value * (len(shades) - 1))] for value in row)
        for row in rows
    ]


def _load(path: str) -> nn.Module:
    try:
        state, metadata = read_with_metadata(path)
    except OSError as err:
        raise UserError(f"cannot read {path}: {reason(err)}") from err
    except ValueError as err:
        raise UserError(f"{path} is damaged: {reason(err.__cause__ or err)}") from err
    name = metadata.get("model")
    if name not in MODELS:
        raise UserError(
            f"{path} was not written by `python -m pkg train`: it names no model "
            f"(known: {', '.join(MODELS)})"
        )
    model = MODELS[name]()
    try:
        model.load_state_dict(state)
    except RuntimeError as err:
        raise UserError(f"{path} does not fit the model {name}: {reason(err)}") from err
    return model
