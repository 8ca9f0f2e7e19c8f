# SPDX-License-Identifier: Apache-2.0
"""The digits CNN on many processes.

    python -m pkg launch -np 2 docs/examples/digits_on_ranks.py

A step of N ranks is that of one rank whose batch is N times as large: each rank takes
every Nth of the same shuffled digits, and the gradients are averaged over all.  What
would differ by chance is not there: no dropout, and the last digits that do not fill a
batch are left out.
"""

import argparse

import pkg
import pkg.distributed as hvd
from pkg import nn, optim
from pkg.data import DataLoader
from pkg.datasets import digits
from pkg.models import CNN


def main() -> None:
    """Train, and let rank 0 say how it went."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--batch-size", type=int, default=32, help="of each rank")
    parser.add_argument("--epochs", type=int, default=10)
    parser.add_argument("--steps", type=int, help="of an epoch; all without it")
    parser.add_argument("--lr", type=float, default=2e-3)
    parser.add_argument("--float64", action="store_true")
    parser.add_argument("--save", metavar="FILE", help="the weights, by rank 0")
    args = parser.parse_args()

    hvd.init()
    pkg.set_num_threads(max(1, pkg.get_num_threads() // hvd.local_size()))
    pkg.manual_seed(hvd.rank())  # weights differ until rank 0 sends its own
    dtype = pkg.float64 if args.float64 else pkg.float32
    model = CNN(dropout=0.0).to(dtype)
    optimizer = optim.AdamW(model.parameters(), lr=args.lr, weight_decay=0.05)
    hvd.broadcast_parameters(model.state_dict(), root_rank=0)
    hvd.broadcast_optimizer_state(optimizer, root_rank=0)
    optimizer = hvd.DistributedOptimizer(optimizer, model.named_parameters())

    train_set = digits(train=True)
    sampler = hvd.DistributedSampler(train_set, drop_last=True)
    loader = DataLoader(
        train_set, batch_size=args.batch_size, sampler=sampler, drop_last=True
    )
    for epoch in range(args.epochs):
        sampler.set_epoch(epoch)
        for step, (images, labels) in enumerate(loader):
            if step == args.steps:
                break
            optimizer.zero_grad()
            loss = nn.functional.cross_entropy(model(images.to(dtype)), labels)
            loss.backward()
            optimizer.step()
        mean = hvd.allreduce(loss.detach()).item()
        if hvd.rank() == 0:
            print(f"epoch {epoch + 1}: loss {mean:.4f}")

    # Each rank looks at its share of the digits that were held out.
    images, labels = digits(train=False).tensors
    mine = slice(hvd.rank(), None, hvd.size())
    with pkg.no_grad():
        right = model(images[mine].to(dtype)).argmax(1) == labels[mine]
    right = hvd.allreduce(right.sum(), op=hvd.Sum).item()
    if hvd.rank() == 0:
        print(f"held-out accuracy: {100 * right / len(labels):.2f} %")
        if args.save:
            pkg.save(model, args.save)


if __name__ == "__main__":
    main()
