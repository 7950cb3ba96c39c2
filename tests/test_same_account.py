"""What keeps student code from the account that grades: each kind of sandbox, and Landlock alone.

Under Landlock a student's process is one of the account's own, on the machine's own files.
"""

from __future__ import annotations

import errno
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest
from attacks.same_account import DAMAGE
from test_sandbox import LIMITS, VISIBLE, descendants, kind, printed, server

from autograder.model import LANDLOCK, Visible
from autograder.wall import WarmServer, kinds
from autograder.wall.inside import landlock, system_calls

assert kind and server  # fixtures of every test here

needs_landlock = pytest.mark.skipif(
    bool(kinds.KINDS[LANDLOCK].why_not()), reason=kinds.KINDS[LANDLOCK].why_not()
)


def test_no_file_of_the_account_is_changed(kind, tmp_path):
    data, outside = tmp_path / "data.csv", tmp_path / "outside"
    for path in (data, outside):
        path.write_text("1,2,3")
        os.utime(path, (5, 5))
        path.chmod(0o640)
    before = [(path.read_text(), path.stat()) for path in (data, outside)]
    visible = Visible(data=(("value", "data.csv", str(data)),))
    cell = DAMAGE.replace("OUTSIDE", str(outside)).replace("FOLDER", str(tmp_path))
    with WarmServer(LIMITS, visible, kind) as server, server.spawn(1, "value") as student:
        reply = student.request({"cell": "print(open('data.csv').read())\n" + cell}, 10)
    assert reply["error"] is None, reply
    assert reply["outputs"][0]["text"] == "1,2,3\n[]\n"
    for path, (text, was) in zip((data, outside), before, strict=True):
        now = path.stat()
        assert path.read_text() == text
        assert (now.st_mode, now.st_mtime, now.st_uid) == (was.st_mode, was.st_mtime, was.st_uid)
        assert os.listxattr(path) == []
    assert sorted(tmp_path.iterdir()) == [data, outside]


def test_attributes_of_its_own_files_may_be_set_or_not_and_break_nothing(server):
    cell = """
        import os, pathlib, shutil, tempfile
        pathlib.Path("a").write_text("x")
        shutil.copy("a", "b"); shutil.copy2("a", "c"); shutil.move("c", "d")
        pathlib.Path("a").touch()
        shutil.copytree(".", tempfile.mkdtemp() + "/all")
        with tempfile.TemporaryDirectory() as folder:
            open(folder + "/x", "w").close()
        print(sorted(each for each in os.listdir(".") if each in "abcd"))
    """
    assert printed(server, cell) == ["a", "b", "d"]


def test_what_libraries_need_works(server):
    cell = """
        import asyncio, concurrent.futures, signal, sqlite3, zipfile, zoneinfo
        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            squares = list(pool.map(lambda n: n * n, range(5)))
        async def soon():
            await asyncio.sleep(0.001)
            return await asyncio.to_thread(lambda: 7)
        async def both():
            return await asyncio.gather(soon(), soon())
        with asyncio.Runner() as runner:
            seven = runner.run(both())
        rung = []
        signal.signal(signal.SIGALRM, lambda *_: rung.append(1))
        signal.setitimer(signal.ITIMER_REAL, 0.001)
        signal.pause()
        signal.signal(signal.SIGUSR1, lambda *_: rung.append(2))
        signal.raise_signal(signal.SIGUSR1)
        rows = sqlite3.connect(":memory:").execute("select 1 + 1").fetchall()
        with zipfile.ZipFile("a.zip", "w") as archive:
            archive.writestr("a", "b")
        place = zoneinfo.ZoneInfo("Europe/Berlin").key
        print((squares, seven, rung, rows, zipfile.ZipFile("a.zip").namelist(), place))
    """
    told = printed(server, cell)
    assert told == ([0, 1, 4, 9, 16], [7, 7], [1, 2], [(2,)], ["a"], "Europe/Berlin")


# The filter.


def test_every_call_that_is_not_in_the_table_is_refused(server):
    # Of x86's last two the kernel asks no filter: they are for its own probes, and end who calls.
    known = {*_allowed(server.kind), 335, 336}
    cell = f"""
        import ctypes, errno
        libc, found = ctypes.CDLL(None, use_errno=True), []
        for number in sorted(set(range(700)) - {known}):
            if libc.syscall(number, -1, -1, -1, -1, -1, -1) != -1:
                found.append(number)
            elif ctypes.get_errno() not in (errno.EPERM, errno.ENOSYS, errno.ENOTSUP):
                found.append((number, ctypes.get_errno()))
            if number > 470 and ctypes.get_errno() != errno.ENOSYS:
                found.append((number, "newer"))
        print(found)
    """
    assert len(known) > 100
    assert printed(server, cell) == []


def _allowed(kind: str) -> set[int | None]:
    names = set(system_calls._CALLS)
    if kind == LANDLOCK:
        names |= set(system_calls._ATTRIBUTES)  # which do nothing
    else:
        names |= {*system_calls._ATTRIBUTES, *system_calls._WITH_NAMESPACES}
    return {system_calls.number(name) for name in names}


def test_the_numbers_are_the_kernels():
    """As far as its headers are on this machine, which are of one kind of machine alone."""
    folders = [Path("/usr/include/x86_64-linux-gnu/asm/unistd_64.h"),
               Path("/usr/include/asm-generic/unistd.h")]  # fmt: skip
    found = [
        dict(re.findall(r"#define __NR(?:3264)?_(\w+)\s+(\d+)", path.read_text()))
        for path in folders
        if path.exists()
    ]
    if len(found) < 2:
        pytest.skip("the kernel's headers are not installed")
    found[1]["newfstatat"] = found[1]["fstatat"]
    tables = (system_calls._CALLS, system_calls._WITH_NAMESPACES, system_calls._ATTRIBUTES)
    wrong = {
        name: numbers
        for table in tables
        for name, numbers in table.items()
        for number, known in zip(numbers, found, strict=True)
        if name in known and number != int(known[name])
    }
    assert wrong == {}


# Landlock alone.


@needs_landlock
def test_its_folder_is_removed_however_it_ends(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    for is_killed in (False, True):
        with WarmServer(LIMITS, VISIBLE, LANDLOCK) as server:
            student = server.spawn(1)
            student.request({"cell": "open('x', 'w').write('x' * 10_000)"}, 5)
            assert len(list(tmp_path.iterdir())) == 1
            if is_killed:
                assert server._program is not None
                for pid in descendants(server._program.process.pid):
                    os.kill(pid, signal.SIGKILL)
        assert list(tmp_path.iterdir()) == []


@needs_landlock
def test_a_students_process_ends_with_its_server(tmp_path):
    with WarmServer(LIMITS, VISIBLE, LANDLOCK) as server:
        assert server._program is not None
        top = server._program.process.pid
        student = server.spawn(1)
        student.tell({"cell": "while True: pass"})
        [warm] = [pid for pid in descendants(top) if descendants(pid)]
        students = descendants(warm)
        os.kill(warm, signal.SIGKILL)
        until = time.monotonic() + 10
        while any(Path(f"/proc/{pid}").exists() for pid in students):
            assert time.monotonic() < until
            time.sleep(0.01)


AS_IT_WAS = """
import ctypes, json, os, sys
from autograder.wall.inside import confine, landlock
landlock.version = lambda: VERSION
landlock.restrict([("/usr", landlock.READ), (sys.argv[1] + "/own", landlock.WRITE)])
confine.drop_privileges(has_namespaces=False)
managed = []
def attempt(name, action, *arguments):
    try:
        action(*arguments)
        managed.append(name)
    except OSError:
        pass
file = sys.argv[1] + "/file"
for flags in (os.O_TRUNC, os.O_TRUNC | 3, os.O_TRUNC | os.O_WRONLY, os.O_RDWR, os.O_RDONLY):
    attempt(f"open {flags}", os.open, file, flags)
attempt("truncate", os.truncate, file, 0)
attempt("rename", os.rename, file, sys.argv[1] + "/own/file")
attempt("link", os.link, file, sys.argv[1] + "/own/file")
os.chdir(sys.argv[1] + "/own")
open("a", "w").write("a")
open("a", "w").close()
os.rename("a", "b")
print(json.dumps(managed))
"""


@needs_landlock
@pytest.mark.parametrize("version", [1, 2, 3, 4, 5, 6, 7])
def test_files_are_kept_by_each_version_of_landlock(tmp_path, version):
    """As far as this kernel can play an older one: what that does not know is not asked for."""
    if version > landlock.version():
        pytest.skip(f"this kernel has version {landlock.version()}")
    (tmp_path / "own").mkdir()
    (tmp_path / "file").write_text("kept")
    code = AS_IT_WAS.replace("VERSION", str(version))
    line = [sys.executable, "-c", code, str(tmp_path)]
    done = subprocess.run(line, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == []
    assert (tmp_path / "file").read_text() == "kept"


@pytest.mark.parametrize(
    ("number", "says"),
    [
        (errno.ENOSYS, "came with Linux 5.13"),
        (errno.EOPNOTSUPP, "switched off"),
        (errno.EPERM, "refuses Landlock"),
    ],
)
def test_where_landlock_is_missing_it_says_why(monkeypatch, number, says):
    def refuse() -> int:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(landlock, "version", refuse)
    assert says in landlock.why_not()


WITHOUT_LANDLOCK = """
import ctypes, errno, struct, sys
libc = ctypes.CDLL(None, use_errno=True)
lines = [(0x20, 0, 0, 0), (0x15, 0, 1, 444), (0x06, 0, 0, 0x00050000 | errno.ENOSYS),
         (0x06, 0, 0, 0x7FFF0000)]
room = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *line) for line in lines))
about = ctypes.c_char_p(struct.pack("HxxxxxxP", 4, ctypes.addressof(room)))
assert libc.prctl(38, 1, 0, 0, 0) == 0 and libc.prctl(22, 2, about, 0, 0) == 0
from autograder.wall import WarmServer
with WarmServer(kind=sys.argv[1]) as server, server.spawn(1) as student:
    student.request({"cell": f"open({sys.argv[2]!r}, 'w')"}, 5)
"""


@pytest.mark.parametrize("kind", ["landlock", "auto"])
def test_where_the_kernel_has_neither_kind_nothing_runs(tmp_path, kind):
    container = Path(__file__).with_name("as_in_a_container.py")
    ran = tmp_path / "ran"
    python = sys.executable
    line = [python, str(container), python, "-c", WITHOUT_LANDLOCK, kind, str(ran)]
    done = subprocess.run(line, capture_output=True, text=True)
    assert done.returncode == 1
    assert "no student code was run" in done.stderr.splitlines()[-1]
    assert not ran.exists()
