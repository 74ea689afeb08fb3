"""A function's module on TPUs: what runs in Pallas kernels, the bundles of their loops, and bytes beside plain JAX."""

from __future__ import annotations

import functools
import importlib.metadata
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.evidence import LONGEST, functions
from benchmarks.evidence.emitted import emitted
from benchmarks.evidence.functions import Subject
from benchmarks.evidence.store import recalled, remember
from transkern.errors import TranskernError
from transkern.fuse.checks.guards import OTHER_SIZES
from transkern.targets.chips import TPUS
from transkern.targets.naming import PYTHON, function_name
from transkern.targets.pallas.module import around
from transkern.targets.pallas.module import measure as measuring
from transkern.targets.pallas.module.measure import Case, Made, from_json, measure

_NARROW = {"float64": "float32", "int64": "int32", "uint64": "uint32", "complex128": "complex64"}
_PLAIN = """import sys
sys.path[:0] = {path!r}
from benchmarks.evidence.functions import in_jax
f = in_jax({name!r})
# {version}
"""


def shapes(values: Sequence[Any]) -> list[Any]:
    """The arguments as a TPU sees them, of 32 bits; numbers are known when JAX traces."""
    found: list[Any] = []
    for v in values:
        if isinstance(v, np.ndarray):
            found.append((v.shape, _NARROW.get(v.dtype.name, v.dtype.name)))
        else:
            found.append(v.item() if isinstance(v, np.generic) else v)
    return found


@functools.cache
def _module(subject: Subject, sizes: bool = False) -> tuple[Case | None, str]:
    """The emitted module and its arguments, or why there is none; where `sizes`, for these sizes alone."""
    try:
        made = emitted(subject.function, subject.arguments(), "pallas", sizes)
    except TranskernError as error:
        return None, str(error).splitlines()[0]
    name = function_name(subject.function.__name__, PYTHON)
    given = shapes(made.values)
    if not all(isinstance(x, (tuple, int, float)) for x in given):
        return None, "an argument that is neither an array nor a number"
    if "_out.get('asked_" in made.module:
        return _of_sizes(made.module, name, made.values), ""
    return Case(made.module, name, given), ""


def _of_sizes(text: str, name: str, values: Sequence[Any]) -> Case:
    """A module whose jitted function asks the data for sizes, with those that it gets: it has to run for them."""
    space: dict[str, Any] = {"__name__": "emitted"}
    exec(compile(text, name, "exec"), space)
    inner, calls = space[f"_{name}"], list[tuple[Any, ...]]()

    def called(*args: Any) -> Any:
        calls.append(args)
        return inner(*args)

    space[f"_{name}"] = called
    narrow = [v.astype(_NARROW.get(v.dtype.name, v.dtype)) if isinstance(v, np.ndarray) else v for v in values]
    space[name](*narrow)
    arrays = [x for x in calls[-1] if not isinstance(x, int)]
    sizes = calls[-1][len(arrays) :]
    end = f"\n\ndef of_sizes(*arrays):\n    return _{name}(*arrays, *{sizes!r})\n"
    return Case(text + end, "of_sizes", [(np.shape(x), x.dtype.name) for x in arrays])


def _plain(subject: Subject) -> Case | None:
    if subject.jax is None and not subject.plain:
        return None
    path = [str(functions.FOLDER.parent), str(functions.FOLDER), str(functions.FOLDER.parent / "examples")]
    version = Path(functions.__file__).read_text() + Path(functions.e.__file__).read_text()
    text = _PLAIN.format(path=path, name=subject.name, version=hash_of(version))
    return Case(text, "f", shapes(subject.arguments()))


def hash_of(text: str) -> str:
    import hashlib

    return hashlib.sha256(text.encode()).hexdigest()[:16]


def rows(subjects: Sequence[Subject], chip: str, limit: float) -> Iterator[dict[str, Any]]:
    """What is known of each function on a generation; what is not is missing."""
    cases: dict[str, Case] = {}
    refused: dict[str, str] = {}
    for subject in subjects:
        case, refused[subject.name] = _module(subject)
        if case is not None:
            cases[f"{subject.name}\0kernels"] = case
        if chip == LONGEST and case is not None and (plain := _plain(subject)) is not None:
            cases[f"{subject.name}\0plain"] = plain
    found: dict[str, Made] = {}
    waiting = dict(cases)
    for key, case in cases.items():
        known = recalled(_parts(case, chip))
        if known is None and chip != LONGEST and (first := recalled(_parts(case, LONGEST))) is not None:
            if first["failed"].startswith("no answer"):  # one time is enough
                known = Made(failed=f"not tried: for {LONGEST} {first['failed']}").as_json()
        if known is not None:
            found[key] = from_json(known)
            del waiting[key]
    answers = measure(waiting, TPUS[chip], limit)
    for subject in subjects:
        for key in (f"{subject.name}\0kernels", f"{subject.name}\0plain"):
            while key in waiting and key not in found:
                name, made = next(answers)
                found[name] = made
                remember(_parts(cases[name], chip), made.as_json())
        kernels, plain = (found.get(f"{subject.name}\0{form}") for form in ("kernels", "plain"))
        if kernels is not None and OTHER_SIZES in kernels.failed:
            kernels = _sized(subject, chip, limit)
        case, _ = _module(subject)
        yield row(subject, chip, kernels, plain, refused[subject.name], "" if case is None else case.text)


def _sized(subject: Subject, chip: str, limit: float) -> Made | None:
    """The outcome of code for the sizes of the arguments."""
    case, _ = _module(subject, sizes=True)
    if case is None:
        return None
    if (known := recalled(_parts(case, chip))) is not None:
        return from_json(known)
    ((_, made),) = measure({"sized": case}, TPUS[chip], limit)
    remember(_parts(case, chip), made.as_json())
    return made


def _parts(case: Case, chip: str) -> tuple[str, ...]:
    versions = (importlib.metadata.version("jax"), importlib.metadata.version("libtpu"))
    reader = [Path(module.__file__).read_text() for module in (measuring, around)]
    return ("tpu", case.text, case.name, repr(case.shapes), chip, *reader, *versions)


def reasons(text: str) -> list[str]:
    """Why an emitted module leaves something to XLA: what its comments say."""
    found = re.findall(r"# \w+: left to XLA \((.*)\)$", text, re.MULTILINE)
    return list(dict.fromkeys(reason for reason in found if reason != "it only moves data"))


def row(
    subject: Subject, chip: str, made: Made | None, plain: Made | None, refused: str, text: str = ""
) -> dict[str, Any]:
    """What the page has of a function: its outcome, and that of plain JAX."""
    found: dict[str, Any] = {"function": subject.name, "arch": chip}
    if made is None or made.failed:
        return found | {"failed": refused if made is None else made.failed}
    pallas = [k for k in made.kernels if k.pallas]
    hot = max(pallas, key=lambda k: max((x.bundles for x in k.loops), default=k.bundles), default=None)
    found |= {
        "kernels": made.calls, "outside": made.outside, "wholly": made.wholly, "steps": made.steps,
        "reasons": reasons(text), "vmem": made.vmem,
        "arguments": made.arguments, "results": made.results - made.aliased, "temporaries": made.temporaries,
        "bundles": None if hot is None else max((x.bundles for x in hot.loops), default=hot.bundles),
        "bundles in kernels": sum(k.bundles for k in pallas),
        "bundles outside": sum(k.bundles for k in made.kernels if not k.pallas),
        "seconds": round(made.seconds, 2),
    }  # fmt: skip
    if plain is not None and not plain.failed:
        found["plain"] = {
            "arguments": plain.arguments, "results": plain.results - plain.aliased, "temporaries": plain.temporaries,
        }
    return found
