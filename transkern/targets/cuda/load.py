"""A program's launcher, ready to call: on CuPy, or on the simulator in its place."""

from __future__ import annotations

import builtins
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from transkern.errors import TargetUnavailable
from transkern.ir import nodes as n
from transkern.ir.expr import NOWHERE, Span
from transkern.targets.cuda.emit import emit_with_places
from transkern.targets.naming import CUDA, function_name

_MODULE = "transkern_cuda_"


@dataclass(frozen=True, slots=True)
class Printed:
    """What remains of a program when it is printed: the function's `name`, the `code` of its kernels and the `text` of
    its launcher, the `places` in the source that lines of the text stand for, those of the `checks` in kernels by their
    numbers, and the name of the helper that `raises` what these find."""

    name: str
    code: str
    text: str
    raises: str
    places: Mapping[int, Span]
    checks: Mapping[int, Span]


def printed(program: n.Program) -> Printed:
    """The texts of a program; raises CompileError as `emit`."""
    code, launcher = emit_with_places(program, standalone=False)
    name = function_name(program.name, CUDA)
    return Printed(name, code, launcher.text, launcher.raises, launcher.places, launcher.checks)


def load(made: Printed, simulate: bool) -> Callable[..., Any]:
    """The launcher's function, on CuPy or, where `simulate`, on the simulator.

    It returns NotImplemented for sizes that need other code; then its attribute `why` gives ``"sizes"``.

    Raises:
        TargetUnavailable: there is no CuPy or no device, and `simulate` is false.
    """
    call = function(made.name, made.code, made.text, simulate)
    call.place = partial(_place, made)  # type: ignore[attr-defined]  # where in the source an error comes from
    call.why = lambda: "sizes"  # type: ignore[attr-defined]  # why it returned NotImplemented
    return call


def function(name: str, code: str, text: str, simulate: bool) -> Callable[..., Any]:
    """The function `name` of the launcher `text`, whose kernels are `code`; raises TargetUnavailable as `load`."""
    return executed(name, code, text, _simulator() if simulate else _cupy())


def executed(name: str, code: str, text: str, module: Any) -> Callable[..., Any]:
    """The same with `module` for CuPy."""

    def importing(wanted: str, *args: Any, **kwargs: Any) -> Any:
        return module if wanted == "cupy" else builtins.__import__(wanted, *args, **kwargs)

    with tempfile.TemporaryDirectory() as folder:
        Path(folder, f"{name}.cu").write_text(code, encoding="utf-8")
        path = str(Path(folder, f"{name}.py"))
        namespace: dict[str, Any] = {
            "__name__": f"{_MODULE}{name}", "__file__": path,
            "__builtins__": {**vars(builtins), "__import__": importing},
        }  # fmt: skip
        exec(compile(text, path, "exec"), namespace)  # the text is our own
    made: Callable[..., Any] = namespace[name]
    return made


def _place(of: Printed, error: BaseException) -> Span:
    """The place in the source of what stands in the launcher's line, or of the check in a kernel, that failed."""
    found, trace = NOWHERE, error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_globals.get("__name__") == f"{_MODULE}{of.name}":
            of_kernel = trace.tb_frame.f_code.co_name == of.raises
            code = trace.tb_frame.f_locals.get("code") if of_kernel else None
            found = of.places.get(trace.tb_lineno, found) if code is None else of.checks[code]
        trace = trace.tb_next
    return found


def _simulator() -> Any:
    from transkern.targets.cuda.simulator import device

    return device


def _cupy() -> Any:
    help = 'set TRANSKERN_CUDA_SIM=1 to run the kernels in the simulator, or use target="cpu"'
    try:
        import cupy
    except ImportError as error:
        raise TargetUnavailable(f"the cuda target needs CuPy, which cannot be imported ({error}); {help}") from error
    try:
        count = cupy.cuda.runtime.getDeviceCount()
    except Exception as error:  # CuPy's error class is the driver's, and differs by version
        raise TargetUnavailable(f"the cuda target finds no device ({error}); {help}") from error
    if not count:
        raise TargetUnavailable(f"the cuda target finds no device; {help}")
    return cupy
