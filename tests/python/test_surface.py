# SPDX-License-Identifier: Apache-2.0
"""PyTorch's names that are not ops: a script runs with its import changed."""

import copy
import json
import math
import pickle
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import pkg
from pkg import nn
from pkg._binding import core

# The dtypes of the module, by name.
DTYPES = [name for name, value in vars(core).items() if isinstance(value, core.dtype)]


def test_to_takes_devices_dtypes_and_tensors():
    """In PyTorch's order and by keyword; without a change it is the tensor itself."""
    x = pkg.tensor([1.5, -2.5])
    same = [x.to("cpu"), x.to(pkg.device("cpu")), x.to(x.device, pkg.float32), x.cpu()]
    same += [x.to(device="cpu", dtype=pkg.float32), x.to(x), x.to("cpu:0")]
    same += [x.to("cpu", non_blocking=True), x.to(dtype=pkg.float32)]
    assert all(y is x for y in same)
    for y in (x.to(x, copy=True), x.to("cpu", copy=True), x.to(pkg.float32, copy=True)):
        assert y.tolist() == x.tolist() and y._storage_id() != x._storage_id()
    wide = pkg.zeros(1, dtype=pkg.float64)
    for y in (x.to(wide), x.to("cpu", pkg.float64), x.type_as(wide), x.double()):
        assert y.dtype is pkg.float64 and y.tolist() == [1.5, -2.5]
    assert x.bfloat16().dtype is pkg.bfloat16
    leaf = pkg.ones(2, requires_grad=True)
    leaf.to("cpu", pkg.float64).sum().backward()
    assert leaf.grad.dtype is pkg.float32 and leaf.grad.tolist() == [1.0, 1.0]


def test_to_names_the_devices_that_there_are():
    """Another device, a tensor without values and a number are errors."""
    x = pkg.ones(2)
    with pytest.raises(RuntimeError, match="expected 'cpu' or 'meta', got 'cuda:0'"):
        x.to("cuda:0")
    with pytest.raises(TypeError, match="dtype, a device or a tensor, got a number"):
        x.to(3)
    shape_only = x.to("meta")
    assert shape_only.device == "meta" and tuple(shape_only.shape) == (2,)
    with pytest.raises(NotImplementedError, match="expected a tensor with values"):
        shape_only.cpu()


def test_module_to():
    """A module moves to where it is."""
    layer = nn.Linear(2, 2)
    assert layer.cpu() is layer.to("cpu", non_blocking=True) is layer
    assert layer.to(pkg.zeros(1, dtype=pkg.float64)).weight.dtype is pkg.float64
    with pytest.raises(RuntimeError, match="expected 'cpu' or 'meta', got 'cuda'"):
        layer.to("cuda")


def test_type():
    """Names both ways, and dtypes."""
    x = pkg.tensor([1, 2])
    assert x.type() == "pkg.LongTensor"
    assert x.type(pkg.float64).type() == "pkg.DoubleTensor"
    assert x.type("pkg.HalfTensor").dtype is pkg.float16
    for name in DTYPES:
        assert x.type(x.to(name).type()).dtype.name == name
    with pytest.raises(TypeError, match="names no element type"):
        x.type("pkg.QuarterTensor")


def test_methods_that_are_not_ops():
    """Sizes, views and new tensors."""
    x = pkg.arange(6).reshape(2, 3)
    assert (x.nelement(), x.ndimension(), x.is_cuda) == (6, 2, False)
    assert (x.storage_offset(), x[1:].storage_offset()) == (0, x.stride(0))
    assert x.ravel().tolist() == [0, 1, 2, 3, 4, 5]
    assert x.T.ravel().tolist() == [0, 3, 1, 4, 2, 5]
    assert x.mT.tolist() == x.H.tolist() == x.T.tolist()
    assert tuple(pkg.zeros(4, 2, 3).mT.shape) == (4, 3, 2)
    with pytest.raises(RuntimeError, match="expected a matrix"):
        _ = x.ravel().mT
    with pytest.raises(RuntimeError, match="Use mT"):
        _ = pkg.zeros(4, 2, 3).H
    assert x.where(x > 2, -1).tolist() == [[-1, -1, -1], [3, 4, 5]]
    made = x.new_tensor([1.0, 2.0], requires_grad=False)
    assert made.dtype is pkg.int64 and made.tolist() == [1, 2]
    made = x.new_tensor(np.ones(2), dtype=pkg.float32, requires_grad=True)
    assert made.dtype is pkg.float32 and made.requires_grad


def test_results_with_names():
    """Several results are a tuple; those that the schema names have the names, too."""
    x = pkg.tensor([[3.0, 1.0, 2.0], [4.0, 6.0, 5.0]])
    calls = [x.max(1), x.min(1), x.sort(1), x.topk(2), x.median(1), x.kthvalue(2)]
    for found in [*calls, x.cummax(1), x.cummin(1), x.mode(1)]:
        values, indices = found
        assert isinstance(found, tuple) and len(found) == 2
        assert found.values is values and found.indices is found[1] is indices
        assert x.gather(1, indices.reshape(2, -1)).ravel().tolist() == (
            values.ravel().tolist()
        )
        back = pickle.loads(pickle.dumps(found))
        assert type(back) is tuple and back[0].tolist() == values.tolist()
    assert "values=tensor([3., 6.])" in repr(x.max(1))
    assert type(x.max(1)) is type(x.max(0)) is not type(x.min(1))
    assert type(x.std_mean()) is tuple
    assert x.max(1).values.sum().item() == 9.0


def test_format():
    """A 0-d tensor is its number, with and without a format."""
    assert f"{pkg.tensor(3)} {pkg.tensor(2.5):.2f}" == "3 2.50"
    assert f"{pkg.tensor([3])}" == "tensor([3])"
    with pytest.raises(TypeError, match="unsupported format string"):
        format(pkg.tensor([3]), ".2f")


def test_constants_and_aliases():
    """What scripts write without thinking."""
    assert (pkg.pi, pkg.e, pkg.inf) == (
        math.pi,
        math.e,
        math.inf,
    ) and pkg.nan != pkg.nan
    assert (pkg.int, pkg.long) == (pkg.int32, pkg.int64)
    assert (pkg.half, pkg.float, pkg.double) == (pkg.float16, pkg.float32, pkg.float64)
    assert isinstance(pkg.ones(2, 3).shape, pkg.Size) and pkg.Size([2]) == (2,)
    assert not pkg.cuda.is_available() and pkg.cuda.device_count() == 0
    device = pkg.device("cuda" if pkg.cuda.is_available() else "cpu")
    pkg.cuda.manual_seed_all(0)
    pkg.cuda.empty_cache()
    assert pkg.ones(1).to(device).device == "cpu"


def test_names_that_load_late_are_listed():
    """For completion, before they are used; and each of them is there."""
    code = "import pkg, json; print(json.dumps(dir(pkg)))"
    shown = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, check=True
    )
    names = json.loads(shown.stdout)
    assert names == sorted(set(names))
    late = {"nn", "optim", "data", "save", "load", "Generator", "finfo", "unique"}
    assert late <= set(names) and {"add", "tensor", "float32"} <= set(names)
    for name in names:
        assert hasattr(pkg, name), name


def test_tests_of_tensors():
    """Functions for what methods say, too."""
    x = pkg.ones(2, 3)
    assert pkg.is_tensor(x) and not pkg.is_tensor([1.0])
    assert pkg.is_floating_point(x) and not pkg.is_floating_point(x.long())
    assert pkg.numel(x) == 6 and tuple(pkg.ravel(x).shape) == (6,)
    array = np.zeros(2)
    pkg.as_tensor(array).fill_(1)
    assert array.tolist() == [1.0, 1.0] and pkg.as_tensor(x) is x
    assert pkg.as_tensor([1, 2], dtype=pkg.float32, device="cpu").tolist() == [1.0, 2.0]


@pytest.mark.parametrize("name", ["float16", "float32", "float64"])
def test_finfo(name):
    """Equal to NumPy's."""
    ours, numpys = pkg.finfo(getattr(pkg, name)), np.finfo(name)
    for fact in ("bits", "eps", "max", "min", "tiny", "smallest_normal"):
        assert getattr(ours, fact) == getattr(numpys, fact), fact
    assert ours.resolution == pytest.approx(float(numpys.resolution), rel=1e-3)
    assert ours.dtype == name and f"dtype={name}" in repr(ours)


def test_arguments_that_the_ops_lack():
    """softmax and its logarithm in another dtype; nonzero by dimensions."""
    x = pkg.tensor([[0, 1, 2], [3, 0, 0]])
    e = np.exp(np.array(x.tolist(), dtype="float64"))
    want = e / e.sum(1, keepdims=True)
    for f, wanted in (("softmax", want), ("log_softmax", np.log(want))):
        given = {"dim": 1, "dtype": pkg.float64}
        for home in (pkg, nn.functional):
            got = getattr(home, f)(x, **given)
            np.testing.assert_allclose(got.numpy(), wanted, rtol=1e-12)
        assert getattr(x, f)(**given).tolist() == got.tolist()
        assert getattr(x, f)(1).dtype is pkg.float32
    got = nn.functional.softmin(-x, 1, pkg.float64)
    assert got.tolist() == pkg.softmax(x, 1, dtype=pkg.float64).tolist()
    assert nn.Softmin(1)(-x).tolist() == x.softmax(1).tolist()
    for places in (x.nonzero(as_tuple=True), pkg.nonzero(x, as_tuple=True)):
        assert [p.tolist() for p in places] == [[0, 0, 1], [1, 2, 0]]
        assert x[places].tolist() == [1, 2, 3]
    assert x.nonzero().tolist() == pkg.nonzero(x).tolist() == [[0, 1], [0, 2], [1, 0]]
    single = pkg.tensor(3.0)
    assert [p.tolist() for p in single.nonzero(as_tuple=True)] == [[0]]
    assert single.nonzero().shape == (1, 0)
    assert x.byte().dtype is pkg.uint8 and x.char().dtype is pkg.int8
    assert (-x).char().tolist() == [[0, -1, -2], [-3, 0, 0]]


class Tagged(pkg.Tensor):
    """A class of a user's; pickle finds it here."""


def test_as_subclass():
    """Another object over the same memory, which takes attributes."""
    x = pkg.zeros(2)
    tagged = x.as_subclass(Tagged)
    assert type(tagged) is Tagged and tagged.tolist() == [0.0, 0.0]
    tagged.fill_(3)
    assert x.tolist() == [3.0, 3.0] and type(x) is pkg.Tensor
    assert type(x.as_subclass(nn.Parameter)) is nn.Parameter
    for wrong in (int, 3):
        with pytest.raises(TypeError, match="expected a subclass of Tensor for 'cls'"):
            x.as_subclass(wrong)
    x.requires_grad_()
    with pytest.raises(RuntimeError, match=r"no history. Use x.detach\(\).as_subclass"):
        x.as_subclass(Tagged)
    with pkg.no_grad():
        assert not x.as_subclass(Tagged).requires_grad


def test_attributes_of_subclasses_are_copied():
    """Shared by a copy, copied by the others, as PyTorch does."""
    x = pkg.ones(2).as_subclass(Tagged)
    x.tag = [1]
    near, deep = copy.copy(x), copy.deepcopy(x)
    assert near.tag is x.tag and near._storage_id() == x._storage_id()
    for other in (deep, pickle.loads(pickle.dumps(x))):
        assert type(other) is Tagged and other.tag == [1] and other.tag is not x.tag
        assert other.tolist() == [1.0, 1.0] and other._storage_id() != x._storage_id()
    plain = pkg.ones(2, requires_grad=True)
    near = copy.copy(plain)
    assert near is not plain and near.requires_grad and near.is_leaf
    assert near._storage_id() == plain._storage_id()


def test_finfo_of_what_numpy_lacks():
    """bfloat16 holds these numbers and not half of the step; the default is float32."""
    facts = pkg.finfo(pkg.bfloat16)
    values = [facts.max, facts.tiny, 1 + facts.eps, 1 + facts.eps / 2]
    held = pkg.tensor(values, dtype=pkg.float64).bfloat16().double().tolist()
    assert held[:3] == values[:3] and held[3] == 1.0
    assert pkg.finfo().dtype == "float32"
    with pytest.raises(TypeError, match="Use pkg.iinfo"):
        pkg.finfo(pkg.int64)


@pytest.mark.parametrize("name", ["uint8", "int8", "int32", "int64"])
def test_iinfo(name):
    """Equal to NumPy's."""
    ours, numpys = pkg.iinfo(getattr(pkg, name)), np.iinfo(name)
    assert (ours.bits, ours.min, ours.max) == (numpys.bits, numpys.min, numpys.max)
    assert repr(ours) == f"iinfo(min={ours.min}, max={ours.max}, dtype={name})"
    with pytest.raises(TypeError, match="Use pkg.finfo"):
        pkg.iinfo(pkg.float32)


def test_promotion_can_be_asked():
    """The answers are the dtypes that ops give."""
    for a in DTYPES:
        for b in DTYPES:
            both = pkg.zeros(1, dtype=a) + pkg.zeros(1, dtype=b)
            assert pkg.promote_types(a, b) is both.dtype, (a, b)
    x = pkg.ones(2, dtype=pkg.int32)
    assert pkg.result_type(x, 2) is pkg.int32 and pkg.result_type(2.5, x) is pkg.float32
    assert pkg.result_type(x, pkg.tensor(2)) is pkg.int32
    assert pkg.result_type(2, 3) is pkg.int64
    assert pkg.can_cast(pkg.int64, pkg.float16) and pkg.can_cast(
        pkg.float64, pkg.float16
    )
    assert pkg.can_cast(pkg.bool, pkg.uint8) and not pkg.can_cast(pkg.uint8, pkg.bool)
    assert not pkg.can_cast(pkg.float32, pkg.int64)


def test_save_and_load(tmp_path):
    """PyTorch's names and arguments over the safetensors format."""
    model = nn.Linear(2, 2)
    pkg.save(model.state_dict(), tmp_path / "model.pt")
    state = pkg.load(tmp_path / "model.pt", map_location="cpu", weights_only=True)
    assert state["weight"].tolist() == model.weight.tolist()
    for location in ("meta", "cuda"):
        with pytest.raises(RuntimeError, match=f"got '{location}'"):
            pkg.load(tmp_path / "model.pt", map_location=location)


def test_the_default_dtype():
    """Of Python's floats, of new tensors, of quotients; not printed."""
    assert pkg.get_default_dtype() is pkg.float32
    pkg.set_default_dtype(pkg.float64)
    try:
        made = [pkg.tensor(0.5), pkg.zeros(2), pkg.rand(2), pkg.tensor([1]) / 2]
        made += pkg.nn.Linear(2, 3).parameters()
        assert {x.dtype for x in made} == {pkg.get_default_dtype()} == {pkg.float64}
        assert pkg.finfo().bits == 64 and repr(made[0]) == "tensor(0.5000)"
    finally:
        pkg.set_default_dtype("float32")
    assert pkg.tensor(0.5).dtype is pkg.float32
    for wrong in (pkg.int64, "int32"):
        with pytest.raises(TypeError, match="expected a floating type, got int"):
            pkg.set_default_dtype(wrong)
    for wrong, kind in ((3, "int"), (None, "NoneType")):
        with pytest.raises(TypeError) as caught:
            pkg.set_default_dtype(wrong)
        text = f"[set_default_dtype] expected a floating dtype for 'd', got {kind}"
        assert str(caught.value) == text
    with pytest.raises(TypeError, match="'quarter' names no element type"):
        pkg.set_default_dtype("quarter")


def test_printing_generator_and_utils():
    """Other places under PyTorch's paths."""
    from pkg.utils import checkpoint
    from pkg.utils.data import DataLoader, TensorDataset

    batches = DataLoader(
        TensorDataset(pkg.arange(4)),
        batch_size=2,
        shuffle=True,
        generator=pkg.Generator().manual_seed(0),
    )
    assert sorted(pkg.cat([x for (x,) in batches]).tolist()) == [0, 1, 2, 3]
    assert pkg.utils.data is not pkg.data and pkg.utils.data.DataLoader is DataLoader
    assert checkpoint.checkpoint is pkg.autograd.checkpoint
    pkg.set_printoptions(precision=2)
    try:
        assert repr(pkg.tensor([0.12345])) == "tensor([0.12])"
    finally:
        pkg.set_printoptions(profile="default")


def test_what_loads_at_first_use():
    """`import pkg` alone loads none of it, and each name is found afterwards."""
    program = (
        "import sys, pkg\n"
        "assert not {'numpy', 'safetensors', 'pkg.functional', 'pkg.linalg',\n"
        "            'pkg.data', 'pkg.printing', 'pkg.type_info'} & set(sys.modules)\n"
        "for name in pkg._LAZY: getattr(pkg, name)\n"
        "for names in pkg._LAZY_NAMES.values():\n"
        "    for name in names.split(): assert getattr(pkg, name) is vars(pkg)[name]\n"
        "from pkg import save, unique\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True, timeout=60)
    with pytest.raises(AttributeError, match="has no attribute 'quaternion'"):
        _ = pkg.quaternion


def test_facts_of_the_build_by_tensorflows_names():
    """The compiler's own words; 1 for the ABI of today's libstdc++, else 0."""
    assert re.search(r"\d+\.\d+", pkg.__compiler_version__)
    assert pkg.__compiler_version__ == pkg.config.info()["compiler"]
    # What the core was compiled with is what its symbols say.
    library = Path(pkg.sysconfig.get_lib(), "libpkg_core.so").read_bytes()
    assert type(pkg.__cxx11_abi_flag__) is int
    assert (b"NSt7__cxx1112basic_string" in library) == bool(pkg.__cxx11_abi_flag__)
