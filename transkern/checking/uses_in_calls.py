"""What calls say of the names that are passed."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from transkern.checking import results
from transkern.checking.axes import COUNT, NUMBER, UNKNOWN, Axes, Use, together
from transkern.checking.documented import Told, documented
from transkern.checking.uses_in_operators import (
    texts_of,
)
from transkern.checking.uses_in_statements import element
from transkern.frontend.sources.identity import resolved

if TYPE_CHECKING:
    from transkern.checking.uses import Called, Looking


OF_ARRAYS = frozenset(dir(np.ndarray)) - frozenset(dir(object)) - {"real", "imag", "conjugate"}
OF_NUMBERS = frozenset({*dir(float), *dir(complex)})
_OF_ELEMENTS = frozenset(["astype", "clip", "conj", "copy", "dtype", "item", "round", "tolist", "view"])
_OF_GENERATORS = frozenset(dir(np.random.Generator)) | frozenset(dir(np.random.RandomState))


def passed_on(look: Looking, function: Called, args: Sequence[Axes], keywords: dict[str, Axes]) -> Axes:
    """What a function of the module does with its parameters is done with what is passed on to it."""
    theirs = look.looked_at(function)
    if theirs is None:
        return UNKNOWN
    places = [a.arg for a in [*function.args.posonlyargs, *function.args.args]]
    given = dict(zip(places, args, strict=False)) | keywords
    for name, found in given.items():
        if (their := theirs.uses.get(name)) is not None:
            used_as(look, found, their)
    if theirs.returned is None:
        return UNKNOWN
    made = theirs.returned
    if any(name not in given for name, _ in made.of):
        return UNKNOWN
    parts = [replace(given[name].alone().without(below)) for name, below in made.of]
    return together([Axes(least=made.least, known=made.known), *parts]).alone()


def used_as(look: Looking, found: Axes, their: Use) -> None:
    """An expression is passed on for a parameter that is used so."""
    if their.low:
        look.at_least(found, their.low)
        look.whole_array(found)
    if their.most is not None:
        look.at_most(found, their.most)
    if their.count:
        look.count(found)
    if not found.parameter:
        return
    use = look.uses[found.parameter]
    use.whole, use.real, use.truth = use.whole or their.whole, use.real or their.real, use.truth or their.truth
    use.entry, use.mask, use.bits = use.entry or their.entry, use.mask or their.mask, use.bits or their.bits
    use.complex, use.index = use.complex or their.complex, use.index or their.index
    use.text = their.text if use.text is None else use.text
    use.other, use.dtype = use.other or their.other, use.dtype or their.dtype
    use.length, use.items = max(use.length, their.length), max(use.items, their.items)
    use.beyond |= their.beyond
    use.attributes |= their.attributes
    for axis, size in their.sizes.items():
        use.sizes.setdefault(axis, size)


def builtin_called(look: Looking, name: str, nodes: Sequence[ast.expr], args: Sequence[Axes]) -> Axes:
    """A call of one of Python's own functions."""
    first = args[0] if args else UNKNOWN
    match name:
        case "len":
            look.at_least(first, 1)
            look.whole_array(first)
            return COUNT
        case "float" | "complex" | "int" | "round" | "bool":
            look.at_most(first, 0)
            if name == "float":
                look.real(first)
            return COUNT if name in ("int", "round") else NUMBER
        case "abs":
            return first
        case "min" | "max" if len(args) > 1:
            for one in args:
                look.at_most(one, 0)
            return together(args)
        case "min" | "max" | "sum":
            look.whole_array(first)
            return element(look, first)
        case "sorted" | "list" | "tuple" | "reversed":
            look.whole_array(first)
            look.at_least(first, 1)
            return first if name == "tuple" else replace(first, items=None)
        case "ord" | "open":
            texts_of(look, first)
            return COUNT if name == "ord" else UNKNOWN
        case "range" | "chr" | "bin" | "hex":
            for one in args:
                look.count(one)
            return Axes(least=1, integer=True)
        case "any" | "all":
            element(look, first)
            return NUMBER
        case "enumerate" | "zip":
            for one in args:
                look.at_least(one, 1)
                look.whole_array(one)
        case "print" | "isinstance" | "str" | "repr" | "type" | "id" | "hash":
            pass
        case _:
            for one in args:
                look.whole_array(one)
    return UNKNOWN


def method_called(
    look: Looking, func: ast.Attribute, nodes: Sequence[ast.expr], args: Sequence[Axes], keywords: dict[str, Axes],
    given: dict[str, ast.expr],
) -> Axes:  # fmt: skip
    """A call of a method: what NumPy's function of its name does."""
    owner, attr = look.value(func.value), func.attr
    if owner.parameter:
        look.uses[owner.parameter].attributes.add(attr)
    if owner.made:
        return library_called(look, f"{owner.made}.{attr}", nodes, args, keywords, given)
    if owner.parameter and attr in _OF_GENERATORS and attr not in OF_ARRAYS and attr not in OF_NUMBERS:
        kind = "Generator" if attr in dir(np.random.Generator) else "RandomState"
        return library_called(look, f"numpy.random.{kind}.{attr}", nodes, args, keywords, given)
    if attr not in OF_ARRAYS and attr != "conjugate":
        return UNKNOWN
    asked(look, owner, attr)
    look.whole_array(owner)
    if attr in ("astype", "view"):
        types_of(look, [*args, *keywords.values()][:1])
        return owner.alone()
    if attr == "reshape" and len(args) > 1:
        for one in args:
            look.count(one)
        known = not any(isinstance(n, ast.Starred) for n in nodes)
        return Axes(least=len(args), known=known, whole=owner.whole, mask=owner.mask)
    return library_called(look, f"numpy.{attr}", [func.value, *nodes], [owner, *args], keywords, given)


def library_called(
    look: Looking, path: str, nodes: Sequence[ast.expr], args: Sequence[Axes], keywords: dict[str, Axes],
    given: dict[str, ast.expr],
) -> Axes:  # fmt: skip
    """A call of a function of NumPy's, or of Python's."""
    if path.startswith("math."):
        for one in args:
            look.at_most(one, 0)
            if path.endswith((".comb", ".perm", ".gcd", ".lcm", ".factorial", ".isqrt")):
                look.count(one)
            else:
                look.real(one)
        return COUNT if path.endswith((".comb", ".floor", ".ceil", ".gcd")) else NUMBER
    function = resolved(path)
    if isinstance(function, np.ufunc):
        return ufunc(look, path, function, args)
    if path.endswith(".at") and len(args) > 1:  # of a ufunc
        for index in args[1].items or args[1:2]:
            look.count(index)
            look.at_least(index, 1)
        return UNKNOWN
    known = documented(path)
    named = dict(zip(known.places, args, strict=False)) | keywords
    expressions = dict(zip(known.places, nodes, strict=False)) | given
    for place, (name, one) in enumerate(named.items()):
        if name == "dtype":
            types_of(look, [one])
        documented_as(look, known.told.get(name, ()), one, not place and results.of_arrays(path))
    over_axes = "axis" in known.told
    look.makes_arrays = look.makes_arrays or results.makes_arrays(path, named)
    return results.made(look, path, [*zip(nodes, args, strict=True)], named, expressions, over_axes)


def documented_as(look: Looking, told: Sequence[Told], found: Axes, first: bool) -> None:
    """What NumPy's documentation says of a parameter is so of what is passed for it."""
    kinds = {one.kind for one in told}
    arrays = [one for one in told if one.kind == "array"]
    if found.parameter and "array" in kinds:
        look.uses[found.parameter].entry = True
    if "integer" in kinds:
        if "tuple" in kinds and found.parameter:
            look.shape_of(found)
        if kinds & {"number", "array", "text"}:
            look.maybe_count(found)
        elif "number" not in kinds:
            look.count(found)
    elif arrays:
        look.whole_array(found)
        least = min(len(one.sizes) for one in arrays)
        look.at_least(found, max(least, first and 1))
        if len(arrays) == len(told) == 1 and least and not arrays[0].more:
            look.at_most(found, least)
        if all(one.dtype == "int64" for one in arrays):
            look.count(found)
    elif kinds == {"number"}:
        look.at_most(found, 0)
    elif kinds == {"dtype"}:
        types_of(look, [found])
    elif kinds == {"truth"} and found.parameter:
        look.uses[found.parameter].truth = True
    for one in told:
        if one.text is not None and found.parameter and look.uses[found.parameter].text is None:
            look.uses[found.parameter].text = one.text


def ufunc(look: Looking, path: str, function: np.ufunc, args: Sequence[Axes]) -> Axes:
    inputs = args[: function.nin]
    real = not any(types.startswith(("l", "q")) for types in function.types)
    for one in inputs:
        look.whole_array(one)
        if one.parameter:
            look.uses[one.parameter].entry = True
        if real:
            look.real(one)
    if path.endswith(("conj", "conjugate")):
        look.complex(together(inputs))
    if len(inputs) == 2:
        look.paired(inputs[0], inputs[1])
    if function.nout > 1:
        return Axes(items=(together(inputs).alone(),) * function.nout)
    both = together(inputs)
    mask = all(types.endswith("?") for types in function.types)
    return replace(both, mask=mask, whole=() if real or mask else both.whole)


def types_of(look: Looking, given: Sequence[Axes]) -> None:
    """What a call takes for a dtype."""
    for found in given:
        if found.parameter:
            look.uses[found.parameter].dtype = True


def asked(look: Looking, owner: Axes, attr: str) -> None:
    """An expression has an attribute of arrays; elements have some of these as well."""
    if attr == "T":
        look.at_least(owner, 2)
    elif attr in OF_ARRAYS and not (attr in _OF_ELEMENTS and any(below > 0 for _, below in owner.of)):
        look.at_least(owner, 1)
