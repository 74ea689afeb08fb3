"""CUDA text to C++ text: what macros cannot do.

    __shared__ float tile[32];          ->  auto& tile = ::transkern_sim::shared<float [32], 1>([] {});
    extern __shared__ float scratch[];  ->  float* const scratch = (float*)::transkern_sim::dynamic_shared();
    #include <cuda_runtime.h>           ->  (nothing: runtime.h has it)

A shared variable is thus memory of the block that runs, wherever it is declared inside a function. Lines keep their
numbers. After the text comes the table of its kernels, from which the launcher takes names and parameter types.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_COMMENT_OR_STRING = re.compile(r"//[^\n]*|/\*.*?\*/|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'", re.DOTALL)
_HEADERS = re.compile(
    r"^[ \t]*#[ \t]*include[ \t]*[<\"]"
    r"(?:cuda\w*|cooperative_groups|math_constants|device_launch_parameters|cassert|assert)"
    r"(?:\.h)?[>\"]",
    re.MULTILINE,
)
_ALIGN = r"(?:__align__|alignas)\s*\(([^()]*(?:\([^()]*\)[^()]*)*)\)"
_SHARED = re.compile(rf"((?:\b(?:extern|static|volatile)\s+|{_ALIGN}\s*)*)\b__shared__\b([^;]*);")
_DECLARATOR = re.compile(r"^(.*?)\s*([*\s]*)\b([A-Za-z_]\w*)\s*((?:\[[^\]]*\]\s*)*)$", re.DOTALL)
_WAITS = re.compile(
    r"\b(?:__sync\w+|__shfl\w+|__ballot_sync|__any_sync|__all_sync|__activemask|__reduce_\w+_sync|__nanosleep"
    r"|cooperative_groups)\b"
)
_ATTRIBUTE = re.compile(r"__launch_bounds__|__cluster_dims__|__maxnreg__")


class SourceError(ValueError):
    """The text is not in the subset that the simulator reads."""


@dataclass(frozen=True, slots=True)
class Declaration:
    """A kernel's name and its parameters' names, as the text has them."""

    name: str
    parameters: tuple[str, ...]


def translate(text: str) -> str:
    """The C++ translation unit for `text`, with the table `transkern_kernels` at its end.

    Raises:
        SourceError: there is no kernel, or a `__shared__` declaration is not understood.
    """
    kernels = find_kernels(text)
    if not kernels:
        raise SourceError("the text has no __global__ function")
    independent = "false" if waits(text) else "true"
    rows = [
        f'    ::transkern_sim::Launcher<{kernel.name}>::kernel("{kernel.name}", {independent}),' for kernel in kernels
    ]
    return "\n".join(
        [
            '#include "runtime.h"',
            # A kernel may have a name of the C library's: index, gamma, remove.
            *(f"#define {kernel.name} transkern_kernel_{kernel.name}" for kernel in kernels),
            '#line 1 "kernel.cu"',
            lower_shared(_HEADERS.sub("", text)),
            '#line 1 "table of kernels"',
            'extern "C" __attribute__((visibility("default"))) const ::transkern_sim::Kernel transkern_kernels[] = {',
            *rows,
            "    {},",
            "};",
            "",
        ]
    )


def find_kernels(text: str) -> tuple[Declaration, ...]:
    """The `__global__` functions of `text`, templates left out, each once."""
    blank = _blank(text)
    found: dict[str, Declaration] = {}
    for match in re.finditer(r"\b__global__\b", blank):
        start = max(blank.rfind(mark, 0, match.start()) for mark in ";}{")
        if re.search(r"\btemplate\b", blank[start + 1 : match.start()]):
            continue
        position = match.end()
        while call := re.compile(r"[^;{}()]*?\b(\w+)\s*\(").match(blank, position):
            end = _closing(blank, call.end() - 1)
            if not _ATTRIBUTE.fullmatch(call[1]):
                inner = blank[call.end() : end]
                names = tuple(_last_word(part) for part in _split(inner)) if inner.strip() not in ("", "void") else ()
                found[call[1]] = Declaration(call[1], names)
                break
            position = end + 1
    return tuple(found.values())


def waits(text: str) -> bool:
    """Whether a thread of some kernel in `text` may have to wait for another one.

    Where none does, a block's threads can run one after the other as plain calls.
    """
    return _WAITS.search(_blank(text)) is not None


def lower_shared(text: str) -> str:
    """`text` with its `__shared__` declarations written as references to the block's memory."""
    blank = _blank(text)
    parts: list[str] = []
    done = 0
    for match in _SHARED.finditer(blank):
        line = text.count("\n", 0, match.start()) + 1
        if _is_outside_functions(blank, match.start()):
            raise SourceError(f"kernel.cu:{line}: a __shared__ variable outside functions; declare it in the kernel")
        parts += [text[done : match.start()], _declare(match[1], match[3], line), "\n" * match[0].count("\n")]
        done = match.end()
    return "".join([*parts, text[done:]])


def _declare(before: str, after: str, line: int) -> str:
    specifiers = before + after
    alignments = [match[1] for match in re.finditer(_ALIGN, specifiers)] or ["1"]
    volatile = "volatile " if re.search(r"\bvolatile\b", specifiers) else ""
    body = re.sub(rf"\b(?:extern|static|volatile)\b|{_ALIGN}", " ", after).strip()
    base = ""
    statements = []
    for part in _split(body):
        match = _DECLARATOR.match(f"{base} {part}".strip())
        if match is None or not match[1].strip():
            raise SourceError(f"kernel.cu:{line}: cannot read the __shared__ declaration `{body}`")
        base, pointer, name, dims = match[1].strip(), match[2].strip(), match[3], match[4].strip()
        element = f"{volatile}{base}{pointer}"
        if re.search(r"\bextern\b", specifiers):
            if not re.fullmatch(r"\[\s*\]", dims):
                raise SourceError(f"kernel.cu:{line}: an extern __shared__ variable is an array without a size")
            statements.append(f"{element}* const {name} = ({element}*)::transkern_sim::dynamic_shared();")
        else:
            statements.append(f"auto& {name} = ::transkern_sim::shared<{element} {dims}, ({alignments[0]})>([] {{}});")
    return " ".join(statements)


def _blank(text: str) -> str:
    """`text` with spaces for comments and strings: the same positions and lines."""
    return _COMMENT_OR_STRING.sub(lambda match: re.sub(r"[^\n]", " ", match[0]), text)


def _is_outside_functions(blank: str, position: int) -> bool:
    before = re.sub(r"\b(?:extern\s+|namespace\b[^;{}()]*)\{", lambda match: " " * len(match[0]), blank[:position])
    return before.count("{") <= before.count("}")


def _closing(text: str, opening: int) -> int:
    """The position of the parenthesis that closes the one at `opening`."""
    depth = 0
    for position in range(opening, len(text)):
        depth += {"(": 1, ")": -1}.get(text[position], 0)
        if depth == 0:
            return position
    raise SourceError(f"kernel.cu:{text.count(chr(10), 0, opening) + 1}: a parenthesis is not closed")


def _split(text: str) -> list[str]:
    """Splits at the commas that no bracket encloses."""
    parts = [""]
    depth = 0
    for character in text:
        depth += {"(": 1, "[": 1, "<": 1, "{": 1, ")": -1, "]": -1, ">": -1, "}": -1}.get(character, 0)
        if character == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += character
    return parts


def _last_word(parameter: str) -> str:
    words = re.findall(r"[A-Za-z_]\w*", re.sub(r"\[[^\]]*\]", "", parameter))
    return words[-1] if words else ""
