# SPDX-License-Identifier: Apache-2.0
"""pkg.ops.load_library: what appears, and what each kind of mistake says.

Each test runs in a process of its own, since what is loaded stays.  The usual case is
the example of docs/add_an_op.md, run by tests/house/test_docs.py.
"""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

import pkg
from libraries import compile_all, libraries, library, output_of

SOURCES = {
    "good": """
        PKG_LIBRARY(good, m) {
          m.def("same(Tensor self) -> Tensor").composite([](const pkg::Tensor& x) {
            PKG_CHECK(x.ndim() > 0, IndexError,
                      "[same] expected dimensions, got none.");
            return x;
          });
        }
        PKG_LIBRARY_FRAGMENT(pkg, m) {
          m.def("neg.twice(Tensor self, int times) -> Tensor")
              .composite([](const pkg::Tensor& x, int64_t) { return x; });
          m.def("brand_new(Tensor self) -> Tensor")
              .composite([](const pkg::Tensor& x) { return x; });
        }
    """,
    "duplicate": 'PKG_LIBRARY(good, m) { m.def("other(Tensor self) -> Tensor"); }',
    "partial": """
        PKG_LIBRARY(partial, m) {
          m.def("first(Tensor self) -> Tensor");
          m.def("second(Tensor self) -> Tensor")
              .cpu([](const pkg::Tensor& x, int64_t) { return x; });
        }
    """,
    # The op of TensorFlow's guide, which the articles show.
    "zero_out": """
        PKG_LIBRARY(guide, m) {
          m.def("zero_out(Tensor to_zero) -> Tensor")
              .doc("Its first element; 0 in place of the others.")
              .shape([](const pkg::Tensor& to_zero) { return to_zero.spec(); })
              .cpu([](pkg::Tensor& zeroed, const pkg::Tensor& to_zero) {
                PKG_CHECK(to_zero.dtype() == pkg::DType::Int32, TypeError,
                          "[zero_out] expected int32.");
                auto* out = zeroed.data<int32_t>();
                for (int64_t i = 0; i < zeroed.numel(); ++i) out[i] = 0;
                if (zeroed.numel()) out[0] = to_zero.data<int32_t>()[0];
              });
        }
    """,
    "named_os": 'PKG_LIBRARY(os, m) { m.def("f(Tensor self) -> Tensor"); }',
    "named_tensor": """
        PKG_LIBRARY_FRAGMENT(pkg, m) {
          for (const char* name : {"tensor", "save", "shape", "mine_alone"}) {
            m.def(std::string(name) + "(Tensor self) -> Tensor")
                .composite([](const pkg::Tensor& x) { return x; });
          }
        }
    """,
    "many": """
        PKG_LIBRARY(many, m) {
          std::string text = "many(Tensor a0";
          for (int i = 1; i < 17; ++i) text += ", int a" + std::to_string(i);
          m.def(text + ") -> Tensor");
        }
    """,
    "unlinked": "void missing_function(); static int x = (missing_function(), 0);",
}

C_LIBRARY = """
#include <stdexcept>
#include "c_api/c_api.h"

static void same(void*, const pkg_value* args, int32_t, pkg_tensor* const* results,
                 int32_t, pkg_status* status) {
  const auto* x = static_cast<const float*>(pkg_tensor_data(args[0].as.tensor, status));
  auto* y = static_cast<float*>(pkg_tensor_mutable_data(results[0], status));
  for (int64_t i = 0; i < pkg_tensor_numel(results[0]); ++i) y[i] = x[i];
}
extern "C" bool pkg_library_init(pkg_status* status) {
  pkg_op_definition definition = {};
  definition.schema = "same(Tensor self) -> Tensor";
  definition.compute = same;
  definition.dtypes = "float32";
  if (!pkg_register_op("in_c", &definition, status)) return false;
#ifdef THROWS
  throw std::runtime_error("thrown");
#elif defined NESTED
  return pkg_load_library("plain.so", status);
#endif
  return true;
}
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sources above as libraries, and two files that are none."""
    folder = tmp_path_factory.mktemp("libraries")
    include = '#include "dispatcher/library.h"\n'
    libraries(folder, {f"{name}.cc": include + text for name, text in SOURCES.items()})
    shutil.copy(folder / "good.so", folder / "twin.so")
    (folder / "link.so").symlink_to("good.so")
    (folder / "text.so").write_text("not a library")
    return folder


def run(folder: Path, code: str) -> str:
    """Output of a Python program in that folder."""
    return output_of("import pkg\nload = pkg.ops.load_library\n" + code, folder)


def test_what_a_library_brings(folder: Path) -> None:
    """Its namespace, new ops and overloads of pkg, errors of its kernels; twice."""
    out = run(
        folder,
        """
from pathlib import Path
before = pkg.neg
load(Path("good.so"))
load("./good.so")
load("twin.so")
load("link.so")
x = pkg.ones(2)
assert pkg.ops.good.same(x) is x and pkg.brand_new(x) is x and x.brand_new() is x
assert pkg.neg(x, 3) is x and x.neg(3) is x and pkg.ops.neg(x).tolist() == [-1, -1]
assert pkg.neg is pkg.ops.neg and before(x).tolist() == [-1, -1]
assert "brand_new" in dict(pkg.ops.functions())
try:
    pkg.ops.good.same(pkg.tensor(1.0))
except IndexError as err:
    print(err)
""",
    )
    assert "[same] expected dimensions, got none." in out


def test_the_same_ops_from_a_second_file(folder: Path) -> None:
    """Both places are named, and the first library goes on working."""
    out = run(
        folder,
        """
load("good.so")
try:
    load("duplicate.so")
except RuntimeError as err:
    print(err)
x = pkg.ones(2)
assert pkg.ops.good.same(x) is x
""",
    )
    assert "namespace good" in out
    found = re.search(r"registration at (.*) of (.*); latest at (.*) of (.*)\.", out)
    assert found, out
    assert "good.cc:" in found[1] and found[2].endswith("/good.so")
    assert "duplicate.cc:" in found[3] and found[4].endswith("/duplicate.so")


def test_a_block_that_fails_half_way(folder: Path) -> None:
    """Path, place and reason; none of its ops; the same again at a second attempt."""
    out = run(
        folder,
        """
for attempt in range(2):
    try:
        load("partial.so")
    except RuntimeError as err:
        print(attempt, err)
assert not hasattr(pkg.ops, "partial")
try:
    pkg._binding.core.Operator("first", "partial")
except pkg.OpLookupError as err:
    print(err)
assert pkg.ones(2).add(1).tolist() == [2, 2]
""",
    )
    assert out.count("partial.so, block at") == 2 and "partial.cc:3" in out
    assert "[register] .cpu of second(Tensor self) -> Tensor at " in out
    wanted = "expected Tensor(const Tensor& self), got Tensor(const Tensor&, int64_t)."
    assert f"partial.cc:3: {wanted}" in out
    assert "other contents" in out and "No op registered: partial::first" in out


def test_w04_zero_out_is_printed_as_it_should_be(folder: Path) -> None:
    """What the text calls is a method of what print() returns: None."""
    out = run(
        folder,
        """
load("zero_out.so")
zero_out = pkg.ops.guide.zero_out
x = pkg.tensor([1, 2, 3, 4, 5], dtype=pkg.int32)
print(zero_out(x).tolist())
try:
    print(zero_out(x)).tolist()
except AttributeError as err:
    print(err)
assert zero_out(pkg.ones(2, 3, device="meta").to_dtype(pkg.int32)).shape == (2, 3)
assert zero_out(x[1::2]).tolist() == [2, 0] and zero_out(x[:0]).tolist() == []
try:
    zero_out(pkg.ones(2))
except TypeError as err:
    print(err)
""",
    )
    right, wrong, why, dtype = out.splitlines()
    assert right == "[1, 0, 0, 0, 0]" and wrong.startswith("tensor([1, 0, 0, 0, 0]")
    assert why == "'NoneType' object has no attribute 'tolist'"
    assert dtype == "[zero_out] expected int32."


def test_w96_a_cached_handle_outlives_what_others_register(folder: Path) -> None:
    """Good libraries, failing ones and new overloads of the very op."""
    run(
        folder,
        """
neg, bound, x = pkg.neg, pkg.ones(2).neg, pkg.ones(2)
load("good.so")
same = pkg.ops.good.same
for name in ("partial.so", "duplicate.so"):
    try:
        load(name)
    except RuntimeError:
        continue
    raise AssertionError(name)
load("zero_out.so")
assert neg(x).tolist() == bound().tolist() == [-1, -1] and same(x) is x
assert len(neg.schemas) == 1 and len(pkg.neg.schemas) == 2
""",
    )


def test_w97_a_library_is_no_owner_of_ops(folder: Path) -> None:
    """The record says who registered what; the namespace belongs to nobody."""
    run(
        folder,
        """
load("good.so")
(mine,) = pkg.ops.good.same.records
(added,) = pkg.brand_new.records
assert "good.cc:2" in mine["where"] or "good.cc:3" in mine["where"], mine
assert "good.cc" in added["where"], added
old, new = pkg.neg.records
assert "good.cc" in new["where"] and "good.cc" not in old["where"], (old, new)
""",
    )


def test_w101_a_gradient_is_not_lost_silently(folder: Path) -> None:
    """The call is the error, it names the op; without gradients there is none."""
    out = run(
        folder,
        """
load("zero_out.so")
zero_out = pkg.ops.guide.zero_out
x = pkg.ones(2, requires_grad=True)
try:
    zero_out(x)
except NotImplementedError as err:
    print(err)
for call in (lambda: zero_out(x.detach()), lambda: pkg.no_grad()(zero_out)(x)):
    try:
        call()
    except TypeError as err:
        assert str(err) == "[zero_out] expected int32.", err
""",
    )
    assert "[zero_out] has no gradient formula" in out and ".derivative(" in out
    assert "would be lost" in out and "zero_out.cc" in out


def test_w102_a_call_that_fits_no_overload_raises() -> None:
    """Of every op: a TypeError, never None."""
    core = pkg._binding.core
    called = 0
    for space in core.operator_namespaces():
        for name in core.operator_names(space):
            with pytest.raises(TypeError):
                core.Operator(name, space)(object(), object(), nonsense=object())
            called += 1
    assert called > 300


@pytest.mark.parametrize(
    "name,reason",
    [
        ("nowhere.so", "nowhere.so: cannot open shared object file"),
        ("text.so", "text.so: "),
        ("unlinked.so", r"undefined symbol: .*functionv \(missing_function\(\)\)"),
    ],
)
def test_files_that_cannot_be_opened(folder: Path, name: str, reason: str) -> None:
    """ImportError with the loader's own words and what to do."""
    code = f"load({name!r})"
    with pytest.raises(AssertionError, match=f"ImportError: .*{reason}.*pkg.sysconfig"):
        run(folder, code)


def test_names_that_pkg_ops_uses_itself(folder: Path) -> None:
    """They are not overwritten; each load says so, and what asks before."""
    out = run(
        folder,
        """
for load_it in (load, load, pkg.load_op_library):
    try:
        load_it('named_os.so')
    except RuntimeError as error:
        print(error)
for name in ('os', 'os', 'named_free'):
    try:
        pkg.ops.check_namespace(name)
    except RuntimeError as error:
        print(error)
for name in ('g', 'h'):
    pkg._binding.core.define_op('os', name + '(Tensor x) -> Tensor', '', 'here')
    assert pkg.ops._read_registry() == ["the namespace 'os'"]
assert pkg.ops._read_registry() == []
import os
assert pkg.ops.os is os
""",
    )
    assert out.count("not use, got the namespace 'os'. The library's other") == 3, out
    assert out.count("not use, got 'os'. Choose another name.\n") == 2, out
    out = run(
        folder,
        """
before = pkg.tensor, pkg.Tensor.shape
try:
    load('named_tensor.so')
except RuntimeError as error:
    print(error)
assert before == (pkg.tensor, pkg.Tensor.shape)
print(pkg.ops.mine_alone(pkg.ones(1)), pkg.ones(2).shape)
load('good.so')  # says nothing of the other file's names
print(pkg.brand_new(pkg.ones(2)))
""",
    )
    assert "named_tensor.so: expected names that pkg does not use" in out
    assert "got the op 'save', the op 'tensor'. The library's other ops" in out
    assert out.endswith("tensor([1.]) (2,)\ntensor([1., 1.])\n")


def test_a_path_with_nul_is_refused(folder: Path) -> None:
    """Not cut off there."""
    with pytest.raises(AssertionError, match="expected a path without NUL"):
        run(folder, "load('good.so\\0.txt')")


@pytest.fixture(scope="module")
def stamped(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Libraries that were compiled for other cores, and one that fits."""
    folder = tmp_path_factory.mktemp("stamped")
    include = Path(pkg.sysconfig.get_include())
    header = (include / "c_api/c_api.h").read_text(encoding="utf-8")
    older = re.sub(r"(#define PKG_C_ABI) \d+", r"\1 1", header)
    assert older != header
    block = 'm.def("same(Tensor x) -> Tensor").composite([](const pkg::Tensor& x) {'
    texts = {
        "old.h": older,
        "old.cc": C_LIBRARY.replace('"c_api/c_api.h"', '"old.h"'),
        "cxx.cc": '#include <cstdio>\n#include "dispatcher/library.h"\n'
        'static const int runs = std::puts("its constructor ran");\n'
        f"PKG_LIBRARY(stamped, m) {{ {block} return x; }}); }}",
    }
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8")
    builds = {
        "fits": ("cxx.cc",),
        "newer": ("cxx.cc", "-DPKG_CXX_ABI=999"),
        "strings": ("cxx.cc", "-D_GLIBCXX_USE_CXX11_ABI=0"),
        "old": ("old.cc",),
    }

    def build(name: str) -> Path:
        source, *options = builds[name]
        return library(folder / source, *options, name=name)

    compile_all(build, builds)
    return folder


def test_a_library_for_another_core_is_refused_before_it_runs(stamped: Path) -> None:
    """The error says what differs, of C++ and of C; a second attempt says the same."""
    out = run(
        stamped,
        """
for name in ("newer.so", "strings.so", "old.so"):
    for attempt in range(2):
        try:
            load(name)
        except ImportError as error:
            print(error)
assert not hasattr(pkg.ops, "stamped") and not hasattr(pkg.ops, "in_c")
assert pkg.ones(2).add(1).tolist() == [2, 2]
load("fits.so")
assert pkg.ops.stamped.same(pkg.ones(1)).tolist() == [1]
""",
    )
    lines = out.splitlines()
    assert len(lines) == 7 and lines[-1] == "its constructor ran", out
    newer, strings, old = lines[:6:2]
    assert lines[1:6:2] == [newer, strings, old]
    assert newer.startswith("[load_library] ") and "newer.so: expected a lib" in newer
    assert "got one for C++ interface 999. Compile it again" in newer
    wanted, _, got = strings.partition(", got one for ")
    assert "_GLIBCXX_USE_CXX11_ABI 1" in wanted and "_GLIBCXX_USE_CXX11_ABI 0" in got
    assert "dispatch keys" not in newer + strings and "pkg.sysconfig" in strings
    assert "got one for C interface 1." in old


def test_a_library_for_another_core_that_the_linker_finds(
    stamped: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is open when its stamp is seen; none of its blocks runs even so."""
    monkeypatch.setenv("LD_LIBRARY_PATH", str(stamped))
    out = run(
        stamped,
        """
core = pkg._binding.core
for name in ("newer.so", "newer.so", "old.so"):
    try:
        core.load_library(name)
    except (ImportError, RuntimeError) as error:
        print(type(error).__name__, error)
assert not core.operator_names("stamped") + core.operator_names("in_c")
assert pkg.ones(2).add(1).tolist() == [2, 2]
""",
    )
    _, newer, again, hint, old = out.splitlines()
    assert newer.startswith("ImportError [load_library] newer.so, block at cxx.cc:4: ")
    assert "got one for C++ interface 999." in newer and again.startswith(
        "RuntimeError"
    )
    assert "first attempt" in hint and old.startswith("ImportError")
    assert "old.so: expected a library compiled for C interface" in old


def test_too_many_parameters_are_refused(folder: Path) -> None:
    """By the registration, whoever makes it."""
    with pytest.raises(AssertionError, match="many: expected at most 16 parameters"):
        run(folder, "load('many.so')")


def test_libraries_written_in_c_bring_their_ops(tmp_path: Path) -> None:
    """Their pkg_library_init() is called; what it throws takes its ops back."""
    source = tmp_path / "c.cc"
    source.write_text(C_LIBRARY, encoding="utf-8")
    compile_all(
        lambda name: library(source, f"-D{name.upper()}", name=name),
        ("plain", "throws", "nested"),
    )
    out = run(
        tmp_path,
        """
for name in ('throws', 'nested'):
    try:
        load(f'{name}.so')
    except RuntimeError as error:
        print(error)
print(pkg._binding.core.operator_names('in_c'))
load('plain.so')
print(pkg.ops.in_c.same(pkg.ones(2)))
""",
    )
    lines = out.splitlines()
    assert lines[0].endswith("throws.so: thrown") and "cannot load another" in lines[1]
    assert lines[2:] == ["[]", "tensor([1., 1.])"]
