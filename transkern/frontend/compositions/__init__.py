"""NumPy's functions that are made of other NumPy functions, as such: their text is translated where they are called.

Each module is plain NumPy (it runs as it stands, and the tests hold it against NumPy's own functions). It stands for
the part of NumPy that `PARTS` names. Axes, flags and the numbers of dimensions are known while translating, so that an
`if` on them decides there; what depends on data is said with `np.where`. `primitives` has what NumPy's functions
cannot say.
"""

from __future__ import annotations

import ast
import functools
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from transkern.frontend.context import Context
from transkern.frontend.sources.texts import TextScope
from transkern.frontend.syntax.syntax import parameter_names
from transkern.frontend.translate.arguments import TABLE, check_nones
from transkern.frontend.values.values import Static, Value

PARTS = {
    "arranging": "numpy",
    "arithmetic": "numpy",
    "histograms": "numpy",
    "making": "numpy",
    "polynomials": "numpy",
    "searching": "numpy",
    "statistics": "numpy",
    "folding": "",
    "hashes": "",
    "queues": "heapq",
    "places": "bisect",
    "linalg": "numpy.linalg",
    "fft": "numpy.fft",
    "series/terms": "transkern.frontend.compositions.series.terms",
    "series/lanczos": "math",
    "numbers/sums": "math",
    "numbers/whole": "",
    "series/polynomial": "numpy.polynomial.polynomial",
    "series/chebyshev": "numpy.polynomial.chebyshev",
    "series/legendre": "numpy.polynomial.legendre",
    "series/hermite": "numpy.polynomial.hermite",
}

TRUSTED = frozenset(("hashes",))
"""Modules whose subscripts of lists are not checked: these have the elements, none counted from the end."""


def compose(ctx: Context, part: str, name: str, args: Sequence[Value], keywords: Mapping[str, Value]) -> Value:
    """The value of the function `name` of a module of compositions."""
    assert ctx.scopes.inline is not None
    with ctx.session.pin(), ctx.control.trusting(part in TRUSTED):
        return ctx.scopes.inline(_scope(part).function(name), args, dict(keywords))


def _path(part: str) -> Path:
    return Path(__file__).parent / f"{part}.py"


@functools.cache
def _scope(part: str) -> TextScope:
    return TextScope(_path(part).read_text(encoding="utf-8"), str(_path(part)))


def names(part: str) -> list[str]:
    """The functions of a module that stand for NumPy's."""
    return re.findall(r"^def ([a-z]\w*)", _path(part).read_text(encoding="utf-8"), re.M)


def _optional(node: ast.FunctionDef | ast.Lambda) -> set[str]:
    """The parameters for which None is written in the annotation: it means something there."""
    args = (*node.args.args, *node.args.kwonlyargs)
    return {a.arg for a in args if a.annotation is not None and "None" in ast.unparse(a.annotation)}


def _register(part: str, name: str) -> None:
    path = f"{PARTS[part]}.{name}"

    def run(ctx: Context, args: Sequence[Value], keywords: Mapping[str, Value]) -> Value:
        if Static(None) in (*args, *keywords.values()):
            node = _scope(part).function(name).node
            given = {**dict(zip(parameter_names(node), args, strict=False)), **keywords}
            given = {k: v for k, v in given.items() if k not in _optional(node)}
            check_nones(ctx, path.replace("numpy.", "np."), given)
        return compose(ctx, part, name, args, keywords)

    TABLE[path] = run


for _part, _path_of in PARTS.items():
    for _name in names(_part) if _path_of else ():
        _register(_part, _name)
