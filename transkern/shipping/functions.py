"""What a package is to hold: the functions of a file whose types are stated, each as programs."""

from __future__ import annotations

import ast
import itertools
import sys
from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from transkern import pipeline, refusals
from transkern.errors import CompileError, TypesNeeded
from transkern.frontend.sources.annotations import with_defaults
from transkern.frontend.sources.decorators import check_entry
from transkern.frontend.sources.source import span_of
from transkern.frontend.sources.texts import TextScope, read_module
from transkern.frontend.syntax.syntax import parameter_names
from transkern.frontend.values.types import ArgType, ArrayType, StructType, parse_signature
from transkern.frontend.values.values import Function
from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.expr import variables_read
from transkern.ir.traverse import walk
from transkern.limits import compilation
from transkern.options import Options
from transkern.runtime.emitting import is_decorated, specialised, stated_types
from transkern.shipping.arguments import is_held, is_made_up, objects_in, short_lists
from transkern.targets.signature import signature_text

HELD = "arrays, numbers, constants, and of tuples, lists, dicts, dataclasses and named tuples of these"


@dataclass(frozen=True)
class Wanted:
    """A function and the types of its arguments, a tuple for each specialisation."""

    function: Function
    types: tuple[tuple[ArgType, ...], ...]


@dataclass(frozen=True)
class Shipped:
    """A function of a package: its name, its own docstring, and its programs.

    `stated` has one for each of its types. A named size of those is none that is 1, and their arrays are contiguous;
    `others` serve what else may come. `notes` tell what does not compile for these. `parameters` are the user's, of
    which `types` tells how they are made up.
    """

    name: str
    doc: str
    stated: tuple[n.Program, ...]
    others: tuple[n.Program, ...] = ()
    notes: tuple[str, ...] = ()
    parameters: tuple[str, ...] = ()
    types: tuple[tuple[ArgType, ...], ...] = ()  # of the programs

    def programs(self) -> tuple[n.Program, ...]:
        """All of them, in the order in which a call tries them."""
        return (*self.stated, *self.others)


def wanted(path: Path, names: Sequence[str] = (), types: Sequence[str] = ()) -> list[Wanted]:
    """The functions of a file that a package is to hold.

    Those that are named or have `types`; without any, all that state their types by a decorator or annotations.

    Raises:
        CompileError: a name is none of the file's functions, or nothing states types.
        TypesNeeded: a function is named, or decorated, whose types nothing states.
    """
    scope = read_module(path)
    given: dict[str, list[tuple[ArgType, ...]]] = defaultdict(list)
    for name, found in map(parse_signature, types):
        if not name:
            raise TypesNeeded("`build --types` needs the function's name in front: 'nms(float32[n,4], float32[n])'")
        given[name].append(found)
    chosen = dict.fromkeys([*names, *given])
    known = [] if chosen else [(name, scope.function(name)) for name in scope.functions()]
    for name in chosen:
        known.append((name, scope.function(name)))
    found_ = [w for name, f in known if (w := _wanted(f, scope, given.get(name, []), name in chosen))]
    if not found_:
        problem = f"{scope.file}: no function states the types of its arguments"
        raise CompileError(refusals.WHICH_FUNCTION, problem, "give --types 'f(float64[n], int)', or annotate them")
    return found_


def _wanted(function: Function, scope: TextScope, given: Sequence[tuple[ArgType, ...]], asked: bool) -> Wanted | None:
    types = tuple(with_defaults(function, each) for each in given)
    if not types:
        stated, needed = None, asked or is_decorated(function)
        try:
            stated = stated_types(function)
        except (TypesNeeded, CompileError):
            if needed:
                raise
        if stated is None and not needed:
            return None
        if stated is None:
            names = ", ".join(f"{name}: …" for name in parameter_names(function.node))
            example = ", ".join("float64[n]" if k == 0 else "float" for k, _ in enumerate(names.split(",")))
            told = f"`{function.name}({names})`: nothing states the types of its arguments"
            raise TypesNeeded(f"{told}\n  help: give --types '{function.name}({example})', or annotate them")
        types = (stated,)
    check_entry(function, scope)
    return Wanted(function, types)


def programs(one: Wanted, options: Options, variants: bool = True) -> Shipped:
    """The programs of a function, with `variants` also those for arrays with strides of their own or axes of size 1.

    Raises CompileError where something of it cannot be compiled, or not be shipped.
    """
    function = one.function
    stated, others, notes = [_program(function, types, options) for types in one.types], [], []
    known = list(one.types)
    short = [v for given in one.types for v in short_lists(given)]
    todo = deque(dict.fromkeys(short + [v for given in one.types for v in _variants(given)] * variants))
    seen = set(todo)
    if not variants:
        todo += _left_out(zip(stated, one.types, strict=True), seen)
    while todo:
        types = todo.popleft()
        try:
            others.append(_program(function, types, options))
            known.append(types)
        except CompileError as error:
            notes.append(f"`{function.name}` is not built for ({', '.join(map(str, types))}): {error.problem}")
        else:
            todo += _left_out([(others[-1], types)], seen)
    doc = "" if isinstance(function.node, ast.Lambda) else ast.get_docstring(function.node) or ""
    own = tuple(parameter_names(function.node))
    return Shipped(function.name, doc, tuple(stated), tuple(others), tuple(notes), own, tuple(known))


def _variants(types: tuple[ArgType, ...]) -> list[tuple[ArgType, ...]]:
    """What else arrays may be that are of such types: with strides of their own, with axes of size 1.

    All choices of sizes that are 1 where there are few, else each alone and all together.
    """
    names = list(dict.fromkeys(d for t in types for d in _named_sizes(t)))
    few = len(names) <= _FEW
    counts = range(len(names) + 1) if few else (0, 1, len(names))
    chosen = [set(ones) for count in counts for ones in itertools.combinations(names, count)]
    return [tuple(_with_ones(t, ones) for t in types) for ones in chosen if names]


_FEW = 3  # named sizes of which all choices are built


_Types = tuple[ArgType, ...]


def _left_out(programs: Iterable[tuple[n.Program, _Types]], seen: set[_Types]) -> list[_Types]:
    """Types for the sizes that programs leave to others: of `x[1:-1]` they know that it has not one element, as that
    would be stretched, and so of `x` that it has not three."""
    found: list[_Types] = []
    for program, types in programs:
        for condition in program.assumptions:
            names = variables_read(condition)
            if len(names) != 1:
                continue
            (name,) = names
            for size in range(_LONG):
                if b.substitute(condition, {name: b.index(size)}) == b.FALSE and len(seen) < _MOST:
                    other = tuple(_with_size(t, name.removesuffix("."), size) for t in types)
                    if other not in seen:
                        seen.add(other)
                        found.append(other)
    return found


_LONG, _MOST = 32, 40  # sizes that are looked at, choices of types of a function


def _with_arrays(kind: ArgType, change: Callable[[ArrayType], ArrayType]) -> ArgType:
    """The type with each array type in it changed."""
    if isinstance(kind, StructType):
        return replace(kind, items=tuple(_with_arrays(item, change) for item in kind.items))
    return change(kind) if isinstance(kind, ArrayType) else kind


def _with_size(kind: ArgType, name: str, size: int) -> ArgType:
    def sized(array: ArrayType) -> ArrayType:
        return replace(array, dims=tuple(size if d == name else d for d in array.dims))

    return _with_arrays(kind, sized)


def _named_sizes(kind: ArgType) -> Iterator[str]:
    if isinstance(kind, ArrayType):
        yield from (d for d in kind.dims if isinstance(d, str))
    elif isinstance(kind, StructType):
        for item in kind.items:
            yield from _named_sizes(item)


def _with_ones(kind: ArgType, ones: set[str]) -> ArgType:
    def stretched(array: ArrayType) -> ArrayType:
        dims = tuple(1 if d in ones else d for d in array.dims)
        return replace(array, dims=dims, layout="strided" if dims else array.layout)

    return _with_arrays(kind, stretched)


def _program(function: Function, types: tuple[ArgType, ...], options: Options) -> n.Program:
    with compilation(function.name, span_of(function.node, function.scope.file), function.scope.lines):
        program = pipeline.with_options(specialised(function, types), options)
        program = replace(pipeline.run(program), signature=signature_text(function))
        _check(program, function, types)
        return program


def _check(program: n.Program, function: Function, types: tuple[ArgType, ...]) -> None:
    """That a package can hold a program: what it takes, and no class of a module of the user's."""
    own = [p.name for p in program.params[: len(program.params) - len(program.captured)]]
    help = f"a package has functions of {HELD}; put what else there is into arrays, or into arguments of their own"
    for name, kind in zip(parameter_names(function.node), types, strict=False):
        if not is_held(kind):
            problem = f"`{name}` of `{function.name}` is made up of others as a package does not take it: {kind}"
            raise CompileError(refusals.ARGUMENT_TYPE, problem, help)
    if program.changes:
        problem = f"`{function.name}` changes a list, dict or object that it is given, which only transkern can do"
        raise CompileError(refusals.ARGUMENT_TYPE, problem, "return what is new, or take an array and change that")
    if any(isinstance(p, n.ObjectParam) for p in program.params):
        problem = f"`{function.name}` hands on a list, tuple, dict or object that it was given, itself"
        raise CompileError(refusals.ARGUMENT_TYPE, problem, "return a copy: list(x), tuple(x)")
    if not any(map(is_made_up, types)) and own != parameter_names(function.node):
        raise CompileError(refusals.ARGUMENT_TYPE, f"`{function.name}` takes any number of arguments", help)
    if sum(map(objects_in, types)) > 1 and _tells_apart(function):
        problem = f"`{function.name}` is given several lists, dicts or objects, and its file asks with `is` which"
        raise CompileError(refusals.ARGUMENT_TYPE, problem, "compare what is in them")
    if program.captured and any(map(is_made_up, types)):
        problem = f"`{function.name}` takes arguments that are made up of others, and finds arrays outside"
        raise CompileError(refusals.ARGUMENT_TYPE, problem, "pass the arrays as arguments")
    for of in _classes(program):
        module = of.partition(":")[0]
        if module and module.partition(".")[0] not in (*sys.stdlib_module_names, "numpy"):
            problem = f"`{function.name}` makes objects of {of.replace(':', '.')}, which the package does not have"
            raise CompileError(refusals.RESULT, problem, "return a tuple, and raise exceptions of Python's")


def _tells_apart(function: Function) -> bool:
    """Whether something in the function's file may ask of two values whether they are one: parts of arguments do not
    know."""
    module = function.scope.bound.module if isinstance(function.scope, TextScope) else function.node
    asked = (x for x in ast.walk(module) if isinstance(x, ast.Compare))
    return any(
        isinstance(op, (ast.Is, ast.IsNot)) and not isinstance(right, ast.Constant)
        for x in asked for op, right in zip(x.ops, x.comparators, strict=True)
    )  # fmt: skip


def _classes(program: n.Program) -> Iterator[str]:
    """The classes, ``module:name``, of what a program returns or raises."""
    waiting: list[n.Result] = [s.result for s in walk(program.body) if isinstance(s, n.Return)]
    while waiting:
        result = waiting.pop()
        if isinstance(result, n.TupleResult):
            waiting += result.items
            if result.of:
                yield result.of
