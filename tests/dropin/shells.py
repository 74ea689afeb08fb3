"""As much of IPython's shell as an extension needs, for machines without IPython, and notebooks run in it."""

from __future__ import annotations

import ast
import contextlib
import io
import linecache
import traceback
from collections.abc import Callable
from typing import Any

import transkern


class Shell:
    """Cells run one after the other; `shown` is what the last one has, as the outputs of a notebook of format 4."""

    def __init__(self) -> None:
        self.user_ns: dict[str, Any] = {"__name__": "__main__"}
        self.events = self.compile = self.display_pub = self.magics_manager = self
        self.called: list[Callable[[Any], None]] = []
        self.magics: dict[str, dict[str, Any]] = {"cell": {}}
        self.execution_count = 0
        self.shown: list[dict[str, Any]] = []

    # --- as IPython has it

    def register(self, event: str, function: Callable[[Any], None]) -> None:
        assert event == "post_run_cell"
        self.called.append(function)

    def unregister(self, event: str, function: Callable[[Any], None]) -> None:
        self.called.remove(function)

    def register_magic_function(self, function: Callable[[str, str], Any], kind: str, name: str) -> None:
        self.magics[kind][name] = function

    def transform_cell(self, cell: str) -> str:
        return cell if cell.endswith("\n") else cell + "\n"

    def cache(self, text: str, number: int) -> str:
        """Keeps the text of a cell for tracebacks, and gives its file's name."""
        name = f"<cell {number} of {id(self)}>"
        linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
        return name

    def publish(self, data: dict[str, str]) -> None:
        self.shown.append({"output_type": "display_data", "metadata": {}, "data": data})

    # --- a notebook

    def run_cell(self, cell: str) -> None:
        """Runs one; raises what it raises."""
        self.execution_count += 1
        self.shown = []
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            value = self._value(cell)
            for function in list(self.called):
                function(None)
        if printed.getvalue():
            stream = {"output_type": "stream", "name": "stdout", "text": printed.getvalue()}
            self.shown.insert(0, stream)
        if value is not None:
            data = {"text/plain": repr(value)}
            if hasattr(value, "_repr_html_"):
                data["text/html"] = value._repr_html_()
            number = self.execution_count
            self.shown.append(
                {"output_type": "execute_result", "metadata": {}, "execution_count": number, "data": data}
            )

    def _value(self, cell: str) -> Any:
        first, _, rest = cell.partition("\n")
        if first.startswith("%%"):
            name, _, line = first[2:].partition(" ")
            return self.magics["cell"][name](line, rest)
        if first.startswith("%load_ext transkern"):
            transkern.load_ipython_extension(self)
            cell = "\n" + rest
        text = self.transform_cell(cell)
        file = self.cache(text, self.execution_count)
        tree = ast.parse(text, file)
        last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
        exec(compile(tree, file, "exec", dont_inherit=True), self.user_ns)
        if isinstance(last, ast.Expr):
            return eval(compile(ast.Expression(last.value), file, "eval"), self.user_ns)
        return None




def last_line(error: BaseException) -> tuple[str, int, str | None]:
    """The innermost place of an error: the function, the line of its cell, and the text there."""
    frame = traceback.extract_tb(error.__traceback__)[-1]
    return frame.name, frame.lineno or 0, frame.line
