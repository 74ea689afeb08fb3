"""Arrays of PyTorch, JAX and CuPy: as NumPy's or CuPy's on the way in, of their own kind on the way out."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from transkern.plain import is_plain_object
from transkern.runtime.choosing import default_target

_LIBRARIES = {"torch": "PyTorch", "torch_cuda": "PyTorch", "jax": "JAX", "cupy": "CuPy"}


def kind_of(value: Any) -> str | None:
    """``torch``, ``torch_cuda``, ``jax`` or ``cupy``; None for everything else (nothing is imported)."""
    module = type(value).__module__.split(".")[0]
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(value, torch.Tensor):
        return "torch_cuda" if value.is_cuda else "torch"
    if module in ("jax", "jaxlib") and hasattr(value, "dtype"):
        return "jax"
    return "cupy" if module == "cupy" and hasattr(value, "dtype") else None


def foreign_kind(values: Sequence[Any]) -> str | None:
    """The one kind of all arrays that are not NumPy's, or ``memmap``; TypeError where they are of several."""
    kinds = list(dict.fromkeys(k for k in map(kind_of, values) if k is not None))
    if len(kinds) > 1:
        named = " and ".join(dict.fromkeys(_LIBRARIES[k] for k in kinds))
        where = named if "and" in named else f"{named} on the CPU and on a GPU"
        raise TypeError(f"arrays of {where} in one call: convert them to one kind first")
    if kinds:
        return kinds[0]
    return "memmap" if any(type(value) is np.memmap for value in values) else None


def call_foreign(
    call: Callable[[list[Any], str], Any], values: list[Any], kind: str, target: str,
    written: Callable[[], Iterable[int]],
) -> Any:  # fmt: skip
    """Call with arrays of another library, without a copy where both see the same memory; results are of its kind.

    `written` tells behind the call the positions of the arguments that the code writes into.
    """
    match kind:
        case "torch" | "torch_cuda":
            inner = [from_torch(v) if kind_of(v) else v for v in values]
        case "jax":
            inner = [_from_jax(v) if kind_of(v) else v for v in values]
        case "cupy":
            inner = [v.get() if kind_of(v) else v for v in values]
        case _:
            inner = [v.view(np.ndarray) if type(v) is np.memmap else v for v in values]
    with _noting_changes(values, kind, written):
        result = call(inner, target)
    return _back(result, kind, {id(i): v for i, v in zip(inner, values, strict=True) if i is not v})


# --- what is traced


def is_traced(kind: str, values: Sequence[Any], target: str, has_gradient: bool) -> bool:
    """Whether a call with arrays of a kind is one that their library traces, or remembers for a gradient."""
    if kind.startswith("torch"):
        import torch

        if torch._C._len_torch_dispatch_stack() or torch._C._functorch.peek_interpreter_stack() is not None:
            return True
        found = [v for v in values if kind_of(v)]
        if has_gradient and torch.is_grad_enabled() and any(v.requires_grad for v in found):
            return True
        return any(torch.utils._python_dispatch.is_traceable_wrapper_subclass(v) or _is_fake(v) for v in found)
    if kind != "jax" or (target == "pallas" and not has_gradient):
        return False
    import jax

    return any(isinstance(v, jax.core.Tracer) for v in values)


def _is_fake(tensor: Any) -> bool:
    """Whether a tensor has no elements of its own but those that PyTorch pretends."""
    return type(tensor).__module__.startswith("torch._subclasses")


def on_cpu(values: Sequence[Any]) -> bool:
    """Whether the arrays of JAX among some values are in the memory that the CPU has; those that JAX traces, where they
    will be if nobody says otherwise."""
    import jax

    found = [v for v in values if kind_of(v) == "jax"]
    known = [v for v in found if not isinstance(v, jax.core.Tracer)]
    if not known:
        return bool(jax.default_backend() == "cpu")
    return all(device.platform == "cpu" for v in known for device in v.devices())


# --- in


def from_torch(tensor: Any) -> Any:
    """A tensor's memory as an array; TypeError where that would lose something."""
    import torch

    if tensor.requires_grad and torch.is_grad_enabled():
        raise TypeError(NO_GRADIENT)
    check_torch(tensor)
    plain = tensor.detach()
    if plain.is_cuda:
        import cupy

        return cupy.from_dlpack(plain)
    if plain.device.type != "cpu":
        raise TypeError(f"a PyTorch tensor on the device {str(plain.device)!r}: pass tensor.cpu()")
    if plain.is_conj() or plain.is_neg():  # what it looks like is not in its memory: a copy, which stores would miss
        made: Any = plain.resolve_conj().resolve_neg().numpy()
        made.flags.writeable = False
        return made
    return plain.numpy()


NO_GRADIENT = (
    "a PyTorch tensor that requires gradients, and compiled code has none: the gradient would miss it\n"
    "  help: give the function one (f.defgrad), pass tensor.detach(), or call it under torch.no_grad()"
)


def check_torch(tensor: Any) -> None:
    """Raises TypeError for a tensor that NumPy has no array for."""
    import torch

    if tensor.layout != torch.strided or tensor.is_quantized:
        raise TypeError(f"a PyTorch tensor of layout {tensor.layout}: pass tensor.to_dense()")
    if tensor.dtype is torch.bfloat16:
        raise TypeError("a PyTorch tensor of bfloat16, which NumPy has not: pass tensor.float()")


def _from_jax(array: Any) -> Any:
    """A JAX array as a NumPy array that cannot be written; TypeError for one that JAX traces."""
    import jax

    if isinstance(array, jax.core.Tracer):
        raise TypeError(
            "an array that JAX traces (jax.jit, jax.vmap, jax.grad) needs code for JAX, or for the CPU: compile with "
            'target="pallas", or target="cpu"'
        )
    return np.asarray(array)


@contextmanager
def _noting_changes(values: Sequence[Any], kind: str, written: Callable[[], Iterable[int]]) -> Iterator[None]:
    """PyTorch notices what is stored into a tensor by its version; a JAX array cannot be stored into."""
    try:
        yield
    except ValueError as error:
        if kind == "jax" and "read-only" in str(error):
            raise TypeError(UNCHANGEABLE) from None
        raise
    finally:
        if kind.startswith("torch"):
            import torch

            for k in written():
                if k < len(values) and kind_of(values[k]) and not values[k].is_inference():
                    torch.autograd.graph.increment_version(values[k])


UNCHANGEABLE = (
    "the function writes into an argument that is a JAX array, and these cannot change\n"
    "  help: pass a NumPy array, or copy it in the function (x = x.copy()) and return it"
)


# --- out


def _back(result: Any, kind: str, originals: dict[int, Any]) -> Any:
    """A result with arrays of a kind; what was an argument is that argument."""
    if id(result) in originals:
        return originals[id(result)]
    match result:
        case list() | tuple():
            parts = [_back(r, kind, originals) for r in result]
            if all(a is b for a, b in zip(parts, result, strict=True)):
                return result
            return type(result)._make(parts) if hasattr(result, "_make") else type(result)(parts)
        case dict():
            for key, value in result.items():
                result[key] = _back(value, kind, originals)
            return result
        case _ if is_plain_object(result) and not isinstance(result, BaseException):
            for key, value in list(getattr(result, "__dict__", {}).items()):
                if (made := _back(value, kind, originals)) is not value:
                    object.__setattr__(result, key, made)
            return result
        case np.generic() if kind.startswith("torch") or kind == "jax":
            return _own(np.asarray(result), kind)
        case _:
            is_array = isinstance(result, np.ndarray) or hasattr(result, "__cuda_array_interface__")
            return _own(result, kind) if is_array else result


def _own(array: Any, kind: str) -> Any:
    if kind.startswith("torch"):
        import torch

        if not isinstance(array, np.ndarray):
            return torch.from_dlpack(array)
        whole = all(s >= 0 and s % array.itemsize == 0 for s in array.strides)  # else torch has no such view
        return torch.from_numpy(array if whole and array.flags.writeable else array.copy())
    if kind == "jax":
        import jax

        with jax.enable_x64(True):  # the result has NumPy's dtype
            if is_new(array) and array.flags.writeable:
                return jax.dlpack.from_dlpack(array)
            return jax.numpy.asarray(array.copy())  # JAX may read it later, and the caller may have changed it then
    if kind == "cupy":
        import cupy

        return cupy.asarray(array)
    return array


def is_new(array: Any) -> bool:
    """Whether the memory of a result is its own, and lies as other libraries like it: then they need no copy."""
    kind = type(getattr(array, "base", None))
    return kind.__module__ == "transkern" and kind.__name__ == "Block"


def chosen(target: str, kind: str | None, values: Sequence[Any] = ()) -> str:
    """The target of a call with `values`, arrays of the `kind` that `foreign_kind` tells, of a function that is
    compiled for `target`: with ``auto`` where the arrays are."""
    if target != "auto":
        return target
    if kind == "cupy" or kind == "torch_cuda":
        return "cuda"
    if kind == "torch":
        return "cpu"
    if kind == "jax":
        return "cpu" if on_cpu(values) else "pallas"
    return default_target()
