"""The collector of cycles is as it was behind every compilation: ended, failed, in several threads, forked."""

from __future__ import annotations

import gc
import os
import threading
from collections.abc import Iterator

import numpy as np
import pytest

import transkern
from transkern import collecting


@pytest.fixture(autouse=True)
def enabled() -> Iterator[None]:
    gc.enable()
    yield
    gc.enable()


def compiles(seen: list[bool]) -> None:
    seen.append(gc.isenabled())
    transkern.compile(lambda x: x + 1, target="cpu")(np.ones(3))
    seen.append(gc.isenabled())
    with pytest.raises(transkern.CompileError):
        transkern.compile(lambda x: input(x), target="cpu")(np.ones(3))
    seen.append(gc.isenabled())


def test_on_again() -> None:
    seen: list[bool] = []
    compiles(seen)
    assert seen == [True] * 3


def test_left_off() -> None:
    gc.disable()
    seen: list[bool] = []
    compiles(seen)
    assert seen == [False] * 3


def test_off_until_the_last_of_several_has_ended() -> None:
    inside, leave = threading.Event(), threading.Event()

    def other() -> None:
        with collecting.paused():
            inside.set()
            leave.wait(60)

    thread = threading.Thread(target=other)
    thread.start()
    assert inside.wait(60)
    with collecting.paused():
        assert not gc.isenabled()
    assert not gc.isenabled()
    leave.set()
    thread.join()
    assert gc.isenabled()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="forks")
def test_on_in_a_child_of_a_compiling_process() -> None:
    with collecting.paused():
        child = os.fork()
        if not child:
            os._exit(0 if gc.isenabled() else 1)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        assert not gc.isenabled()
    assert gc.isenabled()
