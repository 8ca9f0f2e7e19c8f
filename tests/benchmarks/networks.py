# SPDX-License-Identifier: Apache-2.0
"""Networks whose training steps are timed, written once for both libraries.

Each function takes the library and returns a step: zero the gradients, forward, loss,
backward, the optimizer's step, and waiting for all of it; it gives the loss.
"""

import numpy as np


def finished(module):
    """What waits for pending work: PyTorch has none on the CPU."""
    return getattr(module, "synchronize", lambda: None)


def stepper(module, model, loss_of, optimizer):
    """A training step; the weights are the same numbers in every library."""
    rng = np.random.default_rng(0)
    with module.no_grad():
        for name, p in model.named_parameters():
            if p.ndim > 1:
                scale = np.prod(p.shape[1:]) ** -0.5
                numbers = rng.normal(size=tuple(p.shape)) * scale
                p.copy_(module.tensor(numbers.astype(np.float32)))
            elif name.endswith("bias"):
                p.zero_()
    optimizer = optimizer(list(model.parameters()))
    finish = finished(module)

    def step():
        optimizer.zero_grad()
        loss = loss_of()
        loss.backward()
        optimizer.step()
        finish()
        return loss.detach()

    return step


def _sgd(module):
    return lambda parameters: module.optim.SGD(parameters, lr=0.01, momentum=0.9)


def _adam(module):
    return lambda parameters: module.optim.Adam(parameters, lr=1e-4)


def _images(module, batch, channels, side):
    rng = np.random.default_rng(1)
    x = rng.normal(size=(batch, channels, side, side)).astype(np.float32)
    return module.tensor(x), module.tensor(rng.integers(0, 10, batch))


def _classifier(module, model, x, y, optimizer):
    loss = module.nn.functional.cross_entropy
    return stepper(module, model, lambda: loss(model(x), y), optimizer)


def mlp_784(module):
    """784-512-512-10 on a batch of 128."""
    nn = module.nn
    x, y = _images(module, 128, 1, 28)
    model = nn.Sequential(
        nn.Flatten(), nn.Linear(784, 512), nn.ReLU(), nn.Linear(512, 512), nn.ReLU(),
        nn.Linear(512, 10),
    )  # fmt: skip
    return _classifier(module, model, x, y, _sgd(module))


def deep_mlp(module):
    """Twenty layers of 64 on a batch of 4, Adam: the cost of many small ops."""
    nn = module.nn
    rng = np.random.default_rng(2)
    x = module.tensor(rng.normal(size=(4, 64)).astype(np.float32))
    y = module.tensor(rng.integers(0, 64, 4))
    layers = [part for _ in range(20) for part in (nn.Linear(64, 64), nn.ReLU())]
    return _classifier(module, nn.Sequential(*layers[:-1]), x, y, _adam(module))


def mnist_cnn(module):
    """Two 3x3 convolutions, pooling, two linear layers, on 28x28 images, batch 64."""
    nn = module.nn
    x, y = _images(module, 64, 1, 28)
    model = nn.Sequential(
        nn.Conv2d(1, 32, 3), nn.ReLU(), nn.Conv2d(32, 64, 3), nn.ReLU(),
        nn.MaxPool2d(2), nn.Flatten(), nn.Linear(64 * 12 * 12, 128), nn.ReLU(),
        nn.Linear(128, 10),
    )  # fmt: skip
    return _classifier(module, model, x, y, _adam(module))


def resnet(module):
    """A residual stack on 3x32x32 images, batch 8: 32, 64 and 128 channels."""
    nn, F = module.nn, module.nn.functional

    class Block(nn.Module):
        def __init__(self, inner, outer, stride):
            super().__init__()
            self.first = nn.Conv2d(inner, outer, 3, stride, 1, bias=False)
            self.second = nn.Conv2d(outer, outer, 3, 1, 1, bias=False)
            self.norms = nn.ModuleList([nn.BatchNorm2d(outer), nn.BatchNorm2d(outer)])
            self.short = nn.Conv2d(inner, outer, 1, stride, bias=False)

        def forward(self, x):
            y = F.relu(self.norms[0](self.first(x)))
            return F.relu(self.norms[1](self.second(y)) + self.short(x))

    x, y = _images(module, 8, 3, 32)
    model = nn.Sequential(
        nn.Conv2d(3, 32, 3, 1, 1, bias=False), nn.BatchNorm2d(32), nn.ReLU(),
        Block(32, 32, 1), Block(32, 64, 2), Block(64, 128, 2),
        nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(128, 10),
    )  # fmt: skip
    return _classifier(module, model, x, y, _sgd(module))


def gpt(module):
    """Four pre-norm layers, d=64, 4 heads, 64 tokens, batch 8, 65 characters."""
    nn, F = module.nn, module.nn.functional
    width, heads, length, batch, letters = 64, 4, 64, 8, 65

    class Layer(nn.Module):
        def __init__(self):
            super().__init__()
            self.n1, self.n2 = nn.LayerNorm(width), nn.LayerNorm(width)
            self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
            self.up = nn.Linear(width, 4 * width)
            self.down = nn.Linear(4 * width, width)

        def forward(self, x):
            h = self.qkv(self.n1(x)).reshape(batch, length, 3, heads, width // heads)
            q, k, v = (h[:, :, i].transpose(1, 2) for i in range(3))
            scores = (q @ k.transpose(-2, -1)) * (width // heads) ** -0.5
            mixed = scores.masked_fill(later, float("-inf")).softmax(-1) @ v
            x = x + self.out(mixed.transpose(1, 2).reshape(batch, length, width))
            return x + self.down(F.gelu(self.up(self.n2(x))))

    later = module.triu(module.ones(length, length), 1) > 0
    tokens = np.random.default_rng(3).integers(0, letters, (batch, length + 1))
    x, y = module.tensor(tokens[:, :-1].copy()), module.tensor(tokens[:, 1:].copy())
    places = module.arange(length)
    parts = nn.ModuleList(
        [nn.Embedding(letters, width), nn.Embedding(length, width)]
        + [Layer() for _ in range(4)]
        + [nn.LayerNorm(width), nn.Linear(width, letters)]
    )

    def loss():
        h = parts[0](x) + parts[1](places)
        for part in list(parts)[2:]:
            h = part(h)
        return F.cross_entropy(h.reshape(-1, letters), y.reshape(-1))

    return stepper(module, parts, loss, lambda p: module.optim.AdamW(p, lr=1e-3))


#: Name, network, and the highest wanted ratio to PyTorch on one thread and on several.
NETWORKS = (
    ("MLP 784-512-512-10 step", mlp_784, 0.7, 0.85),
    ("MNIST CNN step", mnist_cnn, 0.6, 0.75),
    ("ResNet-like step", resnet, 0.6, 0.75),
    ("GPT d=64 step", gpt, 0.65, 0.75),
    ("deep MLP 20x64 step", deep_mlp, 0.12, 0.12),
)
