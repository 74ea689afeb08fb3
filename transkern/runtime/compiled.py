"""The object that `transkern.compile` returns: calls, specialisations, and what can be asked about them."""

from __future__ import annotations

import dataclasses
import functools
import itertools
import sys
import types
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Any

from transkern.advising import Adviser, asked_for
from transkern.errors import CompileError, NeedsConstant, TranskernError, TypesNeeded
from transkern.options import Options
from transkern.runtime import disabling, floating, pickling, structures
from transkern.runtime.boundary import Build, own_errors, public, shown
from transkern.runtime.calls.instead import InNumpy, beside, parts_of, say_if_compiled_often, say_that_numpy_runs
from transkern.runtime.calls.known import Known
from transkern.runtime.calls.outside import Outside, Wanted
from transkern.runtime.calls.settling import call_numpy, call_slowly, call_structured
from transkern.runtime.calls.stated import types_for
from transkern.runtime.device_calls import DeviceCalls
from transkern.runtime.foreign import chosen
from transkern.runtime.keys import BY_KEY
from transkern.runtime.measuring import Run
from transkern.runtime.parameters import Parameters, plain_function
from transkern.runtime.specialisation import CacheInfo, Specialisation
from transkern.targets.cpu.threads import checked
from transkern.targets.table import TARGETS
from transkern.texts_read import read_with

if TYPE_CHECKING:
    from transkern.runtime.profiling import Profile

__tracebackhide__ = True  # pytest: what a user looks for is in the frames around

_LOADED, _DYNAMO = sys.modules, "torch._dynamo"
_NUMBERS = itertools.count()


class Compiled:
    """A function compiled for the types it is called with.

    Call it as the function itself. Raises what NumPy raises; CompileError where the function uses something that cannot
    be compiled; TargetUnavailable where the target's toolchain or device is missing.
    """

    def __init__(
        self, function: Callable[..., Any], /, *, target: str = "auto", types: str | None = None,
        fallback: str | None = None, allow_float32: bool = False, verify: bool = False, boundscheck: bool = True,
        fastmath: bool = False, warnings: str | None = None, threads: int | None = None, profile: bool = False,
        advice: bool = False,
    ) -> None:  # fmt: skip
        if target not in (*TARGETS, "auto"):
            raise ValueError(f"target must be one of auto, {', '.join(TARGETS)}, not {target!r}")
        if fallback not in (None, "numpy"):
            raise ValueError(f'fallback must be None or "numpy", not {fallback!r}')
        if warnings not in (None, "numpy") or (warnings is not None and target not in ("cpu", "auto")):
            raise ValueError(f'warnings must be None, or "numpy" with target="cpu", not {warnings!r} with {target!r}')
        if profile and target not in ("cpu", "auto"):
            raise ValueError(f'what calls take is measured with target="cpu", not {target!r}')
        profile = profile or (Run.active is not None and target in ("cpu", "auto"))
        functools.update_wrapper(self, function)
        self.function = plain_function(function)
        self.target, self.types, self.fallback = "cpu" if warnings or profile else target, types, fallback
        most = 0 if threads is None else checked(threads)
        self.options = Options(allow_float32, boundscheck, fastmath, warnings, most, profile)
        self.verify = verify
        self._adviser = Adviser(self) if advice or asked_for() else None
        self._fast: Callable[..., Any] = _nothing
        self.known = Known()
        self.key = f"{self.function.__qualname__}#{next(_NUMBERS)}"  # in this process
        BY_KEY[self.key] = self
        self.gradient: Compiled | None = None
        self.gradient_takes_result = False
        self.in_numpy = InNumpy()
        self.outside = Outside(self.function)
        self._begin()

    def __call__(self, *args: Any, **keywords: Any) -> Any:
        if _DYNAMO in _LOADED and _LOADED["torch"].compiler.is_dynamo_compiling():  # which traces this text
            from transkern.frameworks import dynamo

            return dynamo.traced(self.key, args, keywords)
        unchanged = self.known.unchanged
        if self._running.__code__ is not self._code or (unchanged is not None and not unchanged()):
            self._forget()
        if not self._is_special:
            given = self._parameters.complete(args, keywords) if keywords or len(args) != self._count else args
            if given is not None:
                result = self._fast(*given, *self._more) if self._more else self._fast(*given)
                if result is not NotImplemented:
                    return result
        try:
            with self._noting(args, keywords):
                return self._verify(args, keywords) if self.verify else self._cold(args, keywords)
        except Exception as error:
            raise shown(error)  # noqa: B904 - what caused it is its own affair

    def _noting(self, args: Sequence[Any], keywords: Mapping[str, Any]) -> AbstractContextManager[None]:
        """Around a call: has NumPy warn of what happens inside, where that is asked for."""
        if self.options.warnings is None:
            return nullcontext() if self._adviser is None else self._adviser.around(args, keywords)
        values = self._parameters.bind(args, keywords)
        return floating.numpys_warnings(functools.partial(self._parameters.call, self.function), values)

    def _cold(self, args: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
        """A call that may have to compile, or to run in NumPy what cannot be compiled."""
        try:
            return call_slowly(self, args, keywords)
        except TranskernError as error:
            if self.fallback != "numpy":
                raise
            instead, values = beside(self, error, args, keywords)
        if instead is self.function:
            return self._in_numpy(lambda: self.function(*args, **keywords))
        return self._in_numpy(functools.partial(self._parameters.call, instead, values))

    def _in_numpy(self, call: Callable[[], Any]) -> Any:
        """A call of what is not compiled."""
        return call()

    def _say_that_numpy_runs(self, error: TranskernError) -> None:
        """Once: why a function is not compiled."""
        say_that_numpy_runs(self, error)

    def _verify(self, args: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
        """A call that is compared with NumPy's where its code has not been compared yet."""
        from transkern.runtime import verifying

        values = self._parameters.bind(args, keywords)
        outside = getattr(self.function, "__globals__", {})
        wanted = verifying.expected(lambda *values: self._parameters.call(self.function, values), values, outside)
        found, failed = None, None
        before, self.known.last = self.known.last, None
        try:
            found = self._cold(args, keywords)
        except TranskernError:
            raise
        except Exception as error:  # the function's own
            failed = error
        made = self.known.last
        if made is not None and id(made) not in self.known.verified:
            verifying.check(self.function.__name__, found, failed, values, outside, wanted)
            self.known.verified.add(id(made))
        self.known.last = made or before
        if failed is not None:
            raise failed
        return found

    def _begin(self) -> None:
        """The function as it is now; nothing is compiled yet."""
        read_with(self.function)
        self._running: Any = self.function if isinstance(self.function, types.FunctionType) else _nothing
        self._code = self._running.__code__
        self._parameters = Parameters(self.function)
        self._names, self._variadic = [*self._parameters.names, *self.outside.parameters], self._parameters.variadic
        self._count, self._more = self._parameters.count, self.outside.values
        self._on_device = DeviceCalls(self._names, self.known.serve)
        # calls that cannot go straight to the code
        self._is_special = (
            self.verify or self.options.warnings is not None or self._variadic or self._adviser is not None
        )

    def _forget(self) -> None:
        """What the function was compiled with has changed: the code is not for later calls (`calls.known.renew`)."""
        if self._running.__code__ is self._code:
            self.outside.vary(self.known.watched, self._parameters.names)
        else:
            self.outside = Outside(self.function)
        self.known.forget()
        self._fast = _nothing
        self._begin()

    def __get__(self, instance: object, owner: type | None = None) -> Any:
        return self if instance is None else types.MethodType(self, instance)

    def __reduce_ex__(self, protocol: Any) -> Any:
        return pickling.reduced(self, int(protocol))

    @functools.cached_property
    def pickled(self) -> Callable[..., Any]:
        """The function under the name by which `pickle` finds it."""
        return pickling.twin(self)  # type: ignore[no-any-return]

    def __copy__(self) -> Compiled:
        return self  # as functions are

    def __deepcopy__(self, memo: Any) -> Compiled:
        return self

    def __repr__(self) -> str:
        return f"<transkern function {getattr(self, '__name__', '?')} for target {self.target}>"

    @public
    def defgrad(self, gradient: Callable[..., Any] | None = None, /, *, with_result: bool = False) -> Any:
        """Gives the function a gradient, for `torch.autograd` and `jax.grad`; may be used as a decorator.

        Args:
            gradient: a plain NumPy function, compiled as this one is, or a compiled one. Its first argument is the
                gradient of some number with respect to the result, made up as the result is (arrays of its shapes and
                dtypes; numbers are arrays without axes), then come the function's own arguments, all by place. It
                returns a gradient for each parameter, of the parameter's shape, or None for what has none; of one
                parameter, the gradient itself.
            with_result: the result comes as the second argument.

        Returns the compiled gradient. It may have a gradient itself.
        """
        if gradient is None:
            return functools.partial(self.defgrad, with_result=with_result)
        if not isinstance(gradient, Compiled):
            given = dataclasses.asdict(self.options) | {"threads": self.options.threads or None}
            gradient = Compiled(gradient, target=self.target, fallback=self.fallback, **given)
        self.gradient, self.gradient_takes_result = gradient, with_result
        return gradient

    # --- calls

    def call_on_target(self, values: list[Any]) -> Any:
        """A call with a value for each parameter, among them arrays that JAX traces, on a target that is traced."""
        try:
            if structures.is_plain(values):
                return call_numpy(self, values, chosen(self.target, "jax", values))
            return call_structured(self, values, functools.partial(self._parameters.call, self.function, values), False)
        except Wanted as wanted:  # what is traced binds no names of modules
            raise wanted.problem from None

    def _specialise(self, key_types: tuple[Any, ...], target: str) -> Specialisation | None:
        """Code for these types; None where the function is to run in NumPy instead."""
        from transkern.runtime.caching.building import build

        if (target, key_types) in self.known.refused:
            return None
        try:
            with own_errors(self.function, Build(key_types, target, self.options)):
                made = build(self.function, key_types, target, self.options)
        except TranskernError as error:
            if self.fallback != "numpy" or self.outside.varies:
                raise self._told(error, key_types, target) from error.__cause__
            self.known.refused[target, key_types] = self._in_parts(error, key_types, target)
            return None
        made.is_part = self.in_numpy.whole is not None
        self.known.count(made)
        say_if_compiled_often(self, key_types, target)
        return made

    def _in_parts(self, error: TranskernError, key_types: tuple[Any, ...], target: str) -> Callable[..., Any]:
        """What runs instead of a function that is refused: one with compiled parts, or the function itself."""
        found = parts_of(self, error, key_types, target)
        if found is None:
            self._say_that_numpy_runs(error)
        return found or self.function

    def _told(self, error: TranskernError, key_types: tuple[Any, ...], target: str) -> TranskernError:
        """A refusal as the caller is to see it: with all that is in the way."""
        if not isinstance(error, CompileError) or not error.path:
            return error
        from transkern.frontend.refused import with_others
        from transkern.frontend.sources.source import live_function
        from transkern.pipeline import translated

        with own_errors(self.function):
            function = live_function(self.function)
            return with_others(lambda left_out: translated(function, key_types, target, left_out), error)

    # --- code before the first call

    def prepare(self, key_types: tuple[Any, ...], target: str) -> Specialisation:
        """Has code for such types, which calls then find; raises as a call would, but where a call runs in NumPy, too.
        NeedsConstant: a constant is asked for."""
        from transkern.runtime.caching.building import build

        found = self.known.code.get((target, key_types))
        if found is None:
            with own_errors(self.function, Build(key_types, target, self.options)):
                found = build(self.function, key_types, target, self.options)
            self.known.count(found)
            found = self.known.code.setdefault((target, key_types), found)
            self.known.watch(found)
        return found

    # --- questions

    @property
    @public
    def signature(self) -> str:
        """The types of the last call, as `types=` takes them."""
        if self.known.last is None:
            raise TypesNeeded(f"`{self.function.__name__}` has not been called yet; its types are found at the call")
        return f"{self.function.__name__}({', '.join(map(str, self.known.last.types))})"

    @property
    @public
    def kernels(self) -> int:
        """How many kernels the last specialisation launches."""
        return self.known.latest(self.function.__name__).kernels

    @property
    @public
    def temporaries(self) -> tuple[str, ...]:
        """The arrays that the last specialisation keeps between kernels."""
        return self.known.latest(self.function.__name__).temporaries

    @property
    def not_compiled(self) -> tuple[TranskernError, ...]:
        """Why something of the function has run in NumPy so far (with ``fallback="numpy"``), each with its place."""
        return tuple(self.in_numpy.left)

    def cache_info(self) -> CacheInfo:
        """What was compiled and loaded from the cache, and the specialisations made. `hits` counts calls that took a
        specialisation other than the last one's; calls like the last go straight to its code, and are not counted."""
        return self.known.info

    @public
    def emit(self, target: str | None = None, types: str | None = None) -> str:
        """The text of the function for the last call's types, or for given ones (``'f(float32[n], float)'``)."""
        from transkern.runtime.caching.building import texts

        try:
            made = texts(self.function, types_for(self, types), target or _shown_target(self), self.options)
        except NeedsConstant as need:
            raise need.problem from None
        return "\n".join(made.values())

    def _repr_html_(self) -> str:
        """For notebooks: the specialisations, and what runs in NumPy."""
        from html import escape

        rows = [("specialisation", text) for text in self.known.info.specialisations]
        if self.known.last is not None:
            rows += [("kernels", str(self.kernels)), ("temporaries", ", ".join(self.temporaries) or "none")]
        rows += [("in NumPy", error.args[0]) for error in self.in_numpy.left]
        shown = rows or [("specialisation", "none yet: it is compiled when it is called")]
        cells = (f"<tr><th>{escape(a)}</th><td><code>{escape(b)}</code></td></tr>" for a, b in shown)
        return f"<table><caption><code>{escape(repr(self))}</code></caption>{''.join(cells)}</table>"

    @public
    def explain(self, types: str | None = None) -> str:
        """What became of the function: kernels, what was fused, what runs where, against the source's lines.

        It is told for the target of the last call, or for the one that the function is compiled for.
        """
        from transkern.runtime.caching.building import explain

        told = explain(self.function, types_for(self, types), _shown_target(self))
        measured = self.profile() if self.options.profile and types is None and self.known.last is not None else None
        return f"{told}\n{measured}" if measured is not None and measured.calls else told

    @public
    def profile(self) -> Profile:
        """What the calls with arguments of the last call's types have taken, in seconds: for each kernel and library
        step, and the loops that follow each other in a kernel, with the lines that they are made of.

        Of a function that was compiled with ``profile=True``; it goes on counting.
        """
        found = self.known.latest(self.function.__name__).profile
        if found is None:
            name = self.function.__name__
            raise ValueError(f"the calls of `{name}` are not measured: compile it with transkern.compile(profile=True)")
        return found()


def _shown_target(compiled: Compiled) -> str:
    """The target of the last call, else that of the next."""
    return chosen(compiled.target, None) if compiled.known.last is None else compiled.known.last.target


def _nothing(*args: Any) -> Any:
    return NotImplemented


disabling.governs(Compiled)
