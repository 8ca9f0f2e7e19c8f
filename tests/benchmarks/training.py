# SPDX-License-Identifier: Apache-2.0
"""One training step of eight networks: ``python tests/benchmarks/training.py``.

The digits MLP is also compared with a step written by hand in NumPy and with JAX jit.
The floor of a network is the time of its products alone (floors.py): where floor / peer
is above a target, no step that multiplies as we do can reach it.
"""

import numpy as np
from floors import floor
from harness import all_threads, peer, run, set_threads
from networks import NETWORKS, finished

import pkg

torch, jax = peer("torch"), peer("jax")
RNG = np.random.default_rng(0)
X = RNG.uniform(size=(64, 64)).astype(np.float32)
Y = RNG.integers(0, 10, size=64)
W1 = (RNG.normal(size=(128, 64)) / 8).astype(np.float32)
W2 = (RNG.normal(size=(10, 128)) / 11).astype(np.float32)
LR, MOMENTUM = 0.05, 0.9


def mlp(module):
    """Step of 64-128-10, cross-entropy, SGD with momentum; the same in both
    libraries."""
    nn, F = module.nn, module.nn.functional
    model = nn.Sequential(nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, 10))
    with module.no_grad():
        model[0].weight.copy_(module.tensor(W1))
        model[2].weight.copy_(module.tensor(W2))
        model[0].bias.zero_()
        model[2].bias.zero_()
    optimizer = module.optim.SGD(model.parameters(), lr=LR, momentum=MOMENTUM)
    x, y = module.tensor(X), module.tensor(Y)
    finish = finished(module)

    def step():
        optimizer.zero_grad()
        loss = F.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        finish()
        return loss.detach()

    return step


def mlp_numpy():
    """The same step with its gradients worked out by hand."""
    w1, w2 = W1.T.copy(), W2.T.copy()
    b1, b2 = np.zeros(128, np.float32), np.zeros(10, np.float32)
    params = [w1, b1, w2, b2]
    momenta = [np.zeros_like(p) for p in params]
    rows = np.arange(64)

    def step():
        h = X @ w1
        h += b1
        mask = h > 0
        h *= mask
        z = h @ w2
        z += b2
        z -= z.max(1, keepdims=True)
        e = np.exp(z)
        total = e.sum(1, keepdims=True)
        loss = -(z[rows, Y] - np.log(total[:, 0])).mean()
        e /= total
        e[rows, Y] -= 1
        e /= np.float32(64)
        dh = e @ w2.T
        dh *= mask
        grads = [X.T @ dh, dh.sum(0), h.T @ e, e.sum(0)]
        for p, m, g in zip(params, momenta, grads):
            m *= np.float32(MOMENTUM)
            m += g
            p -= np.float32(LR) * m
        return loss

    return step


def mlp_jax():
    """The same step under jit."""
    import jax.numpy as jnp

    def loss_of(params, x, y):
        w1, b1, w2, b2 = params
        z = jnp.maximum(x @ w1.T + b1, 0) @ w2.T + b2
        return -jnp.take_along_axis(jax.nn.log_softmax(z), y[:, None], 1).mean()

    @jax.jit
    def update(params, momenta, x, y):
        loss, grads = jax.value_and_grad(loss_of)(params, x, y)
        momenta = [MOMENTUM * m + g for m, g in zip(momenta, grads)]
        return loss, [p - LR * m for p, m in zip(params, momenta)], momenta

    params = [jnp.asarray(p) for p in (W1, np.zeros(128, np.float32), W2,
                                       np.zeros(10, np.float32))]  # fmt: skip
    state = [params, [p * 0 for p in params]]
    x, y = jnp.asarray(X), jnp.asarray(Y)

    def step():
        loss, *state[:] = update(*state, x, y)
        return loss.block_until_ready()

    return step


def cnn(module):
    """Two 3x3 convolutions on 8x8 digits, batch 64, Adam."""
    nn, F = module.nn, module.nn.functional
    model = nn.Sequential(
        nn.Conv2d(1, 16, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(16, 32, 3, padding=1), nn.ReLU(), nn.Flatten(),
        nn.Linear(512, 10),
    )  # fmt: skip
    optimizer = module.optim.Adam(model.parameters(), lr=1e-3)
    x, y = module.tensor(X.reshape(64, 1, 8, 8)), module.tensor(Y)
    finish = finished(module)

    def step():
        optimizer.zero_grad()
        F.cross_entropy(model(x), y).backward()
        optimizer.step()
        finish()

    return step


def transformer(module):
    """Pre-norm layer, d=128, 4 heads, T=64, B=8: forward and backward."""
    nn, F = module.nn, module.nn.functional
    d, heads, length, batch = 128, 4, 64, 8
    qkv, out = nn.Linear(d, 3 * d), nn.Linear(d, d)
    up, down = nn.Linear(d, 4 * d), nn.Linear(4 * d, d)
    n1, n2 = nn.LayerNorm(d), nn.LayerNorm(d)
    data = np.random.default_rng(1).normal(size=(batch, length, d)).astype(np.float32)
    x = module.tensor(data, requires_grad=True)
    finish = finished(module)

    def step():
        h = qkv(n1(x)).reshape(batch, length, 3, heads, d // heads)
        q, k, v = (h[:, :, i].transpose(1, 2) for i in range(3))
        scores = (q @ k.transpose(-2, -1)) * (d // heads) ** -0.5
        mixed = scores.softmax(-1) @ v
        y = x + out(mixed.transpose(1, 2).reshape(batch, length, d))
        y = y + down(F.gelu(up(n2(y))))
        y.sum().backward()
        finish()

    return step


def compare_losses(network):
    """The same weights and data give the same losses for some steps."""
    ours, theirs = network(pkg), network(torch)
    for _ in range(3):
        np.testing.assert_allclose(float(ours()), float(theirs()), rtol=2e-3)


def main(table):
    """Results of the three MLPs are compared before they are timed."""
    set_threads(all_threads())
    steps = [mlp(pkg), mlp_numpy()] + ([mlp(torch)] if torch else [])
    losses = [[float(step()) for _ in range(5)] for step in steps]
    for other in losses[1:]:
        np.testing.assert_allclose(losses[0], other, rtol=1e-4)
    for threads in sorted({1, all_threads()}):
        set_threads(threads)
        table.compare(f"digits MLP step, {threads} thread(s)", mlp(pkg),
                      {"torch": torch and mlp(torch), "numpy": mlp_numpy(),
                       "jax": jax and mlp_jax()},
                      {"torch": 0.20, "numpy": 0.6, "jax": 0.6})  # fmt: skip
        table.compare(f"digits CNN step, {threads} thread(s)", cnn(pkg),
                      {"torch": torch and cnn(torch)}, {"torch": 0.5},
                      floor=floor)  # fmt: skip
        table.compare(f"transformer layer, {threads} thread(s)", transformer(pkg),
                      {"torch": torch and transformer(torch)},
                      {"torch": 0.85})  # fmt: skip
        for name, network, one, several in NETWORKS:
            if torch and threads == 1:
                compare_losses(network)
            table.compare(f"{name}, {threads} thread(s)", network(pkg),
                          {"torch": torch and network(torch)},
                          {"torch": one if threads == 1 else several},
                          floor=floor)  # fmt: skip


if __name__ == "__main__":
    run(main)
