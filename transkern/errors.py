"""The errors a user of transkern sees; each names the place in the user's source and what to do instead."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from transkern import refusals
from transkern.ir.expr import NOWHERE, Span

TOO_LARGE = "Python int too large for compiled code, where it has 64 bits"
"""Python's integers know no limit: what needs more bits must not go on as another number (OverflowError)."""

NOT_COMPILED = "not compiled"
"""The end of what a RuntimeError says that stands for a refusal which only a call can make."""

EMPTY = (
    "a list is empty here: NumPy takes it for float64, compiled code for what its elements would be; say which with "
    "dtype=, or test its length first"
)
"""What NumPy would make of it cannot go on as another type (RuntimeError)."""

SEVERAL = (
    "the numbers in a list are of types here of which NumPy makes an array of another type than compiled code, which "
    "has one type whatever they are; say which with dtype="
)
"""The same for lists of numbers of several types."""

NOT_HELD = (
    "an integer beyond 2**53 goes into a list of integers and floats here, which compiled code keeps as floats: put it "
    "into a list of its own"
)
"""No float64 need hold it exactly (OverflowError)."""

CHANGES = "transkern_changes"
"""The attribute of an exception from compiled code for what goes into the arguments before it is seen."""


class TranskernError(Exception):
    """Base of all errors raised by transkern itself (errors of the compiled function are NumPy's own)."""


class Placed(TranskernError):
    """An error at a place in the user's source; `str()` shows the line with a caret and a help line.

    `kind` has its code, which ``transkern explain-error`` expands.
    """

    def __init__(
        self, kind: refusals.Kind, problem: str, help: str = "", span: Span = NOWHERE, lines: Sequence[str] = ()
    ) -> None:
        self.kind, self.problem, self.help, self.span, self.lines = kind, problem, help, span, lines
        super().__init__(problem)

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (self.kind, self.problem, self.help, self.span, tuple(self.lines))

    def __str__(self) -> str:
        span = self.span
        if not span.line:
            return f"{self.problem} [{self.kind.code}]" + (f"\n  help: {self.help}" if self.help else "")
        text = f"{span.file}:{span.line}:{span.column + 1}: {self.problem} [{self.kind.code}]"
        if 0 < span.line <= len(self.lines):
            line = self.lines[span.line - 1].rstrip()
            end = characters(line, span.end_column) if span.end_line == span.line else len(line)
            column = characters(line, span.column)
            caret = " " * column + "^" * max(1, min(end, len(line)) - column)
            number = f"{span.line:>6} | "
            text += f"\n{number}{line}\n{' ' * (len(number) - 2)}| {caret}"
        if self.help:
            text += f"\n  help: {self.help}"
        return text


def characters(line: str, column: int) -> int:
    """A column in characters: `ast` counts the bytes of UTF-8."""
    return len(line.encode()[:column].decode(errors="ignore"))


class CompileError(Placed):
    """The function uses something that cannot be compiled; `str()` shows the line with a caret and a help line.

    `others` are what else is in its way, as far as that shows without what the first one stands in. `as_text`: it is
    refused only because its file is read, and not run.
    """

    path: tuple[ast.stmt, ...] = ()  # the statements that it came up in, the innermost one first
    own: tuple[ast.stmt, ...] = ()  # those of them that are the compiled function's, and not those of one it calls
    as_text = False
    others: tuple[CompileError, ...] = ()
    demand: str | None = None  # of `NeedsConstant`: a call would tell

    def __str__(self) -> str:
        return "\n\n".join([super().__str__(), *map(str, self.others)])


class HasEffects(CompileError):
    """The function must not run twice, and would have to: it prints, or draws from NumPy's one generator."""


class WarnsItself(HasEffects):
    """The function calls `warnings.warn` at these places: compiled code names the line that warns, each time, where
    Python counts frames and looks whether that line has warned before."""

    spans: tuple[Span, ...] = ()


_PASS = "transkern_pass"


def came_up_in(error: BaseException, name: str) -> None:
    """Notes the pass in which an error came up; the innermost of them, where a pass runs others."""
    vars(error).setdefault(_PASS, name)


class InternalError(Placed):
    """transkern itself went wrong while it compiled a function: a bug of transkern, and never the function's own
    exception. The message names the function, the line that was being translated, and the pass, where one ran;
    `report` is the file of a script that shows it, or empty."""

    report = ""
    cause = ""
    compiled = ""

    @classmethod
    def of(
        cls, error: BaseException, name: str, span: Span = NOWHERE, lines: Sequence[str] = (), report: str = ""
    ) -> InternalError:
        """For an error of ours that came up while the function `name` was compiled."""
        return cls._saying(cls.told(error), name, span, lines, report)

    @classmethod
    def _saying(cls, cause: str, name: str, span: Span, lines: Sequence[str], report: str) -> InternalError:
        with_what = f"this script, which shows it: {report}" if report else "the function"
        help = (
            f"this is a bug in transkern, not in the function: please report it with {with_what};"
            ' meanwhile fallback="numpy" runs it in NumPy, and TRANSKERN_DEBUG=1 shows the whole traceback'
        )
        problem = f"transkern went wrong while it compiled `{name}` ({cause})"
        made = cls(refusals.INTERNAL, problem, help, span, lines)
        made.report, made.cause, made.compiled = report, cause, name
        return made

    def with_report(self, report: str) -> InternalError:
        """The same, with the file of a script that shows it."""
        return self._saying(self.cause, self.compiled, self.span, self.lines, report)

    @staticmethod
    def told(error: BaseException) -> str:
        """An error of ours in a line: what it is, and in which pass it came up."""
        told = f"{type(error).__name__}: {error}".partition("\n")[0][:200]
        where = vars(error).get(_PASS)
        return f"{told}, in the pass `{where}`" if where else told


class PerformanceWarning(UserWarning):
    """What compiles and gives NumPy's answer, and is slower than it might be."""


class VerificationError(TranskernError):
    """With `verify=True`: the compiled function does not do what it does in NumPy; the message names the first
    difference."""


class TypesNeeded(TranskernError):
    """The argument types of a function are not known; the message shows how to give them."""


class TargetUnavailable(TranskernError):
    """A target's toolchain or device is missing; the message says what to install or use instead."""


class BuildError(TranskernError):
    """The toolchain refused generated code; the message holds its log and where the code lies."""


class NeedsConstant(Exception):
    """The translation needs the value of a parameter or a size: the caller specialises on it and tries again.

    `demand` is a parameter's name, or ``x.1`` for a size (``x.1<`` where it is small); `problem` is what to raise where
    that cannot be done. `few` are all the sizes that are asked for where they are small (`runtime.caching.few`), `more`
    what is asked for along with `demand`.
    """

    def __init__(
        self, demand: str, problem: CompileError, few: Sequence[tuple[str, int, int]] = (), more: Sequence[str] = ()
    ) -> None:
        super().__init__(demand)
        self.demand, self.problem, self.few, self.more = demand, problem, few, more
        problem.demand = demand
