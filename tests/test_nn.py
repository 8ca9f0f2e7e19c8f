# SPDX-License-Identifier: Apache-2.0
"""Modules, containers, layers, losses and helpers of pkg.nn."""

import copy
import pickle

import numpy as np
import pytest

import pkg
from pkg import nn
from pkg.nn import functional as F
from test_autograd import check_gradients


class Net(nn.Module):
    """Two layers, one of them used twice, and a buffer of each kind."""

    def __init__(self):
        super().__init__()
        self.first = nn.Linear(3, 4)
        self.blocks = nn.Sequential(nn.Linear(4, 4), nn.ReLU())
        self.again = self.blocks[0]
        self.scale = nn.Parameter(pkg.ones([1]))
        self.register_buffer("count", pkg.zeros([1]))
        self.register_buffer("scratch", pkg.zeros([1]), persistent=False)

    def forward(self, x):
        return self.again(self.blocks(self.first(x))) * self.scale


# --- attributes -----------------------------------------------------------------------


def test_state_dict_names_every_place_and_parameters_come_once():
    net = Net()
    names = [name for name, _ in net.named_parameters()]
    assert names == [
        "scale", "first.weight", "first.bias", "blocks.0.weight", "blocks.0.bias",
    ]  # fmt: skip
    assert list(net.state_dict()) == [
        "scale", "count", "first.weight", "first.bias", "blocks.0.weight",
        "blocks.0.bias", "again.weight", "again.bias",
    ]  # fmt: skip
    assert len(list(net.named_parameters(remove_duplicate=False))) == 7
    assert [n for n, _ in net.named_buffers()] == ["count", "scratch"]
    assert [n for n, _ in net.named_modules()] == ["", "first", "blocks", "blocks.0",
                                                   "blocks.1"]  # fmt: skip
    assert list(net.state_dict(prefix="net."))[0] == "net.scale"


def test_state_dict_shares_memory_and_is_detached_unless_asked():
    layer = nn.Linear(2, 2)
    state = layer.state_dict()
    assert not state["weight"].requires_grad
    state["weight"].fill_(7.0)
    assert (layer.weight == 7.0).all()
    assert layer.state_dict(keep_vars=True)["weight"] is layer.weight


def test_a_name_keeps_its_kind_until_it_is_deleted():
    net = Net()
    with pytest.raises(TypeError, match="cannot assign 'int' as parameter 'scale'"):
        net.scale = 3
    with pytest.raises(TypeError, match="as parameter 'scale'"):
        net.scale = nn.Linear(1, 1)
    with pytest.raises(TypeError, match="cannot assign 'Tensor' as child module"):
        net.first = pkg.ones([1])
    with pytest.raises(TypeError, match="as buffer 'count'"):
        net.count = "three"
    net.scale = net.first = net.count = None
    assert net.scale is None and net.first is None and net.count is None
    assert "scale" not in net.state_dict() and "scale" in net._parameters
    del net.scale
    assert not hasattr(net, "scale")
    net.scale = 3
    assert "scale" in vars(net)
    net.scale = nn.Parameter(pkg.ones([2]))
    assert "scale" not in vars(net) and "scale" in dict(net.named_parameters())
    assert "scale" in dir(net)
    with pytest.raises(AttributeError, match="'Net' object has no attribute 'nothing'"):
        net.nothing


def test_registration_refuses_bad_names_kinds_and_taken_names():
    net = Net()
    for name in ("", "a.b"):
        with pytest.raises(KeyError):
            net.add_module(name, None)
    with pytest.raises(KeyError, match="already exists"):
        net.register_buffer("scale", pkg.ones([1]))
    with pytest.raises(KeyError, match="already exists"):
        net.register_parameter("forward", None)
    with pytest.raises(TypeError, match="expected a Parameter or None"):
        net.register_parameter("p", pkg.ones([1]))
    with pytest.raises(TypeError, match="expected a Module or None"):
        net.add_module("m", 3)

    class Hasty(nn.Module):
        def __init__(self):
            self.layer = nn.Linear(1, 1)

    with pytest.raises(AttributeError, match=r"before Module.__init__\(\) call"):
        Hasty()


def test_getters_find_dotted_names_and_name_what_is_missing():
    net = Net()
    assert net.get_submodule("blocks.0") is net.again
    assert net.get_submodule("") is net
    assert net.get_parameter("blocks.0.weight") is net.again.weight
    assert net.get_buffer("count") is net.count
    with pytest.raises(AttributeError, match="Sequential has no child '7'"):
        net.get_submodule("blocks.7")
    with pytest.raises(AttributeError, match="no parameter 'w'"):
        net.get_parameter("blocks.0.w")


def test_copies_and_pickles_keep_the_sharing_of_parameters():
    net = Net()
    for other in (copy.deepcopy(net), pickle.loads(pickle.dumps(net))):
        assert other.again is other.blocks[0]
        assert isinstance(other.scale, nn.Parameter) and other.scale is not net.scale
        with pkg.no_grad():
            other.first.weight.fill_(0.0)
        assert not (net.first.weight == 0).all()


# --- loading ----------------------------------------------------------------------------


def test_loading_copies_values_and_reports_a_full_match():
    source, target = Net(), Net()
    result = target.load_state_dict(source.state_dict())
    assert repr(result) == "<All keys matched successfully>"
    x = pkg.randn([2, 3])
    np.testing.assert_array_equal(source(x).tolist(), target(x).tolist())
    assert target.again.weight is target.blocks[0].weight


def test_strict_loading_names_all_problems_and_changes_nothing():
    layer = nn.Linear(2, 2)
    before = layer.weight.tolist()
    state = {"weight": pkg.ones([3, 2]), "extra": pkg.ones([1])}
    with pytest.raises(RuntimeError) as error:
        layer.load_state_dict(state)
    text = str(error.value)
    assert 'Missing key(s) in state_dict: "bias"' in text
    assert 'Unexpected key(s) in state_dict: "extra"' in text
    assert "size mismatch for weight" in text and "(3, 2)" in text and "(2, 2)" in text
    with pytest.raises(RuntimeError, match="size mismatch"):
        layer.load_state_dict({"weight": pkg.ones([3, 2]), "bias": pkg.zeros([2])},
                              strict=False)  # fmt: skip
    assert layer.weight.tolist() == before and not (layer.bias == 0).all()
    with pytest.raises(RuntimeError, match="bias: expected a Tensor, got list"):
        layer.load_state_dict({"weight": pkg.ones([2, 2]), "bias": [1.0, 2.0]})
    with pytest.raises(TypeError, match="dict-like"):
        layer.load_state_dict([1])


def test_loose_loading_takes_what_fits_and_returns_the_rest():
    layer = nn.Linear(2, 2)
    result = layer.load_state_dict({"weight": pkg.ones([2, 2]), "x": pkg.ones([1])},
                                   strict=False)  # fmt: skip
    assert result.missing_keys == ["bias"] and result.unexpected_keys == ["x"]
    assert (layer.weight == 1).all()


def test_loading_converts_to_the_dtype_of_the_module():
    layer = nn.Linear(2, 2)
    layer.load_state_dict(nn.Linear(2, 2, dtype=pkg.float64).state_dict())
    assert layer.weight.dtype == pkg.float32


# --- modes, hooks, conversion -------------------------------------------------------------


def test_train_and_eval_reach_every_module_and_respect_overrides():
    class Frozen(nn.Dropout):
        def train(self, mode=True):
            return super().train(False)

    net = nn.Sequential(nn.Dropout(), nn.Sequential(Frozen()))
    assert net.train() is net and net[0].training and not net[1][0].training
    assert not net.eval()[0].training
    with pytest.raises(ValueError, match="boolean"):
        net.train("yes")


def test_hooks_see_and_change_arguments_and_outputs():
    layer, seen = nn.Identity(), []
    first = layer.register_forward_pre_hook(lambda m, args: args[0] + 1)
    layer.register_forward_hook(lambda m, args, out: seen.append(args[0].item()))
    last = layer.register_forward_hook(lambda m, args, out: out * 10)
    assert layer(pkg.tensor(1.0)).item() == 20.0 and seen == [2.0]
    first.remove()
    first.remove()
    assert layer(pkg.tensor(1.0)).item() == 10.0
    last.remove()
    with layer.register_forward_hook(lambda m, args, out: out - 1, prepend=True):
        assert layer(pkg.tensor(1.0)).item() == 0.0
    assert layer(pkg.tensor(1.0)).item() == 1.0


def test_hooks_with_kwargs_and_prepended_hooks():
    class Add(nn.Module):
        def forward(self, x, by=0):
            return x + by

    layer = Add()
    layer.register_forward_pre_hook(
        lambda m, args, kwargs: (args, {"by": kwargs["by"] + 1}), with_kwargs=True
    )
    layer.register_forward_hook(
        lambda m, args, kwargs, out: out * kwargs["by"], with_kwargs=True
    )
    assert layer(1, by=1) == 6
    layer.register_forward_hook(lambda m, args, out: out + 1, prepend=True)
    assert layer(1, by=1) == 8


def test_zero_grad_drops_or_zeroes_in_place():
    layer = nn.Linear(2, 1)
    layer(pkg.ones([1, 2])).sum().backward()
    grad = layer.weight.grad
    grad.fill_(float("nan"))
    layer.zero_grad(set_to_none=False)
    assert layer.weight.grad is grad and (grad == 0).all()
    layer.zero_grad()
    assert layer.weight.grad is None and layer.bias.grad is None


def test_to_converts_floating_tensors_and_keeps_the_parameter_objects():
    net = Net()
    net.register_buffer("index", pkg.tensor([1]))
    scale = net.scale
    (net(pkg.ones([1, 3]))).sum().backward()
    assert net.to(pkg.float64) is net
    assert net.scale is scale and scale.dtype == pkg.float64
    assert scale.grad.dtype == pkg.float64 and scale.requires_grad
    assert net.count.dtype == pkg.float64 and net.index.dtype == pkg.int64
    assert net.again.weight is net.blocks[0].weight
    net(pkg.ones([1, 3], dtype=pkg.float64)).sum().backward()
    assert net.half().scale.dtype == pkg.float16
    assert net.bfloat16().scale.dtype == pkg.bfloat16
    assert net.to("cpu", dtype=pkg.float32).scale.dtype == pkg.float32
    assert net.to(pkg.ones([1], dtype=pkg.float64)).scale.dtype == pkg.float64
    assert net.float().scale.dtype == pkg.float32
    assert net.double().scale.dtype == pkg.float64
    with pytest.raises(TypeError, match="floating point"):
        net.to(pkg.int32)
    with pytest.raises(NotImplementedError, match="expected device 'cpu'"):
        net.to("meta")


def test_requires_grad_and_apply_reach_everything_below():
    net, seen = Net(), []
    net.requires_grad_(False)
    assert not any(p.requires_grad for p in net.parameters())
    assert net.apply(lambda m: seen.append(type(m).__name__)) is net
    # Children first; `again` is below both Net and Sequential, as in PyTorch.
    assert seen == ["Linear", "Linear", "ReLU", "Sequential", "Linear", "Net"]


def test_a_module_without_forward_says_so():
    with pytest.raises(NotImplementedError, match=r"Module \[ModuleList\] is missing"):
        nn.ModuleList()(1)


# --- containers ---------------------------------------------------------------------------


def test_sequential_indexes_slices_and_renumbers():
    net = nn.Sequential(nn.Linear(1, 2), nn.ReLU(), nn.Linear(2, 3))
    assert len(net) == 3 and net[-1].out_features == 3
    assert isinstance(net[:2], nn.Sequential) and len(net[:2]) == 2
    net[1] = nn.Tanh()
    net.insert(1, nn.Identity())
    assert [type(m).__name__ for m in net] == ["Linear", "Identity", "Tanh", "Linear"]
    del net[1]
    assert list(net._modules) == ["0", "1", "2"]
    assert isinstance(net.pop(), nn.Linear) and len(net) == 2
    assert len(net + [nn.ReLU()]) == 3 and len(net) == 2
    net += [nn.ReLU()]
    assert list(net._modules) == ["0", "1", "2"]
    with pytest.raises(IndexError, match="index 3 is out of range"):
        net[3]
    named = nn.Sequential({"a": nn.Linear(1, 2), "b": nn.ReLU()})
    assert list(named.state_dict()) == ["a.weight", "a.bias"] and named.b is named[1]
    del named[0]
    assert list(named._modules) == ["b"]


def test_module_list_registers_and_prints_runs_of_equal_modules():
    layers = nn.ModuleList(nn.Linear(1, 1) for _ in range(3))
    layers.append(nn.ReLU())
    assert list(layers.state_dict())[-1] == "2.bias" and layers[1:] is not layers
    assert repr(layers) == (
        "ModuleList(\n"
        "  (0-2): 3 x Linear(in_features=1, out_features=1, bias=True)\n"
        "  (3): ReLU()\n)"
    )


def test_module_dict_behaves_like_a_dict():
    layers = nn.ModuleDict({"a": nn.ReLU()})
    layers["b"] = nn.Linear(1, 1)
    layers.update([("c", nn.Tanh())])
    assert list(layers) == list(layers.keys()) == ["a", "b", "c"]
    assert "b" in layers and len(layers) == 3 and layers["c"] is layers.c
    assert [n for n, _ in layers.items()] == ["a", "b", "c"]
    assert isinstance(layers.pop("a"), nn.ReLU) and len(list(layers.values())) == 2
    del layers["c"]
    assert list(layers.state_dict()) == ["b.weight", "b.bias"]
    layers.clear()
    assert not len(layers)
    with pytest.raises(KeyError):
        layers["a"]


def test_the_repr_is_the_tree():
    net = nn.Sequential(
        nn.Conv2d(1, 2, 3, padding=1, bias=False),
        nn.Sequential(nn.Embedding(3, 4, padding_idx=0), nn.LayerNorm(4)),
        nn.Dropout(0.1),
        nn.MaxPool2d(2),
    )
    assert repr(net) == (
        "Sequential(\n"
        "  (0): Conv2d(1, 2, kernel_size=(3, 3), stride=(1, 1), padding=(1, 1), "
        "bias=False)\n"
        "  (1): Sequential(\n"
        "    (0): Embedding(3, 4, padding_idx=0)\n"
        "    (1): LayerNorm((4,), eps=1e-05, elementwise_affine=True, bias=True)\n"
        "  )\n"
        "  (2): Dropout(p=0.1, inplace=False)\n"
        "  (3): MaxPool2d(kernel_size=2, stride=2, padding=0)\n)"
    )


# --- layers -------------------------------------------------------------------------------


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


def test_inplace_layers_write_their_input():
    x = pkg.tensor([-1.0, 2.0])
    assert nn.ReLU(inplace=True)(x) is x and x.tolist() == [0.0, 2.0]
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
    with pytest.raises(NotImplementedError, match="reflect"):
        F.pad(pkg.tensor(x), (1, 1), "reflect")


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
    for wrong in ([-1], [3]):
        with pytest.raises((RuntimeError, ValueError)):
            F.one_hot(pkg.tensor(wrong), 3)
    x = np.array([[3.0, 4.0], [0.0, 0.0]])
    np.testing.assert_allclose(
        F.normalize(pkg.tensor(x)).numpy(), [[0.6, 0.8], [0.0, 0.0]]
    )
    np.testing.assert_allclose(
        F.normalize(pkg.tensor(x[:1]), p=1.0).numpy(), [[3 / 7, 4 / 7]]
    )


# --- losses -------------------------------------------------------------------------------


def log_softmax(x, axis):
    """By definition, in float64."""
    x = x - x.max(axis, keepdims=True)
    return x - np.log(np.exp(x).sum(axis, keepdims=True))


def cross_entropy_reference(x, target, weight, ignore, smoothing):
    """(sum, mean) over every position; x is (N, C, ...)."""
    scores = np.moveaxis(log_softmax(x, 1), 1, -1).reshape(-1, x.shape[1])
    total = norm = 0.0
    for row, t in zip(scores, target.reshape(-1)):
        if t == ignore:
            continue
        hot = np.full(len(row), smoothing / len(row))
        hot[t] += 1 - smoothing
        total -= (hot * weight * row).sum()
        norm += weight[t]
    return total, total / norm


@pytest.mark.parametrize("smoothing", [0.0, 0.3])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("shape", [(6, 4), (2, 4, 3), (2, 4, 3, 2)])
def test_cross_entropy_options_follow_the_definition(shape, weighted, smoothing):
    rng = np.random.default_rng(0)
    x = rng.normal(size=shape)
    target = rng.integers(0, 4, size=shape[:1] + shape[2:])
    weight = rng.uniform(0.5, 2.0, size=4) if weighted else np.ones(4)
    for ignore in (-100, 2):
        some = target.copy()
        if ignore < 0:
            some[0] = ignore
        options = {"ignore_index": ignore, "label_smoothing": smoothing}
        if weighted:
            options["weight"] = pkg.tensor(weight)
        want = cross_entropy_reference(x, some, weight, ignore, smoothing)
        for i, reduction in enumerate(("sum", "mean")):
            loss = nn.CrossEntropyLoss(reduction=reduction, **options)
            got = loss(pkg.tensor(x), pkg.tensor(some)).item()
            assert got == pytest.approx(want[i], rel=1e-12), (ignore, reduction)
        loss = nn.CrossEntropyLoss(reduction="none", **options)
        each = loss(pkg.tensor(x), pkg.tensor(some))
        assert each.shape == some.shape and (each.numpy()[some == ignore] == 0).all()
        assert each.sum().item() == pytest.approx(want[0], rel=1e-12)
        check_gradients(lambda t: F.cross_entropy(t, pkg.tensor(some), **options), [x])


def test_cross_entropy_of_probabilities_and_of_one_sample():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(3, 4))
    p = rng.dirichlet(np.ones(4), size=3)
    want = -(p * log_softmax(x, 1)).sum(1).mean()
    assert F.cross_entropy(pkg.tensor(x), pkg.tensor(p)).item() == pytest.approx(want)
    one = F.cross_entropy(pkg.tensor(x[0]), pkg.tensor(2)).item()
    assert one == pytest.approx(-log_softmax(x[0], 0)[2])
    with pytest.raises(ValueError, match="shape of the input"):
        F.cross_entropy(pkg.tensor(x), pkg.tensor(p[:2]))


def test_cross_entropy_refuses_classes_out_of_range_and_wrong_shapes():
    x = pkg.randn([2, 3])
    for wrong in ([0, 3], [-1, 0]):
        with pytest.raises(IndexError):
            F.cross_entropy(x, pkg.tensor(wrong))
    with pytest.raises(ValueError):
        F.cross_entropy(x, pkg.tensor([0, 1, 2]))
    with pytest.raises(ValueError, match="nll_loss"):
        F.nll_loss(x, pkg.tensor([[0], [1]]))
    with pytest.raises(RuntimeError, match="label_smoothing"):
        F.cross_entropy(x, pkg.tensor([0, 1]), label_smoothing=2.0)
    ignored = F.cross_entropy(x, pkg.tensor([-100, -100]))
    assert np.isnan(ignored.item())


def test_elementwise_losses_follow_their_formula():
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(2, 3, 4)) * 2
    size = np.abs(x - y)
    cases = [
        (nn.MSELoss, (x - y) ** 2),
        (nn.L1Loss, size),
        (nn.SmoothL1Loss, np.where(size < 1, 0.5 * size**2, size - 0.5)),
        (lambda **k: nn.SmoothL1Loss(beta=0.0, **k), size),
    ]
    for make, want in cases:
        for reduction, reduced in [
            ("none", want), ("sum", want.sum()), ("mean", want.mean()),
        ]:  # fmt: skip
            got = make(reduction=reduction)(pkg.tensor(x), pkg.tensor(y)).numpy()
            np.testing.assert_allclose(got, reduced, rtol=1e-12)
        with pytest.raises(ValueError, match="not a valid value for reduction"):
            make(reduction="most")
    with pytest.warns(UserWarning, match="broadcasting"):
        F.mse_loss(pkg.ones([3, 1]), pkg.ones([3]))


def test_bce_with_logits_is_stable_weighted_and_smooth_at_zero():
    rng = np.random.default_rng(0)
    x, t = rng.normal(size=(3, 4)), rng.uniform(size=(3, 4))
    weight, positive = rng.uniform(size=(3, 4)), rng.uniform(1, 3, size=4)
    p = 1 / (1 + np.exp(-x))
    want = -(positive * t * np.log(p) + (1 - t) * np.log(1 - p)) * weight
    options = {"weight": pkg.tensor(weight), "pos_weight": pkg.tensor(positive)}
    loss = nn.BCEWithLogitsLoss(**options, reduction="none")
    got = loss(pkg.tensor(x), pkg.tensor(t)).numpy()
    np.testing.assert_allclose(got, want, rtol=1e-12)
    assert list(loss.state_dict()) == ["weight", "pos_weight"]
    x = pkg.tensor([1000.0, -1000.0, 0.0], requires_grad=True)
    loss = F.binary_cross_entropy_with_logits(x, pkg.tensor([1.0, 0.0, 1.0]))
    loss.backward()
    assert loss.item() == pytest.approx(np.log(2) / 3)
    np.testing.assert_allclose(x.grad.tolist(), [0.0, 0.0, -0.5 / 3], atol=1e-7)
    with pytest.raises(ValueError, match="must be the same as input size"):
        F.binary_cross_entropy_with_logits(x, pkg.ones([1]))


# --- helpers ------------------------------------------------------------------------------


def test_clip_grad_norm_scales_all_gradients_together():
    p = nn.Parameter(pkg.zeros([2])), nn.Parameter(pkg.zeros([1])), pkg.zeros([1])
    for norm_type, total in [(2.0, 13.0), (1.0, 19.0), (float("inf"), 12.0)]:
        p[0].grad, p[1].grad = pkg.tensor([3.0, 4.0]), pkg.tensor([-12.0])
        norm = nn.utils.clip_grad_norm_(iter(p), 1.0, norm_type)
        assert norm.shape == () and norm.item() == pytest.approx(total)
        np.testing.assert_allclose(
            [*p[0].grad.tolist(), *p[1].grad.tolist()],
            np.array([3.0, 4.0, -12.0]) / total, rtol=1e-5,
        )  # fmt: skip
        before = p[0].grad.tolist()
        nn.utils.clip_grad_norm_(p, 100.0, norm_type)
        assert p[0].grad.tolist() == before
    p[0].grad = pkg.tensor([float("nan"), 1.0])
    with pytest.raises(RuntimeError, match="non-finite"):
        nn.utils.clip_grad_norm_(p, 1.0, error_if_nonfinite=True)
    assert p[0].grad.tolist()[1] == 1.0
    assert nn.utils.clip_grad_norm_([], 1.0).item() == 0.0


def test_clip_grad_value_limits_each_element():
    p = nn.Parameter(pkg.zeros([3]))
    grad = p.grad = pkg.tensor([-3.0, 0.5, 3.0])
    nn.utils.clip_grad_value_(p, 1)
    assert p.grad is grad and grad.tolist() == [-1.0, 0.5, 1.0]


def test_parameters_round_trip_through_a_vector():
    layer = nn.Linear(2, 3)
    vector = nn.utils.parameters_to_vector(layer.parameters())
    assert vector.shape == (9,)
    nn.utils.vector_to_parameters(pkg.arange(9.0), layer.parameters())
    assert layer.bias.tolist() == [6.0, 7.0, 8.0]
    with pytest.raises(ValueError, match="vector of 9 values"):
        nn.utils.vector_to_parameters(pkg.zeros([8]), layer.parameters())


def test_initial_values_have_the_promised_spread():
    pkg.manual_seed(0)
    w = nn.Parameter(pkg.empty([200, 300]))
    fan_in, fan_out, n = 300, 200, 60000
    for fill, std in [
        (lambda: nn.init.kaiming_uniform_(w, a=5**0.5), (1 / 3 / fan_in) ** 0.5),
        (lambda: nn.init.kaiming_normal_(w, mode="fan_out", nonlinearity="relu"),
         (2 / fan_out) ** 0.5),
        (lambda: nn.init.xavier_uniform_(w), (2 / (fan_in + fan_out)) ** 0.5),
        (lambda: nn.init.xavier_normal_(w, gain=2.0), 2 * (2 / 500) ** 0.5),
        (lambda: nn.init.normal_(w, 0.0, 0.02), 0.02),
        (lambda: nn.init.uniform_(w, -1.0, 1.0), 3**-0.5),
    ]:  # fmt: skip
        assert fill() is w and w.requires_grad and w.is_leaf
        values = w.detach().numpy()
        assert abs(values.mean()) < 6 * std / n**0.5
        assert values.std() == pytest.approx(std, rel=0.02)
    values = nn.init.trunc_normal_(w, std=0.5, a=-0.5, b=1.0).detach().numpy()
    assert values.min() >= -0.5 and values.max() <= 1.0 and values.max() > 0.9
    with pytest.raises(ValueError, match="0.1 %"):
        nn.init.trunc_normal_(w, a=8.0, b=9.0)
    assert (nn.init.ones_(w) == 1).all() and (nn.init.zeros_(w) == 0).all()
    np.testing.assert_array_equal(nn.init.eye_(w).detach().numpy(), np.eye(200, 300))
    with pytest.raises(ValueError, match="fewer than 2 dimensions"):
        nn.init.xavier_uniform_(pkg.empty([3]))
    with pytest.raises(ValueError, match="Unsupported nonlinearity"):
        nn.init.calculate_gain("step")


def test_layers_start_within_the_bounds_of_their_inputs():
    pkg.manual_seed(0)
    for layer, fan_in in [(nn.Linear(25, 50), 25), (nn.Conv2d(4, 50, 5, groups=2), 50)]:
        for p in layer.parameters():
            bound = 1 / fan_in**0.5
            assert 0.8 * bound < np.abs(p.detach().numpy()).max() <= bound
    table = nn.Embedding(100, 100).weight.detach().numpy()
    assert table.std() == pytest.approx(1.0, rel=0.05)


def test_parameters_are_leaves_that_share_memory_and_print_their_kind():
    data = pkg.ones([2])
    p = nn.Parameter(data)
    data.fill_(3.0)
    assert p.tolist() == [3.0, 3.0] and p.is_leaf and p.requires_grad
    assert repr(p) == ("Parameter containing:\ntensor([3., 3.], requires_grad=True)")
    assert nn.Parameter().shape == (0,)
    assert not nn.Parameter(pkg.tensor([1]), requires_grad=False).requires_grad
    with pytest.raises(RuntimeError, match="floating point"):
        nn.Parameter(pkg.tensor([1]))
    with pytest.raises(TypeError, match="expected a Tensor, got list"):
        nn.Parameter([1.0])


# --- against PyTorch ----------------------------------------------------------------------


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
