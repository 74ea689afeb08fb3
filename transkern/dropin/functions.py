"""The functions of a script that ask at each call whether compiled code takes it, and what was measured of them."""

from __future__ import annotations

import sys
import threading
import time
import types
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol

from transkern.dropin.beside import Beside, Outcome
from transkern.dropin.deciding import AGAIN_COST, Account, Record, cost_of, guessed, size_class
from transkern.dropin.declining import COMPILED, OTHER_TYPES, PARTED, PYTHON, TOO_SHORT, UNDECIDED, Declined, Warned
from transkern.dropin.described import Described, described, made
from transkern.dropin.others import Others, Work
from transkern.dropin.rewriting import Site
from transkern.dropin.unseen import Blind, Probe, was_unseen
from transkern.runtime.calls.frames import behind_ours

if TYPE_CHECKING:
    from transkern.dropin.attempt import Attempt
    from transkern.dropin.recording import Recording
    from transkern.runtime.structures import Used

Place = tuple[int, int, int, int]
"""Where a statement begins and ends."""

_UNSEEN = -1  # the size of arguments that nobody has looked at
_SELDOM = 64
_LATER = 8  # functions that are compiled as a run ends
_MOST_TYPES = 8  # choices of argument types for which there is code
_DEARER = 2.0  # times what has not been enough, which compiling is taken to cost
_EARLY = 2  # calls of which the last is described
_MOST_DECLINED = 3  # declined calls in a row after which a function stays in Python


class Parts(Protocol):
    """A function in parts."""

    refused: dict[Place, str]  # the statements that run in Python, and why

    def renew(self) -> bool:
        """Has the function ask in parts; False where it stays whole."""

    def all_parts(self) -> Sequence[Watched]:
        """What its parts ask."""


class _Here(threading.local):
    """What one thread is about: whether the calls that run in Python are counted and the sizes of their arguments, and
    what compiled code has returned."""

    def __init__(self) -> None:
        self.begun: list[tuple[Watched, bool, int]] = []
        self.inner: list[float] = [0.0]  # for each of them, the seconds of watched functions that it has called
        self.open: dict[Watched, float] = {}  # the outermost calls of functions, and when they began
        self.results: list[Any] = []
        self.error: BaseException | None = None


_here = _Here()
_MONITORS = range(3) if hasattr(sys, "monitoring") else range(0)  # a debugger's, coverage's and a profiler's


def is_watched() -> bool:
    """Whether somebody looks at each line or call: a debugger, coverage, a profiler."""
    if sys.gettrace() or sys.getprofile():
        return True
    return any(sys.monitoring.get_tool(k) for k in _MONITORS)  # type: ignore[attr-defined,unused-ignore]


@dataclass(slots=True)
class Watch:
    """All functions of a run. `counts`: whether calls are counted to the end, for a report; `eager`: whether all is
    compiled that can be, at its first call."""

    target: str
    counts: bool = False
    eager: bool = False
    account: Account = field(default_factory=lambda: Account(time.process_time()))
    functions: list[Watched] = field(default_factory=list)
    remembered: Callable[[Site], dict[str, Any] | None] = lambda site: None
    recording: Recording | None = None  # the types of first calls, where they are asked for
    parted: Callable[[Watched, types.FunctionType, Mapping[Place, str]], Parts] | None = None
    beside: Beside | None = None  # compiles beside the script, where that can be

    @property
    def clock(self) -> Callable[[], float]:
        """What times calls: on the CPU the thread's own time, in which neither what else the machine does nor what a
        function waits for has a part; for a device one waits."""
        return time.thread_time if self.target == "cpu" else time.perf_counter

    def end(self) -> None:
        """The run has ended: what it has found to be worth compiling is compiled for later ones."""
        if self.beside is None or self.beside.is_busy():
            return
        parts = [part for one in self.functions if one.parts is not None for part in one.parts.all_parts()]
        found = [one for one in (*self.functions, *parts) if one.is_left()]
        found.sort(key=lambda one: -one.record.in_python().seconds)
        works: list[Work] = [(one.site, one.prepared_later) for one in found[:_LATER]]
        works += [w for one in self.functions if one.others is not None for w in one.others.left(one.record)]
        if works and self.beside.may_start() and self.beside.start(works[:_LATER]):
            for one in found[:_LATER]:
                one.is_beside = True

    def hooks(self, site: Site, plain: types.CodeType) -> Watched:
        """What a function at `site` asks."""
        return Watched(self, site, plain)


class Watched:
    """A function of a script."""

    probe: Probe = Probe()

    def __init__(self, watch: Watch, site: Site, plain: types.CodeType, brief: bool | None = None) -> None:
        if watch.recording is not None:
            self.probe = Blind()  # the types of all calls are asked for, whoever looks
        self.watch, self.site, self.plain = watch, site, plain
        self.is_part, self._brief = brief is not None, brief  # and, of a part, whether it has no loop
        self.parts: Parts | None = None
        self.record = Record(cost=cost_of(site))
        self._refused: dict[Place, str] = {}  # where it was refused in the run before
        self.state, self.why = UNDECIDED, ""
        self._function: types.FunctionType | None = None
        self._names = plain.co_varnames[: plain.co_argcount + plain.co_kwonlyargcount]
        self._attempt: Attempt | None = None
        self._busy = False  # while it is compiled: nothing is compiled within
        self.gave_up = False  # as it took too long
        self.declined, self._compilations = 0, 0  # calls that compiled code has not taken, choices of types
        self._most = 1e9  # seconds that compiling may take
        self._inner = 0  # calls within a call
        self._call: Described | None = None  # the second one, or the first: it may lack what later ones have
        self.is_beside = False  # whether a copy of the process has been asked to compile it
        self.others = Others(site, watch.beside, self.prepared) if watch.beside is not None else None
        self.prints = False  # so that compiled code is known to be no other
        known = watch.remembered(site)
        if known is not None and not watch.eager:
            self.record.before, self.record.calls = known["python"], known["calls"]
            self.record.cost, self.record.runs = known["cost"], known["runs"]
            self.record.spent = known.get("spent", 0.0)
            self.record.cached, self.prints = known["state"] == COMPILED, bool(known.get("prints"))
            if self.record.cached and known.get("saved", AGAIN_COST) < AGAIN_COST:
                self.state, self.why = PYTHON, "saves less than it takes to load"
            if known["state"] == PARTED:
                self._refused = {tuple(place): why for place, why in known.get("refused", ())}
            if known["state"] == PYTHON:
                self.state, self.why = PYTHON, known["why"]

    def __reduce__(self) -> Any:  # `cloudpickle` takes functions with the constants of their code
        return _asleep, ()

    # --- what the function asks

    def made(self, function: types.FunctionType) -> types.FunctionType:
        """A function has been made at the site: the only one, or nobody could tell which is called."""
        if self._function is not None or not isinstance(function, types.FunctionType):
            self._leave("it is defined more than once")
        else:
            self.watch.functions.append(self)
        self._function = function
        if self.state == PYTHON and not self.watch.counts and self.watch.recording is None:
            self.restore()
        elif self.state is UNDECIDED and self._refused and self.watch.recording is None:
            self._goes_in_parts(self._refused)
        return function

    def begin(self, *args: Any, **keywords: Any) -> bool:
        """Whether compiled code has taken the call; Python's own begins otherwise."""
        if self.state is UNDECIDED and self.record.passing and self not in _here.open:
            self.record.passing -= 1
            return False
        if self.state is COMPILED and self.record.passing and not self._busy and not is_watched():
            self.record.passing -= 1
            if self._is_served(args, keywords):
                return True
        if self.watch.recording is not None:
            self.note(args, keywords)
        if self.state is PYTHON or self.state is PARTED or self._function is None or is_watched():
            self._enter(_UNSEEN)
            return False
        values = (*args, *keywords.values())
        size = size_class(values)
        if self.state is COMPILED or self.watch.eager:
            tried = self.watch.eager or not self.record.wants_python(size)
            if tried and self.others is not None and self.others.run_in_python(size, self.record, args, keywords):
                tried = False
            if tried and not self._busy and self._try(size, 0.0, args, keywords):
                return True
        elif not self._busy and self._is_asked():
            guess = 0.0
            if not self.record.python.get(size):
                guess = guessed(self.site, self._names, values, self._function.__globals__)
            now = self.watch.clock()
            running = now - _here.open.get(self, now)
            is_early = self.record.in_python().calls < _EARLY and self not in _here.open  # and none within a call
            if self.watch.beside is not None and is_early:
                self._call = described(self._names, args, keywords, self._used) or self._call
            is_worth = self.record.is_worth(guess, running, self.watch.account, time.process_time())
            if self._is_beside(guess, running, is_worth, args, keywords):
                pass
            elif self.state is UNDECIDED and is_worth:
                self._most = self.record.may_take(guess, running)
                if self._try(size, guess, args, keywords):
                    return True
            elif self.state is UNDECIDED and self.record.is_hopeless():
                self._leave(TOO_SHORT)
        self._enter(size)
        return False

    def note(self, args: tuple[Any, ...], keywords: dict[str, Any]) -> None:
        """The types of a call are asked for."""
        if self.watch.recording is not None and self._function is not None:
            self.watch.recording.note(self.site.file, self.site.name, self._function, args, keywords)

    def _is_asked(self) -> bool:
        """Whether a call is one to decide at: each, or one of many within a call."""
        self._inner = self._inner + 1 if self in _here.open else 0
        return self._inner % _SELDOM == 0

    def _enter(self, size: int) -> None:
        """Python's own run of a call begins."""
        here = _here
        if was_unseen():  # a function that had begun, or several: what has begun now is not timed
            here.begun, here.inner, here.open = [], [0.0], {}
        is_outermost = self not in here.open
        here.begun.append((self, is_outermost, size))
        here.inner.append(0.0)
        if is_outermost:
            here.open[self] = self.watch.clock()

    def failed(self) -> bool:
        """Whether compiled code has raised."""
        return _here.error is not None

    def error(self) -> BaseException:
        """What it has raised, with the frames of the user's that it stands for."""
        error, _here.error = _here.error, None
        assert error is not None
        return error

    def result(self) -> Any:
        """What it has returned."""
        return _here.results.pop()

    def end(self) -> None:
        """Python's own run of a call has ended."""
        here = _here
        if not here.begun or here.begun[-1][0] is not self:
            return  # nobody was told that it began, or what stood here is forgotten (`was_unseen`)
        _, is_outermost, size = here.begun.pop()
        inner = here.inner.pop()
        if not is_outermost:
            here.inner[-1] += inner
            return
        now = self.watch.clock()
        took = now - here.open.pop(self, now)
        here.inner[-1] += inner if self._is_callers() else took
        if size != _UNSEEN or self.watch.counts:
            self.record.add_python(size, max(took - inner, 0.0))
            if not self.watch.counts and self.watch.recording is None:
                self.record.let_pass()
        if self.state is COMPILED and not self.watch.eager and self.record.has_lost(size):
            self._leave("faster in NumPy")

    def _is_callers(self) -> bool:
        """Whether what a call takes is its caller's time: who compiles that one has the call as well."""
        return self.why == TOO_SHORT if self.state is PYTHON else self.state is UNDECIDED and self.record.is_brief()

    # --- compiled beside

    def _is_beside(
        self, guess: float, running: float, is_worth: bool, args: tuple[Any, ...], keywords: dict[str, Any]
    ) -> bool:
        """Whether the function is left to a copy of the process, now or when the run has ended, so that nobody waits
        for it. (Where one call is so long that it is worth waiting, it is not: the call would be over in Python.)"""
        beside = self.watch.beside
        if beside is None or self.record.cached:
            return False
        if self.is_beside:
            found = beside.outcome(self.site)
            if found is not None:
                self._learn(found)
            return found is None and beside.is_waiting_for(self.site)
        is_worth_now, now = self.record.is_worth_beside(guess, running), time.process_time()
        if not (is_worth or is_worth_now) or self.record.is_long(guess, self.watch.account, now):
            return False
        if beside.is_busy():
            return True
        if not beside.may_start():
            return False
        if is_worth_now:
            self.is_beside = beside.start([(self.site, lambda: self.prepared(args, keywords))])
        return self.is_beside or self._call is not None

    def prepared(self, args: tuple[Any, ...], keywords: dict[str, Any]) -> Outcome:
        """Compiles the function for a call, without making it, and says what became of it."""
        from transkern.dropin.attempt import Ahead

        attempt = Ahead(self._twin(), self.watch.target, lambda: True, self.watch.clock, self._brief)
        attempt.follow(self._attempt)
        attempt.compile_ahead(args, keywords)
        state = COMPILED if attempt.is_made else PARTED if attempt.refused else PYTHON if attempt.why else UNDECIDED
        refused = [[[*place], why] for place, why in attempt.refused.items()]
        return {"state": state, "why": attempt.why, "refused": refused, "prints": attempt.prints}

    def is_left(self) -> bool:
        """Whether it would have been worth compiling, had anybody known."""
        return (
            self.state is UNDECIDED and self._call is not None and not self.is_beside and not self.record.cached
            and self.record.is_worth_later()
        )  # fmt: skip

    def prepared_later(self) -> Outcome:
        """The same for an early call."""
        assert self._call is not None
        return self.prepared(*made(self._call))

    def _learn(self, found: Outcome) -> None:
        """What a copy of the process has found out."""
        if found["state"] == COMPILED:
            self.record.cached, self.prints = True, bool(found["prints"])
        elif found["state"] == PARTED and self._goes_in_parts({tuple(place): why for place, why in found["refused"]}):
            return
        elif found["state"] != UNDECIDED:
            self._leave(found["why"])

    # --- compiled code

    def _is_served(self, args: tuple[Any, ...], keywords: dict[str, Any]) -> bool:
        """Whether code that is there has taken a call that goes by untimed."""
        assert self._attempt is not None
        try:
            result = self._attempt.direct(args, keywords)
        except Declined:
            self.record.passing = 0
            return False
        except Exception as error:
            _here.error = error.with_traceback(behind_ours(error.__traceback__))
            return True
        if result is not NotImplemented:
            _here.results.append(result)
        return result is not NotImplemented

    def _try(self, size: int, guess: float, args: tuple[Any, ...], keywords: dict[str, Any]) -> bool:
        started, begun = time.perf_counter(), self.watch.clock()
        account, first = self.watch.account, self._attempt is None
        self._busy = first
        if self._attempt is None:
            from transkern.dropin.attempt import Attempt

            self._attempt = Attempt(self._twin(), self.watch.target, self._may_compile, self.watch.clock, self._brief)
            if self.prints:
                self._attempt.takes_no_second_run()
        attempt = self._attempt
        attempt.most = self._most
        loaded = attempt.cache_info().from_disk
        result = NotImplemented
        try:
            if self.state is COMPILED:
                result = attempt.direct(args, keywords)
            is_direct = result is not NotImplemented
            if not is_direct:
                result = attempt(*args, **keywords)
        except Declined as why:
            spent = time.perf_counter() - started
            if first or attempt.seconds:
                account.charge(spent, False)
                _here.inner[-1] += self.watch.clock() - begun
            if attempt.why == OTHER_TYPES and self.state is COMPILED and self.others is not None:
                if self.others.add(size, self.record, partial(described, self._names, args, keywords, self._used)):
                    attempt.why = ""
                    return False
            self.declined += not isinstance(why, Warned)
            if isinstance(why, Warned) and self.state is UNDECIDED:
                self.state = COMPILED
            often = self.declined >= _MOST_DECLINED and self.declined > self.record.in_code().calls
            if attempt.took_too_long:  # another run may have more to save by it
                self.gave_up, self.record.cost = True, max(self.record.cost, _DEARER * attempt.seconds)
            is_odd = self.record.cached and attempt.why == OTHER_TYPES  # there is code, for later calls perhaps
            if is_odd and self.declined < _MOST_DECLINED:
                attempt.why = ""
            if attempt.why and self.state is UNDECIDED and not isinstance(why, Warned):
                if not self._goes_in_parts(attempt.refused):
                    self._leave(attempt.why)
            elif often and not self.watch.eager:
                self._leave(attempt.why or "it raises")
            return False
        except Exception as error:
            _here.error = error.with_traceback(behind_ours(error.__traceback__))
            return True
        finally:
            self._busy = False
        took = self.watch.clock() - begun
        compiling = time.perf_counter() - started - attempt.last if first else 0.0 if is_direct else attempt.seconds
        _here.inner[-1] += took
        if compiling:
            took = attempt.last
            cached = attempt.cache_info().from_disk > loaded
            account.charge(compiling, cached)
            if not cached:
                self.record.cost = attempt.seconds
        self.state, self.prints = COMPILED, attempt.prints
        account.saved += self.record.add_compiled(size, took, guess)
        if not self.watch.eager and self.record.has_lost(size):
            self._leave("faster in NumPy")
        elif not self.watch.counts and self.watch.recording is None:
            self.record.let_code_pass(size)
        _here.results.append(result)
        return True

    def _may_compile(self) -> bool:
        """Whether there is to be code for more types: not for ever new ones."""
        if self._compilations >= _MOST_TYPES:
            self._leave("arguments of ever new types")
            return False
        account = self.watch.account
        is_odd = self.record.cached and not self.declined  # a first call often is, and there is code for others
        may = (
            (not self._compilations and self.state is UNDECIDED and not is_odd) or self.watch.eager
            or account.credit(time.process_time()) >= self.record.cost
        )  # fmt: skip
        self._compilations += may
        return may

    def _used(self, parameter: str, value: Any) -> Used:
        from transkern.runtime.calls.uses import used_by

        return used_by(self._twin())(parameter, value)

    def _twin(self) -> types.FunctionType:
        """The function as the user wrote it."""
        f = self._function
        assert f is not None
        twin = types.FunctionType(self.plain, f.__globals__, f.__name__, f.__defaults__, f.__closure__)
        twin.__kwdefaults__, twin.__annotations__ = f.__kwdefaults__, f.__annotations__
        twin.__qualname__, twin.__module__, twin.__doc__ = f.__qualname__, f.__module__, f.__doc__
        return twin

    def kernels(self) -> int | None:
        """How many kernels a call of compiled code launches; None where there is none."""
        return self._attempt.kernels if self.state is COMPILED and self._attempt is not None else None

    def restore(self) -> None:
        """The function has the code that the user wrote."""
        if self._function is not None:
            self._function.__code__ = self.plain

    def _goes_in_parts(self, refused: Mapping[Place, str]) -> bool:
        """Whether what stands between statements that are refused asks from now on."""
        make, function = self.watch.parted, self._function
        if make is None or function is None or not refused:
            return False
        self.parts = make(self, function, refused)
        self.state = PARTED
        return self.parts.renew()

    def stays_whole(self) -> None:
        """None of its parts asks any more."""
        found = self.parts.all_parts() if self.parts is not None else ()
        told = self.parts.refused.values() if self.parts is not None else ()
        self.state, self.why = PYTHON, next(iter(told), "") or next((one.why for one in found if one.why), "")

    def _leave(self, why: str) -> None:
        """The function runs in Python from now on."""
        self.state, self.why = PYTHON, why
        if not self.watch.counts:
            self.restore()


def _asleep() -> Watched:
    """What a function asks in another process: it runs in Python there."""
    made = Watched.__new__(Watched)
    made.watch, made.state, made.why, made._function = Watch("cpu"), PYTHON, "", None
    return made
