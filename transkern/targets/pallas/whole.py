"""x"""
from __future__ import annotations
from typing import TYPE_CHECKING
from transkern.ir import nodes as n
from transkern.targets.pallas.values import Inexpressible
if TYPE_CHECKING:
    from transkern.targets.pallas.host import Host
def emit(host: Host, s: n.Kernel) -> None:
    raise Inexpressible("a block kernel")
