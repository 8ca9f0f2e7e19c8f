# SPDX-License-Identifier: Apache-2.0
"""Layers of pkg.nn: their formulas, options and texts; networks against PyTorch."""

import copy

import numpy as np
import pytest

import pkg
from pkg import nn
from pkg.nn import functional as F


def test_linear_and_activations_compute_their_formula():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(2, 5, 3))
    layer = nn.Linear(3, 4, dtype=pkg.float64)
    want = x @ layer.weight.detach().numpy().T + layer.bias.detach().numpy()
    np.testing.assert_allclose(layer(pkg.tensor(x)).detach().numpy(), want, atol=1e-12)
    e = np.exp(x - x.max(1, keepdims=True))
    inner = np.sqrt(2 / np.pi) * (x + 0.044715 * x**3)
    for module, values in [
        (nn.ReLU(), np.maximum(x, 0)),
        (nn.ReLU(inplace=True), np.maximum(x, 0)),
        (nn.LeakyReLU(0.1), np.where(x > 0, x, 0.1 * x)),
        (nn.ELU(0.5), np.where(x > 0, x, 0.5 * np.expm1(x))),
        (nn.SiLU(), x / (1 + np.exp(-x))),
        (nn.Softplus(2.0), np.log1p(np.exp(2 * x)) / 2),
        (nn.LogSigmoid(), -np.log1p(np.exp(-x))),
        (nn.Sigmoid(), 1 / (1 + np.exp(-x))),
        (nn.Tanh(), np.tanh(x)),
        (nn.GELU("tanh"), 0.5 * x * (1 + np.tanh(inner))),
        (nn.Softmax(1), e / e.sum(1, keepdims=True)),
        (nn.LogSoftmax(1), np.log(e / e.sum(1, keepdims=True))),
        (nn.Flatten(), x.reshape(2, 15)),
        (nn.Identity(54, unused=1), x),
    ]:
        got = module(pkg.tensor(x)).numpy()
        np.testing.assert_allclose(got, values, atol=1e-12, err_msg=repr(module))
    with pytest.raises((RuntimeError, ValueError), match="cube"):
        F.gelu(pkg.tensor(x), approximate="cube")


def test_prelu_learns_a_slope_for_all_or_for_each_channel():
    """Values, text, start and gradients."""
    x = np.random.default_rng(0).normal(size=(2, 3, 4))
    one, each = nn.PReLU(dtype=pkg.float64), nn.PReLU(3, 0.5, dtype=pkg.float64)
    assert one.weight.tolist() == [0.25] and each.weight.tolist() == [0.5] * 3
    assert repr(each) == "PReLU(num_parameters=3)"
    with pkg.no_grad():
        each.weight.copy_(pkg.tensor([0.5, 0.25, 0.125]))
    slopes = np.array([0.5, 0.25, 0.125])[:, None]
    for layer, slope in ((one, 0.25), (each, slopes)):
        output = layer(pkg.tensor(x))
        want = np.where(x > 0, x, slope * x)
        np.testing.assert_allclose(output.detach().numpy(), want, rtol=1e-12)
        output.sum().backward()
        below = np.minimum(x, 0)
        want = [below.sum()] if layer is one else below.sum((0, 2))
        np.testing.assert_allclose(layer.weight.grad.numpy(), want, rtol=1e-12)


def test_inplace_layers_write_their_input():
    x = pkg.tensor([-1.0, 2.0])
    assert nn.ReLU(inplace=True)(x) is x and x.tolist() == [0.0, 2.0]
    for layer in (
        nn.LeakyReLU(0.5, inplace=True),
        nn.ELU(2.0, inplace=True),
        nn.SiLU(inplace=True),
    ):
        x = pkg.tensor([-1.0, 2.0])
        plain = copy.copy(layer)
        plain.inplace = False
        assert "inplace=True" in repr(layer) and "inplace" not in repr(plain)
        expected = plain(x)
        assert x.tolist() == [-1.0, 2.0]
        assert layer(x) is x and x.tolist() == expected.tolist()
    for name in ("mish", "hardsigmoid", "silu", "elu", "leaky_relu", "relu"):
        x = pkg.tensor([-1.0, 2.0])
        expected = getattr(F, name)(x)
        assert getattr(F, name)(x, inplace=True) is x
        assert x.tolist() == expected.tolist() != [-1.0, 2.0]
    ones = pkg.ones([1000])
    assert nn.Dropout(0.5, inplace=True)(ones) is ones
    assert set(ones.tolist()) == {0.0, 2.0}


def test_softplus_and_logsigmoid_are_stable_and_have_the_gradient_at_zero():
    x = pkg.tensor([-1000.0, 0.0, 1000.0], requires_grad=True)
    F.softplus(x).sum().backward()
    np.testing.assert_allclose(x.grad.tolist(), [0.0, 0.5, 1.0])
    np.testing.assert_allclose(F.softplus(x).tolist(), [0.0, np.log(2), 1000.0])
    np.testing.assert_allclose(F.logsigmoid(x).tolist(), [-1000.0, -np.log(2), 0.0])


def test_embedding_padding_row_is_zero_and_gets_no_gradient():
    layer = nn.Embedding(4, 3, padding_idx=-1)
    assert layer.padding_idx == 3 and (layer.weight[3] == 0).all()
    layer(pkg.tensor([[0, 3], [0, 1]])).sum().backward()
    np.testing.assert_array_equal(layer.weight.grad.numpy()[:, 0], [2, 1, 0, 0])
    with pytest.raises(ValueError, match="padding_idx"):
        nn.Embedding(4, 3, padding_idx=4)
    table = nn.Embedding.from_pretrained(pkg.ones([2, 3]))
    assert not table.weight.requires_grad and table(pkg.tensor(1)).tolist() == [1.0] * 3
    assert nn.Embedding.from_pretrained(pkg.ones([2, 3]), freeze=False).weight.is_leaf


def test_conv_paddings_by_name_and_unbatched_images():
    rng = np.random.default_rng(0)
    x, w = rng.normal(size=(1, 1, 5, 6)), rng.normal(size=(1, 1, 2, 3))
    layer = nn.Conv2d(1, 1, (2, 3), padding="same", bias=False, dtype=pkg.float64)
    with pkg.no_grad():
        layer.weight.copy_(pkg.tensor(w))
    padded = np.pad(x[0, 0], [(0, 1), (1, 1)])
    want = [
        [(padded[i : i + 2, j : j + 3] * w[0, 0]).sum() for j in range(6)]
        for i in range(5)
    ]
    np.testing.assert_allclose(layer(pkg.tensor(x))[0, 0].tolist(), want, atol=1e-12)
    assert layer(pkg.tensor(x[0])).shape == (1, 5, 6)
    assert nn.Conv2d(1, 1, 3, padding="valid")(pkg.ones([1, 1, 5, 6])).shape == (
        1,
        1,
        3,
        4,
    )
    assert nn.MaxPool2d(2)(pkg.ones([3, 4, 4])).shape == (3, 2, 2)
    for wrong in ({"padding": "all"}, {"padding": "same", "stride": 2}, {"groups": 2}):
        with pytest.raises(ValueError):
            nn.Conv2d(1, 1, 3, **wrong)
    with pytest.raises(NotImplementedError, match="padding_mode"):
        nn.Conv2d(1, 1, 3, padding_mode="reflect")
    with pytest.raises(RuntimeError, match="at most half"):
        F.max_pool2d(pkg.ones([1, 1, 4, 4]), 2, padding=2)


def test_pad_surrounds_from_the_last_dimension():
    x = np.arange(6.0).reshape(2, 3)
    got = F.pad(pkg.tensor(x), (1, 2, 0, 1), value=9.0).numpy()
    np.testing.assert_array_equal(got, np.pad(x, [(0, 1), (1, 2)], constant_values=9.0))
    with pytest.raises(NotImplementedError, match="got 'mirror'"):
        pkg.ops.pad(pkg.tensor(x), (1, 1), "mirror")


def test_norm_layers_start_plain_and_have_optional_parameters():
    x = np.random.default_rng(0).normal(size=(4, 2, 3))
    for layer in (nn.LayerNorm((2, 3)), nn.LayerNorm((2, 3), elementwise_affine=False)):
        want = (x - x.mean((1, 2), keepdims=True)) / np.sqrt(
            x.var((1, 2), keepdims=True) + 1e-5
        )
        got = layer.double()(pkg.tensor(x)).detach().numpy()
        np.testing.assert_allclose(got, want, atol=1e-12)
    assert list(nn.LayerNorm(3, bias=False).state_dict()) == ["weight"]
    got = nn.RMSNorm(3, eps=1e-6).double()(pkg.tensor(x)).detach().numpy()
    want = x / np.sqrt((x * x).mean(2, keepdims=True) + 1e-6)
    np.testing.assert_allclose(got, want, atol=1e-12)
    assert list(nn.RMSNorm(3, elementwise_affine=False).state_dict()) == []


def test_a_table_that_is_there_takes_no_random_numbers():
    pkg.manual_seed(1)
    wanted = pkg.rand(2).tolist()
    pkg.manual_seed(1)
    table = pkg.ones(5, 3)
    layer = nn.Embedding.from_pretrained(table, padding_idx=-1)
    assert pkg.rand(2).tolist() == wanted
    assert layer.weight.device == "cpu" and layer.weight.tolist() == table.tolist()
    assert layer(pkg.tensor([4])).tolist() == [[1, 1, 1]]


def test_batch_norm_that_stops_tracking_keeps_its_statistics():
    layer = nn.BatchNorm1d(2)
    layer(pkg.randn(8, 2))
    before = {name: value.tolist() for name, value in layer.state_dict().items()}
    layer.track_running_stats = False
    layer(pkg.randn(8, 2) + 5)
    after = {name: value.tolist() for name, value in layer.state_dict().items()}
    assert after == before


def test_norm_layers_take_an_empty_batch():
    """Nothing comes out, and the parameters' gradients are zero."""
    for layer in (nn.LayerNorm(6), nn.RMSNorm(6), nn.BatchNorm1d(6)):
        y = layer(pkg.zeros(0, 6))
        assert y.shape == (0, 6)
        y.sum().backward()
        assert layer.weight.grad.tolist() == [0.0] * 6
        if isinstance(layer, nn.BatchNorm1d):
            assert layer.running_mean.tolist() == [0.0] * 6


def test_pooling_layers_take_means():
    x = np.random.default_rng(0).normal(size=(2, 3, 4, 6))
    want = x.reshape(2, 3, 2, 2, 3, 2).mean((3, 5))
    np.testing.assert_allclose(nn.AvgPool2d(2)(pkg.tensor(x)).numpy(), want, atol=1e-12)
    got = nn.AdaptiveAvgPool2d((2, 3))(pkg.tensor(x)).numpy()
    np.testing.assert_allclose(got, want, atol=1e-12)
    got = nn.AdaptiveAvgPool2d(1)(pkg.tensor(x)).numpy()
    np.testing.assert_allclose(got[..., 0, 0], x.mean((2, 3)), atol=1e-12)


@pytest.mark.parametrize("momentum", [0.1, None])
def test_batch_norm_uses_the_batch_in_training_and_its_memory_afterwards(momentum):
    layer = nn.BatchNorm2d(3, momentum=momentum).double()
    assert list(layer.state_dict()) == [
        "weight", "bias", "running_mean", "running_var", "num_batches_tracked",
    ]  # fmt: skip
    rng = np.random.default_rng(0)
    mean, var = np.zeros(3), np.ones(3)
    for step in (1, 2):
        x = rng.normal(2.0, 3.0, size=(4, 3, 2, 2))
        got = layer(pkg.tensor(x)).detach().numpy()
        own = x.mean((0, 2, 3)), x.var((0, 2, 3)), x.var((0, 2, 3), ddof=1)
        want = (x - own[0][:, None, None]) / np.sqrt(own[1][:, None, None] + 1e-5)
        np.testing.assert_allclose(got, want, atol=1e-10)
        share = momentum or 1 / step
        mean, var = mean + share * (own[0] - mean), var + share * (own[2] - var)
    np.testing.assert_allclose(layer.running_mean.numpy(), mean)
    np.testing.assert_allclose(layer.running_var.numpy(), var)
    assert layer.num_batches_tracked.item() == 2
    got = layer.eval()(pkg.tensor(x)).detach().numpy()
    want = (x - mean[:, None, None]) / np.sqrt(var[:, None, None] + 1e-5)
    np.testing.assert_allclose(got, want, atol=1e-10)
    assert layer.num_batches_tracked.item() == 2
    with pytest.raises(ValueError, match="expected 4D input .got 2D"):
        layer(pkg.ones([2, 3]))
    plain = nn.BatchNorm1d(3, affine=False, track_running_stats=False).eval()
    assert plain.state_dict() == {}
    got = plain(pkg.tensor(x[:, :, 0, 0])).numpy()
    np.testing.assert_allclose(got.mean(0), 0, atol=1e-12)


def test_group_norm_normalises_groups_of_channels():
    x = np.random.default_rng(0).normal(size=(2, 4, 3))
    grouped = x.reshape(2, 2, 6)
    want = (grouped - grouped.mean(2, keepdims=True)) / np.sqrt(
        grouped.var(2, keepdims=True) + 1e-5
    )
    got = nn.GroupNorm(2, 4).double()(pkg.tensor(x)).detach().numpy()
    np.testing.assert_allclose(got, want.reshape(2, 4, 3), atol=1e-10)
    with pytest.raises(ValueError, match="divisible by num_groups"):
        nn.GroupNorm(3, 4)


def test_dropout_scales_in_training_and_is_the_identity_in_evaluation():
    pkg.manual_seed(0)
    layer, x = nn.Dropout(0.25), pkg.ones([10000])
    values = layer(x).numpy()
    assert set(np.unique(values)) == {0.0, np.float32(1 / 0.75)}
    assert abs((values == 0).mean() - 0.25) < 6 * np.sqrt(0.25 * 0.75 / 10000)
    assert layer.eval()(x) is x
    assert (nn.Dropout(1.0)(x) == 0).all()
    with pytest.raises(ValueError, match="between 0 and 1"):
        nn.Dropout(1.5)


def test_one_hot_and_normalize():
    assert F.one_hot(pkg.tensor([0, 2])).tolist() == [[1, 0, 0], [0, 0, 1]]
    assert F.one_hot(pkg.tensor([1]), 2).dtype == pkg.int64
    for wrong, classes in (([-1], 3), ([3], 3), ([1], -7), ([1], -2), ([1], 0)):
        with pytest.raises((RuntimeError, ValueError)):
            F.one_hot(pkg.tensor(wrong), classes)
    x = np.array([[3.0, 4.0], [0.0, 0.0]])
    np.testing.assert_allclose(
        F.normalize(pkg.tensor(x)).numpy(), [[0.6, 0.8], [0.0, 0.0]]
    )
    np.testing.assert_allclose(
        F.normalize(pkg.tensor(x[:1]), p=1.0).numpy(), [[3 / 7, 4 / 7]]
    )


# --- against PyTorch ------------------------------------------------------------------


def test_a_network_agrees_with_pytorch_from_the_same_state_dict():
    torch = pytest.importorskip("torch")

    def build(lib):
        return lib.nn.Sequential(
            lib.nn.Conv2d(2, 4, 3, padding="same", groups=2),
            lib.nn.ReLU(),
            lib.nn.MaxPool2d(2),
            lib.nn.Flatten(),
            lib.nn.LayerNorm(16),
            lib.nn.Linear(16, 8),
            lib.nn.GELU(approximate="tanh"),
            lib.nn.RMSNorm(8),
            lib.nn.Linear(8, 3, bias=False),
        )

    ours, theirs = build(pkg), build(torch)
    assert list(ours.state_dict()) == list(theirs.state_dict())
    state = {k: pkg.tensor(v.numpy()) for k, v in theirs.state_dict().items()}
    ours.load_state_dict(state)
    x = np.random.default_rng(0).normal(size=(5, 2, 4, 4)).astype(np.float32)
    target = [0, 2, -100, 1, 1]
    losses = []
    for lib, net in ((pkg, ours), (torch, theirs)):
        weight = lib.tensor([1.0, 2.0, 0.5])
        loss = lib.nn.CrossEntropyLoss(weight, label_smoothing=0.1)
        losses.append(loss(net(lib.tensor(x)), lib.tensor(target)))
        losses[-1].backward()
    assert losses[0].item() == pytest.approx(losses[1].item(), rel=1e-5)
    for p, q in zip(ours.parameters(), theirs.parameters()):
        np.testing.assert_allclose(p.grad.numpy(), q.grad.numpy(), atol=2e-6)


def test_reprs_agree_with_pytorch():
    torch = pytest.importorskip("torch", "2.13")  # normalisations without bias
    for make in [
        lambda nn: nn.Linear(2, 3, bias=False),
        lambda nn: nn.Conv2d(2, 4, (3, 1), stride=2, padding="valid", groups=2),
        lambda nn: nn.Embedding(3, 4, padding_idx=1),
        lambda nn: nn.RMSNorm((2, 3), eps=1e-3),
        lambda nn: nn.ReLU(inplace=True),
        lambda nn: nn.LeakyReLU(),
        lambda nn: nn.Sequential(nn.GELU(), nn.ELU(), nn.Softplus(), nn.LogSigmoid()),
        lambda nn: nn.Dropout(),
        lambda nn: nn.AvgPool2d(2),
        lambda nn: nn.AdaptiveAvgPool2d((1, 2)),
        lambda nn: nn.BatchNorm2d(3, momentum=None, bias=False),
        lambda nn: nn.GroupNorm(2, 4, affine=False),
        lambda nn: nn.GroupNorm(2, 4, bias=False),
        lambda nn: nn.Flatten(),
        lambda nn: nn.CrossEntropyLoss(),
        lambda nn: nn.ModuleDict({"a": nn.Sequential(nn.SiLU(), nn.LogSoftmax(1))}),
        lambda nn: nn.ModuleList([nn.Sequential(nn.Tanh()) for _ in range(3)]),
    ]:
        assert repr(make(nn)) == repr(make(torch.nn))


def test_prelu_of_no_dimension_keeps_it():
    layer = nn.PReLU()
    y = layer(pkg.tensor(-3.0))
    assert y.shape == () and y.item() == -0.75
    y.backward()
    assert layer.weight.grad.tolist() == [-3.0]
    for weight in (pkg.ones(1, 1), pkg.ones(2)):
        with pytest.raises(RuntimeError, match="expected weight to hold"):
            F.prelu(pkg.ones(4, 3), weight)


@pytest.mark.parametrize(
    "error, text, shape, options",
    [
        (ValueError, "eps must be positive", (2, 3), {"training": True, "eps": 0.0}),
        (ValueError, "eps must be non-negative", (2, 3), {"eps": -1.0}),
        (ValueError, "both be None", (2, 3), {"training": True, "running_var": None}),
        (RuntimeError, "running_var", (2, 3), {"running_var": None}),
        (ValueError, "more than 1 value", (1, 3), {"training": True}),
        (ValueError, "more than 1 value", (1, 0, 1), {"training": True}),
        (RuntimeError, "one value for each", (2, 4), {"training": True}),
        (RuntimeError, "one value for each", (2, 4), {}),
        (RuntimeError, "one value for each", (2, 1, 5), {"training": True}),
    ],
)
def test_batch_norm_refuses(error, text, shape, options):
    """And leaves the running values as they were."""
    mean, var = pkg.zeros(3), pkg.ones(3)
    with pytest.raises(error, match=text):
        options = {"running_mean": mean, "running_var": var, **options}
        F.batch_norm(pkg.ones(shape), **options)
    assert mean.tolist() == [0, 0, 0] and var.tolist() == [1, 1, 1]


def test_norms_of_nothing():
    """Without elements nobody asks for channels."""
    four = pkg.zeros(4)
    assert F.batch_norm(pkg.zeros(0), four, four).shape == (0,)
    assert F.batch_norm(pkg.zeros(0), None, None, training=True).shape == (0,)
    x = pkg.zeros(2, 0, 3, requires_grad=True)
    F.batch_norm(x, four, four).sum().backward()
    assert x.grad.shape == (2, 0, 3)
    assert F.instance_norm(pkg.zeros(2, 0, 4)).shape == (2, 0, 4)
    with pytest.raises(ValueError, match="more than 1 spatial element"):
        F.instance_norm(pkg.zeros(2, 3, 1))
    with pytest.raises(ValueError, match="more than 1 value per group"):
        F.group_norm(pkg.ones(1, 2), 2)
