"""The disk cache: what was compiled before, by everything that it depends on.

An entry is found by a hash of the function's code, the argument types, the target and its toolchain; it lists what else
the translation looked at (globals, inlined functions, what modules hold) with a fingerprint each, which is compared at
every load. Entries are plain files (JSON and the target's own format, no pickle), in a directory that only the user may
read, and are written whole by renaming.
"""

from __future__ import annotations

import base64
import enum
import functools
import hashlib
import json
import os
import sys
import types
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from transkern.frontend.observed import Look
from transkern.plain import is_plain_object


def directory() -> Path:
    """``$TRANSKERN_CACHE_DIR``, or ``transkern`` in the user's cache directory."""
    chosen = os.environ.get("TRANSKERN_CACHE_DIR")
    if chosen:
        return Path(chosen)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "transkern"


@functools.cache
def _writable(path: str) -> bool:
    try:
        os.makedirs(path, mode=0o700, exist_ok=True)
        info = os.stat(path)
        return os.access(path, os.W_OK) and (not hasattr(os, "getuid") or info.st_uid == os.getuid())
    except OSError:
        return False


def usable() -> Path | None:
    """The cache directory, or None where it cannot be written: then nothing is kept, and all else works."""
    path = directory()
    return path if _writable(str(path)) else None


@functools.cache
def compiler_version() -> str:
    """A fingerprint of transkern itself."""
    root = Path(__file__).parent.parent
    parts = []
    for folder, _, names in os.walk(root):
        for name in sorted(names):
            if name.endswith((".py", ".h", ".cpp")):
                info = os.stat(os.path.join(folder, name))
                parts.append(f"{name}{info.st_mtime_ns}{info.st_size}")
    return hashlib.sha256("|".join(sorted(parts)).encode()).hexdigest()[:16]


def digest(*parts: str) -> str:
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:40]


def function_fingerprint(function: types.FunctionType, seen: set[int] | None = None) -> str:
    """A fingerprint of what a function does: its code, constants, defaults and closure, not where it stands.

    The globals that it names are looked at by name, each with a fingerprint of its own.
    """
    seen = set() if seen is None else seen
    closure = [value_fingerprint(_contents(cell), seen) for cell in function.__closure__ or ()]
    defaults = value_fingerprint((function.__defaults__, function.__kwdefaults__), seen)
    return digest(*_code_parts(function.__code__), defaults, *closure)


def _contents(cell: types.CellType) -> Any:
    try:
        return cell.cell_contents
    except ValueError:  # assigned later
        return None


def _code_parts(code: types.CodeType) -> Iterator[str]:
    yield code.co_name
    yield code.co_code.hex()
    yield repr(code.co_names)
    yield repr(code.co_varnames)
    yield repr(code.co_freevars)
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _code_parts(constant)
        else:
            yield f"{type(constant).__name__}{constant!r}"


def value_fingerprint(value: Any, seen: set[int] | None = None) -> str:
    """A fingerprint of a captured object. `seen`: functions and objects that have one already, by identity."""
    seen = set() if seen is None else seen
    if isinstance(value, types.FunctionType):
        if id(value) in seen:
            return value.__qualname__
        seen.add(id(value))
        return function_fingerprint(value, seen)
    if isinstance(value, np.ndarray):
        return digest(str(value.dtype), str(value.shape), value.tobytes().hex())
    if isinstance(value, types.ModuleType):
        return value.__name__
    if isinstance(value, (tuple, list)):
        return digest(type(value).__name__, *(value_fingerprint(v, seen) for v in value))
    if isinstance(value, (dict, types.MappingProxyType)):
        return digest("dict", *(value_fingerprint(part, seen) for item in value.items() for part in item))
    if isinstance(value, types.SimpleNamespace):
        return digest("namespace", value_fingerprint(vars(value), seen))
    wrapped = getattr(value, "__wrapped__", None)
    if isinstance(wrapped, types.FunctionType):
        return value_fingerprint(wrapped, seen)
    if isinstance(value, type) and issubclass(value, enum.Enum):
        return digest(value.__qualname__, *(f"{m.name}={m.value!r}" for m in value))
    if _is_users(value) and id(value) not in seen:
        seen.add(id(value))
        members = vars(value) if isinstance(value, type) else {**getattr(value, "__dict__", {}), "class": type(value)}
        inner = [
            f"{name}={value_fingerprint(getattr(part, 'fget', getattr(part, '__func__', part)), seen)}"
            for name, part in sorted(members.items()) if not (name.startswith("__") and not callable(part))
        ]  # fmt: skip
        bases = [value_fingerprint(base, seen) for base in value.__bases__] if isinstance(value, type) else []
        return digest(f"{getattr(value, '__qualname__', '')}", *inner, *bases)
    if isinstance(value, type) or callable(value):
        return f"{getattr(value, '__module__', '')}.{getattr(value, '__qualname__', repr(type(value)))}"
    return f"{type(value).__name__}{value!r}"


def _is_users(value: Any) -> bool:
    """Whether an object, or a class, is written in Python by the user."""
    if isinstance(value, type):
        return bool(value.__flags__ & (1 << 9)) and value.__module__.split(".")[0] not in ("numpy", "builtins")
    return is_plain_object(value)


def type_fingerprint(kind: Any) -> str:
    """A fingerprint of an argument's type: of functions and classes in it, what they do."""
    inner = getattr(kind, "items", None)
    if isinstance(inner, tuple):
        of = "" if kind.of is None else value_fingerprint(kind.of)
        return digest(str(kind.kind), repr(kind.keys), of, *map(type_fingerprint, inner))
    value = getattr(kind, "value", None)
    if isinstance(value, types.FunctionType) or _is_users(value):
        return digest("constant", value_fingerprint(value))
    return repr(kind)


def looked_at(looks: Iterable[Look]) -> list[list[str]]:
    """What a translation looked at, as JSON: module, name and fingerprint."""
    return [[look.module, look.name, value_fingerprint(look.value)] for look in looks]


def unchanged(function: types.FunctionType, entries: Sequence[Sequence[str]]) -> list[Look] | None:
    """What a cached translation of `function` looked at, if it is all there and the same; else None."""
    found = []
    for module, name, fingerprint in entries:
        space = function.__globals__
        if space.get("__name__") != module:
            if module not in sys.modules:
                return None
            space = vars(sys.modules[module])
        look = Look(space, name, space.get(name))
        if value_fingerprint(look.value) != fingerprint:
            return None
        found.append(look)
    return found


def watched(looks: Iterable[Look]) -> tuple[tuple[Mapping[str, Any], str, Any], ...]:
    """The globals to compare at each call; nobody rebinds modules, classes and built-in functions."""
    kept = (types.ModuleType, type, types.BuiltinFunctionType)
    return tuple((look.space, look.name, look.value) for look in looks if not isinstance(look.value, kept))


def packed(arrays: Sequence[Any]) -> list[dict[str, Any]]:
    """Arrays as JSON."""
    return [
        {"dtype": a.dtype.name, "shape": list(a.shape), "bytes": base64.b64encode(a.tobytes()).decode()} for a in arrays
    ]


def unpacked(entries: Sequence[Mapping[str, Any]]) -> list[Any]:
    """The arrays that `packed` was given."""
    return [
        np.frombuffer(base64.b64decode(e["bytes"]), np.dtype(e["dtype"])).reshape(e["shape"]).copy() for e in entries
    ]


_KEPT = 8
"""Entries of a key: of a function whose globals take turns."""


def read(key: str, function: types.FunctionType) -> tuple[dict[str, Any], list[Look]] | None:
    """The entry of a key whose globals are as they are now, with these, or None."""
    for entry in _entries(key):
        looks = unchanged(function, entry["looked_at"])
        if looks is not None:
            return entry, looks
    return None


def _entries(key: str) -> list[dict[str, Any]]:
    folder = usable()
    if folder is None:
        return []
    try:
        with open(folder / f"{key}.json", encoding="utf-8") as file:
            found = json.load(file)
    except (OSError, ValueError):
        return []
    return [e for e in found if isinstance(e, dict) and "looked_at" in e] if isinstance(found, list) else []


def file_hash(path: Path) -> str:
    """A hash of a file's bytes."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def is_whole(path: Path, entry: Mapping[str, Any]) -> bool:
    """Whether an entry says all that it must, and its file is the one that was written."""
    if not {"name", "file", "kernels", "temporaries", "hash", "objects", "changes", "captured"} <= set(entry):
        return False
    try:
        return file_hash(path) == str(entry["hash"])
    except OSError:
        return False


def write(key: str, entry: Mapping[str, Any]) -> None:
    """Keep an entry, in front of others of its key; where that fails, nothing is kept."""
    folder = usable()
    if folder is None:
        return
    temporary = folder / f"{key}.{os.getpid()}.tmp"
    others = [e for e in _entries(key) if e["looked_at"] != entry["looked_at"]]
    try:
        temporary.write_text(json.dumps([entry, *others[: _KEPT - 1]]), encoding="utf-8")
        os.replace(temporary, folder / f"{key}.json")
    except OSError:
        temporary.unlink(missing_ok=True)


def clear() -> int:
    """Delete all entries; how many files went."""
    folder = usable()
    if folder is None:
        return 0
    count = 0
    for path in folder.iterdir():
        if path.is_file() and path.suffix in (".json", ".so", ".tmp", ".cubin"):
            path.unlink(missing_ok=True)
            count += 1
    return count
