"""CUDA, as the table of targets asks for it: kernels in CUDA C++, launched through CuPy or in the simulator."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from transkern.targets.cuda import load as loading
from transkern.targets.cuda.emit import emit
from transkern.targets.naming import CUDA, function_name

if TYPE_CHECKING:
    from transkern.fuse.passes import Pass
    from transkern.ir.nodes import Program


def passes() -> tuple[Pass, ...]:
    """The passes before the printer."""
    from transkern.fuse.passes import CUDA_PASSES
    from transkern.targets.cuda.forms.long_rows import share_long_rows

    return (*CUDA_PASSES, share_long_rows)


def files(program: Program, narrow: bool) -> dict[str, str]:
    """The kernels, and the module that launches them."""
    kernels, launch = emit(program)
    name = function_name(program.name, CUDA)
    return {f"{name}.cu": kernels, f"{name}.py": launch}


def printed(program: Program, narrow: bool) -> loading.Printed:
    """The same, with the places of what may fail."""
    return loading.printed(program)


def texts(**given: Any) -> loading.Printed:
    """These again, from their fields."""
    return loading.Printed(**given)


def load(made: loading.Printed) -> Callable[..., Any]:
    """What launches them: on the device, or with TRANSKERN_CUDA_SIM=1 in the simulator."""
    return loading.load(made, simulate=os.environ.get("TRANSKERN_CUDA_SIM") == "1")
