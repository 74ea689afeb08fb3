"""A program does not depend on the order of Python's sets, which differs from process to process."""

import os
import subprocess
import sys

CODE = """
from tests.corpus import lang_planning
from tests.corpus.test_corpus import cases
from tests.fuzz.meeting import program_of
from transkern.ir.printer import program

case = next(c for _, c in cases() if c.function is lang_planning.track_objects)
print(program(program_of(case.function, case.arguments()[0], ())))
"""


def test_names_that_a_loop_carries() -> None:
    """They were bound, and so merged behind branches, in the order of a set."""
    made = [
        subprocess.run(
            [sys.executable, "-c", CODE], env=dict(os.environ, PYTHONHASHSEED=seed), capture_output=True, text=True
        ).stdout
        for seed in "123"
    ]
    assert "sequential" in made[0]
    assert len(set(made)) == 1
