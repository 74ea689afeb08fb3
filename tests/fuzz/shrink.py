"""A failing program made small: statements and subexpressions go as long as the failure stays of its sort."""

from __future__ import annotations

import ast
import copy
import itertools
import re
import warnings
from collections.abc import Callable, Iterator
from dataclasses import replace

from tests.fuzz.batch import Report
from tests.fuzz.programs import Program


def sort_of(report: Report) -> str:
    """What sort of failure it is: two programs of one sort fail in the same way."""
    text = report.message
    if report.verdict == "wrong":
        text = re.sub(r"(the result|argument|array|result)[ \[\]'\w]*( afterwards)?", "it", text)
        if "Error" in text:
            return "wrong: " + " ".join(re.findall(r"a result|\w*Error", text))
        types = re.findall(r"\b(?:bool|u?int\d*|float\d*)\b(?!\()", re.sub(r"np\.\w+\([^)]*\)", "", text))
        value = "(" in text and "differ)" in text
        return "wrong value" if value else f"wrong type {' '.join(types[-2:])}"
    if report.verdict == "broken":
        return "broken: " + re.sub(r"[\d‘’']+|batch\S*|c:\S*", "", text.strip().splitlines()[-1])[:50]
    return report.verdict + (": " + re.sub(r"^\S* ", "", text.splitlines()[0]) if text else "")


def shrunk(report: Report, run: Callable[[list[Program]], list[Report]], rounds: int = 60, width: int = 24) -> Report:
    """The smallest program found that fails as `report` does; `run` gives verdicts of many programs."""
    best, wanted = report, sort_of(report)
    for _ in range(rounds):
        found: Report | None = None
        for batch in _batches(best, width):
            found = next((r for r in run(list(batch)) if sort_of(r) == wanted), None)
            if found is not None:
                break
        if found is None:
            break
        best = found
    return best


def _batches(report: Report, width: int) -> Iterator[tuple[Program, ...]]:
    made = _smaller(report)
    while batch := tuple(itertools.islice(made, width)):
        yield batch


def _smaller(report: Report) -> Iterator[Program]:
    """Programs that are a step smaller, the boldest first."""
    program = report.program
    if len(program.calls) > 1:
        yield replace(program, calls=(program.calls[report.call],))
    tree = ast.parse(program.source)
    seen = {ast.unparse(tree)}
    for smaller in itertools.chain(_statements(tree), _expressions(tree)):
        try:
            warnings.simplefilter("ignore", SyntaxWarning)
            source = ast.unparse(ast.fix_missing_locations(smaller))
            exec(compile(source, "<smaller>", "exec"), {"__name__": "smaller"})
        except Exception:  # also what the module itself raises, of the constants that it holds
            continue
        if source not in seen and "def f(" in source and "import numpy" in source:
            seen.add(source)
            yield _trimmed(replace(program, source=source + "\n"))


def _trimmed(program: Program) -> Program:
    """Without parameters that are not used."""
    tree = ast.parse(program.source)
    function = next(s for s in tree.body if isinstance(s, ast.FunctionDef) and s.name == "f")
    used = {n.id for n in ast.walk(tree) if isinstance(n, ast.Name)}
    used |= {p.layout.split()[1] for p in program.parameters if " " in p.layout and p.name in used}
    kept = tuple(p for p in program.parameters if p.name in used)
    if len(kept) == len(program.parameters) or not kept:
        return program
    # the values of the others must stay what they are, so the parameters are drawn as before and passed on by name
    function.args.args = [ast.arg(p.name) for p in kept]
    return replace(
        program, source=ast.unparse(tree) + "\n", parameters=program.parameters, passed=tuple(p.name for p in kept)
    )


def _statements(tree: ast.Module) -> Iterator[ast.Module]:
    """Without a statement, or with a compound one's body in its place."""
    places = [
        (path, name, k)
        for path, node in _walk(tree, ())
        for name in ("body", "orelse")
        if isinstance(getattr(node, name, None), list)
        for k in range(len(getattr(node, name)))
    ]
    for path, name, k in reversed(places):
        for inside in (False, True):
            made = copy.deepcopy(tree)
            block = getattr(_at(made, path), name)
            statement = block[k]
            if inside:
                if not isinstance(statement, (ast.For, ast.While, ast.If)):
                    continue
                block[k : k + 1] = statement.body
            else:
                del block[k]
                if not block and name == "body":
                    if not isinstance(_at(made, path), (ast.For, ast.While, ast.If)):
                        continue
                    block.append(ast.Pass())
            yield made


def _expressions(tree: ast.Module) -> Iterator[ast.Module]:
    """With an expression's part in place of it, or a number."""
    for path, node in list(_walk(tree, ())):
        if not isinstance(node, ast.expr) or not path:
            continue
        if isinstance(getattr(node, "ctx", ast.Load()), ast.Store):
            continue
        parts = [c for c in ast.iter_child_nodes(node) if isinstance(c, ast.expr)]
        if isinstance(node, (ast.Tuple, ast.List)) and len(node.elts) > 1:
            parts += [type(node)([e for e in node.elts if e is not one], ast.Load()) for one in node.elts]
        if isinstance(node, ast.Call):
            parts += [
                ast.Call(node.func, node.args, [k for k in node.keywords if k is not one]) for one in node.keywords
            ]
        if not isinstance(node, (ast.Constant, ast.Slice, ast.Attribute)):
            parts.append(ast.Constant(1))
        elif isinstance(node, ast.Constant) and node.value not in (0, 1, 2, None) and not isinstance(node.value, str):
            parts.append(ast.Constant(2))
        for part in parts:
            made = copy.deepcopy(tree)
            *front, (field, at) = path
            parent = _at(made, tuple(front))
            if at is None:
                setattr(parent, field, copy.deepcopy(part))
            else:
                getattr(parent, field)[at] = copy.deepcopy(part)
            yield made


Path = tuple[tuple[str, int | None], ...]


def _walk(node: ast.AST, path: Path) -> Iterator[tuple[Path, ast.AST]]:
    yield path, node
    for field, value in ast.iter_fields(node):
        if isinstance(value, ast.AST):
            yield from _walk(value, (*path, (field, None)))
        elif isinstance(value, list):
            for k, item in enumerate(value):
                if isinstance(item, ast.AST):
                    yield from _walk(item, (*path, (field, k)))


def _at(node: ast.AST, path: Path) -> ast.AST:
    for field, k in path:
        value = getattr(node, field)
        node = value if k is None else value[k]
    return node
