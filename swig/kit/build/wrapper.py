# SPDX-License-Identifier: Apache-2.0
"""SWIG's output and what is changed in it: the text of each function, of the rows that
the kit's classes and enums take the place of, and of the directors.

Nothing is guessed: a function that does not look as SWIG 4.5.1 writes it is a StepError
with its name.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from . import tree
from .notation import LITERAL, scope
from .protected import open_protected


class StepError(Exception):
    """SWIG's output is not what this step was written for."""


DEFINITION = (
    r"^SWIGINTERN PyObject \*{name}\(PyObject \*(?:self|SWIGUNUSEDPARM\(self\)), "
    r"(?:PyObject \*(?:args|SWIGUNUSEDPARM\(args\))"
    r"|Py_ssize_t nobjs, PyObject \*\*(?:swig_obj|SWIGUNUSEDPARM\(swig_obj\)))\) \{{\n"
    r"(?P<body>.*?)^\}}\n(?=\n)"
)
VARIADIC = (
    r"^SWIGINTERN PyObject \*{name}(?:__varargs__)?\((?:[^()]|\(\w+\))*\) \{{\n"
    r".*?^\}}\n(?=\n)"
)
SLOTS_ARRAY = re.compile(r"^ *PyObject \*swig_obj\[\d+\] ;\n", re.MULTILINE)
UNPACK = (
    re.compile(r" *if \(!args\) SWIG_fail;\n *swig_obj\[0\] = args;\n"),
    re.compile(
        r' *if \(!SWIG_Python_UnpackTuple\(args, "\w+", \d+, \d+, (?:swig_obj|0)\)\) '
        r"SWIG_fail;\n"
    ),
    re.compile(r" *if \(\(nobjs < \d+\) \|\| \(nobjs > \d+\)\) SWIG_fail;\n"),
)
MAYBE = re.compile(
    r"fail:\n(?:  if \(PyErr_Occurred\(\) && .*\) \{\n    return NULL;\n  \}\n)?"
    r"(?:  PyErr_Clear\(\);\n)?"
    r"  SWIG_Py_INCREF\(Py_NotImplemented\);\n  return Py_NotImplemented;\n"
)
METHODS = re.compile(
    r"^static PyMethodDef SwigMethods\[\] = \{\n.*?^\};\n", re.M | re.S
)
WHERE = re.compile(r'(\bswigkit::Argument)\{\s*"\w+", "(\w*)"(, true)?\s*\}')
CONSTANT = re.compile(r'^  SWIG_Python_SetConstant\(d, "(\w+)",.*\);\n', re.MULTILINE)
VARIABLE = re.compile(r'^  SWIG_addvarlink\(globals, "(\w+)", (\w+), (\w+)\);\n', re.M)
WRITTEN, IN_CLASS = "SWIGKIT_AS_WRITTEN(", "SWIGKIT_WRITTEN_IN_CLASS("
GIVEN = "std::move(*(&result))"
RESULT_VALUE = re.compile(
    r"^ *(?:SwigValueWrapper< ?(.+?) ?>|(\S.*?)) result ?;\n", re.M
)
ARGUMENT_VALUE = re.compile(r"^ *SwigValueWrapper<(.+)> arg(\d+) ?;\n", re.M)
HELD = re.compile(r"^ *swigkit::In< (.*) > held(\d+) ?;$", re.MULTILINE)
# Of variables in a wrapper, which hide functions of the global namespace.
TAKEN_NAMES = {"self", "matching", "result", "resultobj", "swig_obj"}
OUTPUT = re.compile(r"(PyObject \*output = swigkit::)to_python\((std::move\(made)")
# Of an argument by reference.
OUTLIVED = re.compile(
    r"^ *swigkit::In< ((?:std::remove_pointer_t|swigkit::Pointee)< .* >) > "
    r"(held\d+) ?;$",
    re.MULTILINE,
)
ASSIGNED = re.compile(r"^( *)result = (.*);\n", re.MULTILINE)
MEMBER_SET = re.compile(
    r"if \(arg1\) (\(arg1\)->.*?) = (?:\([^()]+\))?(\*arg2|arg2);$", re.MULTILINE
)
HELD_VALUE = re.compile(r"swigkit::In(Pointer)?<.*> held2 ?;\n")
MEMBER_GET = re.compile(r"^( *)result = +(\(\(arg1\)->\w+\));\n", re.MULTILINE)
# The call of a constructor as errors.i has it, and words that may give the GIL up.
PLAIN_CALL = re.compile(r"\{\s*try \{\s*result = ")
RELEASES = re.compile(r"Gil|SaveThread|ALLOW|give_gil_up")
ABSTRACT = re.compile(
    r"SWIG_SetErrorMsg\(PyExc_RuntimeError,"
    r'"accessing abstract class or protected constructor"\);(\s*)SWIG_fail;'
)
# A default value of a type of several words, as SWIG writes T() of a template.
DEFAULT_LINE = re.compile(r"^.*\barg\d+(?:_defvalue)? = .*;$", re.MULTILINE)
BUILT_IN = re.compile(
    LITERAL + r"|(?<=[=(,+*/ -])"
    r"((?:(?:unsigned|signed|long|short) )+(?:int|char|long|short|double))\((?!\*)"
)
MADE = re.compile(r"swigkit::give\(std::move\(\*\(&result\)\), SWIGKIT_ARGUMENTS\)")


class Wrapper:
    """The text, and the functions that were changed in it."""

    def __init__(self, text: str, module: tree.Module) -> None:
        self.text = text
        self.module = module
        self._done: set[str] = set()
        self._kept: dict[str, bool] = {}  # what %keeps_alive says, and whether it holds

    def take_array(self, function: tree.Function, title: str, member: bool) -> None:
        """SWIG's function takes its arguments from an array; done once."""
        name = function.wrapper
        if name in self._done:
            return
        self._done.add(name)
        found = re.search(DEFINITION.format(name=name), self.text, re.M | re.S)
        if not found:
            raise StepError(f"{name}: found no definition as SWIG 4.5.1 writes it")
        body = self._body(found["body"], function, title, member)
        new = (
            f"static PyObject *{name}(PyObject *self, PyObject **swig_obj, "
            f"swigkit::Matching *matching) try {{\n{body}}} catch (...) {{\n"
            "  swigkit::translate();\n  return nullptr;\n}\n"
        )
        self.text = self.text[: found.start()] + new + self.text[found.end() :]
        self._drop_dispatcher(name)

    def has(self, name: str) -> bool:
        """Whether SWIG has written this function."""
        return f"PyObject *{name}(" in self.text

    def assign(self, setter: str, own: bool) -> None:
        """SWIG's function that sets a member: the kit assigns what can be.

        `own`: an object of Python's is copied.
        """
        source = r"\2" if own else r"std::move(\2)"
        self._set(setter, rf"if (arg1 && !swigkit::assign(\1, {source})) SWIG_fail;")

    def _set(self, setter: str, instead: str) -> None:
        # What stands instead of the assignment in a function that sets a member.
        found = re.search(DEFINITION.format(name=setter), self.text, re.M | re.S)
        if found:
            body = MEMBER_SET.sub(instead, found["body"])
            self.text = self.text.replace(found["body"], body, 1)

    def point(self, setter: str, title: str, variable: tree.Variable) -> None:
        """A pointer points to what lasts: not to a value that was converted."""
        where = f'swigkit::Argument{{"{title}", "{variable.name}"}}'
        self._set(
            setter,
            rf"if (arg1 && !swigkit::set_address(\1, \2, {where}, swig_obj)) "
            "SWIG_fail;",
        )

    def borrow(self, getter: str) -> None:
        """SWIG's function that gives a member that is a PyObject*: a new reference."""
        found = re.search(DEFINITION.format(name=getter), self.text, re.M | re.S)
        if found:
            body = found["body"].replace(
                "resultobj = result;", "resultobj = swigkit::get_object(result);"
            )
            self.text = self.text.replace(found["body"], body, 1)

    def keep(self, setter: str, title: str, variable: tree.Variable) -> None:
        """What a member refers to then lives as long as its object has it."""
        found = re.search(DEFINITION.format(name=setter), self.text, re.M | re.S)
        held = HELD_VALUE.search(found["body"]) if found else None
        if not found or not held:
            return
        where = f'swigkit::Argument{{"{title}", "{variable.name}"}}'
        source = "held2.in" if held[1] else "held2"
        line = (
            "  if (arg1 && !swigkit::keep_value(swig_obj[0], "
            f"std::addressof(arg1->{variable.cpp}), {source}, swig_obj[1], {where}, "
            "before2)) SWIG_fail;\n"
        )
        # Before the assignment, which is the first thing after the second argument.
        before = f"{held[0]}  swigkit::Replaced before2;\n"
        body = found["body"].replace(held[0], before, 1)
        loaded = body.index("held2.load(")
        end = body.index("\n  }\n", loaded) + len("\n  }\n")
        body = body[:end] + line + body[end:]
        self.text = self.text.replace(found["body"], body, 1)

    def narrow(self, setter: str, title: str, variable: tree.Variable) -> None:
        """What a bit-field cannot hold is refused: C++ would take some bits of it."""
        where = f'swigkit::Argument{{"{title}", "{variable.name}"}}'
        self._set(
            setter,
            r"if (arg1) {\n    const auto before = \1;\n    \1 = \2;\n"
            r"    if (\1 != \2) {\n      \1 = before;\n"
            f"      swigkit::refuse_range({where}, "
            f'"what fits into {variable.bits} bits", swig_obj[1]);\n'
            "      SWIG_fail;\n    }\n  }",
        )

    def name_static(self, cls: tree.Class, variable: tree.Variable, title: str) -> None:
        """Errors of a static member say whose it is."""
        name = variable.name.removesuffix("_")
        pattern = rf'(set_variable\(_val, .*), "{cls.symbol}__?{name}"\)'
        self.text = re.sub(pattern, rf'\1, "{variable.name}", "{title}")', self.text)

    def make_constructor(self, cls: tree.Class, function: tree.Function) -> None:
        """The result of SWIG's function becomes the object that Python has made."""
        found = re.search(
            DEFINITION.format(name=function.wrapper), self.text, re.M | re.S
        )
        if not found:
            raise StepError(f"{function.wrapper}: found no definition")
        overridden = "arg1 != Py_None" if cls.overridable else "false"
        body, held = found["body"], ""
        if "implicit" in cls.features:  # it may be a view of what the argument was made
            held = "".join(
                f" && {one[2]}.keep(self)" for one in OUTLIVED.finditer(body)
            )
            body = OUTLIVED.sub(r"  swigkit::Outliving< \1 > \2 ;", body)
        finish = (
            f"return swigkit::finish_construction<{cls.cpp}>(self, result, "
            f"{overridden}) == 0{held} ? swigkit::new_ref(Py_None) : nullptr;"
        )
        body, count = re.subn(
            r"resultobj = swigkit::refer< SWIG_POINTER_OWN >\(result, [^;]*\);",
            finish,
            body,
        )
        if count != 1:
            raise StepError(f"{function.wrapper}: expected one result, got {count}")
        if cls.overridable and "PyObject *arg1" not in body:
            raise tree.TreeError(
                f"%overridable({cls.cpp}): expected virtual methods and a destructor "
                "that is not final, SWIG found nothing to override"
            )
        left = ", ".join(self.module.pure_methods(cls))
        body = ABSTRACT.sub(
            f'swigkit::refuse_abstract("{cls.name}", "{left}");\\1SWIG_fail;', body
        )
        value = "true" if "value" in cls.features else "false"
        # Memory that is free is for who has the GIL.
        has_gil = PLAIN_CALL.search(body) and not RELEASES.search(body)
        own = "self" if has_gil else "self, false"
        if function.implicit:  # as SWIG guesses, which does not know all bases
            body = re.sub(
                r"\bnew ([^;()]+)\(\);",
                rf"swigkit::make_default< \1, {value} >({own});",
                body,
            )
        else:  # a small value lies in its Python object
            body = re.sub(
                rf"\bnew ({re.escape(_spelled(cls.cpp))})(\(.*\));",
                rf"(swigkit::kIsPlaced< \1, {value}> "
                rf"? ::new (swigkit::place_of< \1>({own})) \1\2 : new \1\2);",
                body,
            )
        # Of an overridable class the first slot is what Python derives.
        slots = 1 if cls.overridable else 2
        count = 1 + len(function.parameters)
        for keep in self._keeps(function, cls.name, count, slots):
            body = body.replace(
                "return swigkit::finish", f"{keep}    return swigkit::finish"
            )
        for holder, kept in function.keeps:  # done
            del function.features[f"keeps_{holder}_{kept}"]
        self.text = self.text.replace(found["body"], body, 1)

    def _body(
        self, body: str, function: tree.Function, title: str, member: bool
    ) -> str:
        body = SLOTS_ARRAY.sub("", body)
        body = ARGUMENT_VALUE.sub(r"  swigkit::Slot<\1> arg\2;\n", body)
        for kind, number in HELD.findall(body):
            passed = f"swigkit::Passed< {kind} >"
            was, now = f"\n  {kind} arg{number} ", f"\n  {passed} arg{number} "
            body = body.replace(f"{was};", f"{now};")
            body = body.replace(f"{was}= {{", f"{now}= {kind} {{")  # of a default
            body = body.replace(f"{was}= ", f"{now}= ")
        # Of operators SWIG makes every failure NotImplemented, what C++ throws as well.
        body = MAYBE.sub("fail:\n  return NULL;\n", body)
        removed = 0
        for pattern in UNPACK:
            body, count = pattern.subn("", body)
            removed += count
        if removed != 1:
            raise StepError(
                f"{function.wrapper}: expected one unpacking, got {removed}"
            )
        own = self.module.class_of(re.sub(r"^const ", "", function.result))
        body = _construct_result(body, own)
        global_ = function.cpp.partition("<")[0].strip()
        if global_ in TAKEN_NAMES:
            body = re.sub(rf"(?<![\w:.>]){global_}(?=[<(])", f"::{global_}", body)
        # SWIG's name for a default value that is an object of the class itself.
        body = re.sub(r"\b((?:\w+::)*(\w+))::\2\(", self._constructor_name, body)
        body = open_protected(body, title, self.module, self.text)
        body = self._with_defaults(body, function)
        if any("(&*)(" in p.type for p in function.parameters):
            # SWIG takes a reference to a function for a pointer to a pointer to it.
            for argument in re.findall(r"\(\*\*(arg\d+)\)\(", body):
                body = re.sub(rf"([(,])\*{argument}\b", rf"\1**{argument}", body)
        nulls = {p.name for p in function.parameters if p.is_null}

        def where(at: re.Match[str]) -> str:
            optional = "true" if at[3] or at[2] in nulls else "false"
            return f'{at[1]}{{"{title}", "{at[2]}", {optional}, matching}}'

        body = WHERE.sub(where, body)
        body = self._in_class(body, function)
        scope = self._scope(function)
        if scope:
            body = f"  using namespace {scope};\n{body}"
        if function.outputs:
            body = f"  swigkit::Outputs swigkit_outputs;\n{body}"
        if function.outputs and function.gives:
            body = OUTPUT.sub(r"\1give_output(\2", body)
        member = member and not function.static and not function.operand
        count = len(function.parameters) + member
        arguments = f"swig_obj, {count}" if count else "nullptr, 0"
        if member and count > 1:
            arguments = f"swig_obj, {{{count}, true}}"
        # The result may lie in a container that is there for this call alone.
        result = _plain(function.result)
        if function.result.endswith(("&", "*")) and self.module.class_of(result):
            kinds = [p.type for p in function.parameters if not self._is_kept(p.type)]
            if any(_is_converted(kind, result) for kind in kinds):
                arguments += ", std::true_type()"
        body = body.replace("SWIGKIT_ARGUMENTS", arguments)
        objects = ("PyObject *", "swigkit::PyRef")
        python = any(p.type == objects[0] for p in function.given)
        if python and function.result not in objects:
            # As C++ that is written for Python may leave an error in the C API's way.
            failed = "  if (PyErr_Occurred()) Py_CLEAR(resultobj);\n"
            end = "  return resultobj;\n"
            body = body.replace(end, failed + end)
        if function.name.startswith("__i") and "operator" in function.cpp:
            body = body.replace("refer< SWIG_POINTER_OWN >", "refer<0>")
        for keep in self._keeps(function, title, count):
            body = body.replace(
                "  return resultobj;\n", f"  {keep}  return resultobj;\n"
            )
        return body

    def _keeps(
        self, function: tree.Function, title: str, count: int, constructor: int = 0
    ) -> Iterator[str]:
        """The statements that keep one argument, of so many, alive for another;
        `constructor` is, of one, the number of what is in the first slot."""
        for pair in function.keeps:
            what = f"{title}, {pair[0]}, {pair[1]}"
            self._kept.setdefault(what, False)
            if max(pair) <= count:  # else of another overload
                self._kept[what] = True
                holder, kept = (_argument(number, constructor) for number in pair)
                yield f"if (!swigkit::keep_alive({holder}, {kept})) SWIG_fail;\n"

    def _is_kept(self, kind: str) -> bool:
        """Whether an argument of this type is an object that Python has."""
        cls = self.module.class_of(_plain(kind))
        return cls is not None and "implicit" not in cls.features

    def _constructor_name(self, found: re.Match[str]) -> str:
        """geo::Point::Point(...) as C++ spells it; a function of its namespace's name
        stays as it is."""
        names = (cls.cpp for cls in self.module.classes)
        is_class = any(n == found[1] or n.endswith(f"::{found[1]}") for n in names)
        return f"{found[1]}(" if is_class else found[0]

    def _class_around(self, function: tree.Function) -> tree.Class | None:
        """The class that has it as a method or a constructor."""
        for cls in self.module.classes:
            if any(one is function for one in (*cls.methods, *cls.constructors)):
                return cls
        return None

    def _with_defaults(self, body: str, function: tree.Function) -> str:
        """Default values as C++ takes them outside of the class."""
        later: dict[str, str] = {}
        code = _code(function)
        if code and not function.extended and (cls := self._class_around(function)):
            later = self._static_names(cls)
        names = "|".join(sorted(map(re.escape, later), key=len, reverse=True))
        later_name = re.compile(
            rf"{LITERAL}|(?<![\w.])(?<!::)(?<!->)({names})\b(?!\s*::)"
        )

        def spelled(line: re.Match[str]) -> str:
            text = BUILT_IN.sub(
                lambda of: f"std::type_identity_t<{of[1]}>(" if of[1] else of[0],
                line[0],
            )
            start, equals, value = text.partition("=")
            if not later or not any(default in value for default in code):
                return text
            value = later_name.sub(lambda of: later[of[1]] if of[1] else of[0], value)
            return f"{start}{equals}{value}"

        return DEFAULT_LINE.sub(spelled, body)

    def _static_names(self, cls: tree.Class) -> dict[str, str]:
        """The names of the class, those around it and its bases: SWIG writes those so
        that were declared before it saw the default value."""
        names: dict[str, str] = {}
        around = [scope(cls.cpp), *cls.bases]
        for other in filter(None, map(self.module.class_of, around)):
            names |= self._static_names(other)
        own = {one.name for one in cls.declared if one.static}
        own |= {v.cpp.rpartition("::")[2] for v in cls.variables if v.static}
        own |= {v.partition("::")[2] for e in cls.enums for _, v in e.members}
        own = {name for name in own if name.isidentifier()}
        return names | {name: f"{cls.cpp}::{name}" for name in own}

    def _in_class(self, body: str, function: tree.Function) -> str:
        """A method's default that readable.py has left as it is written (SWIG puts the
        class before the names in others) sees the names of its class."""
        cls = self._class_around(function) if WRITTEN in body else None
        if not cls:
            return body
        around = self.module.class_of(scope(cls.cpp))
        written = " ".join(p.default or "" for p in function.parameters)
        # Nothing is derived from a final class: what stands in it is named here.
        inside = [(c.cpp, c.cpp.rpartition("::")) for c in self.module.classes]
        inside += [(f"{cls.cpp}::{e.name}", (cls.cpp, "", e.name)) for e in cls.enums]
        names = [
            f"  using {name} = {cpp};\n"
            for cpp, (where, _, name) in inside
            if where == cls.cpp and re.search(rf"\b{re.escape(name)}\b", written)
        ]
        outer = around.cpp if around else "swigkit::NoNames"
        names += [
            f"  using swigkit_class = {cls.cpp};\n",
            f"  using swigkit_around = {outer};\n",
        ]
        return "".join(names) + body.replace(WRITTEN, IN_CLASS)

    def _scope(self, function: tree.Function) -> str:
        """The namespace whose names the default values may have, if there are any."""
        if not _code(function):
            return ""
        cls = self._class_around(function)
        around = scope(cls.cpp if cls else function.cpp)
        while self.module.class_of(around):
            around = scope(around)
        return around

    def _drop_dispatcher(self, wrapper: str) -> None:
        name, overload, _ = wrapper.partition("__SWIG_")
        if overload:
            self.drop(name)

    def drop_function(self, function: tree.Function) -> None:
        """Takes out what SWIG has written for a function that Python does not see."""
        self.drop(function.wrapper)
        self.drop(function.wrapper.partition("__SWIG_")[0])

    def drop(self, name: str) -> None:
        """Takes a function of SWIG's out."""
        self.text = re.sub(
            DEFINITION.format(name=name), "", self.text, flags=re.M | re.S
        )

    def drop_variadic(self) -> None:
        """Takes out SWIG's functions, two at most, for each that is open-ended."""
        for name in self.module.variadic:
            self.text = re.sub(
                VARIADIC.format(name=name), "", self.text, flags=re.M | re.S
            )

    def drop_dispatchers(self) -> None:
        """Takes out what chooses among overloads that were taken: a class may have one
        for those of its base."""
        pattern = DEFINITION.format(name=r"(?P<name>\w+)")
        for found in re.finditer(pattern, self.text, re.M | re.S):
            called = re.search(r"return (\w+)\(self, argc, argv\);", found["body"])
            if called and called[1] in self._done:
                self.drop(found["name"])

    def check(self) -> None:
        """No function is left that the kit does not know, and %keeps_alive means
        arguments that are there."""
        for what, holds in self._kept.items():
            if not holds:
                raise tree.TreeError(
                    f"%keeps_alive({what}): expected numbers of what Python gives, "
                    "1 is the first argument or the object of a method, got one that "
                    "is too large"
                )
        pattern = DEFINITION.format(name=r"(?P<name>\w+)")
        for found in re.finditer(pattern, self.text, re.M | re.S):
            if "SWIGKIT_ARGUMENTS" not in found["body"]:
                continue
            if self._is_inherited(found["name"]):
                self.drop(found["name"])
            else:
                raise tree.TreeError(
                    f"{found['name']} is a function of SWIG's that the kit does not "
                    "know: %ignore what it wraps, or take away the %feature that asks "
                    "for it"
                )

    def _is_inherited(self, name: str) -> bool:
        """Whether SWIG's function is a method once more that a base has: SWIG writes
        protected ones again for an instance of a template."""
        for cls in self.module.classes:
            method = name.removeprefix(f"_wrap_{cls.symbol}_")
            bases = self.module.chain(cls)[1:]
            if method != name and any(
                one.wrapper == f"_wrap_{base.symbol}_{method}"
                for base in bases
                for one in base.methods
            ):
                return True
        return False

    def drop_rows(self) -> None:
        """SWIG's own rows for what stands in enums and classes now."""
        gone = set()
        for enum in self.module.enums:
            names = swig_names(m for m, _ in enum.members)
            for member in names:
                gone |= {member, *(f"{e}_{member}" for e in swig_names([enum.name]))}
        enumerators = [v.name for v in self.module.variables if v.enumerator]
        gone |= set(swig_names(enumerators))
        for cls in self.module.classes:
            if cls.imported:
                continue
            for enum in cls.enums:
                for member in swig_names(m for m, _ in enum.members):
                    gone.add(f"{cls.symbol}_{member}")
                    for name in swig_names([enum.name]):
                        gone.add(f"{cls.symbol}_{name}_{member}")
            gone |= {
                f"{cls.symbol}_{v}" for v in swig_names(v.name for v in cls.variables)
            }
        self.text = CONSTANT.sub(
            lambda found: "" if found[1] in gone else found[0], self.text
        )
        self.text = VARIABLE.sub(
            lambda found: "" if found[1] in gone else found[0], self.text
        )


def swig_names(names: Iterable[str]) -> Iterator[str]:
    """And what SWIG calls those that are words of Python's."""
    for name in names:
        yield name
        if name.endswith("_"):
            yield from (f"_{name[:-1]}", name[:-1])


def _construct_result(body: str, own: tree.Class | None) -> str:
    """A result by value is made of what the function returns: SWIG would make one of
    nothing and then assign, which a class need not allow, or may take for something
    else."""
    if GIVEN not in body:
        return body
    # A member is read where it lies.
    member, calls = MEMBER_GET.subn(r"\1result = &\2;\n", body)
    if calls:
        member = RESULT_VALUE.sub(
            lambda found: f"  const {found[1] or found[2]} *result = nullptr;\n", member
        )
        return member.replace(GIVEN, "*result")
    if own:
        body, count = RESULT_VALUE.subn(f"  swigkit::Made< {own.cpp} > result;\n", body)
        body, calls = ASSIGNED.subn(
            r"\1result.make([&]() -> decltype(auto) { return \2; });\n", body
        )
        if count == 1 and calls:
            return MADE.sub("result.give()", body)
        raise StepError(f"expected a result and a call, got {count} and {calls}")
    call = ASSIGNED.search(body)

    def holder(found: re.Match[str]) -> str:
        kind = found[1] or found[2]
        if "decltype" in kind and call:  # of parameters, whose names are others here
            kind = f"std::remove_cvref_t<decltype({call[2]})>"
        return f"  std::optional< {kind} > result;\n"

    body, count = RESULT_VALUE.subn(holder, body)
    body, calls = ASSIGNED.subn(r"\1result.emplace(\2);\n", body)
    if count != 1 or calls == 0:  # of a virtual method: the override's or the base's
        raise StepError(f"expected a result and a call, got {count} and {calls}")
    return body.replace(GIVEN, "std::move(*result)")


def _code(function: tree.Function) -> list[str]:
    """The default values that are no plain numbers and texts."""
    defaults = (p.default for p in function.parameters if p.default is not None)
    plain = r"[-+\d.a-fx]+|\"[^\"]*\"|true|false|nullptr"
    return [default for default in defaults if not re.fullmatch(plain, default)]


def _plain(kind: str) -> str:
    """What it refers or points to."""
    return re.sub(r"\bconst\b|[&*]", "", kind).strip()


def _is_converted(kind: str, item: str) -> bool:
    """Whether a parameter of this type has items by value, made for the call; what
    pointers point to is there without it, and a function has none."""
    name = re.escape(item).replace(r"\ ", r"\s*")
    pointers = r"(?:unique_ptr|shared_ptr|weak_ptr|reference_wrapper)"
    kind = re.sub(rf"{pointers}<\s*(?:const )?{name}( const)?\s*[,>]", "", kind)
    kind = re.sub(rf"\b{name}( const)?\s*\*", "", kind)
    while found := re.search(r"\bfunction<", kind):
        end, depth = found.end(), 1
        while depth and end < len(kind):
            depth += {"<": 1, ">": -1}.get(kind[end], 0)
            end += 1
        kind = kind[: found.start()] + kind[end:]
    return "<" in kind and re.search(rf"(?<!\w){name}(?!\w)", kind) is not None


def _spelled(cpp: str) -> str:
    """A class as SWIG writes it, with blanks in the brackets of a template."""
    return re.sub(r"<(?! )", "< ", re.sub(r"(?<! )>", " >", cpp)).replace(", ", ",")


def _argument(number: int, constructor: int = 0) -> str:
    if number == 0:
        return "resultobj"
    if constructor:
        return "self" if number == 1 else f"swig_obj[{number - constructor}]"
    return f"swig_obj[{number - 1}]"
