# SPDX-License-Identifier: Apache-2.0
"""pkg.nn.Module: attributes, loading, modes, hooks, conversion; containers."""

import copy
import gc
import pickle
import weakref

import numpy as np
import pytest

import pkg
from pkg import nn


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
        _ = net.nothing


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


def test_parameters_take_attributes_as_pytorchs_do():
    """A copy and a pickle keep them, a deep copy does not; circles are collected."""
    weight = nn.Linear(2, 2).weight
    weight.tag = ["frozen"]
    near, far = copy.copy(weight), pickle.loads(pickle.dumps(weight))
    assert near.tag is weight.tag and near._storage_id() == weight._storage_id()
    assert far.tag == ["frozen"] and far.tag is not weight.tag
    assert type(near) is type(far) is nn.Parameter
    assert near.requires_grad and far.requires_grad
    assert not hasattr(copy.deepcopy(weight), "tag")
    gone = weakref.ref(weight)
    weight.itself = weight
    del weight, near, far
    gc.collect()
    assert gone() is None


# --- loading --------------------------------------------------------------------------


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


# --- modes, hooks, conversion ---------------------------------------------------------


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


# --- containers -----------------------------------------------------------------------


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


def test_a_container_is_as_it_was_when_an_insert_fails():
    layers = [nn.ReLU(), nn.Tanh(), nn.Identity()]
    for made in (nn.ModuleList(layers), nn.Sequential(*layers)):
        for place in (0, 1, 3, -1):
            with pytest.raises(TypeError):
                made.insert(place, 3)
            assert list(made) == layers and list(made._modules) == ["0", "1", "2"]


def test_loading_what_cannot_be_copied_changes_nothing():
    net = nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 2))
    before = [p.tolist() for p in net.parameters()]
    state = {name: pkg.zeros(*p.shape) for name, p in net.state_dict().items()}
    state["1.bias"] = pkg.zeros(2, device="meta")
    with pytest.raises(RuntimeError, match=r"1\.bias: .* on meta"):
        net.load_state_dict(state)
    assert [p.tolist() for p in net.parameters()] == before
    net.register_buffer("all_one", pkg.ones(1).expand(3))
    state = {name: pkg.zeros(*p.shape) for name, p in net.state_dict().items()}
    with pytest.raises(RuntimeError, match="all_one: .*several places"):
        net.load_state_dict(state)
    assert [p.tolist() for p in net.parameters()] == before


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


# --- parameters -----------------------------------------------------------------------


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
