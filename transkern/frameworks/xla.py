"""Calls from XLA's code for the CPU, with the memory of arguments and results as it lies there.

The structures are those of XLA's foreign functions (``xla/ffi/api/c_api.h``, version 0.3, which jaxlib brings). They
are read here by `ctypes`, so that nothing has to be compiled; with a jaxlib of another version, and on other devices,
callers take `jax.pure_callback`, which copies arguments and results.
"""

from __future__ import annotations

import ctypes
import functools
import os
import re
import traceback
from collections.abc import Callable, Sequence
from ctypes import POINTER, Structure, c_char_p, c_int, c_int64, c_size_t, c_uint32, c_void_p
from pathlib import Path
from typing import Any

import jax
import numpy as np

_TARGET = "transkern_call"
_VERSION = (0, 3)
_METADATA, _EXECUTE, _INVALID_ARGUMENT = 1, 3, 3

Host = Callable[[Sequence[np.ndarray[Any, Any]], Sequence[np.ndarray[Any, Any]]], None]
"""Reads some arrays, and fills others."""


class _Extension(Structure):
    _fields_ = (("size", c_size_t), ("type", c_int), ("next", c_void_p))


class _Version(Structure):
    _fields_ = (("size", c_size_t), ("extension", c_void_p), ("major", c_int), ("minor", c_int))


class _Metadata(Structure):
    _fields_ = (("size", c_size_t), ("version", _Version), ("traits", c_uint32), ("state", c_int64))


class _MetadataExtension(Structure):
    _fields_ = (("base", _Extension), ("metadata", POINTER(_Metadata)))


class _Buffer(Structure):
    _fields_ = (
        ("size", c_size_t), ("extension", c_void_p), ("dtype", c_int), ("data", c_void_p), ("rank", c_int64),
        ("dims", POINTER(c_int64)),
    )  # fmt: skip


class _Buffers(Structure):
    _fields_ = (
        ("size", c_size_t), ("extension", c_void_p), ("count", c_int64), ("types", c_void_p),
        ("each", POINTER(POINTER(_Buffer))),
    )  # fmt: skip


class _Text(Structure):
    _fields_ = (("start", c_void_p), ("length", c_size_t))


class _Attributes(Structure):
    _fields_ = (
        ("size", c_size_t), ("extension", c_void_p), ("count", c_int64), ("types", c_void_p), ("names", c_void_p),
        ("each", POINTER(POINTER(_Text))),
    )  # fmt: skip


class _ErrorArguments(Structure):
    _fields_ = (("size", c_size_t), ("extension", c_void_p), ("message", c_char_p), ("code", c_int))


_CREATE_ERROR = ctypes.CFUNCTYPE(c_void_p, POINTER(_ErrorArguments))


class _Api(Structure):
    _fields_ = (
        ("size", c_size_t), ("extension", c_void_p), ("version", _Version), ("internal", c_void_p),
        ("create_error", _CREATE_ERROR),
    )  # fmt: skip


class _Frame(Structure):
    _fields_ = (
        ("size", c_size_t), ("extension", POINTER(_Extension)), ("api", POINTER(_Api)), ("context", c_void_p),
        ("stage", c_int), ("arguments", _Buffers), ("results", _Buffers), ("attributes", _Attributes),
        ("future", c_void_p),
    )  # fmt: skip


# ---- calls -----------------------------------------------------------------------------------------------------------

_HOSTS: dict[bytes, tuple[Host, list[np.dtype[Any]], list[np.dtype[Any]]]] = {}
_TOKENS: dict[str, str] = {}
_PROCESS = os.urandom(8).hex()  # code from JAX's cache on disk must not take another process's number for its own


def call(
    host: Host, key: str, shapes: Sequence[jax.ShapeDtypeStruct], leaves: Sequence[Any]
) -> Sequence[Any] | None:
    """What `host` computes of some arrays that JAX traces, one for each of `shapes`; None where XLA cannot call it.

    Hosts with equal keys do the same.
    """
    if not _is_registered() or jax.default_backend() != "cpu":
        return None
    inputs, outputs = [np.dtype(a.dtype) for a in leaves], [np.dtype(s.dtype) for s in shapes]
    token = _TOKENS.setdefault(f"{key} {inputs} {outputs}", f"{_PROCESS}-{len(_TOKENS)}")
    _HOSTS[token.encode()] = host, inputs, outputs
    made: Sequence[Any] = jax.ffi.ffi_call(_TARGET, list(shapes), vmap_method="expand_dims")(*leaves, host=token)
    return made


@functools.cache
def _is_registered() -> bool:
    """Whether XLA knows how to call us: it is told once."""
    if not hasattr(jax, "ffi") or ctypes.sizeof(c_void_p) != 8:
        return False
    header = Path(jax.ffi.include_dir()) / "xla" / "ffi" / "api" / "c_api.h"
    try:
        found = re.findall(r"#define XLA_FFI_API_(?:MAJOR|MINOR) (\d+)", header.read_text(encoding="utf-8"))
    except OSError:
        return False
    if tuple(map(int, found)) != _VERSION:
        return False
    capsule = jax.ffi.pycapsule(_handle)  # type: ignore[no-untyped-call]
    jax.ffi.register_ffi_target(_TARGET, capsule, platform="cpu")
    return True


def _handler(address: int) -> int | None:
    """What XLA calls: an error, or None."""
    frame = ctypes.cast(address, POINTER(_Frame)).contents
    try:
        if frame.extension and frame.extension.contents.type == _METADATA:
            extension = ctypes.cast(frame.extension, POINTER(_MetadataExtension)).contents
            version = extension.metadata.contents.version
            version.major, version.minor = _VERSION
            return None
        if frame.stage != _EXECUTE:
            return None
        text = frame.attributes.each[0].contents
        host, inputs, outputs = _HOSTS[ctypes.string_at(text.start, text.length)]
        host(_arrays(frame.arguments, inputs, False), _arrays(frame.results, outputs, True))
        return None
    except BaseException as error:  # nothing may go through C code
        told = "".join(traceback.format_exception_only(error)).strip()
        arguments = _ErrorArguments(ctypes.sizeof(_ErrorArguments), None, told.encode(), _INVALID_ARGUMENT)
        made: int = frame.api.contents.create_error(ctypes.byref(arguments))
        return made


def _arrays(buffers: Any, dtypes: Sequence[np.dtype[Any]], writeable: bool) -> list[np.ndarray[Any, Any]]:
    """The memory of buffers as arrays."""
    made = []
    for k, dtype in enumerate(dtypes):
        buffer = buffers.each[k].contents
        shape = tuple(buffer.dims[: buffer.rank])
        size = dtype.itemsize
        for extent in shape:
            size *= extent
        if not size:
            made.append(np.empty(shape, dtype))
            continue
        memory: Any = (ctypes.c_char * size).from_address(buffer.data)
        array: np.ndarray[Any, Any] = np.frombuffer(memory, dtype).reshape(shape)
        array.flags.writeable = writeable
        made.append(array)
    return made


_handle = ctypes.CFUNCTYPE(c_void_p, c_void_p)(_handler)
