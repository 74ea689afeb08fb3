"""Python text for what is put together outside kernels: dicts, objects, exceptions, printed lines."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from transkern.errors import CHANGES
from transkern.ir import nodes as n
from transkern.ir.complexes import is_complex
from transkern.ir.expr import Apply, Expr
from transkern.ir.nodes import TAGS

_RAGGED = {
    "ragged lists": "{}", "ragged tuples": "tuple({})", "ragged arrays": "{}.copy()", "ragged texts": "''.join({})"
}  # fmt: skip
"""What each part of a pool becomes in the list around."""


DICTS = "dicts:"
"""What `of` begins with where objects are dicts, made of their parts: behind it, as of a ``dict of lists``."""


def container_text(r: n.TupleResult) -> str:
    """A Python function of the items of a ``dict``, ``record`` or ``rows`` result that gives the container."""
    if r.kind == "dict":
        return f"lambda *a: dict(zip({r.keys!r}, a))"
    if r.kind == "dict of items":
        return "lambda *a: dict(zip(a[::2], a[1::2]))"
    if r.kind == "int":
        return "int"
    if r.kind == "text":
        return f"{r.keys[0]!r}.format"
    if r.kind == "member":
        return class_text(r.of)
    if r.kind == "member by name":
        return f"lambda name: {class_text(r.of)}[name]"
    if r.kind == "record":
        set_all = f"[object.__setattr__(o, k, v) for k, v in zip({r.keys!r}, a)]"
        made = f"(lambda o: ({set_all}, o)[1])(c.__new__(c))"  # as it stands: no `__init__` runs again
        return f"lambda *a: (lambda c: c(*a) if issubclass(c, tuple) else {made})({class_text(r.of)})"
    if r.kind in ("dict of lists", "set of lists"):
        return _dict_text(r.of) if r.kind == "dict of lists" else "set"
    if r.kind == "one of":
        return f"{r.keys!r}.__getitem__"
    if r.kind == "either":
        return "lambda tag, one, two: one if tag else two"
    if r.kind in ("tagged", "tagged number"):
        of_python = {k: name for k, name in enumerate(TAGS) if name in ("int", "float", "complex", "bool")}
        python = ", ".join(f"{k}: {name}" for k, name in of_python.items())
        numpy = ", ".join(
            f"{k}: __import__('numpy').{name}" for k, name in enumerate(TAGS) if k and k not in of_python
        )  # fmt: skip
        complexes = tuple(k for k, name in enumerate(TAGS) if name.startswith("complex"))
        tell = f"lambda types: [v if not k else types[k](v if k in {complexes} else v.real) for v, k in zip(a, t)]"
        if r.kind == "tagged number":
            tell = "lambda types: types[t](a) if t else a"
        return f"lambda a, t: ({tell})({{{python}, {numpy}}})"
    if r.kind in ("characters", "joined characters", "joined texts"):
        text = "chr" if r.kind.endswith("characters") else f"{r.keys!r}.__getitem__"
        return f"lambda a: {r.of!r}.join(map({text}, a))" if r.kind.startswith("joined") else "lambda a: [*map(chr, a)]"
    if r.kind in ("formatted", "joined formatted"):  # templates, and what stands in each
        texts = "x.format(*y) for x, *y in zip(t, *a)"
        return f"lambda t, *a: {r.of!r}.join({texts})" if r.kind != "formatted" else f"lambda t, *a: [{texts}]"
    if r.kind == "texts":
        return f"lambda a: [*map({r.keys!r}.__getitem__, a)]"
    if r.kind == "character":
        return "chr"
    if r.kind == "raise":
        return f"lambda *a: {error_text(r.of)}" + (f"({r.keys[0]!r}.format(*a))" if r.keys[0] else "()")
    if r.kind in ("set", "frozenset"):
        return f"lambda *a: {r.kind}(a)"
    if r.kind == "tuple of list":
        return "tuple"
    if r.kind == "lists of numbers":
        return "lambda a: a.tolist()"
    if r.kind == "lists":
        return "lambda a: (f := lambda a: [*map(f, a)] if a.ndim else a[()])(a)"
    if (part := _RAGGED.get(r.kind)) is not None:
        row = f"{{k: {part.format('pool[s : s + z]')} for k, (s, z) in enumerate(zip(starts, sizes))}}"
        return f"lambda numbers, starts, sizes, pool: (lambda found: [found[k] for k in numbers])({row})"
    if r.kind in ("objects", "object"):
        set_all = f"[object.__setattr__(o, k, v) for k, v in zip({r.keys!r}, row)]"
        made = f"[(lambda o: ({set_all}, o)[1])(c.__new__(c)) for row in zip(*a)]"
        of = class_text(r.of) if r.of and not r.of.startswith(DICTS) else "dict"
        if r.of == "builtins:set":  # its parts are those of `compositions.hashes`
            made = "[{k[n] for n in t if n >= 0 and l[n]} for k, l, _, t, *_ in zip(*a)]"
        if r.of.startswith(DICTS):
            kept = "[n for n, b in zip(k, l) if b], [x for x, b in zip(v, l) if b]"
            made = f"[({_dict_text(r.of.removeprefix(DICTS))})({kept}) for k, l, *_, v in zip(*a)]"
        if not r.of:
            made = f"[dict(zip({r.keys!r}, row)) for row in zip(*a)]"
        chosen = "[made[k] for k in numbers]" if r.kind == "objects" else "made[numbers]"
        return f"lambda numbers, *a: (lambda c: (lambda made: {chosen})({made}))({of})"
    if r.kind == "rows of record":
        return f"lambda *a: [*map({class_text(r.of)}._make, zip(*a))]"
    if r.kind == "rows of list":
        return "lambda *a: [list(row) for row in zip(*a)]"
    if r.kind == "or none":
        return "lambda none, a: None if none else a"
    if r.kind == "rows of optional":
        return "lambda none, a: [None if k else v for k, v in zip(none, a)] if a else [None] * len(none)"
    assert r.kind == "rows of tuple", r
    return "lambda *a: list(zip(*a))"


def _dict_text(of: str) -> str:
    """A Python function of keys and values that gives a dict, a defaultdict of a type, or one of another class."""
    if of.startswith("collections:"):
        return f"lambda k, v: __import__('collections').{of.partition(':')[2]}(dict(zip(k, v)))"
    if of:
        return f"lambda k, v: __import__('collections').defaultdict({of.partition(':')[2]}, zip(k, v))"
    return "lambda k, v: dict(zip(k, v))"


def text_of_numbers(r: n.Result, numbers: list[Expr]) -> str | None:
    """Python text for a result that is made of numbers, over `a`, a tuple of `numbers`, which gets those that it needs;
    None where there is more in it. The numbers come as messages tell them (see `number_class`)."""

    def number(e: Expr) -> str:
        if e not in numbers:
            numbers.append(e)
        return f"a[{numbers.index(e)}]"

    match r:
        case n.ConstantResult(value):
            numpy = "__import__('numpy')."
            special = isinstance(value, (float, complex)) and not np.isfinite(value)
            return None if special else "..." if value is ... else repr(value).replace("np.", numpy)
        case n.ScalarResult(Apply("complex", (real, imag), dtype), python):
            made = f"complex({number(real)}, {number(imag)})"
            return made if python else f"__import__('numpy').{dtype}({made})"
        case n.ScalarResult(value, python) if not is_complex(value.dtype):
            told = number(value)
            if python and value.dtype in ("bool", "index", "float64"):
                return told
            return f"__import__('numpy').{'int64' if value.dtype == 'index' else value.dtype}({told})"
        case n.TupleResult(items, kind):
            parts = [text_of_numbers(item, numbers) for item in items]
            if any(part is None for part in parts):
                return None
            given = ", ".join(part for part in parts if part is not None)
            if kind == "tuple":
                return f"({given},)" if parts else "()"
            return f"[{given}]" if kind == "list" else f"({container_text(r)})({given})"
        case _:
            return None


def with_changes(error: str, changes: str) -> str:
    """An exception as Python text, which has the `changes` of a guard with it."""
    return f"(lambda e: (setattr(e, {CHANGES!r}, {changes}), e)[1])({error})" if changes else error


def class_text(path: str) -> str:
    """``module:Outer.Inner`` as a Python expression."""
    module, _, name = path.partition(":")
    return f"__import__('sys').modules[{module!r}].{name}"


def with_text(error: str, text: str) -> tuple[str, str]:
    """A check's exception and message, where the exception has one argument, a text that is known."""
    quoted = text.replace("{", "{{").replace("}", "}}")
    return (error, quoted) if text else (n.SEVERAL + error, "('',)")  # no message is no argument


def error_text(error: str) -> str:
    """The class of a guard's error as a Python expression; or, of one that has other arguments than one text, what
    makes it of their text."""
    if error.startswith(n.SEVERAL):
        made = error_text(error.removeprefix(n.SEVERAL))
        return f'(lambda text: {made}(*eval(text, {{"np": np, "nan": np.nan, "inf": np.inf}})))'
    return class_text(error) if ":" in error else error


OF_NUMPY = ("float32", "float16", "complex64", "complex128")
"""The types whose numbers NumPy shows in another way than Python does the numbers that these are."""


def number_class(dtype: str) -> str:
    """What a number is in a message, of which the front end has written how it is shown."""
    return {"float64": "float", "float32": "np.float32", "float16": "np.float16", "bool": "bool"}.get(dtype, "int")


def array_place(k: int) -> str:
    """What stands for the k-th array in the text of a list that a ``print`` step makes."""
    return f"<{k}>"


def print_text(names: Sequence[str], attributes: Mapping[str, Any]) -> str:
    """The call of `print`, or of `warnings.warn`, that a ``print`` step is, over the arrays `names`."""
    shown, left = [], list(names)
    for kind in attributes["kinds"]:
        if isinstance(kind, str):
            name = left.pop(0)
            shown.append({"array": name, "scalar": f"{name}.ravel()[0]", "python": f"{name}.item()"}[kind])
        else:  # a list: the text that makes it, and of how many arrays
            text, count = kind
            for k in range(count):
                text = text.replace(array_place(k), left.pop(0))
            shown.append(text)
    text = f"{attributes['template']!r}.format({', '.join(shown)})"
    if "warns" in attributes:
        module, category, file, line = attributes["warns"]
        kind = f"__import__({module!r}, fromlist=['']).{category}"
        return f"__import__('warnings').warn_explicit({text}, {kind}, {file!r}, {line})"
    return f"print({text}, end='')"
