# SPDX-License-Identifier: Apache-2.0
"""Protected methods of classes that Python derives from: callable by self and super(),
of every object of a class that Python derived."""

from __future__ import annotations

import re

from . import tree

# SWIG lets a protected method be called only while C++ calls one of the director.
PROTECTED = re.compile(
    r'if \(!director \|\| !\(director->swig_get_inner\("\w+"\)\)\) \{\s*'
    r'Swig::DirectorMethodException::raise\("accessing protected member \w+"\);\s*\}'
)
DIRECTOR_CAST = re.compile(
    r" *darg = dynamic_cast<SwigDirector_(\w+) \*>\(arg1\);\n *if \(!darg\) \{\n"
    r" *Swig::DirectorMethodException::raise\(\"'self' is not a director\"\);\n *\}\n"
)
CONST_DIRECTOR = re.compile(r"\(\(SwigDirector_\w+ const \*\)darg\)->")
UPCALL = re.compile(r" *if \(upcall\) \{\n([^\n]*)\n *\} else \{\n([^\n]*)\n *\}\n")
FOR_DIRECTOR = r"""        const auto swigkit_call = [&](auto *darg) {{
          if (upcall) {{
\1
          }} else {{
\2
          }}
        }};
        if (!swigkit::for_director< {directors} >(arg1, swigkit_call)) {{
          swigkit::refuse_protected("{title}");
          SWIG_fail;
        }}
"""


def open_protected(body: str, title: str, module: tree.Module, text: str) -> str:
    """The function's body, changed; `text` is all of SWIG's output."""
    body = PROTECTED.sub(
        rf'if (!director) {{\n      swigkit::refuse_protected("{title}");'
        "\n      SWIG_fail;\n    }",
        body,
    )
    body = CONST_DIRECTOR.sub("(&std::as_const(*darg))->", body)
    method = re.search(r"darg\)\)?->(\w+SwigPublic)\(", body)
    cast = DIRECTOR_CAST.search(body)
    if not method or not cast:
        return body
    known = []
    for cls in module.classes:
        name = f"SwigDirector_{cls.symbol}"
        has = rf"^(?:class|struct) {name}\b(?:(?!\n\}};).)*? {method[1]}\("
        base = module.class_by_symbol(cast[1])
        if base and base in module.chain(cls):
            known += [name] if re.search(has, text, re.M | re.S) else []
    call = FOR_DIRECTOR.format(directors=", ".join(known), title=title)
    return UPCALL.sub(call, DIRECTOR_CAST.sub("", body)) if known else body
