"""A program as the text of a Python module: kernels, a jitted function, and the user's function around it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace

from transkern import refusals
from transkern.errors import CompileError
from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.complexes import is_complex, parts_of_scalar
from transkern.ir.containers import container_text, number_class
from transkern.ir.expr import Apply, Const, Expr, Load, Var
from transkern.ir.traverse import exprs, own_exprs, variables_read, walk
from transkern.parsing import parse, parse_expression
from transkern.targets.comments import known_text
from transkern.targets.naming import PYTHON, function_name, with_names
from transkern.targets.pallas.forms.failures import placed, raising
from transkern.targets.pallas.forms.values import Module, is_outside, numbers_of, scalar_params
from transkern.targets.pallas.module.host import Host, sizes_used
from transkern.targets.pallas.module.starts import join_starts
from transkern.targets.pallas.passes.jumps import structure_jumps
from transkern.targets.pallas.passes.narrow import narrow_program, needs_64_bits
from transkern.targets.pallas.passes.padding import fill_padding
from transkern.targets.pallas.passes.skips import search_next
from transkern.targets.pallas.passes.static import enlarged
from transkern.targets.pallas.passes.widths import checked_integers, integers_stay_below
from transkern.targets.pallas.passes.windows import mask_windows
from transkern.targets.pallas.printing import prelude, spelling
from transkern.targets.pallas.printing.quote import assign, call, constant, function, name, quote, sequence, size, text
from transkern.targets.places import Places
from transkern.targets.signature import constants, parameters
from transkern.targets.told import check_told

_LONGEST = 400_000
"""Nodes of a module's syntax tree, as it is printed."""


def emit(program: n.Program, narrow: bool = False, places: Places | None = None) -> str:
    """The text of a module that defines ``program.name`` as a JAX function and needs nothing of transkern.

    With `narrow`, float64 and int64 data become float32 and int32, as a TPU computes. Without it a function that needs
    64 bits refuses to run on a TPU. With `places`, errors go through a function `_at` of the module's, with the number
    of their place. Raises CompileError where neither Pallas nor XLA can express the function.
    """
    check_told(program, "JAX", prints=False)
    program = replace(with_names(program, PYTHON), name=function_name(program.name, PYTHON))
    if narrow:
        program = narrow_program(program)
    program = structure_jumps(enlarged(program, sure=False))  # while loops that are left are `for` loops
    program, static, asked = mask_windows(fill_padding(search_next(program)))
    program = join_starts(program)
    wide, below = needs_64_bits(program), integers_stay_below(program)
    wide = wide or (not narrow and (below is None or any(_beyond(program, 32))))
    if wide and not program.checked and not narrow:
        raise CompileError(
            refusals.PALLAS,
            f"cannot compile `{program.name}` for JAX: Python's integers need 64 bits in its finished kernels only",
            "convert them with np.int64, which wraps",
        )
    if not wide:
        program = replace(program, body=checked_integers(program.body))
    module = Module.of(program, wide)
    module.places = places
    module.has_room = any(n.ROOM in variables_read(e) for e in _sizes_and_values(program))
    module.static, module.asked, module.below = static, asked, [] if wide else below or []
    _check_width(module, program)
    host = Host(module)
    body = _jitted(host)
    wrapper = _wrapper(host)
    doc = f'"""`{program.name}` for JAX: Pallas kernels and the function around them. Made by transkern."""'
    helpers = [prelude.HELPERS[h].strip() for h in prelude.needed(module.helpers)]
    sizes: dict[int, int] = {}
    if sum(size(s, sizes) for s in (*body, *wrapper)) > _LONGEST:
        problem = "the JAX code would be too long: what one statement computes stands in the next ones again and again"
        raise module.error(problem, program.body[0].span)
    made = [text([s]).strip() for s in (*body, *wrapper)]
    return doc + "\n" + "\n\n\n".join([prelude.IMPORTS.strip(), *helpers, *made]) + "\n"


def _sizes_and_values(program: n.Program) -> Iterator[Expr]:
    yield from exprs(program.body)
    for buffer in program.buffers.values():
        yield from buffer.dims


def _check_width(module: Module, program: n.Program) -> None:
    """A function that works with larger integers than kernels compute with would get other numbers."""
    bits = 64 if module.wide else 32
    for value, s in _beyond(program, bits):
        raise module.error(f"kernels compute Python's integers with {bits} bits, and {value} has more", s.span)


def _beyond(program: n.Program, bits: int) -> Iterator[tuple[int, n.Stmt]]:
    """The constants that need more bits, with their statements; conditions on sizes and scalar arguments alone are
    asked in Python, whose integers have as many as they need."""
    asked = scalar_params(program)

    def needing(e: Expr) -> Iterator[int]:
        if e.dtype == "bool" and isinstance(e, Apply) and is_outside(e, asked):
            return
        value = b.constant(e)
        if value is not None and not -(1 << bits - 1) <= value < 1 << bits - 1:
            yield value
        for part in e.args if isinstance(e, Apply) else e.index if isinstance(e, Load) else ():
            yield from needing(part)

    for s in walk(program.body):
        for own in own_exprs(s):
            yield from ((value, s) for value in needing(own))


def _jitted(host: Host) -> list[ast.stmt]:
    """The function that JAX traces: arrays and numbers in, a dict of results out."""
    program, module = host.program, host.module
    inner = module.fresh(f"_{program.name}")
    module.identifiers["jitted."] = inner
    used = sizes_used(program)
    arrays = [p for p in program.params if isinstance(p, n.ArrayParam)]
    known: set[str] = set()
    head: list[ast.stmt] = []
    for p in arrays:
        head += _sizes(module, p, module.identifier(p.name), used, known)
    for p in arrays:
        if is_complex(p.dtype):
            of = name(module.identifier(p.name))
            head.append(assign(module.identifier(p.name), quote("jnp.stack([jnp.real(_0), jnp.imag(_0)], -1)", of)))
    host.whole_body()
    if not host.out or not isinstance(host.out[-1], ast.Return):
        host.give_back(n.ConstantResult(None), n.Return(n.ConstantResult(None)))
    args = [module.identifier(p.name) for p in arrays] + list(module.hoisted.values()) + list(module.static)
    asked = [module.identifier(a) for a in module.asked]
    room = [module.identifier(n.ROOM)] if module.has_room else []
    args += room
    jit = quote("jax.jit")
    if module.static or room or asked:
        jit = quote("functools.partial(_0, static_argnames=_1)", jit, constant((*module.static, *room, *asked)))
    return [function(inner, args, [*head, *host.out], [jit], asked)]


def _sizes(module: Module, p: n.ArrayParam, array: str, used: set[str], known: set[str]) -> list[ast.stmt]:
    targets = []
    for d in p.dims:
        match d:
            case Var(of) if of in used and of not in known:
                known.add(of)
                targets.append(module.identifier(of))
            case _:
                targets.append("_")
    if all(t == "_" for t in targets):
        return []
    made: list[ast.expr] = [ast.Name(t, ast.Store()) for t in targets]
    return [ast.Assign([ast.Tuple(made, ast.Store())], quote("_0.shape", name(array)), lineno=0)]


def _wrapper(host: Host) -> list[ast.stmt]:
    """The user's function: checks arguments, computes numbers with NumPy, raises what went wrong, cuts results."""
    program, module = host.program, host.module
    out: list[ast.stmt] = [ast.Expr(ast.Constant(_docstring(host)))]
    scalars = [p.name for p in program.params if isinstance(p, n.ScalarParam)]
    known: set[str] = set()
    sizes: list[ast.stmt] = []
    needed = {v for e in (*module.hoisted, *(a for g in module.guards for a in g.args)) for v in variables_read(e)}
    results = [v for r in host.returns for v in numbers_of(r) if host.is_outside(v)]
    needed |= {v for e in results for v in variables_read(e)}
    early = [e for g in host.early for e in (g.condition, *g.args)]
    needed |= {v for e in (*early, *module.below) for v in variables_read(e)}
    for p in program.params:
        if isinstance(p, n.ScalarParam):
            kind = quote(p.python or f"np.{ {'index': 'int64', 'bool': 'bool_'}.get(p.dtype, p.dtype)}")
            out.append(ast.Expr(call(module.helper("_check_number"), [ast.Constant(p.name), name(p.name), kind])))
        if isinstance(p, n.ScalarParam) and is_complex(p.dtype):
            for part, read in zip(parts_of_scalar(p.name), ("real", "imag"), strict=True):
                out.append(assign(module.identifier(part), quote(f"_0.{read}", name(p.name))))
        if isinstance(p, n.ArrayParam):
            out.append(assign(p.name, _checked(module, p)))
            before = set(known)
            sizes += _sizes(module, p, p.name, needed | _equal_sizes(program), known)
            sizes += _size_checks(module, p, before)
    out += sizes
    if any(_uses_module(e) for e in (*module.hoisted, *results, *early)):
        out.append(assign("xp", call(module.helper("_module"), [name(s) for s in scalars])))
    out += [_raise_first(host, g) for g in host.early]
    if module.below:
        small = call(module.helper("_countable"), [_host_expr(module, e) for e in module.below])
        out.append(ast.Expr(small))
    numbers = [host_value(module, e) for e in module.hoisted]
    arguments: list[ast.expr] = [name(p.name) for p in program.params if isinstance(p, n.ArrayParam)]
    static = [quote("int(_0)", name(s)) for s in module.static]
    room = [module.identifier(n.ROOM)] if module.has_room else []
    given = arguments + numbers + static + [name(r) for r in room]
    out.append(assign("_out", call(module.identifiers["jitted."], given)))
    for asked in (module.identifier(a) for a in module.asked):
        told = quote(f"_out.get('asked_{asked}')")
        given = [*given, name(asked)]
        again = assign("_out", call(module.identifiers["jitted."], given))
        found = assign(asked, quote("_0 if _0 is None else int(_0)", told))
        out += [found, ast.If(quote("_0 is not None", name(asked)), [again], [])]
    if module.guards:
        out += _raise_errors(host)
    for position, result in enumerate(host.returns):
        taken = _Taking(host, f"result_{position + 1}")
        value = taken.value(result)
        if any(isinstance(p, n.ArrayParam) and p.written for p in program.params):
            value = sequence([value, quote("_out['written']")])
        give: list[ast.stmt] = [ast.Return(value)]
        if len(host.returns) > 1:
            number = position + 1
            chosen = f" and _out['case'] == {number}" if number in host.decided else ""
            give = [ast.If(quote(f"'result_{number}' in _out{chosen}"), give, [])]
        out += give
    if module.wide:
        out = [out[0], *_wide(program, out[1:])]
    params = [p.name for p in program.params]
    if not room:
        return [_as_the_users(program, out)]
    inner = module.fresh(f"_with_room_{program.name}")
    anew = ast.Return(call(module.helper("_begin_anew"), [name(inner), *map(name, params)]))
    return [function(inner, [*params, *room], out[1:]), _as_the_users(program, [out[0], anew])]


def _as_the_users(program: n.Program, body: list[ast.stmt]) -> ast.stmt:
    """The function with the user's parameters, which compares what is part of the code."""
    made = parse(f"def {program.name}({parameters(program)}): pass").body[0]
    assert isinstance(made, ast.FunctionDef)
    checks = [
        parse(
            f"if type({k}) is not type({v}) or repr({k}) != repr({v}):\n"
            f"    raise TypeError(f'{k} is {{{k}!r}}; {program.name} was compiled for ' + repr({v}))"
        ).body[0]
        for k, v in (constants(program).items() if program.signature else ())
    ]  # fmt: skip
    made.body = [body[0], *checks, *body[1:]]
    return made


def _wide(program: n.Program, body: list[ast.stmt]) -> list[ast.stmt]:
    message = (
        f"{program.name}: float64 and int64 data are not available on TPU: pass allow_float32=True to "
        "transkern.compile, or emit with --allow-float32"
    )
    refuse = ast.If(
        quote("jax.default_backend() == 'tpu'"), [ast.Raise(quote("TypeError(_0)", ast.Constant(message)), None)], []
    )
    return [refuse, ast.With([ast.withitem(quote("jax.enable_x64(True)"), None)], body)]


def _equal_sizes(program: n.Program) -> set[str]:
    """Sizes that several dims share."""
    seen: set[str] = set()
    twice: set[str] = set()
    for p in program.params:
        if isinstance(p, n.ArrayParam):
            for d in p.dims:
                for v in variables_read(d):
                    (twice if v in seen else seen).add(v)
    return twice


def _size_checks(module: Module, p: n.ArrayParam, known: set[str]) -> list[ast.stmt]:
    """Dims that the types fix, and sizes that must agree with those `known` from arguments before, or dims before."""
    checks = []
    for position, d in enumerate(p.dims):
        at = quote(f"_0.shape[{position}]", name(p.name))
        if isinstance(d, Const):
            checks.append(quote("_0 != _1", at, constant(d.value)))
        elif isinstance(d, Var) and d.name in known:
            checks.append(quote("_0 != _1", at, name(module.identifier(d.name))))
        elif isinstance(d, Var) and d.name in _equal_sizes(module.program):
            known.add(d.name)  # it is this one
    return [
        ast.If(
            c,
            [
                ast.Raise(
                    quote("ValueError(_0)", ast.Constant(f"{p.name}: not of the shape this module was made for")), None
                )
            ],
            [],
        )
        for c in checks
    ]


def _checked(module: Module, p: n.ArrayParam) -> ast.expr:
    if module.dtype(p.dtype) == "int32" and p.dtype == "int64":
        return call(module.helper("_index_array"), [ast.Constant(p.name), name(p.name), ast.Constant(len(p.dims))])
    return call(
        module.helper("_array"), [ast.Constant(p.name), name(p.name), ast.Constant(p.dtype), ast.Constant(len(p.dims))]
    )


def _uses_module(e: Expr) -> bool:
    return not (isinstance(e, Var) and e.dtype == "index")


def host_value(module: Module, e: Expr) -> ast.expr:
    """A number for the jitted function: its dtype is settled here, by NumPy."""
    kind = quote(f"np.{module.integer}")
    if isinstance(e, Var) and e.dtype == "index" and _only_compared(module.program, e.name):
        return call(module.helper("_limit"), [name(e.name), kind])
    node = _host_expr(module, e)
    if isinstance(e, Apply) and e.op == "cast" and e.dtype not in ("index",):
        return node
    if e.dtype == "index":
        return call(module.helper("_integer"), [node, kind])
    return quote(f"xp.{module.dtype(e.dtype)}(_0)", node)


def _only_compared(program: n.Program, of: str) -> bool:
    """Whether a number is only held against others: then its value beyond 32 bits does not matter."""
    total = sum(isinstance(e, Var) and e.name == of for e in exprs(program.body))
    compared = sum(
        isinstance(a, Var) and a.name == of
        for e in exprs(program.body)
        if isinstance(e, Apply)
        and e.op in ("less", "less_equal", "greater", "greater_equal")
        and e.args[0].dtype == "index"
        for a in e.args
    )
    return total == compared


def _host_expr(module: Module, e: Expr) -> ast.expr:
    match e:
        case Const(value, _):
            return constant(value)
        case Var(of):
            return name(module.identifier(of))
        case Apply("cast", (x,), dtype):
            inner = _host_expr(module, x)
            if x.dtype.startswith("float") and dtype.startswith(("int", "uint")):  # which wraps, and takes NaN
                return quote(f"xp.float64(_0).astype(xp.{dtype})", inner)
            if x.dtype == "index" and dtype.startswith(("int", "uint")) and dtype != "int64":
                return quote(f"xp.int64(_0).astype(xp.{dtype})", inner)
            if dtype == "index":
                return inner if x.dtype == "index" else call(module.helper("_int"), [inner])
            return quote(f"xp.{'bool_' if dtype == 'bool' else dtype}(_0)", inner)
        case Apply("floor_divide" | "remainder" as op, (x, y), dtype) if (
            dtype.startswith(("index", "int", "uint")) and not b.constant(y)
        ):
            both = [_host_expr(module, x), _host_expr(module, y)]
            return call(module.helper("_divided"), [*both, constant(op == "floor_divide")])
        case Apply(op, args, _):
            table = (
                spelling.STATIC if all(a.dtype == "index" for a in args) and op in spelling.STATIC else spelling.HOST
            )
            return quote(table[op], *(_host_expr(module, a) for a in args))
        case _:
            raise AssertionError(e)


def _raise_first(host: Host, g: n.Guard) -> ast.stmt:
    """Before the call: a check of shapes and scalar arguments; of scalars that JAX traces it tells nothing."""
    condition = _host_expr(host.module, g.condition)
    if variables_read(g.condition) & host.scalars:
        condition = call(host.module.helper("_may_hold"), [condition])
    failed = raising(g, [_told(a, _host_expr(host.module, a)) for a in g.args], host.module, g.changes)
    return ast.If(quote("not _0", condition), [failed], [])


def _raise_errors(host: Host) -> list[ast.stmt]:
    """After the call: the first guard that failed, unless JAX traces (then the results are what they are)."""
    cases: list[ast.stmt] = []
    for number, g in enumerate(host.module.guards, 1):
        args = []
        for k, a in enumerate(g.args):
            key = f"detail{number}_{k}"
            of_data = f"{key}." in host.module.details
            args.append(_told(a, quote("_out[_0]", ast.Constant(key)) if of_data else _host_expr(host.module, a)))
        cases.append(ast.If(quote(f"_code == {number}"), [raising(g, args, host.module, g.changes)], []))
    known = quote("not isinstance(_out['error'], jax.core.Tracer)")
    if len(host.returns) > 1:  # one may come before all checks
        known = quote("'error' in _out and _0", known)
    return [ast.If(known, [assign("_code", quote("int(_out['error'])")), *cases], [])]


def _told(a: Expr, number: ast.expr) -> ast.expr:
    """A number as a message tells it: Python's, but for NumPy's floats of other sizes."""
    if a.dtype == "index" and not isinstance(number, ast.Subscript):
        return number
    return quote(f"{number_class(a.dtype)}(_0)", number)


class _Taking:
    """The result as an expression over the leaves that the jitted function gave."""

    def __init__(self, host: Host, key: str) -> None:
        self.host, self.key, self.position = host, key, 0

    def leaf(self) -> ast.expr:
        self.position += 1
        return quote(f"_out[_0][{self.position - 1}]", ast.Constant(self.key))

    def value(self, result: n.Result) -> ast.expr:
        host = self.host
        match result:
            case n.ArrayResult():
                node = self.leaf()
                for axis, _ in host.cut[id(result)]:
                    along = [constant(axis)] if axis else []
                    node = call(host.module.helper("_cut"), [node, self.leaf(), *along])
                return node
            case n.ListResult(buffer, _, _):
                if not buffer:
                    return quote("jnp.zeros(0, jnp.int32)")
                return call(host.module.helper("_cut"), [self.leaf(), self.leaf()])
            case n.ScalarResult(value, _):
                if host.is_outside(value):
                    return _host_expr(host.module, value)
                return self.leaf()
            case n.TupleResult(items, kind):
                made = [self.value(i) for i in items]
                if kind in ("record", "raise"):
                    whole = call(parse_expression(container_text(result)), made)
                    return placed(host.module, whole, result.span) if kind == "raise" else whole
                if kind == "either":
                    return call(host.module.helper("_either"), made)
                if kind == "dict":
                    return ast.Dict([parse_expression(repr(k)) for k in result.keys], made)
                return ast.List(made, ast.Load()) if kind == "list" else sequence(made)
            case n.ViewResult():
                return self.leaf()
            case n.ArgumentResult(of):
                written = [p.name for p in host.program.params if isinstance(p, n.ArrayParam) and p.written]
                return quote(f"_out['written'][{written.index(of)}]") if of in written else name(of)
            case n.ConstantResult(value):
                return constant(None if value is ... else value)  # JAX's functions have no `...` for a result


def _docstring(host: Host) -> str:
    program = host.program
    lines = [f"`{program.name}` of {program.file or 'the source'} as a JAX function.", ""]
    for p in program.params:
        match p:
            case n.ArrayParam(of, dtype, dims, _, written):
                shape = ", ".join(_dim(host.module, d) for d in dims)
                lines.append(f"    {of}: {dtype}[{shape}]" + (" (written)" if written else ""))
            case n.ScalarParam(of, dtype, python):
                lines.append(f"    {of}: {python or dtype}")
            case n.ConstantParam(of, value):
                lines.append(f"    {of}: always {known_text(value)}")
    changed = [p.name for p in program.params if isinstance(p, n.ArrayParam) and p.written]
    if changed:
        lines += [
            "",
            f"    JAX arrays do not change: returns (result, ({', '.join(changed)},)), as they are afterwards.",
        ]
    if "_cut" in host.module.helpers or any(isinstance(r, n.ListResult) for r in host.returns):
        lines += [
            "",
            "    A result whose size depends on data comes cut to size, or while JAX traces as (padded array, count).",
        ]
    if any(_comes_in_parts(s.result) for s in walk(program.body) if isinstance(s, n.Return)):
        lines += [
            "",
            "    Lists of tuples, lists in lists and such come as tuples of the arrays that they are made of.",
        ]
    if any(isinstance(s, n.Library) and s.name == "argsort" for s in program.body):
        lines += [
            "",
            "    Sorting is stable; NumPy's default leaves the order of equal keys open, so it may differ there.",
        ]
    return "\n".join(lines) + "\n    "


def _comes_in_parts(r: n.Result) -> bool:
    if not isinstance(r, n.TupleResult):
        return False
    return r.kind not in ("tuple", "list", "dict", "record", "raise") or any(map(_comes_in_parts, r.items))


def _dim(module: Module, d: Expr) -> str:
    return str(d.value) if isinstance(d, Const) else module.identifier(d.name) if isinstance(d, Var) else "?"
