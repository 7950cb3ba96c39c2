"""Student code cannot reach the grading account, under bubblewrap and under Landlock.

Under Landlock, a student process is one of the account's own processes, and sees the machine's own
files.
"""

from __future__ import annotations

import ctypes
import errno
import json
import mmap
import os
import re
import signal
import sys
import tempfile
from dataclasses import replace
from pathlib import Path

import as_in_a_container
import pytest
from attacks.same_account import DAMAGE
from programs import run_program
from sandboxes import LIMITS, VISIBLE, descendants, kind, needs, printed, run, server
from small_school import wait_for

from autograder.errors import StudentProcessDied
from autograder.records import LANDLOCK, VisibleFiles
from autograder.sandbox import ForkServer, kinds
from autograder.sandbox.guest import confine, landlock, processes, system_calls

pytestmark = pytest.mark.subprocess

assert kind
assert server

needs_landlock = pytest.mark.skipif(
    bool(kinds.KINDS[LANDLOCK].why_not()), reason=kinds.KINDS[LANDLOCK].why_not()
)


def test_student_code_changes_no_file_of_the_account(kind, tmp_path):
    data, outside = tmp_path / "data.csv", tmp_path / "outside"
    for path in (data, outside):
        path.write_text("1,2,3\n" * 20_000)
        os.utime(path, (5, 5))
        path.chmod(0o640)
    before = [(path.read_text(), path.stat()) for path in (data, outside)]
    visible = VisibleFiles(data=(("value", "data.csv", str(data)),))
    cell = DAMAGE.replace("OUTSIDE", str(outside)).replace("FOLDER", str(tmp_path))
    limits = replace(LIMITS, file_size=100_000)  # so that data.csv is no copy of the student's own
    with ForkServer(limits, visible, kind) as server, server.spawn(1, "value") as student:
        reply = student.request({"cell": "print(open('data.csv').readline())\n" + cell}, 10)
    assert reply["error"] is None, reply
    assert reply["outputs"][0]["text"] == "1,2,3\n\n[]\n"
    for path, (text, was) in zip((data, outside), before, strict=True):
        now = path.stat()
        assert path.read_text() == text
        assert (now.st_mode, now.st_mtime, now.st_uid) == (was.st_mode, was.st_mtime, was.st_uid)
        assert os.listxattr(path) == []
    assert sorted(tmp_path.iterdir()) == [data, outside]


def test_setting_attributes_of_the_student_s_own_files_raises_no_error(server):
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


def test_system_calls_that_libraries_need_are_allowed(server):
    cell = """
        import asyncio, concurrent.futures, signal, sqlite3, zipfile, zoneinfo
        async def soon():
            await asyncio.sleep(0.001)
            return await asyncio.to_thread(lambda: 7)
        async def both():
            return await asyncio.gather(soon(), soon())
        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            squares = list(pool.map(lambda n: n * n, range(5)))
            seven = pool.submit(lambda: asyncio.run(both())).result()
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
    seen = printed(server, cell)
    assert seen == ([0, 1, 4, 9, 16], [7, 7], [1, 2], [(2,)], ["a"], "Europe/Berlin")


# The filter.


def test_every_call_that_is_not_in_the_table_is_refused(server):
    # The kernel asks no filter about x86's last two: they are for its own probes, and end the
    # caller.
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
    names = {*system_calls._CALLS, *system_calls._LOCKS}  # locks do nothing
    if kind == LANDLOCK:
        names |= set(system_calls._ATTRIBUTES)  # these do nothing
    else:
        names |= {*system_calls._ATTRIBUTES, *system_calls._WITH_NAMESPACES}
    return {system_calls.number(name) for name in names}


def test_the_numbers_of_system_calls_are_those_of_the_kernel_s_headers():
    """Compare the tables of system calls with the kernel's headers, if these are installed."""
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
    tables = (
        system_calls._CALLS,
        system_calls._WITH_NAMESPACES,
        system_calls._ATTRIBUTES,
        system_calls._LOCKS,
    )
    wrong = {
        name: numbers
        for table in tables
        for name, numbers in table.items()
        for number, known in zip(numbers, found, strict=True)
        if name in known and number != int(known[name])
    }
    assert wrong == {}


# Memory of processes.


def test_a_process_s_name_is_never_parsed_as_a_field_of_its_proc_files():
    """Give a process names that look like the lines and fields of the files in /proc about it."""
    keys = re.findall(r"^(\w+):", Path("/proc/self/status").read_text(), re.MULTILINE)
    keys += Path("/proc/net/sockstat").read_text().split()
    names = [f"{key.rstrip(':')}{end}"[-15:] for key in keys for end in (": 0", ":", " 0")]
    names += [") R 1 1 1 1 1", "a) S 0 (b", "\nVmRSS:\t0 kB", "x\nRssFile: 9999", "VmRSS:\xa0 0"]
    ours, theirs = os.pipe(), os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.close(ours[1])
            while name := os.read(ours[0], 16):
                text = ctypes.create_string_buffer(name, 16)
                confine.libc.prctl(15, ctypes.addressof(text), 0, 0, 0)
                os.write(theirs[1], b".")
        finally:
            os._exit(0)
    os.close(theirs[1])
    os.close(ours[0])
    try:
        found = {}
        for name in ["plain", *names]:
            os.write(ours[1], name.encode().ljust(16, b"\0"))
            assert os.read(theirs[0], 1) == b"."
            size, seconds = processes.kilobytes(child), processes.processor_seconds(child)
            assert abs(found.setdefault("size", size) - size) < 2000 and size > 1000, name
            assert 0 <= seconds < 5, name
            assert processes.tree(child) == {child: 1}, name
            assert processes.living(child) == f"/proc/{child}/task/{child}", name
    finally:
        for end in (ours[1], theirs[0]):
            os.close(end)
        os.waitpid(child, 0)
    assert (processes.kilobytes(child), processes.living(child)) == (0, None)
    assert len(names) > 150


@needs_landlock
def test_a_file_with_several_names_is_counted_once_with_its_size(tmp_path):
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "one").write_bytes(b"x" * 100_000)
    for name in ("two", "folder/three"):
        os.link(tmp_path / "folder" / "one", tmp_path / name)
    (tmp_path / "shown").symlink_to(tmp_path / "folder")
    folder = os.open(tmp_path, os.O_RDONLY)
    files = landlock._Files()
    unseen, mapped = (tempfile.TemporaryFile(dir=tmp_path) for _ in range(2))  # noqa: SIM115
    with unseen, mapped:
        for each in (unseen, mapped):
            each.write(b"x" * 200_000)
            each.flush()
        shown = mmap.mmap(mapped.fileno(), 4096)  # the mapping holds it open as well
        child = os.fork()
        if child == 0:
            signal.pause()
        files.add_folder(folder)
        assert 100_000 <= files.used < 150_000
        files.add_open(child)
        assert 500_000 <= files.used < 600_000
        assert files.only_mapped(child) == 0
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        shown.close()
    os.close(folder)


def test_a_thread_cannot_have_its_own_table_of_open_files(server):
    needs(server, LANDLOCK)
    cell = """
        import ctypes
        libc = ctypes.CDLL(None, use_errno=True)
        print([libc.syscall(56 if __import__("os").uname().machine == "x86_64" else 220,
                            0x10000, 0, 0, 0, 0), ctypes.get_errno()])
    """
    assert printed(server, cell) == [-1, errno.EPERM]


def test_code_with_many_short_lived_threads_and_files_is_not_ended(server):
    """Threads and files that exist for a moment hide nothing."""
    cell = """
        import os, tempfile, threading, time
        until = time.monotonic() + 3
        def folders():
            while time.monotonic() < until:
                with tempfile.TemporaryDirectory() as folder:
                    open(folder + "/x", "w").close()
        def names():
            open("a", "w").close()
            while time.monotonic() < until:
                os.rename("a", "b"); os.rename("b", "a")
        def files():
            while time.monotonic() < until:
                with tempfile.TemporaryFile() as file:
                    file.write(b"x")
        def threads():
            while time.monotonic() < until:
                thread = threading.Thread(target=int)
                thread.start()
                thread.join()
        work = (folders, folders, names, files, threads)
        every = [threading.Thread(target=each) for each in work]
        for each in every:
            each.start()
        for each in every:
            each.join()
        print(7)
    """
    assert printed(server, cell, seconds=30) == 7


# Landlock alone.


def test_open_files_are_counted_after_the_main_thread_has_ended(server):
    needs(server, LANDLOCK)
    cell = """
        import ctypes, os, tempfile, threading, time
        held = []
        def write():
            time.sleep(0.3)
            for _ in range(6):
                held.append(tempfile.TemporaryFile())
                held[-1].write(bytes(7 << 20))
                held[-1].flush()
            time.sleep(60)
        threading.Thread(target=write).start()
        ctypes.CDLL(None).syscall(60 if os.uname().machine == "x86_64" else 93, 0)
    """
    with pytest.raises(StudentProcessDied) as lost:
        run(server, cell, seconds=5)
    assert lost.value.reason == "crashed"


@needs_landlock
def test_the_process_s_folder_is_removed_after_any_end(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    for is_killed in (False, True):
        with ForkServer(LIMITS, VISIBLE, LANDLOCK) as server:
            student = server.spawn(1)
            student.request({"cell": "open('x', 'w').write('x' * 10_000)"}, 5)
            assert len(list(tmp_path.iterdir())) == 1
            if is_killed:
                assert server._program is not None
                for pid in descendants(server._program.process.pid):
                    os.kill(pid, signal.SIGKILL)
        assert list(tmp_path.iterdir()) == []


@needs_landlock
def test_a_student_process_ends_with_its_fork_server(tmp_path):
    with ForkServer(LIMITS, VISIBLE, LANDLOCK) as server:
        assert server._program is not None
        top = server._program.process.pid
        student = server.spawn(1)
        student.send({"cell": "while True: pass"})
        [fork_server] = [pid for pid in descendants(top) if descendants(pid)]
        students = descendants(fork_server)
        os.kill(fork_server, signal.SIGKILL)
        wait_for(lambda: not any(Path(f"/proc/{pid}").exists() for pid in students))


AS_IT_WAS = """
import ctypes, json, os, sys
from autograder.sandbox.guest import confine, landlock
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
def test_files_are_protected_under_the_rules_of_each_version_of_landlock(tmp_path, version):
    """Simulate older versions on this kernel: their rules lack the later rights."""
    if version > landlock.version():
        pytest.skip(f"this kernel has version {landlock.version()}")
    (tmp_path / "own").mkdir()
    (tmp_path / "file").write_text("kept")
    code = AS_IT_WAS.replace("VERSION", str(version))
    assert json.loads(run_program([sys.executable, "-c", code, tmp_path]).stdout) == []
    assert (tmp_path / "file").read_text() == "kept"


@pytest.mark.parametrize(
    ("number", "says"),
    [
        (errno.ENOSYS, "came with Linux 5.13"),
        (errno.EOPNOTSUPP, "switched off"),
        (errno.EPERM, "refuses Landlock"),
    ],
)
def test_a_missing_landlock_is_reported_with_the_reason(monkeypatch, number, says):
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
from autograder.sandbox import ForkServer
with ForkServer(kind=sys.argv[1]) as server, server.spawn(1) as student:
    student.request({"cell": f"open({sys.argv[2]!r}, 'w')"}, 5)
"""


@pytest.mark.parametrize("kind", ["landlock", "auto"])
def test_without_bubblewrap_and_landlock_no_student_code_runs(tmp_path, kind):
    container = as_in_a_container.__file__
    ran = tmp_path / "ran"
    python = sys.executable
    line = [python, container, python, "-c", WITHOUT_LANDLOCK, kind, ran]
    done = run_program(line, status=1)
    assert "no student code was run" in done.stderr.splitlines()[-1]
    assert not ran.exists()
