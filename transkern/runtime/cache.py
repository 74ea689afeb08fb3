"""The disk cache: what was compiled before, by everything that it depends on.

An entry is found by a hash of the function's code, the argument types, the target and its toolchain; it lists what else
the translation looked at (captured constants, inlined functions) with a fingerprint each, which is compared at every
load. Entries are plain files (JSON and the target's own format, no pickle), in a directory that only the user may read,
and are written whole by renaming.
"""

from __future__ import annotations

import base64
import enum
import functools
import hashlib
import json
import os
import types
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

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


def code_fingerprint(function: types.FunctionType) -> str:
    """A fingerprint of what a function does: its code, constants and defaults, not where it stands."""
    defaults = value_fingerprint((function.__defaults__, function.__kwdefaults__))
    return digest(*_code_parts(function.__code__), defaults)


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


def value_fingerprint(value: Any, seen: frozenset[int] = frozenset()) -> str:
    """A fingerprint of a captured object; functions include what they in turn capture."""
    if isinstance(value, types.FunctionType):
        if id(value) in seen:
            return value.__name__
        seen = seen | {id(value)}
        captured = sorted(captured_values(value).items())
        inner = [f"{name}={value_fingerprint(v, seen)}" for name, v in captured]
        return digest(code_fingerprint(value), *inner)
    if isinstance(value, np.ndarray):
        return digest(str(value.dtype), str(value.shape), value.tobytes().hex())
    if isinstance(value, types.ModuleType):
        return value.__name__
    if isinstance(value, (tuple, list)):
        return digest(type(value).__name__, *(value_fingerprint(v, seen) for v in value))
    if isinstance(value, dict):
        return digest("dict", *(value_fingerprint(part, seen) for item in value.items() for part in item))
    wrapped = getattr(value, "__wrapped__", None)
    if isinstance(wrapped, types.FunctionType):
        return value_fingerprint(wrapped, seen)
    if isinstance(value, type) and issubclass(value, enum.Enum):
        return digest(value.__qualname__, *(f"{m.name}={m.value!r}" for m in value))
    if _is_users(value) and id(value) not in seen:
        seen = seen | {id(value)}
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


def captured_values(function: types.FunctionType) -> Mapping[str, Any]:
    """The globals and closure variables that a function names."""
    found: dict[str, Any] = {}
    for name in _global_names(function.__code__):
        if name in function.__globals__:
            found[name] = function.__globals__[name]
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        try:
            found[name] = cell.cell_contents
        except ValueError:
            found[name] = None
    return found


def watched(function: types.FunctionType) -> tuple[tuple[Mapping[str, Any], str, Any], ...]:
    """The globals that a compiled function, or one that it calls, was compiled with: (namespace, name, value).

    Modules, classes and built-in functions are left out: nobody rebinds those.
    """
    found: dict[tuple[int, str], tuple[Mapping[str, Any], str, Any]] = {}
    pending, seen = [function], set()
    while pending:
        one = pending.pop()
        if not isinstance(one, types.FunctionType) or id(one) in seen:
            continue
        seen.add(id(one))
        for name in _global_names(one.__code__):
            value = one.__globals__.get(name, one)
            if value is one or isinstance(value, (types.ModuleType, type, types.BuiltinFunctionType)):
                continue
            found[id(one.__globals__), name] = (one.__globals__, name, value)
            pending.append(getattr(value, "__wrapped__", value))
    return tuple(found.values())


def _global_names(code: types.CodeType) -> set[str]:
    names = set(code.co_names)
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            names |= _global_names(constant)
    return names


def function_fingerprint(function: types.FunctionType) -> str:
    """Everything of a function that its compiled form depends on."""
    return value_fingerprint(function)


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


def read(key: str) -> dict[str, Any] | None:
    """The entry of a key, or None."""
    folder = usable()
    if folder is None:
        return None
    try:
        with open(folder / f"{key}.json", encoding="utf-8") as file:
            entry = json.load(file)
    except (OSError, ValueError):
        return None
    return entry if isinstance(entry, dict) else None


def file_hash(path: Path) -> str:
    """A hash of a file's bytes."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def is_whole(path: Path, entry: Mapping[str, Any]) -> bool:
    """Whether an entry says all that it must, and its file is the one that was written."""
    if not {"name", "kernels", "temporaries", "hash", "objects", "changes", "captured"} <= set(entry):
        return False
    try:
        return file_hash(path) == str(entry["hash"])
    except OSError:
        return False


def write(key: str, entry: Mapping[str, Any]) -> None:
    """Keep an entry; where that fails, nothing is kept."""
    folder = usable()
    if folder is None:
        return
    temporary = folder / f"{key}.{os.getpid()}.tmp"
    try:
        temporary.write_text(json.dumps(entry), encoding="utf-8")
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
