"""The table in docs/language.md of what is refused where: from the corpus, the op table and the library table.

    python -m tests.corpus.refusals

writes it anew.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from tests.corpus.test_corpus import cases
from transkern.errors import CompileError
from transkern.frontend.numpy.ufuncs import UFUNCS
from transkern.frontend.sources.texts import TextScope
from transkern.frontend.specialise import specialise
from transkern.frontend.values.types import parse_signature
from transkern.fuse.passes import DEVICE_PASSES
from transkern.ir.library import LIBRARY, has
from transkern.pipeline import run
from transkern.targets.cuda.emit import emit as cuda
from transkern.targets.pallas.module.emit import emit as pallas

TARGETS = ("cpu", "cuda", "pallas")
_DOCUMENT = Path(__file__).parents[2] / "docs" / "language.md"
_FIRST, _LAST = "<!-- made by python -m tests.corpus.refusals -->\n", "<!-- end -->\n"
_WIDTH = 4  # examples in a row


def section() -> str:
    """The lines between the marks."""
    return "\n".join([*_corpus(), "", *_operations()]) + "\n"


def _corpus() -> Iterator[str]:
    """How many functions of the corpus each target refuses, for which reason."""
    every = cases()
    shares = []
    for target in TARGETS:
        count = sum(target in case.refused for _, case in every)
        shares.append(f"{target} {count} ({100 * count / len(every):.0f} %)")
    yield f"Of the {len(every)} calls in `tests/corpus`, refused: {', '.join(shares)}."
    yield ""
    yield "| reason, as the message tells it | cpu | cuda | pallas | functions |"
    yield "|---|---|---|---|---|"
    reasons = sorted({reason for _, case in every for reason in case.refused.values()})
    for reason in reasons:
        found = [(name, case) for name, case in every if reason in case.refused.values()]
        counts = [sum(case.refused.get(t) == reason for _, case in found) or "" for t in TARGETS]
        functions = list(dict.fromkeys(f"`{case.function.__name__}`" for _, case in found))
        more = ", …" if len(functions) > _WIDTH else ""
        yield f"| {reason} | {' | '.join(map(str, counts))} | {', '.join(functions[:_WIDTH])}{more} |"


def _operations() -> Iterator[str]:
    """Which elementwise functions a target has no code for, by dtype, and which steps its library does not have."""
    yield "| | cpu | cuda | pallas |"
    yield "|---|---|---|---|"
    for dtype in ("float16", "float64", "complex128"):
        names = [name for name, op in UFUNCS.items() if name == op and isinstance(getattr(np, name, None), np.ufunc)]
        refused = {name: found for name in sorted(names) if (found := _refusing(name, dtype)) is not None}
        if any(refused.values()):
            columns = ([name for name, targets in refused.items() if t in targets] for t in TARGETS)
            yield f"| elementwise functions of {dtype} | {' | '.join(_listed(c, len(refused)) for c in columns)} |"
    steps = [*LIBRARY, "seeded", "drawn"]
    columns = ([s for s in steps if not has(s, module)] for module in ("np", "cp", "jnp"))
    yield f"| steps of libraries | {' | '.join(_listed(c, len(steps)) for c in columns)} |"


def _listed(names: list[str], of: int) -> str:
    return "all" if len(names) == of else ", ".join(f"`{name}`" for name in names)


def _refusing(name: str, dtype: str) -> set[str] | None:
    """The targets that refuse a ufunc of arrays of `dtype`; None where NumPy has no such loop."""
    operands = ", ".join("xyz"[: getattr(np, name).nin])
    text = f"import numpy as np\ndef f({operands}):\n    return np.{name}({operands})\n"
    _, types = parse_signature(f"f({', '.join(f'{dtype}[n]' for _ in operands.split(','))})")
    try:
        program = specialise(TextScope(text, "<text>").function("f"), types)
    except CompileError:
        return None
    try:
        program = run(program, DEVICE_PASSES)
    except CompileError:
        return {"cuda", "pallas"}
    found = set()
    for target, emit in (("cuda", cuda), ("pallas", pallas)):
        try:
            emit(program)
        except CompileError:
            found.add(target)
    return found


def main() -> None:
    before, _, rest = _DOCUMENT.read_text(encoding="utf-8").partition(_FIRST)
    _, _, after = rest.partition(_LAST)
    _DOCUMENT.write_text(f"{before}{_FIRST}{section()}{_LAST}{after}", encoding="utf-8")


if __name__ == "__main__":
    main()
