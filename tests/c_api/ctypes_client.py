# SPDX-License-Identifier: Apache-2.0
"""A client of the C surface written with ctypes alone.

test_c_api.py runs it as a program, `ctypes_client.py LIBRARY SCENARIO [ARG...]`,
in a process that never imports pkg.  The upper half is a small binding, the lower half
the scenarios, which are ordinary asserts.  ctypes_graphs.py has those of graphs.
"""

from __future__ import annotations

import array
import ctypes as c
import gc
import struct
import sys
import threading
import traceback

ABI = 3
MAX_RESULTS = 8
DTYPES = "bool uint8 int8 int32 int64 float16 bfloat16 float32 float64".split()
STRUCT_CODES = {"bool": "?", "int32": "i", "int64": "q", "float32": "f", "float64": "d"}
(
    NONE,
    TENSOR,
    TENSOR_LIST,
    BOOL,
    INT,
    FLOAT,
    STRING,
    INT_LIST,
    FLOAT_LIST,
    DTYPE,
    DEVICE,
    STRING_LIST,
    BOOL_LIST,
) = range(13)

Handle = c.c_void_p


class As(c.Union):
    """The union of pkg_value."""

    _fields_ = [("integer", c.c_int64), ("number", c.c_double), ("pointer", c.c_void_p)]


class Value(c.Structure):
    """pkg_value."""

    _fields_ = [
        ("kind", c.c_int32),
        ("reserved", c.c_int32),
        ("length", c.c_int64),
        ("as_", As),
    ]


class Arg(c.Structure):
    """pkg_arg."""

    _fields_ = [("name", c.c_char_p), ("value", Value)]


RELEASE = c.CFUNCTYPE(None, c.c_void_p)
SHAPE = c.CFUNCTYPE(None, c.c_void_p, c.POINTER(Value), c.c_int32, Handle, Handle)
COMPUTE = c.CFUNCTYPE(
    None, c.c_void_p, c.POINTER(Value), c.c_int32, c.POINTER(Handle), c.c_int32, Handle
)
GRADIENT = c.CFUNCTYPE(
    None,
    *[c.c_void_p, c.POINTER(Value), c.c_int32, c.POINTER(Handle), c.POINTER(Handle)],
    *[c.c_int32, c.POINTER(Handle), c.c_int32, Handle],
)


class Definition(c.Structure):
    """pkg_op_definition."""

    _fields_ = [
        ("schema", c.c_char_p),
        ("doc", c.c_char_p),
        ("shape", SHAPE),
        ("compute", COMPUTE),
        ("dtypes", c.c_char_p),
        ("strided", c.c_bool),
        ("gradient", GRADIENT),
        ("user_data", c.c_void_p),
    ]


INTS = c.POINTER(c.c_int64)
# Results and parameters; a last parameter Status is filled in by Api.call().
Status = type("Status", (c.c_void_p,), {})
SIGNATURES = {
    "pkg_abi": (c.c_int32, []),
    "pkg_version": (c.c_char_p, []),
    "pkg_status_new": (Handle, []),
    "pkg_status_delete": (None, [Handle]),
    "pkg_status_code": (c.c_int32, [Handle]),
    "pkg_status_text": (c.c_char_p, [Handle]),
    "pkg_status_set": (None, [Handle, c.c_int32, c.c_char_p]),
    "pkg_code_name": (c.c_char_p, [c.c_int32]),
    "pkg_tensor_empty": (Handle, [INTS, c.c_int32, c.c_int32, c.c_int32, Status]),
    "pkg_tensor_from_data": (Handle, [c.c_char_p, INTS, c.c_int32, c.c_int32, Status]),
    "pkg_tensor_borrow": (
        Handle,
        [Handle, INTS, INTS, c.c_int32, c.c_int32, RELEASE, c.c_void_p, Status],
    ),
    "pkg_tensor_delete": (None, [Handle]),
    "pkg_tensor_retain": (Handle, [Handle]),
    "pkg_tensor_ndim": (c.c_int32, [Handle]),
    "pkg_tensor_sizes": (INTS, [Handle]),
    "pkg_tensor_numel": (c.c_int64, [Handle]),
    "pkg_tensor_dtype": (c.c_int32, [Handle]),
    "pkg_tensor_data": (Handle, [Handle, Status]),
    "pkg_tensor_mutable_data": (Handle, [Handle, Status]),
    "pkg_tensor_copy_out": (c.c_bool, [Handle, Handle, c.c_size_t, Status]),
    "pkg_live_tensors": (c.c_int64, []),
    "pkg_value_clear": (None, [c.POINTER(Value)]),
    "pkg_op_find": (Handle, [c.c_char_p, Status]),
    "pkg_op_schema": (c.c_size_t, [Handle, c.c_char_p, c.c_size_t]),
    "pkg_op_call": (
        c.c_int32,
        [Handle, c.POINTER(Arg), c.c_size_t, c.POINTER(Value), Status],
    ),
    "pkg_specs_set": (
        c.c_bool,
        [Handle, c.c_int32, INTS, c.c_int32, c.c_int32, Status],
    ),
    "pkg_register_op": (Handle, [c.c_char_p, c.POINTER(Definition), Status]),
    "pkg_load_library": (c.c_bool, [c.c_char_p, Status]),
    "pkg_tensor_requires_grad": (c.c_bool, [Handle]),
    "pkg_tensor_set_requires_grad": (c.c_bool, [Handle, c.c_bool, Status]),
    "pkg_tensor_grad": (Handle, [Handle, Status]),
    "pkg_backward": (
        c.c_bool,
        [c.POINTER(Handle), c.POINTER(Handle), c.c_size_t, c.c_bool, c.c_bool, Status],
    ),
    "pkg_set_grad_enabled": (c.c_bool, [c.c_bool]),
    "pkg_synchronize": (c.c_bool, [Status]),
    "pkg_shutdown": (c.c_bool, [c.c_double, Status]),
}


class CError(Exception):
    """An error of the runtime; `name` is its class there."""

    def __init__(self, name: str, text: str) -> None:
        super().__init__(f"{name}: {text}")
        self.name = name
        self.text = text


class DType(str):
    """Name of a dtype as an argument."""


class Device(int):
    """Number of a device as an argument."""


class Api:
    """The loaded library: its functions by name, and the registered callbacks."""

    signatures = SIGNATURES

    def __init__(self, path: str) -> None:
        self.library = c.CDLL(path)
        for name, (result, parameters) in self.signatures.items():
            function = getattr(self.library, name)
            function.restype, function.argtypes = result, parameters
        assert self.library.pkg_abi() == ABI
        self.keep: list[object] = []  # callbacks live as long as their ops
        self.local = threading.local()

    def __getattr__(self, name: str):
        return getattr(self.library, "pkg_" + name)

    def status(self) -> int:
        """This thread's status object."""
        if not hasattr(self.local, "status"):
            self.local.status = self.status_new()
        return self.local.status

    def check(self, name: str, *args: object):
        """Calls a function that takes a status; an error becomes a CError."""
        result = getattr(self, name)(*args, self.status())
        code = self.status_code(self.status())
        if code:
            text = self.status_text(self.status()).decode()
            raise CError(self.code_name(code).decode(), text)
        return result

    def tensor(self, values: list, shape: tuple | None = None, dtype: str = "float32"):
        """A tensor with a copy of `values`."""
        shape = (len(values),) if shape is None else shape
        data = struct.pack(f"{len(values)}{STRUCT_CODES[dtype]}", *values)
        args = [data, (c.c_int64 * len(shape))(*shape), len(shape), DTYPES.index(dtype)]
        return Tensor(self, self.check("tensor_from_data", *args))

    def op(self, name: str, /, *args: object, **named: object):
        """Calls an op; one result comes bare, several as a list."""
        alive: list[object] = []
        given = [(None, a) for a in args] + [(k.encode(), a) for k, a in named.items()]
        boxed = (Arg * len(given))(*[Arg(k, to_value(a, alive)) for k, a in given])
        results = (Value * MAX_RESULTS)()
        handle = self.check("op_find", name.encode())
        n = self.check("op_call", handle, boxed, len(given), results)
        found = [self.from_value(results[i]) for i in range(n)]
        return found[0] if n == 1 else found

    def from_value(self, value: Value):
        """A result as a Python object, which takes over what it owns."""
        kind, pointer = value.kind, value.as_.pointer
        if kind == TENSOR:
            return Tensor(self, pointer)
        if kind == TENSOR_LIST:
            handles = c.cast(pointer, c.POINTER(Handle))
            made = [
                Tensor(self, self.tensor_retain(handles[i]))
                for i in range(value.length)
            ]
            self.value_clear(c.byref(value))
            return made
        return plain(value)

    def register(
        self, schema: str, compute, shape=None, gradient=None, dtypes="float32"
    ):
        """Registers `pytest::<schema>` with Python callables.

        `compute(args, results)` and `shape(args)` get plain values and borrowed
        tensors; `gradient(args, grads)` returns tensors or None.
        """

        def report(status: int, function, *args: object):
            try:
                return function(*args)
            except CError as error:
                name = error.name.encode()
                code = next(i for i in range(1, 15) if self.code_name(i) == name)
                self.status_set(status, code, error.text.encode())
            except Exception:
                text = traceback.format_exc()
                self.status_set(status, 1, text.encode())
            return None

        def unpack(args, n: int) -> list:
            return [self.lent(args[i]) for i in range(n)]

        def on_shape(_, args, n, specs, status) -> None:
            found = report(status, shape, unpack(args, n)) or []
            for i, (sizes, dtype) in enumerate(found):
                sizes = (c.c_int64 * len(sizes))(*sizes)
                code = DTYPES.index(dtype)
                self.specs_set(specs, i, sizes, len(sizes), code, status)

        def on_compute(_, args, n, results, n_results, status) -> None:
            tensors = [Tensor(self, results[i], owned=False) for i in range(n_results)]
            report(status, compute, unpack(args, n), tensors)

        def on_gradient(_, args, n, results, grads, n_out, found, n_in, status) -> None:
            lent = [Tensor(self, grads[i], owned=False) for i in range(n_out)]
            made_here = report(status, gradient, unpack(args, n), lent) or []
            for i, made in enumerate(made_here):
                if made is not None:
                    found[i] = self.tensor_retain(made.handle)

        definition = Definition(
            schema.encode(),
            b"Registered from ctypes.",
            SHAPE(on_shape) if shape else SHAPE(0),
            COMPUTE(on_compute),
            dtypes.encode(),
            False,
            GRADIENT(on_gradient) if gradient else GRADIENT(0),
            None,
        )
        self.keep.append(definition)
        return self.check("register_op", b"pytest", c.byref(definition))

    def lent(self, value: Value):
        """An argument of a callback; tensors stay the caller's."""
        if value.kind == TENSOR:
            return Tensor(self, value.as_.pointer, owned=False)
        return plain(value)


class Tensor:
    """A handle; deletes it when it owns it."""

    def __init__(self, api: Api, handle: int, owned: bool = True) -> None:
        self.api, self.handle, self.owned = api, handle, owned

    def __del__(self) -> None:
        if self.owned:
            self.api.tensor_delete(self.handle)

    @property
    def shape(self) -> tuple:
        """Sizes."""
        sizes = self.api.tensor_sizes(self.handle)
        return tuple(sizes[: self.api.tensor_ndim(self.handle)])

    @property
    def dtype(self) -> str:
        """Name of the dtype."""
        return DTYPES[self.api.tensor_dtype(self.handle)]

    @property
    def numel(self) -> int:
        """Number of elements."""
        return self.api.tensor_numel(self.handle)

    def values(self) -> list:
        """The elements, row by row."""
        code = STRUCT_CODES[self.dtype]
        out = c.create_string_buffer(struct.calcsize(f"{self.numel}{code}"))
        self.api.check("tensor_copy_out", self.handle, out, len(out))
        return list(struct.unpack(f"{self.numel}{code}", out))

    def floats(self, write: bool = False):
        """The memory of a contiguous float32 tensor."""
        name = "tensor_mutable_data" if write else "tensor_data"
        data = self.api.check(name, self.handle)
        return c.cast(data, c.POINTER(c.c_float * self.numel)).contents

    def require_grad(self):
        """Starts collecting gradients; returns self."""
        self.api.check("tensor_set_requires_grad", self.handle, True)
        return self

    @property
    def grad(self):
        """The accumulated gradient or None."""
        handle = self.api.check("tensor_grad", self.handle)
        return Tensor(self.api, handle) if handle else None

    def backward(self) -> None:
        """Adds gradients to the leaves."""
        self.api.check("backward", c.byref(Handle(self.handle)), None, 1, False, False)


def plain(value: Value):
    """A value that is no tensor."""
    kind, pointer = value.kind, value.as_.pointer
    if kind == FLOAT:
        return value.as_.number
    if kind in (BOOL, INT, DTYPE, DEVICE):
        return bool(value.as_.integer) if kind == BOOL else value.as_.integer
    if kind == STRING:
        return c.string_at(pointer, value.length).decode()
    if kind in (INT_LIST, FLOAT_LIST):
        item = c.c_int64 if kind == INT_LIST else c.c_double
        return c.cast(pointer, c.POINTER(item))[: value.length]
    assert kind == NONE, kind
    return None


def to_value(given: object, alive: list) -> Value:
    """A Python object as pkg_value; `alive` keeps what it points to."""

    def pointing(kind: int, memory, length: int) -> Value:
        alive.append(memory)
        return Value(kind, 0, length, As(pointer=c.cast(memory, c.c_void_p).value))

    if given is None:
        return Value(NONE)
    if isinstance(given, Tensor):
        return Value(TENSOR, 0, 0, As(pointer=given.handle))
    if isinstance(given, DType):
        return Value(DTYPE, 0, 0, As(integer=DTYPES.index(given)))
    if isinstance(given, Device):
        return Value(DEVICE, 0, 0, As(integer=given))
    if isinstance(given, bool):
        return Value(BOOL, 0, 0, As(integer=given))
    if isinstance(given, int):
        return Value(INT, 0, 0, As(integer=given))
    if isinstance(given, float):
        return Value(FLOAT, 0, 0, As(number=given))
    if isinstance(given, str):
        text = given.encode()
        return pointing(STRING, c.create_string_buffer(text), len(text))
    assert isinstance(given, list), given
    n = len(given)
    if n and isinstance(given[0], Tensor):
        return pointing(TENSOR_LIST, (Handle * n)(*[t.handle for t in given]), n)
    if n and isinstance(given[0], float):
        return pointing(FLOAT_LIST, (c.c_double * n)(*given), n)
    return pointing(INT_LIST, (c.c_int64 * n)(*given), n)


def raises(name: str, text: str, function, *args: object, **named: object) -> None:
    """Asserts that the call fails with this class and a message containing `text`."""
    try:
        function(*args, **named)
    except CError as error:
        assert error.name == name and text in error.text, error
    else:
        raise AssertionError(f"no {name}")


# --- Scenarios -----------------------------------------------------------------------


def tensors_and_attributes(api: Api) -> None:
    """Tensors both ways, and each kind of attribute."""
    x = api.tensor([1, 2, 3, 4, 5, 6], (2, 3))
    assert (x.shape, x.dtype, x.numel) == ((2, 3), "float32", 6)
    assert api.op("transpose", x, 0, 1).values() == [1, 4, 2, 5, 3, 6]
    assert api.op("add", x, x, alpha=0.5).values()[5] == 9
    assert api.op("mul", x, 2).values()[5] == 12
    total = api.op("sum", x, dim=[0], keepdim=True, dtype=DType("float64"))
    assert (total.shape, total.dtype) == ((1, 3), "float64")
    assert total.values() == [5, 7, 9]
    assert api.op("sum", x, dim=None).values() == [21]
    assert api.op("zeros", [2, 2], device=Device(1)).shape == (2, 2)
    assert api.op("cat", [x, x], dim=1).shape == (2, 6)
    assert [t.shape for t in api.op("split", x, 2, dim=1)] == [(2, 2), (2, 1)]
    values, indices = api.op("max.dim", x, 1)
    assert (values.values(), indices.values()) == ([3, 6], [2, 2])


def borrowed_memory(api: Api) -> None:
    """A buffer of Python's is seen without a copy and released once."""
    released = []
    callback = RELEASE(released.append)
    buffer = array.array("d", [1, 2, 3])
    address, n = buffer.buffer_info()
    sizes = (c.c_int64 * 1)(n)
    dtype = DTYPES.index("float64")
    args = [address, sizes, None, 1, dtype, callback, 7]
    tensor = Tensor(api, api.check("tensor_borrow", *args))
    buffer[1] = 20
    view = api.op("unsqueeze", tensor, 0)
    assert view.values() == [1, 20, 3]
    del tensor
    assert released == []
    del view
    assert released == [7]


def gradients(api: Api) -> None:
    """A loss is differentiated down to two leaves."""
    w = api.tensor([1, 2, 3, 4], (2, 2)).require_grad()
    x = api.tensor([1, -1], (2, 1)).require_grad()
    assert w.grad is None
    api.op("sum", api.op("relu", api.op("neg", api.op("matmul", w, x)))).backward()
    assert w.grad.values() == [-1, 1, -1, 1]
    assert x.grad.values() == [-4, -6]
    before = api.set_grad_enabled(False)
    unrecorded = api.op("mul", w, 2)
    assert before and not api.tensor_requires_grad(unrecorded.handle)
    api.set_grad_enabled(True)
    raises("RuntimeError", "does not require grad", api.op("mul", x.grad, 1).backward)


def errors(api: Api) -> None:
    """Classes and texts; nothing stays alive after a failure."""
    x = api.tensor([1, 2])
    live = api.live_tensors()
    raises("LookupError", "No op registered: pkg::nope", api.op, "nope", x)
    raises(
        "TypeError",
        "expected a Tensor or a number for 'other', got str",
        api.op,
        "add",
        x,
        "y",
    )
    raises("TypeError", "missing required argument: 'other'", api.op, "add", x)
    raises("TypeError", "unexpected keyword argument 'b'", api.op, "add", x, x, b=1)
    raises("TypeError", "takes 2 positional arguments but 3", api.op, "add", x, x, 1)
    text = "expected an int for 'dim', got float"
    raises("TypeError", text, api.op, "softmax", x, dim=0.5)
    raises("IndexError", "5", api.op, "softmax", x, dim=5)
    raises("RuntimeError", "", api.op, "add", x, api.tensor([1, 2, 3]))
    raises("TypeError", "got NULL", api.check, "tensor_data", None)
    raises("ImportError", "/nowhere.so", api.check, "load_library", b"/nowhere.so")
    gc.collect()
    assert api.live_tensors() == live


def python_op(api: Api) -> None:
    """An op whose rule, kernel and gradient are Python functions."""

    def shape(args: list) -> list:
        x, times, _ = args
        return [((times, *x.shape), x.dtype)]

    def compute(args: list, results: list) -> None:
        x, times, label = args
        if label != "stack":
            raise CError("KeyError", f"unknown label {label!r}")
        if times > 5:
            raise ZeroDivisionError("too often")
        row = x.floats()
        out = results[0].floats(write=True)
        for i in range(times):
            out[i * len(row) : (i + 1) * len(row)] = [v * (i + 1) for v in row]

    def gradient(args: list, grads: list) -> list:
        x, times, _ = args
        steps = api.tensor(list(range(1, times + 1)), (times, *[1] * len(x.shape)))
        return [api.op("sum", api.op("mul", grads[0], steps), dim=[0])]

    schema = "multiples(Tensor self, int times=2, str label='stack') -> Tensor"
    op = api.register(schema, compute, shape, gradient)
    text = c.create_string_buffer(100)
    api.op_schema(op, text, len(text))
    assert text.value.decode() == schema

    x = api.tensor([1, 10]).require_grad()
    y = api.op("pytest::multiples", x, times=3)
    assert (y.shape, y.values()) == ((3, 2), [1, 10, 2, 20, 3, 30])
    api.op("sum", y).backward()
    assert x.grad.values() == [6, 6]
    assert api.op("pytest::multiples", x).shape == (2, 2)
    raises("KeyError", "unknown label 'x'", api.op, "pytest::multiples", x, label="x")
    raises("Error", "ZeroDivisionError: too often", api.op, "pytest::multiples", x, 6)
    meta = api.op("zeros", [4], device=Device(1))
    assert api.op("pytest::multiples", meta, 6).shape == (6, 4)  # no data, no kernel


def many_threads(api: Api) -> None:
    """Python kernels and errors of eight threads do not meet."""

    def compute(args: list, results: list) -> None:
        source, target = args[0].floats(), results[0].floats(write=True)
        if source[0] < 0:
            raise CError("ValueError", f"negative in thread {args[1]}")
        target[:] = [v + args[1] for v in source]

    api.register("shift(Tensor self, int by) -> Tensor", compute)
    failures = []

    def work(number: int) -> None:
        try:
            good, bad = api.tensor([1.0]), api.tensor([-1.0])
            text = f"negative in thread {number}"
            for _ in range(200):
                assert api.op("pytest::shift", good, number).values() == [1 + number]
                raises("ValueError", text, api.op, "pytest::shift", bad, number)
        except BaseException:
            failures.append(traceback.format_exc())

    threads = [threading.Thread(target=work, args=(i,)) for i in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures, failures[0]
    assert api.check("synchronize")


def ten_thousand_rounds(api: Api) -> None:
    """Calls, gradients, lists, callbacks and errors leave nothing behind."""
    api.register(
        "copy(Tensor self) -> Tensor",
        lambda args, results: None,
        gradient=lambda args, grads: [grads[0]],
    )
    x = api.tensor([1.0, 2.0]).require_grad()

    def one_round(i: int) -> None:
        y = api.op("mul", api.op("pytest::copy", x), x)
        api.op("sum", y).backward()
        if i % 10 == 0:
            assert len(api.op("split", y, 1)) == 2
            raises("TypeError", "unexpected", api.op, "mul", x, x, z=1)

    one_round(0)
    live = api.live_tensors()
    for i in range(10_000):
        one_round(i)
    assert api.live_tensors() == live


def libraries(api: Api, good: str, broken: str, plain_c: str, broken_c: str) -> None:
    """C++ and C libraries of ops; one that fails registers nothing and says why."""

    def load(path: str) -> bool:
        return api.check("load_library", path.encode())

    assert load(good) and load(good)  # a second time does nothing
    assert api.op("loaded::twice", api.tensor([1.5])).values() == [3]
    raises("RuntimeError", f"{broken}, block at ", load, broken)
    raises("RuntimeError", "That was the first attempt", load, broken)
    raises("LookupError", "broken::fine", api.op, "broken::fine", api.tensor([1.0]))

    assert load(plain_c) and load(plain_c)
    assert api.op("plain::negate", api.tensor([1.5])).values() == [-1.5]
    for _ in range(2):
        raises("ValueError", f"{broken_c}: [schema] expected", load, broken_c)
    raises(
        "LookupError", "plain_broken", api.op, "plain_broken::negate", api.tensor([1])
    )


def pythran(api: Api, folder: str) -> None:
    """A kernel that pythran compiled from Python runs as an op."""
    sys.path.insert(0, folder)
    from kernels import shifted_square as capsule

    get_name = c.pythonapi.PyCapsule_GetName
    get_name.restype, get_name.argtypes = c.c_char_p, [c.py_object]
    get_pointer = c.pythonapi.PyCapsule_GetPointer
    get_pointer.restype, get_pointer.argtypes = c.c_void_p, [c.py_object, c.c_char_p]
    signature = c.CFUNCTYPE(None, c.c_void_p, c.c_void_p, c.c_long)
    kernel = signature(get_pointer(capsule, get_name(capsule)))

    def compute(args: list, results: list) -> None:
        source = api.check("tensor_data", args[0].handle)
        target = api.check("tensor_mutable_data", results[0].handle)
        kernel(source, target, results[0].numel)

    schema = "shifted_square(Tensor self) -> Tensor"
    api.register(schema, compute, dtypes="float64")
    x = api.tensor([0.5, -3.0, 100.0], dtype="float64")
    assert api.op("pytest::shifted_square", x).values() == [1.25, 10.0, 10001.0]


SCENARIOS = [
    tensors_and_attributes,
    borrowed_memory,
    gradients,
    errors,
    python_op,
    many_threads,
    ten_thousand_rounds,
]


def run_scenario(api: Api, scenario, *args: str) -> None:
    """Runs one scenario and checks what it left."""
    live = api.live_tensors()
    scenario(api, *args)
    gc.collect()
    assert api.live_tensors() == live, (api.live_tensors(), live)
    assert api.check("shutdown", 5.0)
    assert not [name for name in sys.modules if "pywrap_core" in name or name == "pkg"]
    print(f"{scenario.__name__} passed with pkg {api.version().decode()}")


def main(library: str, scenario: str, *args: str) -> None:
    """One of the scenarios above, by name."""
    run_scenario(Api(library), globals()[scenario], *args)


if __name__ == "__main__":
    main(*sys.argv[1:])
