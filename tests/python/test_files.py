# SPDX-License-Identifier: Apache-2.0
"""Files that write or read in parts, and files of other formats."""

import gzip
import io
import os
import pickle
import zipfile

import numpy as np
import pytest

import pkg


class Parts(io.RawIOBase):
    """An unbuffered file that takes and gives `step` bytes; later None."""

    def __init__(self, content=b"", step=7, full_after=None):
        self.content = bytearray(content)
        self.step, self.full_after, self.at = step, full_after, 0

    def writable(self):
        return True

    readable = writable

    def write(self, data):
        if self.full_after is not None and len(self.content) >= self.full_after:
            return None
        self.content += bytes(data)[: self.step]
        return min(self.step, len(data))

    def readinto(self, buffer):
        if self.full_after is not None and self.at >= self.full_after:
            return None
        part = self.content[self.at : self.at + min(self.step, len(buffer))]
        buffer[: len(part)] = part
        self.at += len(part)
        return len(part)


class Duck:
    """A file of the user's, which is no io.IOBase: its write() returns `answer`."""

    def __init__(self, content=b"", step=None, answer=None):
        self.parts, self.step, self.answer, self.at = [bytes(content)], step, answer, 0

    def write(self, data):
        self.parts.append(bytes(data))
        return self.answer

    def read(self):
        content = b"".join(self.parts)
        part = content[self.at : self.at + (self.step or len(content))]
        self.at += len(part)
        return part


VALUES = {"x": pkg.arange(100.0), "none": pkg.zeros(0, 3), "epoch": 3}


def whole():
    file = io.BytesIO()
    pkg.save(VALUES, file)
    return file.getvalue()


def check(loaded):
    assert loaded["x"].tolist() == VALUES["x"].tolist()
    assert loaded["epoch"] == 3 and tuple(loaded["none"].shape) == (0, 3)


@pytest.mark.parametrize("step", [1, 7, 4096])
def test_short_writes_and_reads_go_on(step):
    """As unbuffered files and pipes do them."""
    file = Parts(step=step)
    pkg.save(VALUES, file)
    assert bytes(file.content) == whole()
    check(pkg.load(Parts(whole(), step)))
    check(pkg.load(Duck(whole(), step)))


def test_an_unbuffered_pipe(tmp_path):
    """More than it holds: the operating system takes a part."""
    pkg.save(VALUES, tmp_path / "f")
    with open(tmp_path / "f", "rb", buffering=0) as file:
        check(pkg.load(file))
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    with open(reading, "rb"), open(writing, "wb", buffering=0) as file:
        with pytest.raises(BlockingIOError, match=r"\[save_file\] .*None of write"):
            pkg.save(pkg.zeros(100_000).expand(2, 100_000), file)


def test_files_that_would_block_are_an_error():
    """Neither half a file nor a damaged one."""
    with pytest.raises(BlockingIOError, match="which would block"):
        pkg.save(VALUES, Parts(full_after=20))
    for after in (0, 20):
        with pytest.raises(BlockingIOError, match=r"\[load_file\] .*None of read"):
            pkg.load(Parts(whole(), full_after=after))


def test_files_of_the_users_own():
    """Most return nothing from write(); other answers are counts."""
    file = Duck()
    pkg.save(VALUES, file)
    assert b"".join(file.parts) == whole()
    for wrong in (0, -1, 10**9):
        with pytest.raises(OSError, match=f"take 1 to .* bytes, got {wrong} "):
            pkg.save(VALUES, Duck(answer=wrong))
    with pytest.raises(TypeError, match=r"open for bytes, got one .* gives str"):
        pkg.load(io.StringIO("text"))
    with pytest.raises(ValueError, match="damaged"):
        pkg.load(Duck(whole()[:-1]))

    class Endless(Duck):  # whose read() does not know where it was
        def read(self):
            return whole()

    check(pkg.load(Endless()))


def test_a_header_is_parsed_once(monkeypatch):
    """Not after each of many parts."""
    parsed = []
    loads = pkg.files.json.loads

    def counted(text, **options):
        parsed.append(text)
        return loads(text, **options)

    monkeypatch.setattr(pkg.files.json, "loads", counted)
    check(pkg.load(Duck(whole(), 1)))
    one_by_one = len(parsed)
    check(pkg.load(Duck(whole())))
    assert len(parsed) == 2 * one_by_one


def zipped(name):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr(name, b"abc")
    return file.getvalue()


def saved(save, *args):
    file = io.BytesIO()
    save(file, *args)
    return file.getvalue()


MAGIC = 0x1950A86A20F9469CFC6C  # before PyTorch's zip archives
FOREIGN = {
    "a PyTorch checkpoint.*save_file": zipped("archive/data.pkl"),
    "a PyTorch checkpoint, which": pickle.dumps(MAGIC, 2) + pickle.dumps(1001, 2),
    "a pickle, which may hold code": pickle.dumps({"a": 1}),
    "a zip archive": zipped("letters.txt"),
    "NumPy arrays .*npz": saved(np.savez, np.ones(2)),
    "a NumPy array .*npy": saved(np.save, np.ones(2)),
    "a gzip file": gzip.compress(b"abc"),
}


@pytest.mark.parametrize("what", FOREIGN)
def test_files_of_other_formats_are_named(what, tmp_path):
    """Instead of a header that is damaged."""
    path = tmp_path / "model.pt"
    path.write_bytes(FOREIGN[what])
    for load in (pkg.load, pkg.serialization.load_file):
        with pytest.raises(ValueError, match=f"a safetensors file, got {what}"):
            load(path)


def test_files_of_pytorch(tmp_path):
    """Of each of its own formats, and what the error says to do."""
    torch = pytest.importorskip("torch")
    state = {"weight": torch.arange(3.0)}
    for zipfiles in (True, False):
        path = tmp_path / "m.pt"
        torch.save(state, path, _use_new_zipfile_serialization=zipfiles)
        with pytest.raises(ValueError, match="got a PyTorch checkpoint"):
            pkg.load(path)
    from safetensors.torch import save_file

    save_file(torch.load(path, weights_only=True), tmp_path / "m.safetensors")
    assert pkg.load(tmp_path / "m.safetensors")["weight"].tolist() == [0, 1, 2]
