"""Block kernels: a sequential loop with its parallel bodies in one kernel, its state in VMEM, its scalars in SMEM.

Which form fits is tried in turn: `lanes` (one axis, arrays laid out as rows of 128), then `whole` (arrays as they are).
What neither can say, XLA runs as one loop.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from transkern.ir import nodes as n
from transkern.targets.pallas import lanes, whole
from transkern.targets.pallas.values import Inexpressible

if TYPE_CHECKING:
    from transkern.targets.pallas.host import Host


def emit(host: Host, kernel: n.Kernel) -> None:
    """Append the kernel and its call to the host's statements; raises Inexpressible with the reasons."""
    reasons = []
    for form in (lanes, whole):
        saved = list(host.out), dict(host.env), set(host.defined), list(host.module.guards)
        try:
            form.emit(host, kernel)
            return
        except Inexpressible as error:
            host.out[:], host.env, host.defined, host.module.guards = saved
            if error.reason not in reasons:
                reasons.append(error.reason)
    raise Inexpressible("; ".join(reasons))
