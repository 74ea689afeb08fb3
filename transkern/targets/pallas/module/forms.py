"""Which form a kernel takes is tried in turn.

Parallel loops: `grid` (blocks of arrays), and if there is a loop in order inside them `whole` (arrays as they are). A
sequential loop with its parallel bodies, its state in VMEM and its scalars in SMEM: `lanes` (one axis, arrays laid out
as rows of 128), without parallel bodies `streams` (elements in blocks), then `whole`. What none can say, XLA runs.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Protocol

from transkern.ir import nodes as n
from transkern.targets.pallas.forms.values import Inexpressible

if TYPE_CHECKING:
    from transkern.targets.pallas.module.host import Host


class Form(Protocol):
    """A module that emits kernels."""

    def emit(self, host: Host, kernel: n.Kernel) -> None: ...


def emit(host: Host, kernel: n.Kernel, forms: Iterable[Form]) -> None:
    """Append the kernel and its call to the host's statements; raises Inexpressible with the reasons."""
    reasons = []
    for form in forms:
        saved = list(host.out), dict(host.env), set(host.defined), list(host.module.guards), dict(host.module.details)
        try:
            form.emit(host, kernel)
            return
        except Inexpressible as error:
            host.out[:], host.env, host.defined, host.module.guards, host.module.details = saved
            if error.reason not in reasons:
                reasons.append(error.reason)
    raise Inexpressible("; ".join(reasons))
