"""``transkern run``: a script, what is watched in it, and the report."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from transkern.dropin import remembered, scripts
from transkern.runtime.measuring import Run


def prepared(
    script: str, arguments: Sequence[str], is_module: bool, target: str, include: Sequence[str], report: bool,
    eager: bool, record: Path | None = None, profile: Path | None = None,
) -> Callable[[], None]:  # fmt: skip
    """What runs the script to its end, which is the process's; `record`: where the types of calls are written,
    `profile`: what compiled calls took."""
    def run() -> None:
        watch, memory = remembered.watch(target, report, eager, copies=profile is None)
        process, folder = os.getpid(), Path.cwd()  # the script may go elsewhere
        if record is not None:
            from transkern.dropin.recording import Recording

            watch.recording = Recording()
        measuring = None if profile is None else Run()
        if include:
            sys.meta_path.insert(0, scripts.Included(include, watch))
        make = scripts.prepared_module if is_module else scripts.prepared
        try:
            what = make(script, arguments, watch)
        except scripts.NoScript as error:
            print(f"{sys.executable}: {error}", file=sys.stderr)
            raise SystemExit(1 if is_module else 2) from None

        def after() -> None:
            if os.getpid() == process:  # not in what it has forked
                memory.keep(watch.functions)
                watch.end()
                if record is not None and watch.recording is not None:
                    watch.recording.write(folder / record)
                if profile is not None and measuring is not None:
                    from transkern.runtime import profiling

                    found = measuring.profiles()
                    (folder / profile).write_text(profiling.written(found), encoding="utf-8")
                    text = "\n".join(map(str, found)) or "no compiled code has run on the CPU"
                    print(f"\ntranskern: {text}", file=sys.stderr)
                if report:
                    from transkern.dropin.reporting import table

                    table(watch)

        scripts.run(what, after)

    return run
