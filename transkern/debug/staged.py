"""Which pass is wrong: a function's program runs in NumPy behind each stage, and its answer is compared with Python's.

The stages are the front end and each pass of a target; the program is run by `ir.oracle`, node by node.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from transkern import pipeline
from transkern.errors import CompileError, VerificationError
from transkern.frontend.sources.source import live_function
from transkern.fuse.lowering.lower import lower
from transkern.ir.nodes import ArrayParam, Program
from transkern.ir.oracle.interpret import WrongCode, interpret
from transkern.ir.oracle.numbers import Invalid
from transkern.ir.verify import violations
from transkern.runtime import verifying
from transkern.runtime.arrays import overlapping
from transkern.runtime.caching import making
from transkern.runtime.compiled import Compiled
from transkern.runtime.specialisation import Specialisation

Shuffle = Callable[[list[int]], None]


class Staged(Compiled):
    """A compiled function whose code is the interpreter, on the program behind the first `stage` passes of a target.

    `shuffle` puts the iterations of parallel loops into the order in which they run."""

    def __init__(
        self, function: Callable[..., Any], stage: int, target: str = "cpu", shuffle: Shuffle | None = None
    ) -> None:
        super().__init__(function, target=target)
        self._passes = pipeline.passes_for(target)[:stage]
        self._shuffle = shuffle

    def _specialise(self, key_types: tuple[Any, ...], target: str) -> Specialisation:
        """Raises CompileError, the first, where the function is refused, Invalid where a pass breaks a rule of the
        IR."""
        program = pipeline.run(pipeline.translated(live_function(self.function), key_types, target), self._passes)
        if problems := violations(program, lower in self._passes):
            raise Invalid("; ".join(problems))
        return _interpreted(program, key_types, target, self._shuffle)


def _interpreted(
    program: Program, key_types: tuple[Any, ...], target: str, shuffle: Shuffle | None
) -> Specialisation:
    reason = ["types"]

    def run(*args: Any) -> Any:
        try:
            return interpret(program, args, shuffle)
        except WrongCode as why:
            reason[0] = str(why)
            return NotImplemented

    def apart(*args: Any) -> Any:
        """`run`, but for arrays that share memory where the program was made for such that do not."""
        arrays = [(k, p) for k, p in enumerate(program.params) if isinstance(p, ArrayParam)]
        given = arrays[: sum(k < len(args) for k, _ in arrays)]  # behind them stand those from outside the function
        separate = [(p.name, args[k]) for k, p in given if not p.base]
        for group in overlapping([name for name, _ in separate], [a for _, a in separate]):
            if set(group) & {p.name for _, p in arrays if p.written}:
                reason[0] = "overlap"
                return NotImplemented
        return run(*args)

    made = making.specialisation(replace(program, captured=()), key_types, target, apart)
    made.why = lambda: reason[0]
    return made


def names(target: str = "cpu") -> list[str]:
    """The stages: the front end, and each pass."""
    return ["frontend", *(p.__name__ for p in pipeline.passes_for(target))]


@dataclass(frozen=True, slots=True)
class Fault:
    """The first stage that is wrong, by its number and name, and what is wrong behind it."""

    stage: int
    name: str
    problem: str


def first_fault(
    function: Callable[..., Any], calls: Sequence[Sequence[Any]], target: str = "cpu",
    seen: Callable[[str], None] = lambda _: None,
) -> Fault | None:  # fmt: skip
    """The first stage after which a call with one of these lists of arguments is answered otherwise than by the
    function itself, exceptions and changed arguments included; None where none is. `seen` is told each stage.

    Raises:
        CompileError: the function is refused for these arguments.
    """
    wanted = [verifying.expected(function, args, getattr(function, "__globals__", {})) for args in calls]
    for stage, name in enumerate(names(target)):
        seen(name)
        staged = Staged(function, stage, target, shuffle=lambda order: order.reverse())
        for args, expected in zip(calls, wanted, strict=True):
            if problem := _problem(staged, args, expected):
                return Fault(stage, name, problem)
    return None


def _problem(staged: Staged, args: Sequence[Any], expected: Any) -> str:
    mine = copy.deepcopy(tuple(args))
    found, raised = None, None
    try:
        found = staged(*mine)
    except CompileError:
        raise
    except Invalid as error:
        return f"a rule of the IR is broken: {error}"
    except Exception as error:  # the function's own, or one of a pass
        raised = error
    try:
        verifying.check(staged.function.__name__, found, raised, mine, expected.outside, expected)
    except VerificationError as error:
        return str(error)
    return ""
