# SPDX-License-Identifier: Apache-2.0
"""What stands in the headers of libraries: cases/headers.h by pybind11 and the kit."""

import pytest

THEME = "headers"


def test_declarations_of_c(m):
    assert m.add_c(2, b=3) == 5
    assert m.C_BLUE == m.CColor.C_BLUE == m.CColor(5)
    point = m.CPoint()
    point.x, point.y = 3, 4
    assert m.sum_c(point) == 7


def test_texts_in_arrays(m, kit):
    if not kit:
        pytest.skip("pybind11 has no attribute of this kind")
    record = m.Record()
    for text in ("", "a", "1234567", "é"):
        record.name = text
        assert record.name == text
    for text in ("12345678", "much too long", "é" * 4):
        with pytest.raises(
            ValueError, match="expected at most 7 bytes for 'name', got"
        ):
            record.name = text
    assert record.name == "é" and record.raw == [1, 2, 3, 4]
    assert m.kSteps == [1, 2, 4]


def test_constants_of_classes(m, kit):
    record = m.Record()
    assert m.Record.pi == record.pi == 3.5 and m.Record.big == record.big == 7
    for name in ("pi", "big"):
        with pytest.raises(AttributeError):
            setattr(m.Record, name, 1)
    m.Record.count = 5
    assert record.count == 5
    with pytest.raises(TypeError) as info:
        m.Record.count = "x"
    if kit:
        assert str(info.value) == "[Record] expected an int for 'count', got str"
    m.Record.count = 2


def test_nested_classes_of_one_name(m, kit):
    assert m.Reader.Options().buffer == 1 and m.Writer.Options().buffer == 2
    assert m.Writer().options.sync and not hasattr(m.Reader.Options(), "sync")
    assert m.Writer.Options.__qualname__ == "Writer.Options"
    reader = m.Reader()
    reader.options.buffer = 9
    assert reader.options.buffer == 9
    with pytest.raises(TypeError):
        reader.options = m.Writer.Options()
    if kit:
        assert m.Writer.Options.Mode.safe == 1
        assert not [name for name in dir(m) if name.startswith("swigkit")]


def test_inherited_constructors(m, kit):
    assert (
        m.Derived().level == 1
        and m.Derived(3).get() == 3
        and m.Derived(level=4).level == 4
    )
    with pytest.raises(TypeError):
        m.Derived(m.Base(1))
    if kit:

        class Own(m.Derived):
            def get(self):
                return 10 * self.level

        assert m.get(Own(5)) == 50


def test_owners_with_deleters(m, kit):
    if not kit:
        pytest.skip("pybind11 does not take one")
    crate = m.pack()
    before = m.Crate.opened
    assert crate.weight == 4
    del crate
    assert m.Crate.opened == before + 1
    crate = m.Crate()
    assert m.unpack(crate) == 4 and m.Crate.opened == before + 2
    with pytest.raises(ValueError, match="given to C"):
        print(crate.weight)


def test_owners_of_const(m, kit):
    if kit:
        assert m.sealed().weight == 4 and [c.weight for c in m.all_sealed()] == [4]


def test_overloads_take_the_nearest_base(m):
    assert [m.level(c()) for c in (m.L0, m.L1, m.L2, m.L3)] == ["L0", "L0", "L2", "L2"]

    class Own(m.L3):
        pass

    assert m.level(Own()) == "L2"


@pytest.mark.parametrize(
    "make",
    [
        lambda: [1, 2],
        lambda: (1, 2),
        lambda: {1, 2},
        lambda: {1: 0, 2: 0}.keys(),
        lambda: {0: 1, 1: 2}.values(),
        lambda: (n for n in (1, 2)),
        lambda: map(int, "12"),
        lambda: range(1, 3),
    ],
)
def test_whatever_is_iterated_over_is_a_sequence(m, make):
    assert m.total(make()) == 3


def test_what_is_no_sequence(m, kit):
    for wrong in ({1: 2}, "12", b"12", 3, None, [1, "2"]):
        with pytest.raises(TypeError):
            m.total(wrong)

    def failing():
        yield 1
        raise LookupError("of the generator")

    with pytest.raises(LookupError if kit else (LookupError, TypeError)):
        m.total(failing())


def test_bytes_as_a_text(m):
    assert m.size_of(b"\xff\0z") == m.size_of_view(b"\xff\0z") == 3
    assert m.size_of("é") == 2
    assert m.kind("a") == "text" and m.kind([1]) == "numbers" == m.kind((1,))
    with pytest.raises(TypeError):
        m.size_of(3)


def test_tuples_of_references(m, kit):
    if kit:
        assert m.tied() == (3, "s")


def test_errors_of_other_categories(m, kit):
    with pytest.raises(OSError if kit else RuntimeError) as info:
        m.fail_io()
    assert "io" in str(info.value)
    if kit:
        assert info.value.errno is None


def test_function_pointers(m, kit):
    """They come as callables, and go back as what they were."""
    plus, times = m.pick("+"), m.pick("*")
    assert plus(2, 3) == 5 and times(2, 3) == 6 and m.pick("-") is None
    assert m.apply(plus, 2, 3) == 5 and m.apply(times, 2, 3) == 6
    assert m.apply_any(times, 7) == 49 and m.apply_any(lambda a, b: a - b, 7) == 0
    for wrong in (lambda a, b: a, max, 3, None):
        with pytest.raises(TypeError) as info:
            m.apply(wrong, 2, 3)
        assert not kit or "expected a function that C++ gave" in str(info.value)
    for arguments in ((), (1,), (1, 2, 3), ("1", 2)):
        with pytest.raises(TypeError):
            plus(*arguments)
    if kit:
        assert m.apply_fast(times, 4) == 16 == m.apply_or(4, times)
        assert m.apply_or(4) == m.apply_or(4, None) == -1
        table = m.Table()
        assert table.run(2, 3) == 5
        table.function = times
        assert table.run(2, 3) == 6 and table.function(3, 3) == 9
        table.function = None
        assert table.run(2, 3) == -1 and table.function is None


def test_arrays(m, kit):
    assert m.kHalves == [0.5, 1.5]
    if kit:
        assert m.sum_of_three((1, 2, 3)) == 6 and m.first_of([4, 5]) == 4
        with pytest.raises((TypeError, ValueError)):
            m.sum_of_three([1, 2])
        assert m.quoted.__doc__.endswith('A \\ and "quotes".')
