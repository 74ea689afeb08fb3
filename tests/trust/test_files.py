"""What is read from the disk, what is left on it, and what goes on where the disk does not take part."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import transkern
from transkern import private, warned
from transkern.cli import caching
from transkern.runtime.caching import cache, packing
from transkern.runtime.caching.surveys import Survey
from transkern.targets.cpu import build

WEIGHTS = np.arange(1000.0) - 0.5
X = np.arange(1000.0)


def weighted(x: Any) -> Any:
    return x * WEIGHTS + 1


NOTHING = Survey({}, (), lambda array, number: False)


def looked_up(entry: Any) -> Survey:
    """What an entry's translation looked at, unchanged."""
    return NOTHING


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache of the test's own, a folder for temporary files of its own, and no warning given yet."""
    for name in ("cache", "tmp"):
        (tmp_path / name).mkdir(mode=0o700)
    monkeypatch.setenv("TRANSKERN_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("TMPDIR", str(tmp_path / "tmp"))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "tmp"))
    monkeypatch.setattr(warned, "_said", set())
    monkeypatch.setattr(cache, "_unkept", {})
    monkeypatch.setattr(cache, "_common", {})
    return tmp_path / "cache"


@pytest.fixture
def warm(folder: Path) -> Path:
    assert served() == (1, 0)
    return folder


def handed_on(x: Any) -> Any:
    return x


def served(function: Callable[..., Any] = weighted) -> tuple[int, int]:
    """How a new object for `weighted` is served: compiled, from the disk. Its answer is NumPy's."""
    compiled = transkern.compile(function, target="cpu")
    np.testing.assert_array_equal(compiled(X), function(X))
    return compiled.cache_info().compiled, compiled.cache_info().from_disk


def files(folder: Path, pattern: str = "*") -> list[Path]:
    return [path for path in sorted(folder.rglob(pattern)) if path.is_file()]


# ---- what is loaded is what was written ------------------------------------------------------------------------------


def test_one_changed_bit_anywhere_makes_no_entry(folder: Path) -> None:
    """Texts, numbers of captured arrays, the shared object; also where a file is cut off or longer."""
    whole = {"looked_at": {}, "captured": packing.packed([WEIGHTS[:9]], NOTHING)}
    built = bytes(range(256)) * 4
    for suffix in (".json", ".so"):
        for at in [*range(0, 100, 7), -1, "cut", "longer", "empty"]:
            cache.write("key", whole, built)
            assert cache.read("key", looked_up) is not None
            (path,) = files(folder, f"*{suffix}")
            data = bytearray(path.read_bytes())
            match at:
                case "cut":
                    del data[-1:]
                case "longer":
                    data += b" "
                case "empty":
                    data.clear()
                case _:
                    data[int(at)] ^= 1
            path.write_bytes(data)
            assert cache.read("key", looked_up) is None, (suffix, at)
            assert not path.exists()


def test_what_modules_have_in_common_is_whole(folder: Path) -> None:
    """One changed bit in the object file that is linked to each, and it is made anew; one that is none of ours, and the
    whole text is compiled."""
    assert served() == (1, 0)
    (path,) = files(folder / "common", "*.o")
    whole = path.read_bytes()
    path.write_bytes(whole[:-1] + bytes([whole[-1] ^ 1]))
    cache._common.clear()
    assert served(lambda x: x + 1) == (1, 0)
    assert path.read_bytes() == whole
    path.unlink()
    cache.keep_common(path.parent.name, b"no object file")
    assert served(lambda x: x + 2) == (1, 0)


def test_captured_arrays_come_back_as_they_were() -> None:
    arrays = [np.arange(6.0).reshape(2, 3), np.array([True, False]), np.array(3, "i2"), np.zeros((0, 2), "c8")]
    for before, after in zip(arrays, packing.unpacked(packing.packed(arrays, NOTHING), NOTHING), strict=True):
        np.testing.assert_array_equal(before, after)
        assert (before.dtype, before.shape) == (after.dtype, after.shape) and after.flags.writeable


# ---- nobody else's files ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", [0o777, 0o770, 0o702, 0o720])
def test_a_cache_that_others_may_write_is_refused(warm: Path, mode: int) -> None:
    warm.chmod(mode)
    before = files(warm)
    with pytest.warns(UserWarning, match="no disk cache: .* others may write to it"):
        assert served() == (1, 0)
    assert files(warm) == before
    warm.chmod(0o700)
    assert served() == (0, 1)


def test_a_cache_of_another_user_is_refused(warm: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    user = os.getuid()
    monkeypatch.setattr(os, "getuid", lambda: user + 1)
    with pytest.warns(UserWarning, match=f"belongs to another user \\(number {user}\\)"):
        assert served() == (1, 0)


def test_a_cache_that_others_may_replace_is_refused(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    above = folder / "shared"
    (above / "mine").mkdir(parents=True)
    above.chmod(0o777)
    assert "others may write to" in private.problem(above / "mine")
    above.chmod(0o1777)  # as /tmp is: nobody moves what is another's
    assert private.problem(above / "mine") == ""


@pytest.mark.parametrize("kind", ["writable", "link", "pipe", "foreign"])
def test_a_file_of_others_is_not_loaded(warm: Path, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    (path,) = files(warm, "*.so")
    if kind == "writable":
        path.chmod(0o620)
    elif kind == "link":
        path.rename(warm / "elsewhere")
        path.symlink_to(warm / "elsewhere")
    elif kind == "pipe":
        path.unlink()
        os.mkfifo(path)
    else:
        owner = os.fstat

        def foreign(handle: int) -> os.stat_result:
            info = list(owner(handle))
            info[4] += 1
            return os.stat_result(info)

        monkeypatch.setattr(os, "fstat", foreign)
        assert cache.read(path.parent.name, looked_up) is None
        return
    assert cache.read(path.parent.name, looked_up) is None


def test_what_is_written_is_for_the_user_alone(folder: Path) -> None:
    before = os.umask(0)
    try:
        served()
    finally:
        os.umask(before)
    assert {path.stat().st_mode & 0o777 for path in folder.rglob("*") if path.is_dir()} == {0o700}
    assert {path.stat().st_mode & 0o777 for path in files(folder)} == {0o600}


# ---- nothing is left behind ------------------------------------------------------------------------------------------


def broken_compiler(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "cc"
    path.write_text("#!/bin/sh\necho 'no such flag' >&2\nexit 1\n")
    path.chmod(0o755)
    monkeypatch.setenv("CC", str(path))


def test_a_link_in_the_folder_for_temporary_files_is_not_followed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    precious = tmp_path / "precious"
    precious.write_text("mine")
    (tmp_path / "tmp" / "transkern-weighted.c").symlink_to(precious)
    broken_compiler(tmp_path, monkeypatch)
    with pytest.raises(transkern.BuildError, match="no such flag") as caught:
        transkern.compile(weighted, target="cpu")(X)
    assert precious.read_text() == "mine"
    assert [p.name for p in (tmp_path / "tmp").iterdir()] == ["transkern-weighted.c"]
    kept = Path(str(caught.value).partition("code: ")[2].splitlines()[0])
    assert "weighted" in kept.read_text() and kept.stat().st_mode & 0o777 == 0o600


def test_nothing_is_left_after_a_run(warm: Path, tmp_path: Path) -> None:
    assert not list((tmp_path / "tmp").iterdir())
    assert not list((warm / "scratch").iterdir())
    assert sorted(path.suffix for path in files(warm / "functions")) == ["", ".json", ".so"]


@pytest.mark.parametrize("error", [KeyboardInterrupt, OSError(errno.ENOSPC, "No space left on device"), SystemExit])
def test_nothing_is_left_after_an_interruption(
    folder: Path, tmp_path: Path, error: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No half file, no scratch folder, and no lock that the next one would wait for."""

    def interrupted(*args: Any, **options: Any) -> Any:
        raise error

    with monkeypatch.context() as patch:
        if isinstance(error, OSError):
            patch.setattr(private, "write", interrupted)
            with pytest.warns(UserWarning, match="No space left on device"):
                served()
        else:
            patch.setattr(subprocess, "run", interrupted)
            with pytest.raises(error):
                served()
    assert not list((tmp_path / "tmp").iterdir())
    assert not list((folder / "scratch").iterdir())
    assert not [path for path in files(folder / "functions") if path.name != "lock"]
    start = time.monotonic()
    with private.locked(next(iter(files(folder, "lock"))), 5) as held:
        assert held and time.monotonic() - start < 1


def test_what_killed_processes_left_goes(folder: Path) -> None:
    parent = private.made(folder / "scratch")
    gone, alive, young = (parent / f"transkern-scratch-{name}" for name in ("gone", "alive", "young"))
    foreign = parent / "somebody's"
    for path in (gone, alive, young, foreign):
        path.mkdir()
        (path / "lock").touch()
        (path / "f.c").touch()
    with private.locked(alive / "lock", 0):
        for path in (gone, alive, foreign):
            os.utime(path, (0, 0))
        with private.scratch(parent):
            pass
    assert sorted(path.name for path in parent.iterdir()) == sorted(p.name for p in (alive, young, foreign))


def test_clearing_takes_all_of_ours_and_nothing_else(warm: Path, tmp_path: Path) -> None:
    key = "0123456789abcdef0123456789abcdef01234567"
    earlier = [warm / f"{key}.json", warm / f"{key}-{key}.so", warm / f"{key}-{key}.so.4711", warm / f"{key}.12.tmp"]
    left = tmp_path / "tmp" / "transkern-ab12_xyz"
    left.mkdir()
    others = [warm / "thesis.json", warm / "functions.txt", tmp_path / "tmp" / "transkern-mine.c"]
    for path in (*earlier, left / "f.so", *others, tmp_path / "tmp" / "transkern-f.c"):
        path.write_text("int x;\n")
    (tmp_path / "tmp" / "transkern-f.c").write_text("// f(x)\n// compiled from a.py by transkern\n")
    for path in (tmp_path / "tmp").iterdir():
        os.utime(path, (0, 0))
    assert cache.clear() >= len(earlier) + 4
    assert not cache.files()
    assert sorted(files(tmp_path)) == sorted(others) and not left.exists()


# ---- one compiles, the others wait -----------------------------------------------------------------------------------


@pytest.fixture
def compilations(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[], int]]:
    """Counts runs of the C compiler for modules, in this process and others; what these have in common is not compiled
    more often than once either."""
    log, path = tmp_path / "log", tmp_path / "counting"
    path.write_text(f'#!/bin/sh\necho "$@" >> {log}\nsleep 0.3\nexec cc "$@"\n')
    path.chmod(0o755)
    monkeypatch.setenv("CC", str(path))

    def count() -> int:
        lines = log.read_text().splitlines() if log.exists() else []
        common = [line for line in lines if " -c " in line]
        assert len(common) <= 1
        return len(lines) - len(common)

    yield count


def test_eight_threads_that_call_a_cold_function(compilations: Callable[[], int]) -> None:
    wrong: list[Any] = []
    for objects in (1, 8):
        made = [transkern.compile(weighted, target="cpu") for _ in range(objects)]
        together = threading.Barrier(8)

        def call(k: int, made: list[Any] = made, together: threading.Barrier = together) -> None:
            together.wait()
            try:
                np.testing.assert_array_equal(made[k % len(made)](X), weighted(X))
            except BaseException as error:
                wrong.append(error)

        threads = [threading.Thread(target=call, args=(k,)) for k in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert not wrong
        assert compilations() == 1


def test_eight_threads_without_a_disk(compilations: Callable[[], int], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRANSKERN_CACHE_DIR", "/dev/null/none")
    with pytest.warns(UserWarning, match="no disk cache"):
        test_eight_threads_that_call_a_cold_function(compilations)


def test_many_processes_compile_once(compilations: Callable[[], int]) -> None:
    code = "from tests.trust.test_files import served; print(*served())"
    running = [subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) for _ in range(4)]
    said = sorted(process.communicate()[0].strip() for process in running)
    assert said == ["0 1", "0 1", "0 1", "1 0"]
    assert compilations() == 1


def test_a_killed_process_holds_nobody_up(folder: Path) -> None:
    code = (
        "import sys, time\nfrom pathlib import Path\nfrom transkern import private\n"
        "with private.locked(Path(sys.argv[1]), 0) as held: print(held, flush=True); time.sleep(60)\n"
    )
    lock = folder / "lock"
    owner = subprocess.Popen([sys.executable, "-c", code, str(lock)], stdout=subprocess.PIPE, text=True)
    assert owner.stdout is not None and owner.stdout.readline().strip() == "True"
    with private.locked(lock, 0.05) as held:
        assert not held  # nor does one that only sleeps, for long
    owner.send_signal(signal.SIGKILL)
    owner.wait()
    owner.stdout.close()
    start = time.monotonic()
    with private.locked(lock, 30) as held:
        assert held and time.monotonic() - start < 5


# ---- where the disk does not take part -------------------------------------------------------------------------------


def only_warning(match: str, call: Callable[[], Any]) -> Any:
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        result = call()
    texts = [str(w.message) for w in said if issubclass(w.category, UserWarning)]
    assert len(texts) == 1 and match in texts[0], texts
    assert said[0].filename == __file__
    return result


def refusing(error: int, below: Path) -> Callable[..., Any]:
    """`os.open` and `os.mkdir` of a disk that takes nothing below a folder."""

    def guard(real: Callable[..., Any]) -> Callable[..., Any]:
        def guarded(path: Any, *args: Any, **options: Any) -> Any:
            writes = real is not os_open or args[0] & (os.O_WRONLY | os.O_RDWR | os.O_CREAT)
            if writes and below in Path(path).parents:
                raise OSError(error, os.strerror(error), str(path))
            return real(path, *args, **options)

        return guarded

    os_open = os.open
    return guard


@pytest.mark.parametrize("error", [errno.ENOSPC, errno.EROFS, errno.EDQUOT])
def test_a_disk_that_takes_nothing_costs_only_the_cache(
    warm: Path, error: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    guard = refusing(error, warm)
    for name in ("open", "mkdir"):
        monkeypatch.setattr(os, name, guard(getattr(os, name)))
    assert served() == (0, 1)  # what is there serves, without a word

    def other(x: Any) -> Any:
        return x * WEIGHTS - 1

    assert only_warning(os.strerror(error), lambda: served(other)) == (1, 0)
    assert served(other) == (0, 1)  # from memory, and said once


def test_a_disk_that_fills_up_is_left_for_another(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The compiler fails in the cache's folder, where there is no room, and works in the next one."""
    path = tmp_path / "cc-full"
    path.write_text(f'#!/bin/sh\ncase "$*" in *{folder}*) echo full >&2; exit 1;; esac\nexec cc "$@"\n')
    path.chmod(0o755)
    monkeypatch.setenv("CC", str(path))
    monkeypatch.setattr(build, "_has_room", lambda place: folder not in place.parents)
    assert served() == (1, 0)
    assert not list((tmp_path / "tmp").iterdir())


@pytest.mark.parametrize("memory", [True, False])
def test_a_disk_without_programs(warm: Path, memory: bool, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """`noexec`: what is read from there runs from memory, or from wherever it may."""
    real = build.import_file

    def import_file(path: Path, name: str) -> Any:
        if warm in path.parents:
            raise ImportError("failed to map segment from shared object")
        return real(path, name)

    def none(name: str) -> int:
        raise OSError(errno.ENOSYS, "none")

    monkeypatch.setattr(build, "import_file", import_file)
    if not memory:
        monkeypatch.setattr(os, "memfd_create", none)
    assert served() == (0, 1)
    assert not list((tmp_path / "tmp").iterdir())


def test_no_compiler_with_a_warm_cache(warm: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(warm))
    assert served() == (0, 1)
    with pytest.raises(transkern.TargetUnavailable, match="no C compiler was found"):
        transkern.compile(handed_on, target="cpu")(X)


def test_a_warm_cache_starts_no_program(warm: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(subprocess, "Popen")
    assert served() == (0, 1)


@pytest.mark.parametrize("setting", ["file", "no home", "below a file"])
def test_no_place_for_a_cache(tmp_path: Path, setting: str, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("in the way")
    if setting == "no home":
        monkeypatch.delenv("TRANSKERN_CACHE_DIR")
        monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
        monkeypatch.setattr(os.path, "expanduser", lambda path: path)
        match = "there is no home directory"
    else:
        monkeypatch.setenv("TRANSKERN_CACHE_DIR", str(tmp_path / "file" / ("" if setting == "file" else "cache")))
        match = "not a folder" if setting == "file" else "cannot be made"
    assert only_warning(match, served) == (1, 0)
    assert not list((tmp_path / "tmp").iterdir())


def test_the_cache_is_emptied_while_others_make_and_delete_folders(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TRANSKERN_CACHE_DIR", str(tmp_path))
    (tmp_path / "scratch").mkdir(mode=0o700)
    ended = threading.Event()

    def others() -> None:
        while not ended.is_set():
            with tempfile.TemporaryDirectory(dir=tmp_path / "scratch", ignore_cleanup_errors=True) as folder:
                Path(folder, "a.so").write_bytes(b"")
                Path(folder, "inner").mkdir()

    threads = [threading.Thread(target=others) for _ in range(3)]
    for thread in threads:
        thread.start()
    try:
        for _ in range(300):
            cache.files()
            cache.clear()
            caching.size()
    finally:
        ended.set()
        for thread in threads:
            thread.join()
