# SPDX-License-Identifier: Apache-2.0
"""``python -m pkg train``: the training loop, written as a user would write it."""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from typing import Any

from .. import nn, optim
from .._binding import core
from ..autograd import no_grad
from ..data import DataLoader, TensorDataset
from ..datasets import digits
from ..models import MODELS
from ..serialization import save
from .errors import UserError, reason

__all__ = ["accuracy", "run"]

EPOCHS = {"mlp": 30, "cnn": 20}


def run(args: argparse.Namespace) -> None:
    """Train, print the held-out accuracy, save weights and curve."""
    _check_folder(args.out)
    core.manual_seed(args.seed)
    model = MODELS[args.model]()
    train_set, held_out = digits(train=True), digits(train=False)
    epochs = args.epochs or EPOCHS[args.model]
    print(
        f"{args.model}: {sum(p.numel() for p in model.parameters()):,} parameters, "
        f"{len(train_set):,} digits to train on, {len(held_out)} held out"
    )

    history, steps, seconds = _fit(model, train_set, held_out, args, epochs)
    print(f"held-out accuracy: {100 * history[-1]['accuracy']:.2f} %")
    print(f"speed: {steps / seconds:,.0f} steps per second ({seconds:.1f} s)")

    weights = os.path.join(args.out, f"digits-{args.model}.safetensors")
    try:
        save(model, weights, metadata={"model": args.model})
    except OSError as err:
        raise UserError(f"cannot write {weights}: {reason(err)}") from err
    print(f"weights: {weights}")
    if not args.no_plot:
        print(_plot(history, args))


def _fit(
    model: nn.Module,
    train_set: TensorDataset,
    held_out: TensorDataset,
    args: argparse.Namespace,
    epochs: int,
) -> tuple[list[dict[str, float]], int, float]:
    from tqdm import tqdm  # type: ignore[import-untyped,unused-ignore]

    loader = DataLoader(train_set, batch_size=args.batch_size, shuffle=True)
    optimizer = optim.AdamW(model.parameters(), lr=args.lr, weight_decay=0.05)
    loss_of = nn.CrossEntropyLoss()
    total, step, seconds = epochs * len(loader), 0, 0.0
    schedule = optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=total)
    history = []
    bar = tqdm(total=total, unit="step", file=sys.stderr, disable=None, leave=False)
    with bar:
        for epoch in range(1, epochs + 1):
            model.train()
            losses = []
            began = time.perf_counter()
            for images, labels in loader:
                loss = loss_of(model(images), labels)
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
                schedule.step()
                losses.append(loss.detach())
                step += 1
                bar.update()
            mean_loss = sum(loss.item() for loss in losses) / len(losses)
            seconds += time.perf_counter() - began
            entry = {"loss": mean_loss, "accuracy": accuracy(model, held_out)}
            history.append({"epoch": float(epoch), **entry})
            bar.set_postfix(
                loss=f"{mean_loss:.4f}", held_out=f"{100 * entry['accuracy']:.2f} %"
            )
    return history, step, seconds


def accuracy(model: nn.Module, dataset: TensorDataset) -> float:
    """Return the share of samples whose highest score is the right class."""
    images, labels = dataset.tensors
    model.eval()
    with no_grad():
        right = (model(images).argmax(1) == labels).sum().item()
    return float(right) / len(dataset)


def _check_folder(folder: str) -> None:
    # Before the training, not after it.
    try:
        os.makedirs(folder, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as err:
        raise UserError(f"cannot write into {folder}: {reason(err)}") from err


def _plot(history: list[dict[str, float]], args: argparse.Namespace) -> str:
    # Returns the line to print.
    try:
        from matplotlib.figure import Figure
    except ImportError:
        return "curve: not drawn, matplotlib is missing (pip install matplotlib)"
    figure = Figure(figsize=(7, 4), layout="constrained")
    left: Any = figure.subplots()
    right = left.twinx()
    epochs = [entry["epoch"] for entry in history]
    left.plot(epochs, [e["loss"] for e in history], "C0", marker=".", label="loss")
    right.plot(
        epochs,
        [100 * e["accuracy"] for e in history],
        "C1",
        marker=".",
        label="held-out accuracy",
    )
    left.set_xlabel("epoch")
    left.set_ylabel("training loss")
    left.set_ylim(bottom=0)
    right.set_ylabel("held-out accuracy (%)")
    left.set_title(f"Handwritten digits, {args.model}")
    figure.legend(loc="outside lower center", ncols=2)
    path = os.path.join(args.out, f"digits-{args.model}.png")
    try:
        figure.savefig(path, dpi=120)
    except OSError as err:
        raise UserError(f"cannot write {path}: {reason(err)}") from err
    return f"curve: {path}"
