"""What became of a function, in words, against the user's lines."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from transkern.analysis.loops import LoopReport
from transkern.analysis.reports.decided import Decided
from transkern.analysis.reports.ranges import ranges
from transkern.analysis.reports.traffic import in_all, traffic
from transkern.fuse.lowering.kernels import count_kernels, temporaries
from transkern.ir import nodes as n
from transkern.ir.expr import Load
from transkern.ir.printer import text
from transkern.ir.traverse import buffers_allocated, buffers_used, buffers_written, exprs, walk


def explain(program: n.Program, loops: Iterable[LoopReport] = (), decided: Sequence[Decided] = ()) -> str:
    """Kernels with the lines fused in each and the bytes that they move, temporaries, library steps, what is known of
    each user loop, and what passes have `decided`."""
    kernels = count_kernels(program)
    left = temporaries(program)
    lines = [
        f"{program.name}: {kernels} kernel{'' if kernels == 1 else 's'}, "
        + (f"{len(left)} temporar{'y' if len(left) == 1 else 'ies'} ({', '.join(left)})" if left else "no temporaries")
    ]
    for s in walk(program.body):
        if isinstance(s, n.Kernel):
            lines += _kernel(program, s)
        elif isinstance(s, n.Library):
            lines.append(f"  line {s.span.line}: {s.name} by the library: {', '.join(s.ins)} -> {', '.join(s.outs)}")
    if kernels:
        lines.append(f"  in all, arguments and results have {in_all(program)} bytes")
    loops = list(loops)
    if loops:
        lines.append("  loops:")
        lines += ["    " + text.replace("\n", "\n    ") for text in map(str, loops)]
    if decided:
        lines.append("  decided:")
        lines += [f"    {one}" for one in decided]
    return "\n".join(lines)


def _kernel(program: n.Program, kernel: n.Kernel) -> list[str]:
    spans = [s.span for s in walk(kernel.body) if s.span.line]
    numbers = sorted({x.line for x in spans if program.is_own(x)})
    where = ", ".join([ranges(numbers), *sorted({program.place(x) for x in spans if not program.is_own(x)})])
    read = {e.buffer for e in exprs(kernel.body) if isinstance(e, Load)} - set(buffers_allocated(kernel))
    reads = sorted(read | buffers_used(kernel) - buffers_written(kernel))
    out = [f"  kernel {kernel.name}: line{'s' if len(numbers) != 1 else ''} {where}"]
    writes = ", ".join(sorted(buffers_written(kernel) - buffers_allocated(kernel)))
    out.append(f"    reads {', '.join(reads) or 'nothing'}; writes {writes or 'scalars only'}")
    out.append(f"    {traffic(program, kernel)}")
    line = 0  # some steps are the compiler's own: they have the line of what is in them, or stands before them
    for s in walk(kernel.body):
        line = s.span.line or next((x.span.line for x in walk((s,)) if x.span.line), line)
        match s:
            case n.While():
                out.append(f"    line {line}: sequential while: its parallel passes run inside one kernel")
            case n.Loop(kind="sequential", axis=axis):
                out.append(f"    line {line}: in order over {axis}")
            case n.Loop(kind="parallel", axis=axis, start=start, stop=stop):
                sums = [x.name for x in s.body if isinstance(x, n.Accumulate)]
                kind = "reduction" if sums else "parallel"
                out.append(f"    line {line}: {kind} over {axis} in {text(start)} .. {text(stop)}")
            case n.Compact(axis=axis, outputs=outputs):
                out.append(f"    line {line}: filter over {axis} into {', '.join(outputs)}, in order")
            case n.Scanning(op=op, axis=axis):
                out.append(f"    line {line}: running {op} over {axis}")
            case _:
                pass
    return out
