"""The object that `transkern.compile` returns: calls, specialisations, and what can be asked about them."""

from __future__ import annotations

import dataclasses
import functools
import inspect
import os
import sys
import types
import warnings
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from numbers import Integral, Real
from pathlib import Path
from typing import Any

from transkern.errors import CompileError, NeedsConstant, TranskernError, TypesNeeded
from transkern.options import Options
from transkern.runtime import structures

TARGETS = ("cpu", "cuda", "pallas")


@dataclass(slots=True)
class Specialisation:
    """One function for one choice of argument types on one target."""

    types: tuple[Any, ...]
    target: str
    call: Callable[..., Any]
    why: Callable[[], str] | None = None
    kernels: int = 0
    temporaries: tuple[str, ...] = ()
    from_cache: bool = False
    written: tuple[str, ...] = ()
    objects: tuple[str, ...] = ()  # containers that are passed behind the arrays and numbers in them
    changes: tuple[structures.Change, ...] = ()
    watched: tuple[tuple[Mapping[str, Any], str, Any], ...] = ()  # globals that it was compiled with


@dataclass(slots=True)
class CacheInfo:
    """How the calls of a compiled function were served."""

    hits: int = 0
    compiled: int = 0
    from_disk: int = 0
    specialisations: list[str] = field(default_factory=list)


class Compiled:
    """A function compiled for the types it is called with.

    Call it as the function itself. Raises what NumPy raises; CompileError where the function uses something that cannot
    be compiled; TargetUnavailable where the target's toolchain or device is missing.
    """

    def __init__(
        self, function: Callable[..., Any], target: str = "auto", types: str | None = None, fallback: str | None = None,
        allow_float32: bool = False, verify: bool = False, boundscheck: bool = True, fastmath: bool = False,
    ) -> None:  # fmt: skip
        if target not in (*TARGETS, "auto"):
            raise ValueError(f"target must be one of auto, {', '.join(TARGETS)}, not {target!r}")
        if fallback not in (None, "numpy"):
            raise ValueError(f'fallback must be None or "numpy", not {fallback!r}')
        functools.update_wrapper(self, function)
        self.function = inspect.unwrap(function)
        self.target, self.types, self.fallback = target, types, fallback
        self.options = Options(allow_float32, boundscheck, fastmath)
        self.verify = verify
        self._verified: set[int] = set()  # specialisations that have been compared with NumPy, by identity
        self._fast: Callable[..., Any] = _nothing
        self._shaped: dict[int, list[Callable[[Sequence[Any]], Any]]] = {}
        self._specialisations: dict[tuple[Any, ...], Specialisation] = {}
        self._demands: set[str] = set()
        self._last: Specialisation | None = None
        self._info = CacheInfo()
        self._fell_back = False
        try:
            self._signature: inspect.Signature | None = inspect.signature(self.function)
        except (TypeError, ValueError):
            self._signature = None
        self._names = list(self._signature.parameters) if self._signature else []
        parameters = self._signature.parameters.values() if self._signature else ()
        self._defaults = {p.name: p.default for p in parameters if p.default is not inspect.Parameter.empty}
        kinds = {p.kind for p in parameters}
        self._variadic = bool(kinds & {inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD})
        self._watched: tuple[tuple[Mapping[str, Any], str, Any], ...] = ()

    def __call__(self, *args: Any, **keywords: Any) -> Any:
        for space, name, value in self._watched:
            if space.get(name) is not value:
                self._forget()
                break
        if self.verify:
            return self._verify(args, keywords)
        if self._variadic:
            return self._slow(args, keywords)
        if keywords or len(args) < len(self._names):
            args, keywords = self._complete(args, keywords)
        if not keywords:
            result = self._fast(*args)
            if result is not NotImplemented:
                return result
        return self._slow(args, keywords)

    def _verify(self, args: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
        """A call that is compared with NumPy's where its code has not been compared yet."""
        from transkern.runtime import verifying

        values = self._bind(args, keywords)
        wanted = verifying.expected(lambda *values: self._plain(values), values)
        found, failed = None, None
        before, self._last = self._last, None
        try:
            found = self._slow(args, keywords)
        except TranskernError:
            raise
        except Exception as error:  # the function's own
            failed = error
        if self._last is not None and id(self._last) not in self._verified:
            verifying.check(self.function.__name__, found, failed, values, wanted)
            self._verified.add(id(self._last))
        self._last = self._last or before
        if failed is not None:
            raise failed
        return found

    def _plain(self, values: Sequence[Any]) -> Any:
        """The function in NumPy, with its arguments as `_bind` gives them."""
        assert self._signature is not None
        bound = self._signature.bind_partial()
        bound.arguments.update(zip(self._names, values, strict=True))
        return self.function(*bound.args, **bound.kwargs)

    def _complete(self, args: tuple[Any, ...], keywords: dict[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """All arguments in order, where they are what the signature wants; else as they are, for its own error."""
        given, left = list(args), dict(keywords)
        for name in self._names[len(args) :]:
            if name in left:
                given.append(left.pop(name))
            elif name in self._defaults:
                given.append(self._defaults[name])
            else:
                return args, keywords
        return (tuple(given), {}) if not left else (args, keywords)

    def _forget(self) -> None:
        """A captured global has changed: what was made with its old value is not for later calls."""
        self._specialisations.clear()
        self._fast = _nothing
        self._shaped.clear()
        self._watched = ()

    def __get__(self, instance: object, owner: type | None = None) -> Any:
        return self if instance is None else functools.partial(self, instance)

    def __reduce__(self) -> Any:
        module = sys.modules.get(self.function.__module__)
        if getattr(module, self.function.__qualname__, None) is self:
            return self.function.__qualname__  # a decorated function: pickled by name, as functions are
        return (_rebuild, (self.function, self.target, self.types, self.fallback, self.verify, self.options))

    def __repr__(self) -> str:
        return f"<transkern function {getattr(self, '__name__', '?')} for target {self.target}>"

    # --- calls

    def _bind(self, args: Sequence[Any], keywords: Mapping[str, Any]) -> list[Any]:
        assert self._signature is not None
        bound = self._signature.bind(*args, **keywords)
        bound.apply_defaults()
        return [bound.arguments[name] for name in self._names]

    def _slow(self, args: Sequence[Any], keywords: Mapping[str, Any]) -> Any:
        from transkern.runtime import arrays

        bind = self._variadic or keywords or len(args) != len(self._names)
        values = self._bind(args, keywords) if bind else list(args)
        if not structures.is_plain(values):
            return self._structured(values, lambda: self.function(*args, **keywords))
        kind = arrays.foreign_kind(values)
        target = self._resolve_target(kind)
        if (
            kind is not None
            and not (kind == "cupy" and target == "cuda")
            and not (kind == "jax" and target == "pallas")
        ):
            return arrays.call_foreign(self._call_numpy, values, kind, target)
        return self._call_numpy(values, target)

    def _structured(self, values: list[Any], plain: Callable[[], Any]) -> Any:
        """A call with arguments that are made up of others."""
        from transkern.runtime import arrays

        for known in self._shaped.get(len(values), []):
            result = known(values)
            if result is not NotImplemented:
                return result
        shapes = self._shapes(values, self._demands)
        leaves = structures.taken_apart(shapes, values)
        kind = arrays.foreign_kind(leaves)
        target = self._resolve_target(kind)
        owners = structures.containers(shapes, values)

        def call(inner: list[Any], target: str) -> Any:
            return self._call_numpy(inner, target, shapes, owners, values, plain)

        if kind is not None and (kind, target) not in (("cupy", "cuda"), ("jax", "pallas")):
            return arrays.call_foreign(call, leaves, kind, target)
        return call(leaves, target)

    def _shapes(self, values: Sequence[Any], demands: Collection[str]) -> tuple[structures.Shape, ...]:
        shapes = (structures.shape_of(n, v, self._names) for n, v in zip(self._names, values, strict=True))
        return tuple(structures.with_demands(s, v, demands, self._names) for s, v in zip(shapes, values, strict=True))

    def _call_numpy(
        self, values: list[Any], target: str, shapes: tuple[structures.Shape, ...] | None = None,
        owners: Mapping[str, Any] | None = None, whole: Sequence[Any] = (), plain: Callable[[], Any] | None = None,
    ) -> Any:  # fmt: skip
        """A call with arrays and numbers; with `shapes`, `values` are what is in the arguments `whole`."""
        from transkern.frontend.types import structured, types_of
        from transkern.runtime.arrays import described

        owners = owners or {}
        demands = set(self._demands)
        shared: tuple[tuple[str, ...], ...] = ()
        names = self._names
        for _ in range(64):
            if shapes is not None:
                wanted = self._shapes(whole, demands)
                if wanted != shapes:  # a list whose numbers are constants is taken apart in another way
                    shapes, values = wanted, structures.taken_apart(wanted, whole)
                names = [name for shape in shapes for name in shape.leaves()]
                demands.update(structures.state_demands(shapes))
                demands |= {n for n in names if n.rpartition("_")[0] in demands}
            seen = [described(v) for v in values]
            key_types: tuple[Any, ...] = types_of(names, seen, demands, shared)
            leaf_types = key_types
            if shapes is not None:
                remaining = iter(leaf_types)
                key_types = tuple(structured(shape, remaining) for shape in shapes)
            found = self._specialisations.get((target, key_types))
            if found is None:
                try:
                    found = self._specialise(key_types, target)
                except NeedsConstant as need:
                    known = need.demand in names or need.demand.rpartition(".")[0] in names
                    if need.demand in demands or not known:
                        raise need.problem from None
                    self._demands.add(need.demand)
                    demands.add(need.demand)
                    continue
                if found is None:
                    return self.function(*values) if plain is None else plain()
                self._specialisations[target, key_types] = found
            else:
                self._info.hits += 1
            self._last = found
            if target != "cpu":
                self._check_device_call(found, names, values)
            extra = [owners[name] for name in found.objects]
            if shapes is not None and structures.has_generators(shapes):
                with structures.drawn_from(shapes, whole, values):
                    result = found.call(*values, *extra)
            else:
                result = found.call(*values, *extra)
            if result is not NotImplemented:
                if target == "cpu" and not shared:
                    if shapes is None:
                        self._fast = _guarded(found, leaf_types)
                    else:
                        self._remember(found, leaf_types, shapes)
                return _put_back(found, result, owners)
            reason = found.why() if found.why is not None else "types"
            if reason == "sizes":  # an assumption on derived sizes does not hold: settle all sizes
                demands |= _settled(names, values, demands)
            elif reason == "overlap":
                from transkern.runtime.arrays import overlapping

                shared = overlapping(names, values)
            else:
                raise AssertionError(f"the code for {key_types} does not take the arguments it was made for")
        raise AssertionError("specialisation does not settle")

    def _remember(
        self, found: Specialisation, leaf_types: Sequence[Any], shapes: tuple[structures.Shape, ...]
    ) -> None:
        """The next call with arguments of this structure goes straight to the code."""
        call, has_generators = _guarded(found, leaf_types), structures.has_generators(shapes)

        def again(values: Sequence[Any]) -> Any:
            try:
                leaves = structures.taken_apart(shapes, values)
            except structures.Mismatch:
                return NotImplemented
            owners = structures.containers(shapes, values) if found.objects or found.changes else {}
            extra = [owners[name] for name in found.objects]
            if has_generators:
                with structures.drawn_from(shapes, values, leaves):
                    result = call(*leaves, *extra)
            else:
                result = call(*leaves, *extra)
            return result if result is NotImplemented else _put_back(found, result, owners)

        self._shaped.setdefault(len(shapes), []).insert(0, again)
        del self._shaped[len(shapes)][4:]

    def _check_device_call(self, found: Specialisation, names: Sequence[str], values: Sequence[Any]) -> None:
        """Arguments are copied to a device one by one: what is written there must not be another argument's memory."""
        from transkern.runtime.arrays import overlapping

        for group in overlapping(names, values):
            if set(group) & set(found.written):
                named = ", ".join(f"`{g}`" for g in group)
                raise CompileError(
                    f"the arguments {named} share memory, and `{self.function.__name__}` writes to it",
                    f'pass copies, or use target="cpu" instead of "{found.target}"',
                )

    def _resolve_target(self, kind: str | None) -> str:
        if self.target != "auto":
            return self.target
        if kind == "cupy" or kind == "torch_cuda":
            return "cuda"
        if kind == "jax":
            return "pallas"
        return default_target()

    def _specialise(self, key_types: tuple[Any, ...], target: str) -> Specialisation | None:
        """Code for these types; None where the function is to run in NumPy instead."""
        from transkern.runtime.building import build

        try:
            made = build(self.function, key_types, target, self.options)
        except CompileError as error:
            if self.fallback != "numpy":
                raise
            if not self._fell_back:
                self._fell_back = True
                warnings.warn(
                    f"`{self.function.__name__}` runs in NumPy, as it cannot be compiled:\n{error}", stacklevel=5
                )
            return None
        self._watched = tuple({(id(space), name): (space, name, value)
                               for space, name, value in (*self._watched, *made.watched)}.values())  # fmt: skip
        self._info.compiled += not made.from_cache
        self._info.from_disk += made.from_cache
        self._info.specialisations.append(f"{target}: ({', '.join(map(str, key_types))})")
        return made

    # --- questions

    @property
    def signature(self) -> str:
        """The types of the last call, as `types=` takes them."""
        if self._last is None:
            raise TypesNeeded(f"`{self.function.__name__}` has not been called yet; its types are found at the call")
        return f"{self.function.__name__}({', '.join(map(str, self._last.types))})"

    @property
    def kernels(self) -> int:
        """How many kernels the last specialisation launches."""
        return self._latest().kernels

    @property
    def temporaries(self) -> tuple[str, ...]:
        """The arrays that the last specialisation keeps between kernels."""
        return self._latest().temporaries

    def _latest(self) -> Specialisation:
        if self._last is None:
            raise TypesNeeded(f"`{self.function.__name__}` has not been called yet")
        return self._last

    def cache_info(self) -> CacheInfo:
        """Hits, compilations, loads from disk, and the specialisations made."""
        return self._info

    def _types(self, types: str | None) -> tuple[Any, ...]:
        from transkern.frontend.source import live_function
        from transkern.frontend.types import parse_signature, types_from_annotations

        text = types or (None if self._last is not None else self.types)
        if text is not None:
            return parse_signature(text)[1]
        if self._last is not None:
            return self._last.types
        found = types_from_annotations(live_function(self.function).node)
        if found is None:
            raise TypesNeeded(types_help(self.function.__name__, self._names))
        return found

    def emit(self, target: str | None = None, types: str | None = None) -> str:
        """The text of the function for the last call's types, or for given ones (``'f(float32[n], float)'``)."""
        from transkern.runtime.building import texts

        chosen = (
            target
            or (self._last.target if self._last else None)
            or (self.target if self.target != "auto" else default_target())
        )
        made = texts(self.function, self._types(types), chosen, self.options)
        return "\n".join(made.values())

    def explain(self, types: str | None = None) -> str:
        """What became of the function: kernels, what was fused, what runs where, against the source's lines."""
        from transkern.runtime.building import explain

        return explain(self.function, self._types(types))


def types_help(name: str, parameters: Sequence[str]) -> str:
    example = ", ".join("float32[n]" if k == 0 else "float" for k, _ in enumerate(parameters))
    return (
        f"the types of `{name}({', '.join(parameters)})` are not known\n"
        f"  help: give them with --types '{name}({example})', with @transkern.compile(types='({example})'), or as "
        "annotations (x: 'float32[n]')"
    )


@functools.cache
def default_target() -> str:
    """``cuda`` where a device and CuPy are there (or the simulator is asked for), else ``cpu``."""
    if os.environ.get("TRANSKERN_CUDA_SIM") == "1":
        return "cuda"
    if not (Path("/dev/nvidiactl").exists() or Path("/dev/nvidia0").exists() or Path("/dev/dxg").exists()):
        return "cpu"
    try:
        import cupy

        return "cuda" if cupy.cuda.runtime.getDeviceCount() > 0 else "cpu"
    except Exception:  # whatever keeps CuPy from starting: the CPU serves
        return "cpu"


def _put_back(made: Specialisation, result: Any, owners: Mapping[str, Any]) -> Any:
    """The function's own result; what it has put into its arguments goes there."""
    if not made.changes:
        return result
    structures.put_back(made.changes, result[1:], owners)
    if isinstance(result[0], BaseException):
        raise result[0]
    return result[0]


def _settled(names: Sequence[str], values: Sequence[Any], demands: Collection[str]) -> set[str]:
    """What must be constant for all sizes to be known: those of the arguments, and the numbers that they come from."""
    given = list(zip(names, values, strict=True))
    found = {f"{name}.{d}" for name, value in given for d in range(getattr(value, "ndim", 0))}
    found |= {name for name, value in given if isinstance(value, Integral)}
    if found <= set(demands):  # what decides is a float: x[: int(share * len(x))]
        found |= {name for name, value in given if isinstance(value, Real)}
    return found


def _guarded(made: Specialisation, types: Sequence[Any]) -> Callable[..., Any]:
    """The code of a specialisation, for the arguments that it was made for: what it holds as constants is compared
    here, and that no array is contiguous where code is for those that are not: NumPy shows a view of it where that code
    has a copy. What else it takes at run time it checks itself."""
    constants = [(k, t.holds) for k, t in enumerate(types) if type(t).__name__ == "ConstantType"]
    strided = [k for k, t in enumerate(types) if type(t).__name__ == "ArrayType" and t.layout != "C" and not t.shares]
    if not constants and not strided:
        return made.call
    call = made.call

    def compare(*args: Any) -> Any:
        for k, holds in constants:
            if len(args) <= k or not holds(args[k]):
                return NotImplemented
        for k in strided:
            if len(args) <= k or getattr(getattr(args[k], "flags", None), "c_contiguous", False):
                return NotImplemented
        return call(*args)

    return compare


def _nothing(*args: Any) -> Any:
    return NotImplemented


def _rebuild(
    function: types.FunctionType, target: str, types: str | None, fallback: str | None, verify: bool,
    options: Options,
) -> Compiled:  # fmt: skip
    return Compiled(function, target, types, fallback, verify=verify, **dataclasses.asdict(options))
