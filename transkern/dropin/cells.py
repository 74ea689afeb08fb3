"""Notebooks: functions of all cells are compiled where that pays (``%load_ext transkern``), and those of one cell, or
that it calls, in any case, with a table of what became of them (``%%transkern``)."""

from __future__ import annotations

import ast
import atexit
import html
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from transkern.dropin import rewriting
from transkern.dropin.functions import Watched
from transkern.dropin.reporting import outcome
from transkern.dropin.sessions import Session, functions_of
from transkern.parsing import parse
from transkern.runtime import arrays, foreign  # noqa: F401 - the first call's time is not that of imports
from transkern.runtime.caching import building  # noqa: F401 - the first call's time is not that of imports
from transkern.runtime.profiling import in_seconds
from transkern.targets.table import TARGETS
from transkern.warned import unseen

MAGIC = "transkern"


class Cells:
    """A notebook whose functions are compiled when they are called: those of each cell that has run."""

    def __init__(self, shell: Any) -> None:
        self._shell, self.session = shell, Session()
        shell.events.register("post_run_cell", self.after_cell)
        shell.register_magic_function(self.run, "cell", MAGIC)
        atexit.register(self.session.close)

    def after_cell(self, result: Any = None) -> None:
        """A cell has run."""
        self.session.add_functions(functions_of(self._shell.user_ns, "__main__"))

    def run(self, line: str, cell: str) -> Any:
        """Run a cell, with its functions and those of cells before compiled at their first calls, and show a table of
        those that were called: their kernels, and the times of calls in Python and compiled.

        %%transkern          where compiled code runs without more: on a GPU, else on the CPU
        %%transkern cuda     on a target: cpu, cuda or pallas
        """
        watch, target = self.session.watch, line.strip()
        if target and target not in TARGETS:
            raise ValueError(f"%%transkern takes the name of a target, {', '.join(TARGETS)}, and not {target!r}")
        before = {one: _spent(one) for one in watch.functions}
        cost, usual = watch.account.cost, (watch.eager, watch.target)
        watch.eager, watch.target = True, target or watch.target
        try:
            result = self._executed(cell)
        finally:
            watch.eager, watch.target = usual
            made = _table(watch.functions, before, watch.account.cost - cost)
            self._shell.display_pub.publish({"text/plain": repr(made), "text/html": made._repr_html_()})
        return result

    def _executed(self, cell: str) -> Any:
        """Runs a cell; its last expression's value, unless a semicolon hides it."""
        text = self._shell.transform_cell(cell)
        space = self._shell.user_ns
        number = len(space["In"]) - 1 if "In" in space else self._shell.execution_count  # which may count ahead
        file = self._shell.compile.cache(text, number)
        body, last = _without_last(text)
        exec(rewriting.rewritten(body, file, self.session.watch.hooks), space)
        if last is None:
            return None
        return eval(compile(ast.Expression(last), file, "eval", dont_inherit=True), space)

    def close(self) -> None:
        """No more of it."""
        self._shell.events.unregister("post_run_cell", self.after_cell)
        self._shell.magics_manager.magics["cell"].pop(MAGIC, None)
        self.session.close()


def _without_last(text: str) -> tuple[str, ast.expr | None]:
    """A cell without its last statement, where that is an expression whose value is shown, and that expression."""
    with unseen():  # they come when it is compiled
        try:
            statements = parse(text, "<cell>").body
        except SyntaxError:
            return text, None  # who compiles it says so
    if not statements or not isinstance(last := statements[-1], ast.Expr) or text.rstrip().endswith(";"):
        return text, None
    lines = text.encode().splitlines(keepends=True)
    return b"".join([*lines[: last.lineno - 1], lines[last.lineno - 1][: last.col_offset]]).decode(), last.value


# ---- the table -------------------------------------------------------------------------------------------------------

_COLUMNS = ("function", "kernels", "calls", "compiled", "calls", "in Python", "faster", "what became of it")
_NUMBERS = range(1, 7)


@dataclass(frozen=True, slots=True)
class Table:
    """What became of the functions that a cell has called; as text and, in notebooks, as HTML."""

    head: str
    rows: Sequence[Sequence[str]]

    def __repr__(self) -> str:
        if not self.rows:
            return self.head
        widths = [max(map(len, column)) for column in zip(_COLUMNS, *self.rows, strict=True)]
        lines = [
            "  ".join(f"{text:>{width}}" if k in _NUMBERS else f"{text:{width}}"
                      for k, (text, width) in enumerate(zip(row, widths, strict=True))).rstrip()
            for row in (_COLUMNS, *self.rows)
        ]  # fmt: skip
        return "\n".join((self.head, *lines))

    def _repr_html_(self) -> str:
        if not self.rows:
            return f"<p>{html.escape(self.head)}</p>"
        head = "".join(f"<th>{name}</th>" for name in _COLUMNS)
        rows = "".join(f"<tr>{''.join(f'<td>{html.escape(text)}</td>' for text in row)}</tr>" for row in self.rows)
        caption = html.escape(self.head)
        return f"<table><caption>{caption}</caption><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"


_Spent = tuple[int, float, int, float]
"""Calls and seconds compiled and in Python."""


def _spent(one: Watched) -> _Spent:
    code, python = one.record.in_code(), one.record.in_python()
    return code.calls, code.seconds, python.calls, python.seconds


def _table(functions: Iterable[Watched], before: dict[Watched, _Spent], cost: float) -> Table:
    rows: list[tuple[float, Sequence[str]]] = []
    compiled = 0
    for one in functions:
        now, then = _spent(one), before.get(one, (0, 0.0, 0, 0.0))
        calls, seconds, python, spent = (a - b for a, b in zip(now, then, strict=True))
        if not calls and not python:
            continue
        compiled += bool(calls)
        times, kernels = one.record.times(), one.kernels()
        rows.append((seconds + spent, (
            one.site.name, "" if kernels is None else str(kernels),
            str(calls or ""), in_seconds(seconds) if calls else "",
            str(python or ""), in_seconds(spent) if python else "",
            f"{times:.1f}x" if times else "", outcome(one),
        )))  # fmt: skip
    if not rows:
        return Table("transkern: the cell has called no function that could be compiled", ())
    head = f"transkern: {compiled} of {len(rows)} functions compiled" + (f", in {in_seconds(cost)}" if cost else "")
    return Table(head, [row for _, row in sorted(rows, key=lambda each: -each[0])])
