"""Sets of texts have another order in each process: what shows it is refused, and all else is compiled."""

from __future__ import annotations

import pytest

from tests.trust.against_python import difference, refused
from transkern.errors import CompileError
from transkern.frontend.sources.texts import TextScope

TEXTS = '{"alpha", "beta", "gamma", "delta"}'
SHOWN = (
    f"out = []\nfor c in {TEXTS}:\n    out.append(len(c))\nout", f"list({TEXTS})", f"tuple({TEXTS})", f"[*{TEXTS}]",
    f"''.join({TEXTS})", f"[c for c in {TEXTS}]", f"a, b, c, d = {TEXTS}\na", f"next(iter({TEXTS}))",
    f"s = {TEXTS}\ns.pop()", f"dict.fromkeys({TEXTS}, 1)", f"{{c: 1 for c in {TEXTS}}}", f"list(enumerate({TEXTS}))",
    f"list(zip({TEXTS}, {TEXTS}))", f"sorted({TEXTS}, key=len)", f"max({TEXTS}, key=len)", f"list(map(len, {TEXTS}))",
    f"list({TEXTS} | {{'e'}})", "list({('a', 1), ('b', 2)})", "list({1, 'a'})", "list(set(['a', 'b']))",
    f"sum(len(c) / 3 for c in {TEXTS})", f"list(frozenset({TEXTS}))", "sorted({1, 'a'})", f"str({TEXTS})",
    f"t = 0\nfor c in {TEXTS}:\n    t = t * 2 + len(c)\nt",
)  # fmt: skip


@pytest.mark.parametrize("text", SHOWN)
def test_what_shows_the_order_is_refused(text: str) -> None:
    assert refused(text)


ALIKE = (
    f"'beta' in {TEXTS}", f"len({TEXTS})", f"sorted({TEXTS})", f"sorted({TEXTS}, reverse=True)",
    f"any({TEXTS})", f"all({TEXTS})", f"sum(len(c) for c in {TEXTS})", f"len({TEXTS} | {{'e'}})",
    f"sorted({TEXTS} & {{'beta', 'e'}})", f"any(c in 'my beta' for c in {TEXTS})", f"all(c < 'x' for c in {TEXTS})",
    f"sorted({{c.upper() for c in {TEXTS}}})", f"sorted(set({TEXTS}))", f"sum(1 for c in {TEXTS} if 'a' in c)",
    f"min(len(c) for c in {TEXTS})", f"{TEXTS} == {TEXTS}", "list({'a'})", "list({3, 1, 2})", "list({(1, 2), (3, 4)})",
    f"any([c == 'beta' for c in {TEXTS}])",
)  # fmt: skip


@pytest.mark.parametrize("text", ALIKE)
def test_what_does_not_show_it_is_compiled(text: str) -> None:
    assert not difference(text) and not refused(text)


def test_sets_from_outside() -> None:
    names = {"alpha", "beta", "gamma"}

    def shown() -> list[str]:
        return [c for c in names]  # noqa: C416

    def held(x: int) -> int:
        return x + len(names) if "beta" in names else 0

    import transkern

    with pytest.raises(CompileError, match="the order of a set of texts"):
        transkern.compile(shown)()
    assert transkern.compile(held)(4) == 7


@pytest.mark.parametrize("value", ["list(S)", "tuple(S)", "str(S)", "dict.fromkeys(S)", "[c for c in S]"])
def test_constants_of_modules(value: str) -> None:
    scope = TextScope(f'S = {{"a", "b", "c"}}\nW = {value}\ndef f(): return W\n', "m.py")
    assert scope.refusal("W") is not None and scope.lookup("W") is None
