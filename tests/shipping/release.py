"""`make dist`: the source distribution and the wheel, the same to the byte wherever and whenever they are built.

    python -m tests.shipping.release [--output dist]

Both are built twice, from copies of the repository in other folders with other times and rights; the wheel comes from
the source distribution. What differs is an error. Then twine checks what a package index would show, the wheel is
installed into an environment of its own, and CycloneDX writes down all that is in there (`*.cdx.json`). `SHA256SUMS`
has the sums.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).parents[2]
_LEFT_OUT = shutil.ignore_patterns(".*", "__pycache__", "site", "build", "dist", "*.egg-info", "venv*")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--output", type=Path, default=ROOT / "dist", help="the folder; what is in it is removed")
    output = parser.parse_args().output.resolve()
    with tempfile.TemporaryDirectory(prefix="transkern-dist-") as folder:
        made = built(Path(folder, "one"), epoch())
        again = built(Path(folder, "another", "place"), epoch(), os_umask=0o077, age=10**6)
        differ = [a.name for a, b in zip(made, again, strict=True) if a.read_bytes() != b.read_bytes()]
        if differ:
            print(f"built twice, and not the same: {', '.join(differ)}")
            return 1
        subprocess.run([sys.executable, "-m", "twine", "check", "--strict", *map(str, made)], check=True)
        shutil.rmtree(output, ignore_errors=True)
        output.mkdir(parents=True)
        for file in made:
            shutil.copy(file, output)
        write_parts(output / f"{made[0].name.removesuffix('.tar.gz')}.cdx.json", made[1], Path(folder))
    files = sorted(output.iterdir())
    sums = "".join(f"{hashlib.sha256(file.read_bytes()).hexdigest()}  {file.name}\n" for file in files)
    (output / "SHA256SUMS").write_text(sums)
    print(sums, end="")
    return 0


def epoch() -> int:
    """The time that files of an archive have: SOURCE_DATE_EPOCH, or that of the last commit."""
    if stated := os.environ.get("SOURCE_DATE_EPOCH"):
        return int(stated)
    last = subprocess.run(["git", "log", "-1", "--format=%ct"], cwd=ROOT, capture_output=True, text=True)
    return int(last.stdout) if last.returncode == 0 else 1_700_000_000


def built(folder: Path, epoch: int, os_umask: int = 0o022, age: int = 0) -> tuple[Path, Path]:
    """The source distribution of a copy of the repository, and the wheel of that; `age` makes the files older."""
    tree, out = folder / "tree", folder / "out"
    shutil.copytree(ROOT, tree, ignore=_LEFT_OUT)
    shutil.copy(ROOT / ".gitignore", tree)
    then = time.time() - age
    for file in tree.rglob("*"):
        if age and file.is_file():
            os.utime(file, (then, then))
            file.chmod(0o600)
    _build(tree, out, "sdist", epoch, os_umask)
    (sdist,) = out.glob("*.tar.gz")
    with tarfile.open(sdist) as archive:
        archive.extractall(folder / "unpacked", filter="data")
    (unpacked,) = (folder / "unpacked").iterdir()
    _build(unpacked, out, "wheel", epoch, os_umask)
    (wheel,) = out.glob("*.whl")
    return sdist, wheel


def _build(tree: Path, out: Path, kind: str, epoch: int, umask: int) -> None:
    words = [sys.executable, "-m", "hatchling", "build", "-t", kind, "-d", str(out)]
    environment = dict(os.environ, SOURCE_DATE_EPOCH=str(epoch))
    run = subprocess.run(words, cwd=tree, env=environment, capture_output=True, text=True, umask=umask)
    if run.returncode != 0:
        raise RuntimeError(run.stdout + run.stderr)


def write_parts(path: Path, wheel: Path, folder: Path) -> None:
    """What is installed with the wheel, as a CycloneDX bill of materials."""
    subprocess.run([sys.executable, "-m", "venv", str(folder / "alone")], check=True)
    python = str(folder / "alone" / "bin" / "python")
    subprocess.run([python, "-m", "pip", "install", "--quiet", "--no-input", str(wheel)], check=True)
    subprocess.run([python, "-m", "pip", "uninstall", "--quiet", "--yes", "pip", "setuptools"], check=True)
    words = ["cyclonedx_py", "environment", "--output-reproducible", "--of", "JSON", "-o", str(path), python]
    subprocess.run([sys.executable, "-m", *words], check=True)
    made = json.loads(path.read_text(encoding="utf-8"))
    for part in made["components"]:  # where the wheel lay is nobody's affair, and another place each time
        links = [link for link in part.get("externalReferences", ()) if not link["url"].startswith("file:")]
        part.pop("externalReferences", None)
        part.update({"externalReferences": links} if links else {})
    path.write_text(json.dumps(made, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
