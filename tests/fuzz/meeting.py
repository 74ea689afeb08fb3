"""Whether spellings of one function meet:  python -m tests.fuzz.meeting --pairs 1000

Functions of the corpus and of `benchmarks/spelled/` are rewritten by rules (`rewriting.py`), one to three at a time.
Where NumPy gives the same for both, the programs behind all passes are compared by the work in their loops (`work`).
What does not meet is listed by the rules that made it, with what the two programs differ in.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import difflib
import importlib
import inspect
import io
import itertools
import json
import linecache
import random
import re
import sys
import time
import types
from collections import Counter, defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.progress import track

import transkern
from tests.corpus.registry import difference, outcome
from tests.fuzz.rewriting import Seen, Text, watch
from tests.fuzz.rules import rewritten
from tests.fuzz.stages import built_by
from transkern import pipeline
from transkern.errors import CompileError
from transkern.frontend.sources.source import live_function
from transkern.frontend.specialise import specialise
from transkern.fuse.passes import PASSES
from transkern.ir import nodes as n
from transkern.ir import printer
from transkern.ir.build import map_expr
from transkern.ir.expr import Apply, Expr, Load, Reduce, Var
from transkern.ir.traverse import bodies, exprs, map_block, names_in, own_exprs, walk, walk_expr

MOST_RULES = 3
_QUICK = 0.02  # seconds in NumPy: each spelling runs several times
_COMMUTATIVE = {
    "add", "multiply", "maximum", "minimum", "equal", "not_equal", "logical_and", "logical_or", "bitwise_and",
    "bitwise_or", "bitwise_xor",
}  # fmt: skip
_numbers = itertools.count()
_MIRRORED = {"greater": "less", "greater_equal": "less_equal"}


@dataclass(frozen=True)
class Subject:
    """A function to rewrite: the text of its module, its name, and arguments for it."""

    origin: str
    module: str
    name: str
    arguments: tuple[Any, ...]


@dataclass(frozen=True)
class Pair:
    """How a spelling compares with the one it was made of: `verdict` is met, apart, refused, changed or unknown."""

    subject: str
    rules: tuple[str, ...]
    verdict: str
    text: str = ""
    told: str = ""


class Found(BaseException):
    """Carries a program out of a call."""

    def __init__(self, program: n.Program) -> None:
        self.program = program


def subjects() -> list[Subject]:
    """The corpus, and the spellings of `benchmarks/`."""
    from tests.corpus.test_corpus import cases

    found = []
    for _, case in cases():
        if not case.refused.get("cpu"):
            module = sys.modules[case.function.__module__]
            text, name = inspect.getsource(module), case.function.__name__
            found.append(Subject(module.__name__, text, name, case.arguments()[0]))
    sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))
    spelled = importlib.import_module("spelled")
    for group, functions in spelled.GROUPS.items():
        drawn = tuple(spelled.INPUTS[group](np.random.default_rng(0)))
        text = inspect.getsource(sys.modules[functions[0].__module__])
        found += [Subject("spelled", text, f.__name__, drawn) for f in functions if _is_quick(f, drawn)]
    return found


def _is_quick(function: Callable[..., Any], arguments: tuple[Any, ...]) -> bool:
    start = time.perf_counter()
    outcome(function, arguments)
    return time.perf_counter() - start < _QUICK


def loaded(text: str, name: str, **also: Any) -> Callable[..., Any]:
    """The function `name` of a module's text."""
    number = next(_numbers)
    file, module = f"<spelling {number}>", types.ModuleType(f"spelling_{number}")
    sys.modules[module.__name__] = module
    linecache.cache[file] = len(text), None, text.splitlines(keepends=True), file
    module.__dict__.update(also)
    exec(compile(text, file, "exec"), module.__dict__)
    function: Callable[..., Any] = module.__dict__[name]
    return function


def seen_of(subject: Subject, text: Text) -> dict[int, Seen | None]:
    """What the expressions of a function are, when it is run."""
    seen: dict[int, Seen | None] = {}

    def note(number: int, value: Any) -> Any:
        now = Seen.of(value)
        if number not in seen:
            seen[number] = now
        elif (before := seen[number]) is not None and before != now:
            like = (before.kind, before.dtype, len(before.shape)) == (now.kind, now.dtype, len(now.shape))
            seen[number] = now if like else None
        return value

    function = loaded(watch(str(text), subject.name), subject.name, __note=note)
    outcome(function, subject.arguments)
    return seen


def spelling(subject: Subject, chance: random.Random, times: int) -> tuple[str, tuple[str, ...]]:
    """The module's text with the function in another spelling."""
    module, rules = subject.module, ()
    for _ in range(times):
        text = Text(module, subject.name)
        text.seen = seen_of(subject, text)
        made = rewritten(text, chance)
        if made is None:
            break
        module, rules = made[0], (*rules, made[1])
    return module, rules


def program_of(function: Callable[..., Any], arguments: tuple[Any, ...], passes: tuple[Any, ...]) -> n.Program:
    """The program that a call with these arguments is compiled from, behind some passes."""

    def build(function: Any, of: tuple[Any, ...], target: str, narrow: bool = False) -> Any:
        raise Found(pipeline.run(specialise(live_function(function), of, True), passes))

    try:
        with built_by(build):
            transkern.compile(function, target="cpu")(*arguments)
    except Found as found:
        return found.program
    raise AssertionError("nothing was compiled")


def work(program: n.Program) -> Counter[tuple[str, ...]]:
    """What a program does where: its operations, loads, stores and library steps by the loops that they are in. Names,
    the order of statements, what is a number of its own or part of an expression, and checks outside loops (which error
    is raised first depends on the spelling) do not count."""
    found: Counter[tuple[str, ...]] = Counter()

    def block(statements: tuple[n.Stmt, ...], around: tuple[str, ...]) -> None:
        for s in statements:
            kind = type(s).__name__
            inside = around
            if isinstance(s, (n.Loop, n.While)):
                inside = (*around, s.kind if isinstance(s, n.Loop) else kind)
            if kind in ("Loop", "While", "If", "Kernel", "Guard", "Library", "Compact", "Scanning", "Alloc") and (
                kind != "Guard" or inside
            ):  # fmt: skip
                found[*inside, s.name if isinstance(s, n.Library) else kind] += 1
            for e in () if isinstance(s, (n.Loop, n.Guard, n.Alloc)) else own_exprs(s):
                value(e, inside)
            if isinstance(s, n.Store):
                found[*inside, "store"] += 1
            for body in bodies(s):
                block(body, inside)

    def value(e: Expr, where: tuple[str, ...]) -> None:
        match e:
            case Load():
                found[*where, "load"] += 1
            case Apply(op, args):
                if e.dtype != "index" and op != "cast":
                    found[*where, _MIRRORED.get(op, op)] += 1
                for x in args:
                    value(x, where)

    block(program.body, ())
    return found


def lines(program: n.Program) -> list[str]:
    """A program's lines in an order and with names that do not depend on its spelling."""
    names = {program.name, *program.buffers}
    for e in (x for top in exprs(program.body) for x in walk_expr(top)):
        match e:
            case Var(name):
                names.add(name)
            case Reduce(axes=axes):
                names.update(a.name for a in axes)
    for s in walk(program.body):
        names.update(names_in(s))
    longest_first = sorted(map(re.escape, names), key=len, reverse=True)
    pattern = re.compile(rf"(?<![\w.'])({'|'.join(longest_first)})(?![\w(])")

    def erased(text: str) -> str:
        return pattern.sub("_", text)

    def turn(e: Expr) -> Expr | None:
        match e:
            case Apply(op, (x, y), dtype):
                x, y = (map_expr(p, turn) for p in (x, y))
                if op in _MIRRORED:
                    op, x, y = _MIRRORED[op], y, x
                elif op in _COMMUTATIVE and erased(printer.text(y)) < erased(printer.text(x)):
                    x, y = y, x
                return Apply(op, (x, y), dtype)
        return None

    body = map_block(program.body, turn)
    made = [erased(line) for line in printer.block(body, 0)]
    local = [f"{b.role}: {b.dtype}[{len(b.dims)}]" for b in program.buffers.values() if b.role != "argument"]
    return sorted([*made, *local])


def compared(subject: Subject, seed: int, passes: tuple[Any, ...]) -> Pair:
    """One function and a spelling of it."""
    chance = random.Random(seed)
    text, rules = spelling(subject, chance, chance.randint(1, MOST_RULES))
    shown = f"{subject.origin}.{subject.name}"
    if not rules:
        return Pair(shown, (), "unknown")
    one, two = loaded(subject.module, subject.name), loaded(text, subject.name)
    first, second = outcome(one, subject.arguments), outcome(two, subject.arguments)
    differs = difference(second.result, first.result) or difference(second.arguments, first.arguments)
    if first.error or second.error or differs:
        return Pair(shown, rules, "changed", text, repr(second.error) if second.error else "")
    programs = []
    for function in (one, two):
        try:
            programs.append(program_of(function, subject.arguments, passes))
        except CompileError as error:
            return Pair(shown, rules, "refused" if programs else "unknown", text, str(error))
    if work(programs[0]) == work(programs[1]):
        return Pair(shown, rules, "met")
    told = difflib.unified_diff(*map(lines, programs), "before", "after", lineterm="", n=0)
    return Pair(shown, rules, "apart", text, "\n".join(told))


def function_text(module: str, name: str) -> str:
    """The function and its helpers, of a module's text."""
    tree = ast.parse(module)
    functions = [s for s in tree.body if isinstance(s, ast.FunctionDef)]
    return "\n\n".join(ast.unparse(s) for s in functions if s.name == name or s.name.startswith("helper"))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--pairs", type=int, default=1000)
    parser.add_argument("--first", type=int, default=0, help="seed of the first pair")
    parser.add_argument("--only", default="", help="functions whose name has this in it")
    parser.add_argument("--rule", default="", help="show pairs made with this rule")
    parser.add_argument("--show", type=int, default=5, help="pairs to show in full")
    parser.add_argument("--after", help="compare behind this pass instead of the last one")
    parser.add_argument("--json", type=Path, help="write the pairs that do not meet there")
    parser.add_argument("--atleast", type=float, default=0.0, help="the share that must meet, for the exit status")
    given = parser.parse_args()
    passes = PASSES
    if given.after:
        passes = passes[: [p.__name__ for p in passes].index(given.after) + 1]
    console = Console()
    among = [s for s in subjects() if given.only in f"{s.origin}.{s.name}"]
    tally: Counter[str] = Counter()
    by_rule: dict[str, Counter[str]] = defaultdict(Counter)
    apart: list[Pair] = []
    seed = given.first
    for _ in track(range(given.pairs), "spellings", console=Console(stderr=True)):
        pair = None
        while pair is None or pair.verdict in ("unknown", "changed"):
            seed += 1
            subject = random.Random(seed).choice(among)
            with contextlib.redirect_stdout(io.StringIO()):  # what the functions print
                pair = compared(subject, seed, passes)
            tally[pair.verdict] += pair.verdict in ("unknown", "changed")
        tally[pair.verdict] += 1
        for rule in pair.rules:
            by_rule[rule][pair.verdict] += 1
        if pair.verdict != "met":
            apart.append(pair)
    console.print(dict(tally))
    for rule, counts in sorted(by_rule.items(), key=lambda r: r[1]["met"] / r[1].total()):
        told = f"{rule:32} {counts['met']:5} of {counts.total():5}   refused {counts['refused']}"
        console.print(told, highlight=False)
    for pair in [p for p in sorted(apart, key=lambda p: len(p.rules)) if given.rule in " ".join(p.rules)][: given.show]:
        console.rule(f"{pair.subject}: {', '.join(pair.rules)}: {pair.verdict}")
        console.print(function_text(pair.text, pair.subject.rpartition(".")[2]), highlight=False, markup=False)
        console.print(pair.told[:4000], highlight=False, markup=False)
    if given.json:
        given.json.write_text(json.dumps([p.__dict__ for p in apart], indent=1), encoding="utf-8")
    met = tally["met"] / max(1, given.pairs)
    console.print(f"{tally['met']} of {given.pairs} met")
    sys.exit(met < given.atleast)


if __name__ == "__main__":
    main()
