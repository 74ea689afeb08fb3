"""A script or a module as ``python`` runs it, whose functions are watched."""

from __future__ import annotations

import contextlib
import importlib.machinery
import importlib.util
import os
import signal
import sys
import types
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from transkern.dropin.functions import Watch
from transkern.dropin.rewriting import rewritten
from transkern.runtime.calls.frames import is_ours


class NoScript(Exception):
    """There is nothing to run; the text says so as Python does."""


def prepared(target: str, arguments: Sequence[str], watch: Watch) -> Callable[[], None]:
    """What runs the script `target`."""
    is_folder = os.path.isdir(target)
    path = Path(target, "__main__.py") if is_folder else Path(target)
    try:
        text = path.read_bytes()
    except OSError as error:
        raise NoScript(f"can't open file {os.path.abspath(path)!r}: [Errno {error.errno}] {error.strerror}") from None
    folder = str(path.parent) if is_folder else os.path.dirname(os.path.realpath(path))
    path = Path(os.path.abspath(path))  # as Python has it in tracebacks
    sys.argv = [target, *arguments]
    _begin_path(folder)
    loader = importlib.machinery.SourceFileLoader("__main__", str(path))
    names = {"__file__": str(path), "__loader__": loader, "__package__": None, "__spec__": None, "__cached__": None}
    module = _main(names)
    return lambda: exec(rewritten(text, str(path), watch.hooks), module.__dict__)


def prepared_module(name: str, arguments: Sequence[str], watch: Watch) -> Callable[[], None]:
    """What runs the module `name`, as ``python -m`` does."""
    sys.argv = ["-m", *arguments]
    _begin_path(os.getcwd())
    spec = _spec(name)
    if spec.submodule_search_locations is not None:
        spec = _spec(f"{name}.__main__")
    read = getattr(spec.loader, "get_source", None)
    text = read(spec.name) if read is not None else None
    if text is None or spec.origin is None:
        raise NoScript(f"No code object available for {name}")
    sys.argv[0] = origin = spec.origin
    module = _main({
        "__file__": origin, "__loader__": spec.loader, "__package__": spec.parent, "__spec__": spec,
        "__cached__": spec.cached,
    })  # fmt: skip
    return lambda: exec(rewritten(text, origin, watch.hooks), module.__dict__)


def _spec(name: str) -> importlib.machinery.ModuleSpec:
    try:
        spec = importlib.util.find_spec(name)
    except (ImportError, AttributeError, TypeError, ValueError) as error:
        why = f"{type(error).__name__}: {error}"
        raise NoScript(f"Error while finding module specification for {name!r} ({why})") from None
    if spec is None:
        raise NoScript(f"No module named {name}")
    return spec


def _begin_path(folder: str) -> None:
    """Where Python looks for a script's modules first, in the place of where it found the command line."""
    if not sys.flags.safe_path:
        sys.path[0] = folder


def _main(names: dict[str, Any]) -> types.ModuleType:
    module = types.ModuleType("__main__")
    names |= {"__builtins__": sys.modules["builtins"]}
    if sys.version_info < (3, 14):
        names["__annotations__"] = {}
    vars(module).update(names)
    sys.modules["__main__"] = module
    return module


# --- as it ends


def run(what: Callable[[], None], after: Callable[[], None]) -> None:
    """Runs a script to its end, which is Python's: output, exit code, and what is told of an exception. `after` comes
    when it has ended, before what it has registered with `atexit`."""
    try:
        what()
    except SystemExit:
        tracer = sys.gettrace()  # one that the script has left at work shall see what is the script's alone
        sys.settrace(None)
        after()
        sys.settrace(tracer)
        raise
    except BaseException as error:
        tracer = sys.gettrace()
        sys.settrace(None)
        kind = type(error)
        _flush(sys.stdout)
        sys.last_type, sys.last_value, sys.last_traceback = kind, error, _without_ours(error)
        sys.settrace(tracer)
        sys.excepthook(kind, error, error.__traceback__)
        tracer = sys.gettrace()
        sys.settrace(None)
        after()
        if isinstance(error, KeyboardInterrupt):
            _interrupted()
        sys.settrace(tracer)
        raise SystemExit(1) from None
    tracer = sys.gettrace()
    sys.settrace(None)
    after()
    sys.settrace(tracer)


def _flush(stream: Any) -> None:
    with contextlib.suppress(AttributeError, ValueError, OSError):
        stream.flush()


def _interrupted() -> None:
    """The end of a program that Ctrl-C has ended: its caller sees the signal."""
    import atexit
    import threading

    threading._shutdown()  # type: ignore[attr-defined]
    atexit._run_exitfuncs()
    _flush(sys.stdout)
    _flush(sys.stderr)
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    os.kill(os.getpid(), signal.SIGINT)


def _without_ours(error: BaseException) -> types.TracebackType | None:
    """The traceback without frames of transkern, and without those in which compiled code has raised: behind each
    stands one that has the line. All errors that led to it are treated alike."""
    seen: set[int] = set()
    todo: list[BaseException | None] = [error]
    while todo:
        one = todo.pop()
        if one is None or id(one) in seen:
            continue
        seen.add(id(one))
        todo += [one.__cause__, one.__context__, *getattr(one, "exceptions", ())]
        one.with_traceback(_filtered(one.__traceback__))
    return error.__traceback__


def _filtered(trace: types.TracebackType | None) -> types.TracebackType | None:
    kept: list[types.TracebackType] = []
    while trace is not None:
        if not is_ours(trace.tb_frame):
            if kept and kept[-1].tb_lineno is None:
                kept.pop()
            kept.append(trace)
        trace = trace.tb_next
    behind: types.TracebackType | None = None
    for one in reversed(kept):
        one.tb_next = behind
        behind = one
    return behind


# --- packages


class Included:
    """Modules of packages that are watched too."""

    def __init__(self, packages: Sequence[str], watch: Watch) -> None:
        self._packages, self._watch = tuple(packages), watch

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: types.ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        if not any(name == package or name.startswith(package + ".") for package in self._packages):
            return None
        spec = importlib.machinery.PathFinder.find_spec(name, path, target)
        if spec is not None and type(spec.loader) is importlib.machinery.SourceFileLoader:
            spec.loader = _Loader(spec.loader.name, spec.loader.path, self._watch)
        return spec


class _Loader(importlib.machinery.SourceFileLoader):
    def __init__(self, name: str, path: str, watch: Watch) -> None:
        super().__init__(name, path)
        self._watch = watch

    def get_code(self, fullname: str) -> types.CodeType:
        path = self.get_filename(fullname)
        return rewritten(self.get_data(path), path, self._watch.hooks)
