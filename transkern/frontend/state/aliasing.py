"""Which arrays share memory, which are copies of what Python shows, and which are stored into.

Compiled code copies where Python has several names for one array: into lists, on two paths, through loops. As long as
nobody stores into one of the copies, that is not seen; such a store is refused, or the translation begins anew.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple, NoReturn

from transkern import refusals
from transkern.errors import CompileError
from transkern.frontend.anew import NotKnown
from transkern.frontend.state import choices, twins
from transkern.frontend.state.memory import is_of_argument, reads
from transkern.frontend.values.reach import is_memory_of
from transkern.frontend.values.reach import shows as reaches
from transkern.frontend.values.values import ITEM, Array, Scalar, Unbound, Value, children, lies
from transkern.ir import build as b
from transkern.ir.expr import Axis, Expr

if TYPE_CHECKING:
    from transkern.frontend.context import Context


class Copy(NamedTuple):
    """An array made of one of several on two paths, under a name: its buffer, theirs, and what decides. `noted` is
    called where one of them is stored into; without it, that is refused."""

    name: str
    buffer: str
    shown: frozenset[str]
    decides: Expr | None
    noted: Callable[[], None] | None = None
    problem: str = ""


class Saved(NamedTuple):
    """What there was at a place that a translation may go back to."""

    made_in: dict[str, tuple[int, ...]]
    stored_in: dict[str, list[tuple[int, ...]]]
    appended: set[str]
    chosen: dict[str, tuple[str, Expr | None]]
    copies: list[Copy]
    begun: set[str]
    doubtful: dict[str, tuple[str, CompileError]]
    spaced: set[str]
    operands: dict[tuple[Axis, ...], list[Array]]
    in_order: set[str]


class Aliasing:
    """Buffers by what they share, and where they were made and stored into."""

    def __init__(self) -> None:
        self.stored: set[str] = set()  # buffers that the user stores into; survives `restore`
        # buffers of lists: those whose elements' range has been asked for, and the range that loops bring it to, which
        # iterations begin with; they survive `restore`
        self.asked: set[str] = set()
        self.reached: dict[str, tuple[Expr, Expr]] = {}
        self.writes: list[str] = []  # the buffers stored into, as they come: a loop's are those since its start
        self.made_in: dict[str, tuple[int, ...]] = {}  # buffers: the loops around their making
        self.stored_in: dict[str, list[tuple[int, ...]]] = {}  # buffers: the loops around stores into them
        # arrays that are copies of one of several, as a run-time condition chooses: what they hold may be read, but a
        # store would have to go to the one chosen
        self.chosen: dict[str, tuple[str, Expr | None]] = {}
        self.copies: list[Copy] = []
        # copies of what NumPy may show as a view: the buffer that is copied, and what is said where that matters
        self.doubtful: dict[str, tuple[str, CompileError]] = {}
        self.begun: set[str] = set()  # what loops carry that begins as an array which is seen elsewhere
        self.held_in: dict[str, set[str]] = {}  # buffers of lists of arrays: those of the arrays; survives `restore`
        self.appended: set[str] = set()  # buffers of arrays that stand in growing lists
        # buffers of lists in which an array has taken another's place, and those that none may; they survive `restore`
        self.replaced: set[str] = set()
        self.kept: set[str] = set()
        self.spaced: set[str] = set()  # arrays that NumPy has between other numbers
        self.in_order: set[str] = set()  # copies that NumPy, too, makes in C order, or in Fortran's, as they are turned
        # what was computed of arrays of which one had been computed and then turned: by its axes, all of them
        self.operands: dict[tuple[Axis, ...], list[Array]] = {}
        self.filled_like = False  # an array was made in the order of one whose order only a call can tell

    def save(self) -> Saved:
        return Saved(
            dict(self.made_in), {k: list(v) for k, v in self.stored_in.items()}, set(self.appended), dict(self.chosen),
            list(self.copies), set(self.begun), dict(self.doubtful), set(self.spaced), dict(self.operands),
            set(self.in_order),
        )  # fmt: skip

    def restore(self, saved: Saved) -> None:
        self.made_in, self.stored_in = dict(saved.made_in), {k: list(v) for k, v in saved.stored_in.items()}
        self.appended, self.chosen, self.copies = set(saved.appended), dict(saved.chosen), list(saved.copies)
        self.begun, self.doubtful = set(saved.begun), dict(saved.doubtful)
        self.spaced, self.operands = set(saved.spaced), dict(saved.operands)
        self.in_order = set(saved.in_order)

    def shown_by(self, buffer: str) -> set[str]:
        """A buffer, and those whose arrays stand in it as copies of what Python shows."""
        return {buffer}.union(*(c.shown for c in self.copies if c.buffer == buffer))

    def note_copy(
        self, name: str, buffer: str, shown: frozenset[str], decides: Expr | None,
        noted: Callable[[], None] | None = None, problem: str = "",
    ) -> None:  # fmt: skip
        """`buffer` holds a copy of one of several arrays that others show, too: while it may still be read, none
        of them may be stored into (or it is `noted`)."""
        all_shown = frozenset().union(*map(self.shown_by, shown))
        self.copies.append(Copy(name, buffer, all_shown, decides, noted, problem))

    def is_changed(self, buffer: str) -> bool:
        """Whether there is a store into it, or into the list whose memory it is."""
        return buffer in self.stored_in or buffer in self.replaced

    def is_stored_again(self, buffer: str, loops: tuple[int, ...]) -> bool:
        """Whether there is a store into it in the next iteration of one of the `loops` around."""
        made = self.made_in.get(buffer, ())
        return any(set(loops) & set(path) - set(made) for path in self.stored_in.get(buffer, []))


def is_seen(ctx: Context, name: str, value: Value) -> bool:
    """Whether a store into the array `value`, bound to `name`, is seen under another name, or by the caller."""
    if not isinstance(value, Array) or not lies(value):
        return False
    shared = ctx.aliasing
    if is_of_argument(ctx, value.base) or value.base in (*shared.doubtful, *shared.chosen, *shared.begun):
        return True
    heap = {} if name is ITEM else ctx.heap.contents  # what stands in a container is seen through that
    others = [v for frame in ctx.scopes.frames for k, v in frame.items() if k != name]
    others += [v for contents in heap.values() for v in children(contents) or ()]
    return any(is_memory_of(heap, v, (value.base,)) for v in others)


def note_doubtful(ctx: Context, copy: str, shown: str, problem: str, help: str) -> None:
    """The buffer `copy` is a copy of what NumPy may show as a view of `shown`: it may be read as long as none of
    both is stored into."""
    ctx.aliasing.doubtful[copy] = shown, ctx.error(refusals.SHARED_MEMORY, problem, help)


def note_store(ctx: Context, buffer: str) -> None:
    """The user's code stores into `buffer`."""
    if buffer in ctx.aliasing.appended:
        fail_shared(ctx, buffer)
    ctx.emitter.before_change(buffer)
    ctx.aliasing.stored_in.setdefault(buffer, []).append(ctx.control.loop_path)


def note_replaced(ctx: Context, buffer: str) -> None:
    """An array in a list, whose memory is `buffer`, gives its place to another: copies of it stay what it was."""
    if buffer in ctx.aliasing.kept:
        fail_shared(ctx, buffer)
    ctx.emitter.before_change(buffer)
    ctx.aliasing.replaced.add(buffer)


def note_append(ctx: Context, buffer: str) -> None:
    """The array in `buffer` becomes an element of a growing list, as a copy: nobody may change it later."""
    if ctx.aliasing.is_stored_again(buffer, ctx.control.loop_path):
        fail_shared(ctx, buffer)
    ctx.aliasing.appended.add(buffer)


def arguments_in(ctx: Context, buffer: str) -> set[str]:
    """The arguments' arrays that stand in a list with this memory, as copies."""
    held, buffers = ctx.aliasing.held_in.get(buffer, set()), ctx.names.buffers
    return {base for base in held if base in buffers and is_of_argument(ctx, base)}


def holds_arguments(ctx: Context, buffer: str) -> bool:
    """Whether `buffer` is an argument's, or that of a list in which some stand as copies."""
    return is_of_argument(ctx, buffer) or bool(arguments_in(ctx, buffer))


def note_held(ctx: Context, buffer: str, base: str) -> None:
    """The memory of a list gets the elements of an array, which others may see under a name of its own."""
    bases = ctx.aliasing.held_in.setdefault(buffer, set())
    bases |= {base, *arguments_in(ctx, base)} - {buffer}
    if base in ctx.lists.lengths.buffers:
        twins.join(ctx, buffer, base)


def note_held_as_in(ctx: Context, buffer: str, other: str) -> None:
    """The memory of a list gets the arrays that another one has: what shows these is to be kept as it is, too."""
    more = ctx.aliasing.held_in.get(other, set()) - ctx.aliasing.held_in.get(buffer, set())
    if more and buffer in ctx.aliasing.stored_in:  # in an iteration before, perhaps
        fail_shared(ctx, buffer)
    for base in sorted(more):
        note_held(ctx, buffer, base)


def check_held(ctx: Context, buffer: str) -> None:
    """The user's code stores into an array that stands in a list, as a copy: nobody may see the original."""
    group, held_in = ctx.lists.twins.groups.get(buffer, {buffer}), ctx.aliasing.held_in
    for base in sorted(set().union(*(held_in.get(x, ()) for x in group))):
        contained = (v for held in ctx.heap.contents.values() for v in children(held) or ())
        named = any(isinstance(v, Array) and reads(v, base) for v in contained)
        read = named or _still_read(ctx, base)
        if read or base not in ctx.names.buffers or ctx.names.buffers[base].role == "argument":
            problem = f"a store into an array in a list, which is `{base}`, too"
            ctx.fail(refusals.TWO_NAMES, problem, f"append a copy: {base}.copy()")
    twins.check_twins(ctx, buffer)


def check_copies(ctx: Context, buffer: str) -> None:
    """A store into `buffer`, which copies may show that are still to be read."""
    for c in ctx.aliasing.copies:
        if buffer not in c.shown or not _still_read(ctx, c.buffer):
            continue
        if c.noted is not None:
            c.noted()
            continue
        choices.fork(ctx, None, c.buffer)
        if c.problem:
            help = f"copy it there: {c.name} = {c.name}.copy()"
            ctx.must_be_known(Unbound(""), c.problem, help, refusals.SHARED_MEMORY)
        else:
            ctx.must_be_known(
                Scalar(b.TRUE if c.decides is None else c.decides),
                f"`{c.name}` is one of two arrays, which of them is known at run time only, and one is stored into",
                "store in each branch, or begin with a copy: x = (a if c else b).copy()",
                refusals.SHARED_MEMORY,
            )


def check_doubtful(ctx: Context, buffer: str) -> None:
    """A store into `buffer`, which is a copy of what NumPy may show as a view, or may be shown so."""
    doubtful, contents = ctx.aliasing.doubtful, ctx.heap.contents
    if buffer in doubtful:
        raise doubtful[buffer][1]
    for copy, (shown, error) in doubtful.items():

        def shows(value: Value, copy: str = copy) -> bool:
            return reaches(contents, value, lambda v: v.view and reads(v, copy))

        if shown == buffer and (ctx.scopes.still_named(shows) or any(map(shows, contents.values()))):
            raise error


def _still_read(ctx: Context, buffer: str) -> bool:
    """Whether a name through which `buffer` is read is live behind the present statement."""
    heap = ctx.heap.contents
    return bool(ctx.scopes.still_named(lambda v: reaches(heap, v, lambda a: reads(a, buffer))))


def fail_shared(ctx: Context, buffer: str) -> NoReturn:
    """A store into what a list, or one of two paths, has as a copy."""
    choices.fork(ctx, None, buffer)
    error = NotKnown(
        refusals.TWO_NAMES,
        f"`{buffer}` is appended to a list, or one of two on two paths, and changed in place afterwards",
        f"append (choose) a copy: {buffer}.copy()", ctx.session.span, ctx.session.lines,
    )  # fmt: skip
    raise error
