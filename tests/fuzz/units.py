"""C modules as one translation unit: the headers are read once, and the compiler starts once."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

_STATIC = re.compile(r"^static\b[^(={;\[\n]*?(\w+) *(?=[(\[=;,])", re.M)
_FURTHER = re.compile(r", \*?(\w+)(?=[,;])")  # of a declaration of several


def united(texts: Sequence[str]) -> str:
    """What is static in a module gets a name of its own; declarations that modules have in common stand once."""
    seen: set[str] = set()
    parts = []
    for k, text in enumerate(texts):
        chunks = [c for c in _chunks(text) if any(_static_names(c)) or c not in seen]
        seen.update(chunks)
        names = list(dict.fromkeys(x for c in chunks for x in _static_names(c)))
        parts += [f"#define {x} {x}_of_{k}" for x in names] + chunks + [f"#undef {x}" for x in names]
    return "\n".join(parts) + "\n"


def _static_names(chunk: str) -> Iterator[str]:
    if chunk.startswith("#if"):  # the same in all modules
        return
    for line in chunk.splitlines():
        if line.startswith("static struct"):
            yield from re.findall(r"^static struct \{.*?\} (\w+)", line)
        elif found := _STATIC.match(line):
            yield found[1]
            if line[found.end()] == ",":
                yield from _FURTHER.findall(line[found.end() :])
        yield from re.findall(r"^#pragma omp declare reduction\((\w+):", line)


def _chunks(text: str) -> Iterator[str]:
    """The functions, declarations and directives at file scope, without the remarks between them."""
    held: list[str] = []
    braces = conditions = 0
    for line in text.splitlines():
        if not held and (not line or line.startswith("//")):
            continue
        held.append(line)
        code = re.sub(r'"(\\.|[^"\\])*"|\'(\\.|[^\'\\])\'', "", line).split("//")[0]
        braces += code.count("{") - code.count("}")
        conditions += code.startswith("#if") - code.startswith("#endif")
        goes_on = code.endswith("\\") or (code.startswith("#") and not code.startswith(("#include", "#endif")))
        if not braces and not conditions and not goes_on and code.rstrip().endswith((";", "}", ">", "#endif")):
            yield "\n".join(held)
            held = []
    if held:
        yield "\n".join(held)
