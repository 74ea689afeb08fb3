"""A program's launcher, ready to call: on CuPy, or on the simulator in its place."""

from __future__ import annotations

import builtins
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from transkern.errors import TargetUnavailable
from transkern.ir import nodes as n
from transkern.ir.expr import NOWHERE, Span
from transkern.targets.cuda.emit import emit_with_places
from transkern.targets.cuda.launcher import Launcher
from transkern.targets.naming import CUDA, function_name

_MODULE = "transkern_cuda_"


def load(program: n.Program, simulate: bool) -> Callable[..., Any]:
    """The launcher's function, on CuPy or, where `simulate`, on the simulator.

    It returns NotImplemented for sizes that need other code; then its attribute `why` gives ``"sizes"``.

    Raises:
        CompileError: as `emit`.
        TargetUnavailable: there is no CuPy or no device, and `simulate` is false.
    """
    code, launcher = emit_with_places(program, standalone=False)
    made = function(function_name(program.name, CUDA), code, launcher.text, simulate)
    made.place = partial(_place, launcher)  # type: ignore[attr-defined]  # where in the source an error comes from
    made.why = lambda: "sizes"  # type: ignore[attr-defined]  # why it returned NotImplemented
    return made


def function(name: str, code: str, text: str, simulate: bool) -> Callable[..., Any]:
    """The function `name` of the launcher `text`, whose kernels are `code`; raises TargetUnavailable as `load`."""
    module = _simulator() if simulate else _cupy()

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


def _place(launcher: Launcher, error: BaseException) -> Span:
    """The place in the source of what stands in the launcher's line, or of the check in a kernel, that failed."""
    found, trace = NOWHERE, error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_globals.get("__name__") == f"{_MODULE}{launcher.program.name}":
            of_kernel = trace.tb_frame.f_code.co_name == launcher.raises
            code = trace.tb_frame.f_locals.get("code") if of_kernel else None
            found = launcher.places.get(trace.tb_lineno, found) if code is None else launcher.checks[code]
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
