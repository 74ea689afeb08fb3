"""How the package is laid out: imports that run one way, folders that one can look through, files that one can read."""

from __future__ import annotations

import ast
import functools
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import NamedTuple

import pytest

import transkern
from transkern.runtime.caching import cache

PACKAGE = Path(__file__).parents[1] / "transkern"

LATE = {
    "transkern": "`import transkern` loads what calls need; sessions and warming are asked for",
    "transkern.advising": "only who asks for advice compiles twice",
    "transkern.analysis": "the package is there with each module in it, of which passes need a few",
    "transkern.cli": "a command loads what it does, so that each of them begins at once",
    "transkern.cli.caching": "only `cache warm` compiles",
    "transkern.dropin.attempt": "code from the disk cache needs no compiler; what is refused asks it again",
    "transkern.dropin.functions": "a script that needs no compiled code loads nothing of what would run it",
    "transkern.dropin.recording": "a script begins before anything has been compiled",
    "transkern.dropin.remembered": "only a function that is refused is taken apart",
    "transkern.dropin.running": "a script begins at once; the report comes at its end",
    "transkern.dropin.sessions": "the report comes at the end, if anybody asks for it",
    "transkern.frameworks.tracing": "JAX and PyTorch are optional",
    "transkern.runtime.boundary": "only an error of transkern's own writes a script",
    "transkern.runtime.caching.building": "code from the disk cache needs no compiler; a target is loaded by itself",
    "transkern.runtime.caching.cached": "code from the disk cache needs no compiler, and no printer",
    "transkern.runtime.caching.making": "code from the disk cache needs no compiler",
    "transkern.runtime.calls.instead": "parts are looked for where a function is refused",
    "transkern.runtime.calls.outside": "the front end is loaded where somebody asks for a text",
    "transkern.runtime.calls.settling": "the front end is loaded with the first call that is no known one",
    "transkern.runtime.calls.stated": "the front end is loaded where somebody asks for types",
    "transkern.runtime.compiled": "the front end is loaded with the first call that is no known one",
    "transkern.runtime.specialisation": "the types' parser is loaded with the first call",
    "transkern.starting": "a script that is run needs no parser of the command line",
    "transkern.targets.cpu.target": "code that is explained or checked is not printed",
    "transkern.targets.cuda.target": "code from the disk cache needs no passes",
    "transkern.targets.pallas.target": "what it prints with need not be installed",
    "transkern.targets.cuda.load": "the simulator stands for a device where there is none",
}  # fmt: skip
"""Modules that import others of the package in functions, and why: what a user waits for (`benchmarks/startup.py`), or
what need not be installed."""

LONG = {"fuse/filters/alive.py"}
"""Files of more than 500 lines. Others are not to become so; one that has been taken apart goes from here."""

LARGE: set[str] = set()
"""Classes of more than 25 attributes or 30 methods, which is said of them as of files."""


def test_modules_do_not_import_each_other() -> None:
    graph = {name: {other.name for other in found} for name, found in IMPORTS.items()}
    assert [sorted(circle) for circle in components(graph) if len(circle) > 1] == []


def test_imports_are_late_for_a_reason() -> None:
    """Where a module imports others in functions, it is said why; and nothing else there loads these."""
    late = {name: {other.name for other in found if other.late} for name, found in IMPORTS.items()}
    assert {name for name, others in late.items() if others} == set(LATE)
    needless = [
        f"{other} in {name}" for name, others in late.items() for other in others
        if loaded_with(other) <= loaded_with(name)
    ]  # fmt: skip
    assert needless == []


@pytest.mark.parametrize("name", ["transkern", "transkern.cli"])
def test_little_is_loaded_at_first(name: str) -> None:
    """The package and the command line begin without the front end, the passes and the printers."""
    loaded = loaded_with(name)
    rooms = {".".join(other.split(".")[1:2]) for other in loaded}
    assert not rooms & {"frontend", "fuse", "pipeline", "analysis", "checking", "dask", "frameworks", "dropin"}
    assert not any(other.startswith(("transkern.targets.pallas", "transkern.targets.cuda")) for other in loaded)
    assert len(loaded) < 40


@pytest.mark.parametrize(
    "name", ["transkern.runtime.compiled", "transkern.runtime.caching.building", "transkern.dropin.scripts"]
)
def test_code_from_the_cache_needs_no_compiler(name: str) -> None:
    """It takes a tenth of a second to load."""
    loaded = loaded_with(name)
    assert not {"transkern.pipeline", "transkern.fuse.passes", "transkern.frontend.specialise"} & loaded


def test_the_package_has_its_names() -> None:
    """Which are loaded when they are asked for."""
    for name in transkern.__all__:
        assert getattr(transkern, name).__name__ == name and name in dir(transkern)
    assert transkern.errors.CompileError is transkern.CompileError
    with pytest.raises(AttributeError, match="no attribute 'compil'"):
        getattr(transkern, "compil")  # noqa: B009 - mypy knows the names


def test_a_circle_is_found() -> None:
    graph = {"a": {"b"}, "b": {"c"}, "c": {"a", "d"}, "d": {"d"}, "e": {"a"}}
    assert sorted(map(sorted, components(graph))) == [["a", "b", "c"], ["d"], ["e"]]


def test_a_change_of_any_file_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """What was compiled by another text of the package is not taken from the disk cache."""
    asked: set[str] = set()

    def stat(path: str) -> os.stat_result:
        asked.add(path)
        return os.stat(path)

    monkeypatch.setattr(cache, "os", SimpleNamespace(stat=stat, walk=os.walk, path=os.path))
    cache.compiler_version.__wrapped__()
    assert {str(path) for path in MODULES.values()} <= asked


def test_folders_are_small() -> None:
    counts = {folder: len(list(folder.glob("*.py"))) for folder in (PACKAGE, *PACKAGE.rglob("*/"))}
    assert {str(folder): count for folder, count in counts.items() if count > 20} == {}
    assert counts[PACKAGE / "frontend"] <= 6


def test_files_are_short() -> None:
    lengths = {path.relative_to(PACKAGE).as_posix(): len(path.read_text().splitlines()) for path in MODULES.values()}
    assert {name for name, length in lengths.items() if length > 500} - LONG == set()


@pytest.mark.parametrize("name", sorted(LONG))
def test_files_that_are_long_are(name: str) -> None:
    assert len((PACKAGE / name).read_text().splitlines()) > 500


def test_classes_are_small() -> None:
    found = {
        f"{path.relative_to(PACKAGE).as_posix()}: {node.name}" for path in MODULES.values()
        for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.ClassDef) and is_large(node)
    }  # fmt: skip
    assert found == LARGE


def test_attributes_and_methods_are_counted() -> None:
    fields = "\n".join(f"    x{k}: int = 0" for k in range(24))
    methods = "\n".join(f"    def f{k}(self): pass" for k in range(29))
    bound = "    def f(self, other): self.y, other.z = 1, 2; self.x0 += 1; return self.v"
    for more, large in (("", False), ("; self.z: int = 3", True), ("; [self.z for self.z in ()]", True)):
        made = ast.parse(f"class A:\n{fields}\n{methods}\n{bound.replace('; return', more + '; return')}").body[0]
        assert isinstance(made, ast.ClassDef) and is_large(made) == large
    made = ast.parse(f"class A:\n{methods}\n    def g(self): pass\n    async def h(self): pass").body[0]
    assert isinstance(made, ast.ClassDef) and is_large(made)


def is_large(node: ast.ClassDef) -> bool:
    """Whether a class has more than 25 attributes, which it declares or its methods bind, or more than 30 methods."""
    methods = [s for s in node.body if isinstance(s, (ast.FunctionDef, ast.AsyncFunctionDef))]
    attributes = {s.target.id for s in node.body if isinstance(s, ast.AnnAssign) and isinstance(s.target, ast.Name)}
    attributes |= {
        x.attr for method in methods for x in ast.walk(method)
        if isinstance(x, ast.Attribute) and isinstance(x.ctx, ast.Store)
        and isinstance(x.value, ast.Name) and x.value.id == "self"
    }  # fmt: skip
    return len(attributes) > 25 or len(methods) > 30


def _named(path: Path) -> str:
    return ".".join(("transkern", *path.relative_to(PACKAGE).with_suffix("").parts)).removesuffix(".__init__")


MODULES: dict[str, Path] = {_named(path): path for path in sorted(PACKAGE.rglob("*.py"))}


class Import(NamedTuple):
    """A module of the package that another one imports, and whether it does so in a function."""

    name: str
    late: bool


def imports(name: str, path: Path) -> Iterator[Import]:
    """What a module imports of the package, also in its functions; not what only type checkers read."""
    package = name.split(".") if path.name == "__init__.py" else name.split(".")[:-1]
    waiting: list[tuple[ast.AST, bool]] = [(ast.parse(path.read_text()), False)]
    while waiting:
        node, late = waiting.pop()
        match node:
            case ast.If(test=ast.Name("TYPE_CHECKING"), orelse=rest):
                waiting += [(x, late) for x in rest]
            case ast.Import(names):
                yield from (Import(one.name, late) for one in names if one.name in MODULES)
            case ast.ImportFrom(module, names, level):
                stem = ".".join((*(package[: len(package) - level + 1] if level else ()), *filter(None, [module])))
                for one in names:
                    found = f"{stem}.{one.name}" if f"{stem}.{one.name}" in MODULES else stem
                    if found in MODULES and found != name:
                        yield Import(found, late)
            case _:
                late = late or isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda))
                waiting += [(x, late) for x in ast.iter_child_nodes(node)]


IMPORTS = {name: frozenset(imports(name, path)) for name, path in MODULES.items()}


@functools.cache
def loaded_with(name: str) -> frozenset[str]:
    """The modules of the package that the import of one loads."""
    found: set[str] = set()
    waiting = [name]
    while waiting:
        one = waiting.pop()
        if one not in found:
            found.add(one)
            around = [".".join(one.split(".")[:k]) for k in range(1, one.count(".") + 1)]
            waiting += [*around, *(other.name for other in IMPORTS[one] if not other.late)]
    return frozenset(found)


def components(graph: Mapping[str, set[str]]) -> list[list[str]]:
    """The sets of nodes of which each is reached from each (Tarjan, SIAM J. Comput. 1972)."""
    order: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    found: list[list[str]] = []

    def visit(node: str) -> None:
        order[node] = low[node] = len(order)
        stack.append(node)
        for other in sorted(graph[node]):
            if other not in order:
                visit(other)
            if other in stack:
                low[node] = min(low[node], low[other])
        if low[node] == order[node]:
            place = stack.index(node)
            found.append(stack[place:])
            del stack[place:]

    for node in graph:
        if node not in order:
            visit(node)
    return found
