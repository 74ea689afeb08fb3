"""Functions of any length, each of statements of one kind: what compiling them takes should grow as they do."""

from __future__ import annotations

from collections.abc import Callable


def array_statements(count: int) -> str:
    """Arrays, each made of the one before and an argument."""
    lines = ["def f(x: 'float64[n]', y: 'float64[n]'):"]
    for k in range(count):
        before = f"t{k - 1}" if k else "y"
        lines.append(f"    t{k} = {before} * {k % 7}.5 + np.abs({'xy'[k % 2]})")
    return _ended(lines, f"t{count - 1}")


def stores(count: int) -> str:
    """Stores into parts of arrays."""
    lines = ["def f(x: 'float64[n]', y: 'float64[n]'):", "    out = np.zeros_like(x)"]
    for k in range(count):
        lines.append(f"    out[{k % 9}:] += x[{k % 9}:] * {k}.5" if k % 3 else f"    y += out * {k}.25")
    return _ended(lines, "out")


def scalar_statements(count: int) -> str:
    lines = ["def f(a: float, b: float):"]
    for k in range(count):
        lines.append(f"    s{k} = {f's{k - 1}' if k else 'b'} * 0.5 + a * {k}.25")
    return _ended(lines, f"s{count - 1}")


def names_bound_again(count: int) -> str:
    lines = ["def f(a: float, b: float):"]
    for k in range(count):
        lines.append(f"    b = b + a * {k}.5" if k % 2 else f"    a = a * 0.5 + b * {k}.25")
    return _ended(lines, "a + b")


def elements(count: int) -> str:
    """Stores of single elements."""
    lines = [f"def f(x: 'float64[{count}]'):", f"    out = np.empty({count})"]
    for k in range(count):
        lines.append(f"    out[{k}] = x[{k * 7 % count}] * {k}.5 + x[{k}]")
    return _ended(lines, "out")


def in_a_loop(count: int) -> str:
    lines = ["def f(x: 'float64[n]', y: 'float64[n]'):", "    s = 0.0", "    for i in range(x.shape[0]):"]
    for k in range(count):
        lines.append("        " + (f"s = s + x[i] * {k}.5", "t = s * y[i]", f"y[i] = t + {k}.25")[k % 3])
    return _ended(lines, "s")


def branches(count: int) -> str:
    lines = ["def f(x: 'float64[n]', a: float):", "    s = 0.0"]
    for k in range(count // 3):
        lines += [f"    if a > {k}.0:", f"        s = s + a * {k}.5", "        a = a * 0.5"]
    return _ended(lines, "x * s + a")


def branches_in_a_loop(count: int) -> str:
    lines = ["def f(x: 'float64[n]', a: float):", "    s = 0.0", "    for i in range(x.shape[0]):"]
    for k in range(count // 3):
        lines += [f"        if x[i] > a + {k}.0:", f"            s = s + x[i] * {k}.5", "            a = a * 0.5"]
    return _ended(lines, "s + a")


def many_loops(count: int) -> str:
    """Short loops, which depend on each other."""
    lines = ["def f(x: 'float64[n]', y: 'float64[n]'):", "    n = x.shape[0]"]
    for k in range(count // 3):
        lines.append(f"    for i in range({k % 5}, n - {k % 4}):")
        lines += [f"        y[i] = y[i] * 0.5 + x[i] * {k}.0", f"        x[i] = y[i] - {k}.5"]
    return _ended(lines, "x")


def long_expressions(count: int) -> str:
    """Sums of twenty terms: `count` terms in all."""
    lines = ["def f(x: 'float64[n]', a: float):"]
    names = [f"y{k}" for k in range(count // 20)]
    for k, name in enumerate(names):
        lines.append(f"    {name} = " + " + ".join(f"x * {j}.5 / (a + {j + k}.0)" for j in range(20)))
    return _ended(lines, " + ".join(names))


def _ended(lines: list[str], result: str) -> str:
    return "\n".join(["import numpy as np", "", "", *lines, f"    return {result}", ""])


KINDS: tuple[Callable[[int], str], ...] = (
    array_statements, stores, scalar_statements, names_bound_again, elements, in_a_loop, branches, branches_in_a_loop,
    many_loops, long_expressions,
)  # fmt: skip
