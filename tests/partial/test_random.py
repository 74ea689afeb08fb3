"""Functions of the corpus with statements at random places that no kernel does: in parts they give what Python gives.

`python -m tests.partial.test_random SEED [TARGET]` tries the whole corpus.
"""

from __future__ import annotations

import ast
import importlib.util
import random
import sys
import tempfile
import warnings
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

import transkern
from tests.corpus.registry import Case, difference, outcome
from tests.tools import on_target, require

require("cc")

CORPUS = Path(__file__).parents[1] / "corpus"
MODULES = sorted(p.stem for p in CORPUS.glob("[al]*_*.py"))


def probed(module: str, seed: int, folder: Path) -> ModuleType:
    """A module of the corpus in which each function asks the garbage collector something, at one or two places."""
    source = random.Random(f"{module} {seed}")
    tree = ast.parse((CORPUS / f"{module}.py").read_text(encoding="utf-8"))
    for node in tree.body:
        if isinstance(node, ast.FunctionDef):
            _probe(node, source)
    first = next(k for k, s in enumerate(tree.body) if isinstance(s, (ast.Import, ast.ImportFrom)))
    tree.body.insert(first + 1, ast.parse("import gc").body[0])
    name = f"in_parts_{module}_{seed}"
    file = folder / f"{name}.py"
    file.write_text(ast.unparse(ast.fix_missing_locations(tree)), encoding="utf-8")
    spec = importlib.util.spec_from_file_location(name, file)
    assert spec is not None and spec.loader is not None
    made = sys.modules[name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    return made


def _probe(node: ast.FunctionDef, source: random.Random) -> None:
    blocks = list(_blocks(node.body))
    names = [a.arg for a in node.args.args]
    for _ in range(source.choice((1, 1, 2))):
        block = source.choice(blocks)
        asked = source.choice(names) if names and source.random() < 0.5 else "None"
        at = source.randrange(bool(block is node.body and ast.get_docstring(node)), len(block) + 1)
        block.insert(at, ast.parse(f"gc.is_tracked({asked})").body[0])


def _blocks(statements: list[ast.stmt]) -> Iterator[list[ast.stmt]]:
    yield statements
    for s in statements:
        if not isinstance(s, (ast.FunctionDef, ast.ClassDef)):
            for name in ("body", "orelse", "finalbody"):
                if inner := getattr(s, name, None):
                    yield from _blocks(inner)


def wrong(case: Case, target: str) -> tuple[str, bool]:
    """What differs first, or nothing; and whether the function ran in parts."""
    compiled = transkern.compile(case.function, target=target, fallback="numpy")
    ulps = case.ulps if target == "cpu" else 4 * case.ulps
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for arguments in case.arguments():
            wanted, found = outcome(case.function, arguments), outcome(compiled, arguments)
            if (type(found.error), str(found.error)) != (type(wanted.error), str(wanted.error)):
                return f"{found.error!r} instead of {wanted.error!r}", True
            flushed = target == "pallas"
            for f, w in ((found.result, wanted.result), (found.arguments, wanted.arguments)):
                if differs := difference(f, w, ulps, case.scale, flushed):
                    return differs, True
            if target == "cpu" and found.views != wanted.views:
                return "a view in one is a copy in the other", True
    return "", any(made is not compiled.function for made in compiled.known.refused.values())


@pytest.mark.parametrize(("target", "most"), [("cpu", 24), ("cuda", 6), ("pallas", 6)])
def test_parts_of_the_corpus(target: str, most: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    on_target(target, monkeypatch)
    chosen = random.Random(target)
    parted = 0
    for module in chosen.sample(MODULES, most // 6):
        made = probed(module, 1, tmp_path)
        taken = [c for c in made.CASES if target not in c.refused]
        for case in chosen.sample(taken, min(len(taken), 6)):
            differs, parts = wrong(case, target)
            assert not differs, f"{module}.{case.function.__name__}: {differs}"
            parted += parts
    assert parted > most // 4


def main(seed: int, target: str) -> None:
    parted = 0
    for module in MODULES:
        with tempfile.TemporaryDirectory() as folder:
            for case in probed(module, seed, Path(folder)).CASES:
                if target not in case.refused:
                    differs, parts = wrong(case, target)
                    parted += parts
                    if differs:
                        print(f"{module}.{case.function.__name__}: {differs}")
    print(f"{parted} functions in parts")


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2] if len(sys.argv) > 2 else "cpu")
