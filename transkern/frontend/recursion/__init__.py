"""Functions that call themselves as loops over an explicit stack, so that only the run needs to know how deep they go.

    def fib(n):                              at, places = BEGIN, [END]
        if n < 2:                            while at != END:
            return n                             if at == BEGIN:
        return fib(n - 1) + fib(n - 2)               if n < 2: result = n; at = places.pop()
                                       ->            else: saved_n.append(n); places.append(1); n, at = n - 1, BEGIN
                                                 elif at == 1:
                                                     n = saved_n.pop(); call1 = result
                                                     saved_call1.append(call1); places.append(2); n, at = n - 2, BEGIN
                                                 else:
                                                     call1 = saved_call1.pop(); call2 = result
                                                     result = call1 + call2; at = places.pop()
                                             return result

Three steps, all on the syntax tree: `hoisting` gives each call of the function itself a statement of its own,
`blocks` cuts the body at these, and `machine` prints the blocks as branches of a loop. What a frame keeps while another
one runs are the names that are read behind the call (`machine.saved`); what is the same in all frames (an array that is
passed on as it is) is kept nowhere.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from weakref import WeakKeyDictionary

from transkern.frontend.recursion.blocks import LENGTH, SEQUENCE
from transkern.frontend.recursion.machine import TOO_DEEP, machine
from transkern.frontend.syntax.desugar import desugared
from transkern.frontend.syntax.hoisting import VALUE_ERROR, IsSelf, NotRewritten, hoisted
from transkern.frontend.values.values import Known, Static, Value

NAMES: dict[str, Value] = {
    LENGTH: Known("builtins.len"), SEQUENCE: Known("transkern.sequence"), TOO_DEEP: Static(RecursionError),
    VALUE_ERROR: Static(ValueError),
}  # fmt: skip
"""What the names mean that such a loop has beside the user's."""

_made: WeakKeyDictionary[ast.FunctionDef, ast.FunctionDef | NotRewritten] = WeakKeyDictionary()


def as_loop(
    node: ast.FunctionDef, is_self: IsSelf, python: Callable[[str], bool], cached: Callable[[], bool]
) -> ast.FunctionDef:
    """The function without calls of itself; raises `NotRewritten` with what is in the way. `is_self` tells these calls,
    `python` whether a name means Python's own function; `cached` says whether they
    go through `functools.cache`.

    The same function twice is the same tree twice.
    """
    if node not in _made:
        try:
            plain = desugared(node, inlined=False)
            assert isinstance(plain, ast.FunctionDef)
            _made[node] = machine(node, hoisted(plain.body, is_self, python), is_self, python, cached())
        except NotRewritten as problem:
            _made[node] = problem
    made = _made[node]
    if isinstance(made, NotRewritten):
        raise made
    return made
