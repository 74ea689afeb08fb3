"""Python's parser in several threads at once, where collections of garbage let others go on in the middle of it."""

import ast
import contextlib
import gc
import threading
import time

import pytest

from transkern.parsing import parse, parse_expression

_FUNCTION = "def f{0}(x):\n    return ((x + {0}) * [x, (x, -x[{0}:2, 3])][0]) if x else lambda y: y"
TEXT = "\n".join(map(_FUNCTION.format, range(30)))


@pytest.fixture
def switches_in_collections():
    """A finalizer that lets other threads go on, each time Python collects, which it does all the time."""

    class Cyclic:
        def __init__(self):
            self.me = self

        def __del__(self):
            time.sleep(1e-5)

    before = gc.get_threshold()
    gc.set_threshold(20)
    yield Cyclic
    gc.set_threshold(*before)


def _in_threads(parsed, others, cyclic):
    problems = []

    def work(function, count):
        try:
            for _ in range(count):
                cyclic()
                function(TEXT)
        except BaseException as error:
            problems.append(error)

    threads = [threading.Thread(target=work, args=(f, 15)) for f in [parsed] * 3 + others]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return problems


def test_threads_of_ours(switches_in_collections):
    assert not _in_threads(parse, [], switches_in_collections)


def test_a_thread_of_the_users_parses_too(switches_in_collections):
    def theirs(text):
        with contextlib.suppress(SystemError):  # Python's own fault, in a thread that is not ours
            ast.parse(text)

    assert not _in_threads(parse, [theirs], switches_in_collections)


def test_errors_are_pythons():
    with pytest.raises(SyntaxError) as raised:
        parse("x = (", "some.py")
    assert raised.value.filename == "some.py" and ast.unparse(parse_expression("x  +1")) == "x + 1"
