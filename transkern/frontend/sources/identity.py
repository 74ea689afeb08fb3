"""Which function of NumPy or of Python's library an object is. The object itself tells, never its name: there is more
than one `polyval`, anybody may call a ufunc `add`, and ``functools.wraps`` gives a function another one's name.

A path here is what a user would write to reach the object: ``numpy.linalg.inv``, ``builtins.len``. It is the only one
of its object, so that two paths are equal where the objects are the same. Nothing is imported for it: what nobody has
imported is nothing that a live function could mean, and a file that is read as text must not make anything run.
"""

from __future__ import annotations

import functools
import inspect
import sys
import sysconfig
import types
from collections.abc import Iterator
from typing import Any

import numpy as np

from transkern.version import ROOT

_PYTHONS = (
    "builtins", "math", "cmath", "operator", "itertools", "functools", "collections", "heapq", "bisect", "warnings",
)  # fmt: skip
_NUMPYS = (
    "linalg", "fft", "random", "ma", "polynomial", "polynomial.polynomial", "polynomial.chebyshev",
    "polynomial.legendre", "polynomial.hermite", "polynomial.hermite_e", "polynomial.laguerre", "strings", "char",
    "rec", "lib.stride_tricks", "lib.scimath", "lib.array_utils", "lib.format", "lib.mixins", "lib.npyio", "lib",
    "ctypeslib", "testing", "exceptions", "dtypes", "matlib", "typing",
)  # fmt: skip
"""NumPy's public modules. Their own functions are called by them, and not by where NumPy keeps them."""

_PUBLIC = ("numpy", *(f"numpy.{name}" for name in _NUMPYS), *_PYTHONS, "transkern.frontend.compositions.primitives")
"""The modules whose objects are told by their identities, what counts more first."""

_COMPILED_LIBRARIES = frozenset({"cupy", "jax", "numba", "numexpr", "pandas", "scipy", "torch"})
"""What has its loops in compiled code: of its functions none is known."""

_OURS = str(ROOT)
_STANDARD = tuple(dict.fromkeys(sysconfig.get_path(name) for name in ("stdlib", "platstdlib")))
_IN_SITE = tuple(dict.fromkeys(sysconfig.get_path(name) for name in ("purelib", "platlib")))


def is_known_library(module: str) -> bool:
    """Whether a module's functions are known one by one, or not at all, and not read as the user's are."""
    root = module.partition(".")[0]
    return root == "numpy" or root in _COMPILED_LIBRARIES or root in sys.stdlib_module_names or root == "transkern"


def is_library(module: types.ModuleType) -> bool:
    """The same of a module that is there: a file of the user's may be called as one of Python's library is."""
    root = module.__name__.partition(".")[0]
    if not is_known_library(module.__name__) or sys.modules.get(module.__name__) is not module:
        return False
    if root not in sys.stdlib_module_names:
        return True
    file = getattr(module, "__file__", None)
    return file is None or is_pythons(file)  # without a file: compiled into Python


def is_pythons(file: str) -> bool:
    """Whether a file belongs to Python's own library."""
    return file.startswith(("<frozen ", *_STANDARD)) and not file.startswith(_IN_SITE)


def is_numpys(function: types.FunctionType) -> bool:
    """Whether a function is written in a file of NumPy's."""
    return function.__code__.co_filename.startswith((*np.__path__, "<__array_function__"))


def is_librarys(function: types.FunctionType) -> bool:
    """Whether it is written in a file of NumPy's, of Python's library or of ours."""
    file = function.__code__.co_filename
    return is_numpys(function) or is_pythons(file) or file.startswith(_OURS)


def path_of(value: object) -> str | None:
    """The path of an object of NumPy's or Python's library that is public there; None of any other."""
    found = _index().get(id(value))
    if found is None and _loaded() != _index_of[0]:
        _index.cache_clear()  # a module has been imported since
        found = _index().get(id(value))
    return None if found is None else found[0]


def name_of(value: Any) -> str:
    """What to call an object that is no function that is known: by its own path, where that leads to it."""
    path = path_of(value)
    if path is not None:
        return path
    owner = path_of(value.__self__) if isinstance(value, types.BuiltinMethodType) else None
    if owner is not None and isinstance(value.__self__, type):  # a class method: each look at it makes another one
        return f"{owner}.{value.__name__}"
    name, module = getattr(value, "__qualname__", None) or getattr(value, "__name__", None), _home(value)
    inside = isinstance(name, str) and resolved(f"{module}.{name}") is value
    if inside and "._" not in module:
        return f"{module}.{name}"
    for found, space in sorted(sys.modules.items()):
        if is_known_library(found) and "._" not in found and isinstance(space, types.ModuleType):
            for key, held in vars(space).items():
                if held is value and not key.startswith("_"):
                    return f"{found}.{key}"
    if inside:
        return f"{module}.{name}"
    kind = type(value)
    shown = kind.__name__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__qualname__}"
    return f"a {shown} called {name}" if isinstance(name, str) else f"a {shown}"


def resolved(path: str) -> object | None:
    """What a path stands for, of what has been imported; None where it leads nowhere."""
    names = path.replace("numpy.core.", "numpy._core.").split(".")  # the same objects, where NumPy keeps them now
    for k in range(len(names), 0, -1):
        module = sys.modules.get(".".join(names[:k]))
        if module is not None:
            found: object = module
            for name in names[k:]:
                space = vars(found) if isinstance(found, (types.ModuleType, type)) else {}
                if name not in space:
                    return None
                found = space[name]
            return found
    return None


def is_told(path: str) -> bool:
    """Whether it is known what a path stands for: a function, a class or a module of a library that has been imported,
    or what one of those has. A number of another library is not, and neither is a list of Python's (`sys.argv`)."""
    names = path.split(".") if is_known_library(path) else []
    for k in range(len(names), 0, -1):
        found = resolved(".".join(names[:k]))
        if found is not None:
            is_module = isinstance(found, types.ModuleType)
            return (is_module and k == len(names)) or callable(found) or path_of(found) is not None
    return False


def member(module: types.ModuleType, name: str) -> object | None:
    """A name of a library's module, or a module in it that has been imported."""
    if name in vars(module):
        return vars(module)[name]  # type: ignore[no-any-return]
    return sys.modules.get(f"{module.__name__}.{name}")


# --- the table

_index_of: list[int] = [0]


def _loaded() -> int:
    """How many of the public modules have been imported."""
    return sum(name in sys.modules for name in _PUBLIC)


@functools.cache
def _index() -> dict[int, tuple[str, object]]:
    """Paths by the identities of objects, which are kept, so that no other object gets an identity of theirs."""
    _index_of[0] = _loaded()
    found: dict[int, tuple[str, object]] = {}
    renamed: list[tuple[str, object]] = []
    for path, value in _members():
        if not _is_own(path, value):
            continue
        if _own_name(value) == path.rpartition(".")[2]:
            found.setdefault(id(value), (path, value))
        else:
            renamed.append((path, value))
    names = {path for path, _ in found.values()}
    for path, value in renamed:  # `np.concat`; what somebody has put in the place of another function stays what it is
        own = f"{_home(value)}.{_own_name(value)}"
        if own not in names and path not in names:
            found.setdefault(id(value), (path, value))
    return found


def _members() -> Iterator[tuple[str, object]]:
    """The public objects of the libraries."""
    modules = [module for name in _PUBLIC if (module := sys.modules.get(name)) is not None and is_library(module)]
    for module in modules:
        for name, value in vars(module).items():
            if not name.startswith("_") and (callable(value) or f"{module.__name__}.{name}" in _SUBSCRIPTED):
                yield f"{module.__name__}.{name}", value


_SUBSCRIPTED = ("numpy.mgrid", "numpy.ogrid", "numpy.r_", "numpy.c_", "numpy.s_", "numpy.index_exp")
"""What makes something where it is subscripted."""


def _own_name(value: object) -> str | None:
    return getattr(value, "__name__", None)


def _is_own(path: str, value: object) -> bool:
    """Whether an object of a library's module is the library's: somebody may have put one of theirs there."""
    if isinstance(value, np.ufunc):
        return getattr(sys.modules["numpy._core.umath"], value.__name__, None) is value
    root = path.partition(".")[0]
    function = getattr(value, "_implementation", value)  # what NumPy's dispatcher dispatches to
    if isinstance(function, types.FunctionType):
        written = is_pythons(function.__code__.co_filename)  # `np.printoptions`, say: by `contextlib.contextmanager`
        if root == "numpy":
            inner = inspect.unwrap(function)
            return is_numpys(function) or (written and isinstance(inner, types.FunctionType) and is_numpys(inner))
        return root == "transkern" or written
    own = _home(value).partition(".")[0]
    return root == "builtins" or own == "builtins" or own.lstrip("_") == root


def _home(value: object) -> str:
    """The module that an object, or its class, says it is of."""
    module = getattr(value, "__module__", None)
    return module if isinstance(module, str) else str(type(value).__module__)
