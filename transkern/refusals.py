"""Kinds of refusals: stable codes, with what they mean and what to write instead.

A code is never given to another kind, and never taken back. `docs/errors.md` is made from these texts.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of refusal.

    `title`: what it is, as a heading; `code`: such as ``TK1203``.
    """

    code: str
    title: str


KINDS: dict[str, Kind] = {}
"""All of them, by their codes."""


def _kind(code: str, title: str) -> Kind:
    assert code not in KINDS
    kind = KINDS[code] = Kind(code, title)
    return kind


def by_code(code: str) -> Kind | None:
    """The kind of a code as a user writes it: ``TK1203``, ``tk1203`` or ``1203``."""
    return KINDS.get(f"TK{code.upper().removeprefix('TK')}")


# --- 10: what is read

UNREADABLE = _kind("TK1001", "a file that cannot be read, or is not Python")
NO_SOURCE = _kind("TK1002", "a function whose text is not to be had")
WHICH_FUNCTION = _kind("TK1003", "which function of the file is meant")
ANNOTATION = _kind("TK1004", "an annotation, or a description of types, that says no type")
DECORATOR = _kind("TK1005", "a decorator that changes what the function is")
UNKNOWN_NAME = _kind("TK1006", "a name that is not known")
MODULE_CHANGES = _kind("TK1007", "a value of the module that may change")
OUTSIDE_CHANGED = _kind("TK1008", "a change of what belongs to others")
TOO_LARGE_TO_COMPILE = _kind("TK1009", "a function that is too long or too deeply nested, or too large a value")
MODULE_CONSTANT = _kind("TK1010", "a constant of a module read as text that is not computed")

# --- 11: statements and expressions

STATEMENT = _kind("TK1101", "a statement that is not compiled")
EXPRESSION = _kind("TK1102", "an expression that is not compiled")
TARGET = _kind("TK1103", "an assignment to, or a deletion of, something that is not compiled")
MESSAGE = _kind("TK1104", "an exception that compiled code cannot raise, or tell more of")
EFFECTS = _kind("TK1105", "effects that others see, where they may happen twice or not at all")
ITERATOR = _kind("TK1106", "an iterator, generator or view that is used again, or later")
CAUGHT = _kind("TK1107", "an exception that is caught in a way that is not compiled")

# --- 12: calls

UNKNOWN_FUNCTION = _kind("TK1201", "a function that no kernel computes")
OPTION = _kind("TK1202", "an option, or a form of the arguments, that a known function is not compiled with")
UNKNOWN_ATTRIBUTE = _kind("TK1203", "an attribute or method that is not known")
WRONG_ARGUMENTS = _kind("TK1204", "a call that does not fit the function's parameters")
NEEDS_CONSTANT = _kind("TK1205", "something that must be known when the function is compiled")
OPERANDS = _kind("TK1206", "an operation, comparison or function of such operands")
SORT_KEY = _kind("TK1207", "an order by such keys")
RANDOM = _kind("TK1208", "a draw of random numbers that is not compiled")
PYTHON_CALL = _kind("TK1209", "a call of something that is no plain function")

# --- 13: types of values

TYPE_DIFFERS = _kind("TK1301", "a name with another type or shape on one of several paths")
ARGUMENT_TYPE = _kind("TK1302", "an argument of a type that compiled code does not take")
DTYPE = _kind("TK1303", "a dtype that compiled code does not compute with")
TRUTH = _kind("TK1304", "the truth value of something that has none")
MAY_BE_NONE = _kind("TK1305", "what may be None")
INTEGER_TOO_LARGE = _kind("TK1306", "an integer of more than 64 bits")
NEEDED = _kind("TK1307", "a value of another type than is needed")
ARRAY_OF = _kind("TK1308", "an array made of something that is not numbers in rows")
VALUES_DECIDE = _kind("TK1309", "a result whose type depends on the values")

# --- 14: lists, dicts, texts, objects

LIST_OF_TYPES = _kind("TK1401", "a list whose elements differ in type")
NESTED_LIST = _kind("TK1402", "a change or a form of a list in a list that is not compiled")
RUN_TIME_LENGTH = _kind("TK1403", "a number of elements that only the run knows")
RUN_TIME_KEYS = _kind("TK1404", "a dict or set with such keys or values")
TWO_NAMES = _kind("TK1405", "a list, array or object that has several names and changes")
SUBSCRIPT = _kind("TK1406", "a subscript that is not compiled")
TEXT = _kind("TK1407", "a text made of something that only the run knows")
OBJECT = _kind("TK1408", "an object of a class in a place where it is not compiled")
DEQUE = _kind("TK1409", "a use of a deque that is not compiled")

# --- 15: memory

SHARED_MEMORY = _kind("TK1501", "arrays that share memory, of which one is written")
LOOP_ALIAS = _kind("TK1502", "one array under two names in a loop that writes it")
RESULT = _kind("TK1503", "a result that cannot be returned")
OUT = _kind("TK1504", "an array to write into that is not compiled")

# --- 16: NumPy's state

WARNINGS = _kind("TK1601", "warnings that a filter, or NumPy's settings, may choose")

# --- 20: targets

CUDA = _kind("TK2001", "something that the CUDA target does not do")
PALLAS = _kind("TK2002", "something that the Pallas target does not do")
TOOL = _kind("TK2003", "a program that is missing")
OPTIONS = _kind("TK2004", "an option of transkern that is not understood, or does not fit")
CHUNKS = _kind("TK2005", "chunks of an array that are not independent of each other")
FRAMEWORKS = _kind("TK2006", "a function that a graph of PyTorch or a trace of JAX cannot hold")
GRADIENT = _kind("TK2007", "a gradient that is missing, or is none of its function")

# --- 30: what compiles, and disappoints

MANY_SPECIALISATIONS = _kind("TK3001", "a function that is compiled again and again")
WIDER = _kind("TK3002", "arrays of float32 that become float64 on the way")
IN_ORDER = _kind("TK3003", "a loop that stays in order")
TRANSFERS = _kind("TK3004", "arrays that are copied to a device and back at each call")
SLOWER = _kind("TK3005", "a function that is slower than in NumPy")

# --- 90: transkern itself

INTERNAL = _kind("TK9001", "transkern went wrong")

