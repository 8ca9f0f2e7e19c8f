# SPDX-License-Identifier: Apache-2.0
"""Saving and loading: formats, checkpoints, shared tensors, damage, atomic writes."""

import io
import json
import os
import subprocess
import sys

import numpy as np
import pytest

import pkg
from pkg import nn, optim, serialization

DTYPES = ["bool", "uint8", "int8", "int32", "int64", "float16", "bfloat16", "float32",
          "float64"]  # fmt: skip


def header_of(path):
    """(header, data) of a safetensors file, read by hand."""
    content = path.read_bytes()
    length = int.from_bytes(content[:8], "little")
    return json.loads(content[8 : 8 + length]), content[8 + length :]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(), (0, 3), (2, 3)])
def test_every_dtype_and_shape_round_trips(tmp_path, dtype, shape):
    count = int(np.prod(shape))
    wanted = (pkg.arange(count) % 2).reshape(list(shape)).to(getattr(pkg, dtype))
    serialization.save_file({"x": wanted}, tmp_path / "f")
    got = serialization.load_file(tmp_path / "f")["x"]
    assert got.dtype == wanted.dtype and got.shape == wanted.shape
    assert got.tolist() == wanted.tolist()


def test_bfloat16_keeps_its_bits(tmp_path):
    values = [1.0, -2.5, 3.0e38, 1e-40, float("inf"), -0.0]
    wanted = pkg.tensor(values).to(pkg.bfloat16)
    serialization.save_file({"x": wanted}, tmp_path / "f")
    header, content = header_of(tmp_path / "f")
    assert header["x"] == {"dtype": "BF16", "shape": [6], "data_offsets": [0, 12]}
    assert content[:4] == b"\x80\x3f\x20\xc0"
    got = serialization.load_file(tmp_path / "f")["x"]
    assert got.dtype == pkg.bfloat16 and got.tolist() == wanted.tolist()


def test_views_are_written_as_they_read(tmp_path):
    x = pkg.arange(12).reshape([3, 4])
    serialization.save_file({"t": x.t(), "s": x[:, 1::2]}, tmp_path / "f")
    got = serialization.load_file(tmp_path / "f")
    assert got["t"].tolist() == x.t().tolist()
    assert got["s"].tolist() == x[:, 1::2].tolist()


def test_the_safetensors_package_reads_our_files_and_we_read_its(tmp_path):
    safetensors = pytest.importorskip("safetensors")
    numpy_files = pytest.importorskip("safetensors.numpy")
    arrays = {"b": np.arange(3.0), "a": np.array([True, False]), "c": np.int8([[1]])}
    ours = {name: pkg.tensor(array) for name, array in arrays.items()}
    serialization.save_file(ours, tmp_path / "ours", {"who": "pkg"})
    for name, array in numpy_files.load_file(tmp_path / "ours").items():
        np.testing.assert_array_equal(array, arrays[name])
        assert array.dtype == arrays[name].dtype
    with safetensors.safe_open(str(tmp_path / "ours"), framework="numpy") as file:
        assert file.metadata() == {"who": "pkg"}
    numpy_files.save_file(arrays, tmp_path / "theirs", {"who": "safetensors"})
    got, metadata = serialization.read_with_metadata(tmp_path / "theirs")
    assert metadata == {"who": "safetensors"}
    assert {n: t.tolist() for n, t in got.items()} == {
        n: a.tolist() for n, a in arrays.items()
    }


def test_the_data_of_every_tensor_is_aligned(tmp_path):
    tensors = {
        "a": pkg.zeros([3], dtype=pkg.uint8), "b": pkg.zeros([3]),
        "c": pkg.zeros([1], dtype=pkg.float64), "d": pkg.zeros([1], dtype=pkg.float16),
    }  # fmt: skip
    serialization.save_file(tensors, tmp_path / "f")
    header, _ = header_of(tmp_path / "f")
    size = int.from_bytes((tmp_path / "f").read_bytes()[:8], "little")
    assert size % 8 == 0
    for name, tensor in tensors.items():
        assert header[name]["data_offsets"][0] % tensor.element_size() == 0


def test_shared_parameters_are_saved_under_each_name_and_stay_shared(tmp_path):
    def tied():
        net = nn.Sequential(nn.Linear(3, 3, bias=False), nn.Linear(3, 3, bias=False))
        net[1].weight = net[0].weight
        return net

    source, target = tied(), tied()
    serialization.save(source, tmp_path / "f")
    state = serialization.load(tmp_path / "f")
    assert list(state) == ["0.weight", "1.weight"]
    assert state["0.weight"].tolist() == state["1.weight"].tolist()
    target.load_state_dict(state)
    assert target[1].weight is target[0].weight
    assert target[0].weight.tolist() == source[0].weight.tolist()


def test_a_checkpoint_continues_a_training(tmp_path):
    def training():
        pkg.manual_seed(0)
        net = nn.Linear(3, 1)
        return net, optim.AdamW(net.parameters(), lr=0.1)

    def epoch(net, optimizer):
        optimizer.zero_grad()
        (net(pkg.ones([2, 3])) ** 2).sum().backward()
        optimizer.step()

    net, optimizer = training()
    epoch(net, optimizer)
    checkpoint = {"model": net.state_dict(), "optimizer": optimizer.state_dict()}
    serialization.save({**checkpoint, "epoch": 1}, tmp_path / "f")
    epoch(net, optimizer)
    other, second = training()
    loaded = serialization.load(tmp_path / "f")
    assert loaded["epoch"] == 1
    other.load_state_dict(loaded["model"])
    second.load_state_dict(loaded["optimizer"])
    assert second.param_groups[0]["betas"] == (0.9, 0.999)
    epoch(other, second)
    assert other.weight.tolist() == net.weight.tolist()


def test_nested_values_come_back_with_their_types(tmp_path):
    value = {
        "a": [1, 2.5, True, None, "text", (pkg.tensor(3), {})],
        7: {"x.y": pkg.tensor([1.0])},
        "7.x": {"y": pkg.tensor([2.0])},
        "__metadata__": pkg.tensor(0),
        "inf": float("inf"),
    }
    serialization.save(value, tmp_path / "f", metadata={"note": "kept"})
    got = serialization.load(tmp_path / "f")
    assert list(got) == list(value) and got["a"][:5] == value["a"][:5]
    assert got["a"][2] is True and isinstance(got["a"][5], tuple)
    assert got["a"][5][0].item() == 3 and got["a"][5][1] == {}
    assert got[7]["x.y"].item() == 1.0 and got["7.x"]["y"].item() == 2.0
    assert got["__metadata__"].item() == 0 and got["inf"] == float("inf")
    assert header_of(tmp_path / "f")[0]["__metadata__"]["note"] == "kept"
    serialization.save(pkg.tensor([1, 2]), tmp_path / "one")
    assert serialization.load(tmp_path / "one").tolist() == [1, 2]
    serialization.save({}, tmp_path / "none")
    assert serialization.load(tmp_path / "none") == {}


def test_what_cannot_be_written_is_named_and_nothing_is_left(tmp_path):
    for value, error, text in [
        ({"a": [1, object()]}, TypeError, "got object .place='a.1'"),
        ({"a": {(1, 2): 3}}, TypeError, "got tuple .place='a'"),
    ]:
        with pytest.raises(error, match=text):
            serialization.save(value, tmp_path / "f")
    loop = {}
    loop["self"] = loop
    with pytest.raises(ValueError, match="container in itself"):
        serialization.save(loop, tmp_path / "f")
    with pytest.raises(TypeError, match="expected Tensors, got list .name='x'"):
        serialization.save_file({"x": [1.0]}, tmp_path / "f")
    with pytest.raises(TypeError, match="metadata"):
        serialization.save_file({}, tmp_path / "f", {"epoch": 3})
    with pytest.raises(ValueError, match="__metadata__"):
        serialization.save_file({"__metadata__": pkg.ones([1])}, tmp_path / "f")
    assert os.listdir(tmp_path) == []


def test_damaged_files_are_value_errors_that_name_the_file(tmp_path):
    path = tmp_path / "f"
    serialization.save({"x": pkg.arange(100)}, path)
    whole = path.read_bytes()
    damaged = [
        b"", b"short", whole[:40], whole[:-1], whole + b"more",
        b"\xff" * 8 + whole[8:], whole[:8] + b"[" + whole[9:],
        whole.replace(b"[100]", b"[101]"), whole.replace(b'"I64"', b'"I99"'),
    ]  # fmt: skip
    for content in damaged:
        path.write_bytes(content)
        with pytest.raises(ValueError, match="damaged") as error:
            serialization.load(path)
        assert str(path) in str(error.value)


def test_damaged_structures_and_foreign_dtypes_are_value_errors(tmp_path):
    path = tmp_path / "f"
    for structure in ["{", '{"tensor":"y"}', '{"set":[]}', "[1]", '{"dict":[1]}',
                      '{"list":3}', '{"dict":[[[],1]]}', "[" * 100000]:  # fmt: skip
        serialization.save_file({"x": pkg.ones([1])}, path,
                                {"pkg.structure": structure})  # fmt: skip
        with pytest.raises(ValueError, match="structure"):
            serialization.load(path)
    numpy_files = pytest.importorskip("safetensors.numpy")
    numpy_files.save_file({"x": np.zeros(2, np.uint16)}, path)
    with pytest.raises(ValueError, match="got U16 .name='x'"):
        serialization.load_file(path)


def test_missing_files_and_folders_are_os_errors(tmp_path):
    with pytest.raises(FileNotFoundError, match="nothing"):
        serialization.load(tmp_path / "nothing")
    with pytest.raises(IsADirectoryError):
        serialization.load(tmp_path)
    with pytest.raises(FileNotFoundError):
        serialization.save({}, tmp_path / "no" / "folder")
    (tmp_path / "folder").mkdir()
    with pytest.raises(IsADirectoryError):
        serialization.save({}, tmp_path / "folder")
    assert os.listdir(tmp_path) == ["folder"]


def test_a_failed_write_leaves_the_old_file_and_no_other(tmp_path, monkeypatch):
    path = tmp_path / "f"
    serialization.save({"x": pkg.ones([1])}, path)
    before = path.read_bytes()
    for error in (OSError(28, "No space left on device"), KeyboardInterrupt()):

        def fail(*_, error=error):
            raise error

        monkeypatch.setattr(os, "fsync", fail)
        with pytest.raises(type(error)):
            serialization.save({"x": pkg.zeros([1])}, path)
        assert path.read_bytes() == before and os.listdir(tmp_path) == ["f"]


def test_saving_through_a_link_replaces_the_file_behind_it(tmp_path):
    (tmp_path / "real").write_bytes(b"old")
    (tmp_path / "link").symlink_to(tmp_path / "real")
    serialization.save({"x": pkg.ones([1])}, tmp_path / "link")
    assert (tmp_path / "link").is_symlink()
    assert serialization.load(tmp_path / "real")["x"].tolist() == [1.0]


def test_new_files_have_the_usual_permissions(tmp_path):
    serialization.save({}, tmp_path / "f")
    (tmp_path / "usual").write_bytes(b"")
    assert (tmp_path / "f").stat().st_mode == (tmp_path / "usual").stat().st_mode


def test_loaded_tensors_have_memory_of_their_own(tmp_path):
    serialization.save({"x": pkg.ones([2])}, tmp_path / "f")
    first = serialization.load(tmp_path / "f")["x"]
    first.zero_()
    assert serialization.load(tmp_path / "f")["x"].tolist() == [1.0, 1.0]
    assert first.is_leaf and not first.requires_grad


def test_open_files_are_written_and_read(tmp_path):
    file = io.BytesIO()
    serialization.save({"x": pkg.ones([2]), "epoch": 3}, file)
    file.seek(0)
    loaded = serialization.load(file)
    assert loaded["x"].tolist() == [1.0, 1.0] and loaded["epoch"] == 3
    serialization.save(loaded, os.fsencode(tmp_path / "bytes"))
    assert serialization.load(os.fsencode(tmp_path / "bytes"))["epoch"] == 3
    with pytest.raises(ValueError, match="expected a safetensors file.*BytesIO"):
        serialization.load(io.BytesIO(b"nonsense"))


def test_importing_needs_neither_numpy_nor_safetensors():
    code = (
        "import sys, pkg.serialization, pkg.nn, pkg.optim, pkg.data, pkg.models\n"
        "found = {'numpy', 'safetensors', 'tqdm', 'torch'} & set(sys.modules)\n"
        "sys.exit(str(found) if found else 0)"
    )
    root = os.path.dirname(os.path.dirname(os.path.abspath(pkg.__file__)))
    done = subprocess.run([sys.executable, "-c", code], cwd=root, capture_output=True)
    assert done.returncode == 0, done.stderr
