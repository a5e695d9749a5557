"""Kernels are kept where they can be, and komb works where they cannot."""

from __future__ import annotations

import logging
import os
import shutil
import stat
import subprocess
import sys
from functools import cache
from pathlib import Path

import numpy as np
import pytest

import komb
from komb.engine import compiling, kernel_cache
from komb.engine.kernel_cache import KernelCache, is_private, is_writable, read_checked
from komb.engine.kernels.memo import move

Patch = pytest.MonkeyPatch

SOURCE = Path(komb.__file__).parent

ONE_KERNEL = """
import numpy as np
from komb.engine.kernels.memo import move
keys, values = np.array([[1, 2]], np.uint64), np.zeros((2, 1), np.uint8)
new, used = np.zeros((4, 2), np.uint64), np.zeros(1, np.int64)
move.compiled(keys, values, new, np.zeros((5, 1), np.int64), used)
print(new.argmax(), sum(move.compiled.stats.cache_hits.values()))
"""

# The second time by a kernel that knows nothing of the first, as another process would.
TWICE = (
    ONE_KERNEL
    + """
from komb.engine.compiling import kernel
move = kernel(move.py_func)
move.compiled(keys, values, new, np.zeros((5, 1), np.int64), used)
print(new.argmax(), sum(move.compiled.stats.cache_hits.values()))
"""
)

NOWHERE = str(Path(__file__, "folder"))  # below a file: not even root can write there
NO_TEMPORARY_FOLDER = f"import tempfile; tempfile.tempdir = {NOWHERE!r}"

SEARCH = """
import komb
table = komb.boolean_table("parity", 100, n_parents=2)
print(komb.markov_blanket(table, "Y", order=1, max_separator=1, test="g").members)
"""


@cache
def expected() -> str:
    """Return what the kernel returns."""
    keys, values = np.array([[1, 2]], np.uint64), np.zeros((2, 1), np.uint8)
    new, used = np.zeros((4, 2), np.uint64), np.zeros(1, np.int64)
    move(keys, values, new, np.zeros((5, 1), np.int64), used)
    return str(new.argmax())


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """An installation of its own, without any compiled files."""
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(SOURCE, tmp_path / "site" / "komb", ignore=ignored)
    return tmp_path / "site"


def run(
    copy: Path, code: str, *prefix: str, **variables: object
) -> subprocess.CompletedProcess[str]:
    taken = {"KOMB_CACHE_DIR", "NUMBA_CACHE_DIR", "XDG_CACHE_HOME", "NUMBA_DISABLE_JIT"}
    environment = {name: value for name, value in os.environ.items() if name not in taken}
    environment |= {"PYTHONPATH": str(copy), "PYTHONDONTWRITEBYTECODE": "1", "NUMBA_OPT": "1"}
    environment |= {name: str(value) for name, value in variables.items()}
    command = [*prefix, sys.executable, "-W", "error", "-c", code]
    return subprocess.run(command, capture_output=True, text=True, env=environment, check=False)


def block(copy: Path) -> dict[str, object]:
    """Put a file where the folder beside the kernels would have to be, and have no home."""
    (copy / "komb" / "engine" / "__pycache__").write_text("")
    return {"HOME": NOWHERE}


def without_privileges() -> list[str]:
    """Return what takes from root the right to write into what is read-only."""
    if not hasattr(os, "getuid") or os.getuid() or not shutil.which("setpriv"):
        return []
    return ["setpriv", "--inh-caps=-all", "--bounding-set=-all"]


class TestFolders:
    def test_beside_the_kernels_first(self, copy: Path, tmp_path: Path) -> None:
        for hits in (0, 1):
            done = run(copy, ONE_KERNEL, HOME=tmp_path / "home")
            assert done.stdout.split() == [expected(), str(hits)]
            assert (kernel_cache.NOTICE in done.stderr) == (hits == 0)
        assert len(list((copy / "komb/engine/__pycache__").glob("*.nbc"))) == 1
        assert not list((tmp_path / "home").rglob("*.nbc"))

    def test_where_the_user_says(self, copy: Path, tmp_path: Path) -> None:
        for hits in (0, 1):
            done = run(copy, ONE_KERNEL, KOMB_CACHE_DIR=tmp_path / "mine")
            assert done.stdout.split() == [expected(), str(hits)]
        assert len(list((tmp_path / "mine").rglob("*.nbc"))) == 1

    def test_only_there_if_it_can_be_written(self, tmp_path: Path, monkeypatch: Patch) -> None:
        monkeypatch.setenv("KOMB_CACHE_DIR", str(tmp_path / "mine"))
        (folder,) = kernel_cache.find_folders()
        assert folder.parent == tmp_path / "mine"
        monkeypatch.setenv("KOMB_CACHE_DIR", NOWHERE)
        folders = kernel_cache.find_folders()
        assert folders[0].parent == Path(NOWHERE)
        assert folders[1] == SOURCE / "engine" / "__pycache__"

    def test_then_the_cache_folder_of_the_user(self, copy: Path, tmp_path: Path) -> None:
        done = run(copy, TWICE, **block(copy), XDG_CACHE_HOME=tmp_path / "cache")
        assert done.stdout.split() == [expected(), "0", expected(), "1"]
        assert len(list((tmp_path / "cache" / "komb").rglob("*.nbc"))) == 1

    def test_then_a_temporary_folder_of_their_own(self, copy: Path, tmp_path: Path) -> None:
        (tmp_path / "tmp").mkdir()
        done = run(copy, TWICE, **block(copy), TMPDIR=tmp_path / "tmp")
        assert done.stdout.split() == [expected(), "0", expected(), "1"]
        (own,) = (tmp_path / "tmp").iterdir()
        assert stat.S_IMODE(own.stat().st_mode) == 0o700

    def test_then_none_which_is_said_in_one_sentence(self, copy: Path) -> None:
        done = run(copy, NO_TEMPORARY_FOLDER + ONE_KERNEL, **block(copy))
        assert done.stdout.split() == [expected(), "0"]
        assert done.stderr.strip() == kernel_cache.NOTICE_WITHOUT_FOLDER

    def test_what_the_user_says_cannot_be_written(self, copy: Path, tmp_path: Path) -> None:
        (tmp_path / "file").write_text("")
        done = run(copy, ONE_KERNEL, KOMB_CACHE_DIR=tmp_path / "file")
        assert done.stdout.split() == [expected(), "0"]
        assert list((copy / "komb/engine/__pycache__").glob("*.nbc"))

    def test_a_read_only_copy_with_kernels_in_it(self, copy: Path) -> None:
        """As in the image of a container: made by root, used by others."""
        run(copy, ONE_KERNEL)
        set_mode(copy, 0o555)
        try:
            done = run(copy, ONE_KERNEL, *without_privileges(), HOME=NOWHERE)
        finally:
            set_mode(copy, 0o755)
        assert done.stdout.split() == [expected(), "1"]
        assert done.stderr == ""


def set_mode(folder: Path, mode: int) -> None:
    for path in (folder, *(path for path in folder.rglob("*") if path.is_dir())):
        path.chmod(mode)


def test_on_a_read_only_machine(copy: Path) -> None:
    """Without privileges, a home, a temporary folder or a file that could be written."""
    set_mode(copy, 0o555)
    try:
        done = run(copy, NO_TEMPORARY_FOLDER + ONE_KERNEL, *without_privileges(), HOME=NOWHERE)
    finally:
        set_mode(copy, 0o755)
    assert done.stdout.split() == [expected(), "0"]
    assert done.stderr.strip() == kernel_cache.NOTICE_WITHOUT_FOLDER


def test_without_compiling(copy: Path) -> None:
    """NUMBA_DISABLE_JIT=1 is for debuggers: slow, with the same answers."""
    done = run(copy, SEARCH, NUMBA_DISABLE_JIT=1)
    assert (done.stdout.strip(), done.stderr) == ("('X1', 'X2')", "")


def test_two_processes_at_once(copy: Path, tmp_path: Path) -> None:
    code = ONE_KERNEL.replace("np.uint8", "np.{}")
    kinds = "uint8", "uint16"
    variables = {"PYTHONPATH": str(copy), "KOMB_CACHE_DIR": str(tmp_path / "mine")}
    started = [
        subprocess.Popen(
            [sys.executable, "-c", code.format(kind)],
            env=os.environ | variables | {"NUMBA_OPT": "1"},
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        for kind in kinds * 2
    ]
    assert [process.communicate()[0].split()[0] for process in started] == [expected()] * 4
    assert len(list((tmp_path / "mine").rglob("*.nbc"))) == 2
    assert not list((tmp_path / "mine").rglob("*.tmp"))
    both = "".join(map(code.format, kinds))
    done = run(copy, both, KOMB_CACHE_DIR=tmp_path / "mine")
    assert done.stdout.split() == [expected(), "1", expected(), "2"]


class TestFiles:
    def test_a_damaged_kernel_is_compiled_again(self, tmp_path: Path) -> None:
        assert fresh_kernel(tmp_path)(1, 2) == 3
        (file,) = tmp_path.iterdir()
        whole = file.read_bytes()
        for damaged in (b"", whole[:100], whole[:-1] + bytes([whole[-1] ^ 1])):
            file.write_bytes(damaged)
            for hits in (0, 1):  # compiled, and then whole again
                add = fresh_kernel(tmp_path)
                assert add(1, 2) == 3
                assert sum(add.compiled.stats.cache_hits.values()) == hits
            assert read_checked(file) is not None

    @pytest.mark.parametrize(
        "changed", ["engine/fixed_point.py", "engine/kernels/bitmaps.py", "engine/kernels/loops.py"]
    )
    def test_other_sources_have_other_files(
        self, copy: Path, tmp_path: Path, monkeypatch: Patch, changed: str
    ) -> None:
        """A change anywhere in the packages counts; what it makes useless is removed."""
        stamp = kernel_cache.source_stamp()
        monkeypatch.setattr(kernel_cache, "files", lambda name: copy.joinpath(*name.split(".")))
        assert kernel_cache.source_stamp.__wrapped__() == stamp
        (tmp_path / "mine").mkdir()
        fresh_kernel(tmp_path / "mine")(1, 2)
        (before,) = (tmp_path / "mine").iterdir()

        with (copy / "komb" / changed).open("a") as source:
            source.write("# changed\n")
        monkeypatch.setattr(kernel_cache, "source_stamp", kernel_cache.source_stamp.__wrapped__)
        add = fresh_kernel(tmp_path / "mine")
        assert add(1, 2) == 3
        assert not add.compiled.stats.cache_hits
        (after,) = (tmp_path / "mine").iterdir()
        assert after.name != before.name

    def test_a_full_disk(self, monkeypatch: Patch, tmp_path: Path,
                         caplog: pytest.LogCaptureFixture) -> None:  # fmt: skip
        def fail(self: Path, data: bytes) -> int:
            raise OSError(28, "No space left on device")

        monkeypatch.setattr(Path, "write_bytes", fail)
        monkeypatch.setattr(kernel_cache, "_said", set())
        add = fresh_kernel(tmp_path)
        with caplog.at_level(logging.WARNING, "komb"):
            assert add(np.int64(2), 3) == 5
            assert add(2.0, 3) == 5.0
        assert len(caplog.messages) == 2
        assert caplog.messages[0] == kernel_cache.NOTICE
        assert "(no space left on device)" in caplog.messages[1]
        assert not list(tmp_path.iterdir())

    def test_flush_and_disable(self, tmp_path: Path) -> None:
        add = fresh_kernel(tmp_path)
        add(1, 2)
        assert len(list(tmp_path.iterdir())) == 1
        assert add.cache.cache_path == str(tmp_path)
        add.cache.flush()
        assert not list(tmp_path.iterdir())
        add.cache.disable()
        add(1.0, 2)
        assert not list(tmp_path.iterdir())


def fresh_kernel(folder: Path):  # type: ignore[no-untyped-def]
    @compiling.kernel
    def add(x, y):  # type: ignore[no-untyped-def]
        return x + y

    add.cache = KernelCache(add.py_func, [folder])
    return add


class TestPrivateFolders:
    def test_one_that_others_can_write_in(self, tmp_path: Path) -> None:
        tmp_path.chmod(0o777)
        assert not is_private(tmp_path)

    def test_a_link(self, tmp_path: Path) -> None:
        (tmp_path / "there").mkdir(mode=0o700)
        (tmp_path / "link").symlink_to(tmp_path / "there")
        assert is_private(tmp_path / "there")
        assert not is_private(tmp_path / "link")

    def test_one_of_somebody_else(self, tmp_path: Path, monkeypatch: Patch) -> None:
        uid = os.getuid()
        monkeypatch.setattr(os, "getuid", lambda: uid + 1)
        assert not is_private(tmp_path)

    def test_what_is_no_folder(self, tmp_path: Path) -> None:
        (tmp_path / "file").write_text("")
        assert not is_private(tmp_path / "file")
        assert not is_writable(tmp_path / "file")


def test_kernels_go_through_one_policy() -> None:
    """Numba's own cache stops komb where it cannot write."""
    for file in (SOURCE / "engine").rglob("*.py"):
        if file.name not in ("inner_functions.py", "kernel_cache.py"):
            assert "njit" not in file.read_text(), file.name


def test_popcount_in_python() -> None:
    for word in (0, 1, (1 << 64) - 1, 0x5555555555555555):
        assert compiling.popcount(np.uint64(word)) == bin(word).count("1")
