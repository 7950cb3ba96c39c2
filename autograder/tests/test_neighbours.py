"""Two sandboxes that run at once share no object of the kernel that both can query."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
from attacks.neighbours import LOOK, NOT_ASKED, QUEUE, WAIT, WAKE
from sandboxes import LIMITS, VISIBLE, descendants, kind
from small_school import wait_for

from autograder.records import LANDLOCK
from autograder.sandbox import ForkServer
from autograder.sandbox.fork_server import StudentProcess
from autograder.sandbox.guest import standins, system_calls

pytestmark = pytest.mark.subprocess

assert kind  # fixture of every test here

CONTENT = bytes(range(256)) * 512
TABLES = (system_calls._CALLS, system_calls._WITH_NAMESPACES, system_calls._ATTRIBUTES,
          system_calls._LOCKS)  # fmt: skip
NUMBERS = {name: system_calls.number(name) for table in TABLES for name in table}
LOOKS = f"NUMBERS = {NUMBERS!r}\nFUTEX = NUMBERS['futex']\n{LOOK}"


@pytest.fixture(scope="module")
def servers(
    kind: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[ForkServer, ForkServer]]:
    """Return two servers of one program, whose processes run at once and see one file."""
    file = tmp_path_factory.mktemp("data") / "shared"
    file.write_bytes(CONTENT)
    visible = replace(VISIBLE, data=(("value", "shared", str(file)),))
    one, other = ForkServer.start_fork_servers(
        2,
        replace(LIMITS, file_size=100_000),
        visible,
        kind,  # too large to be copied
    )
    with one, other:
        yield one, other


@pytest.fixture
def neighbours(servers: tuple[ForkServer, ForkServer]) -> list[StudentProcess]:
    return [each.spawn(1, "value") for each in servers]


@pytest.fixture
def student(servers: tuple[ForkServer, ForkServer]) -> StudentProcess:
    return servers[0].spawn(1, "value")


def needs_processes(kind: str) -> None:
    if kind == LANDLOCK:
        pytest.skip("Landlock's processes start none")


def said(student: StudentProcess, cell: str) -> str:
    """Return the text that a cell printed."""
    reply = student.request({"cell": textwrap.dedent(cell)}, 30)
    assert reply["error"] is None, reply
    return "".join(each["text"] for each in reply["outputs"])


def test_each_allowed_system_call_is_tested_between_two_students_or_exempt():
    asked = LOOK.partition("CALLS = {")[2]
    names = {name for name in NUMBERS if f'"{name}"' in asked}
    assert names | set(NOT_ASKED) == set(NUMBERS)
    assert not names & set(NOT_ASKED)


def test_no_system_call_on_a_shared_file_shows_what_another_student_does(neighbours):
    """Let the other student's process make all the calls again and again meanwhile."""
    acting, asking = neighbours
    said(acting, f"{LOOKS}\n_ = look()")
    before = said(asking, f"{LOOKS}\nlook(); print(look())")
    acting.send({"cell": f"{WAIT}{QUEUE}\nwhile True: look()"})
    assert said(asking, "print(look())") == before
    assert said(asking, "print(look())") == before
    told = ast.literal_eval(before)
    assert len(told) > 50
    assert told["read"][0][0] == 512


def test_student_processes_share_no_writable_memory(servers, neighbours):
    """Each process inherits the mappings of the fork server, with the course's modules imported."""
    assert servers[0]._program is not None
    shared, read = [], 0
    for pid in descendants(servers[0]._program.process.pid):
        with suppress(PermissionError):  # a process of another user namespace
            lines = Path(f"/proc/{pid}/maps").read_text().splitlines()
            shared += [line for line in lines if re.fullmatch(".w.s", line.split()[1])]
            read += bool(lines)
    assert read
    assert not shared


def test_a_futex_in_a_shared_file_carries_no_message_between_students(neighbours):
    acting, asking = neighbours
    for student in neighbours:
        said(student, LOOKS)
    said(acting, WAIT)
    assert said(asking, WAKE) == "00000000\n"


def test_outside_of_a_sandbox_a_futex_in_a_shared_file_carries_a_message(tmp_path):
    """Prove that the test above would notice a message."""
    (tmp_path / "shared").write_bytes(CONTENT)
    bits = "10110010"
    telling = subprocess.Popen(
        [sys.executable, "-c", f"{LOOKS}\n{WAIT}\nimport time; time.sleep(1000)"], cwd=tmp_path
    )
    try:
        heard = ["0"] * 8

        def are_heard() -> bool:
            line = [sys.executable, "-c", f"{LOOKS}\n{WAKE}"]
            woken = subprocess.run(line, cwd=tmp_path, capture_output=True, text=True).stdout
            heard[:] = map(max, heard, woken.strip())
            return "".join(heard) == bits

        wait_for(are_heard)
    finally:
        telling.kill()
        telling.wait()


def test_system_calls_on_a_shared_futex_neither_wait_nor_wake(student):
    """Also in the ways by which the kernel itself wakes: at a thread's end it asks no filter."""
    cell = f"""{LOOKS}
def outcome(kind, flags):
    done = libc.syscall(FUTEX, at, kind | flags, word, 0, at, word)
    return done if done >= 0 else errno.errorcode[ctypes.get_errno()]
print({{kind: outcome(kind, flags) for kind in range(16) for flags in (256, 0)}})
"""
    told = ast.literal_eval(said(student, cell))
    assert {kind: told.pop(kind) for kind in (0, 1, 9, 10)} == {
        0: "EAGAIN", 1: 0, 9: "EAGAIN", 10: 0
    }  # fmt: skip
    assert set(told.values()) == {"ENOSYS"}


def test_counters_of_page_faults_show_nothing_to_student_code(student):
    """Page faults depend on which parts of a file were in memory. A pointer may have a lower half
    of 0."""
    cell = f"""{LOOKS}
import resource
GETRUSAGE = {{"x86_64": 98, "aarch64": 165}}[os.uname().machine]
high = libc.mmap(1 << 32, SIZE, 3, 0x32, -1, 0)
assert high == 1 << 32
refused = [libc.syscall(GETRUSAGE, who, ROOM, 0, 0, 0, 0) for who in (0, -1, 1)]
refused += [libc.syscall(NUMBERS["wait4"], -1, 0, 1, into, 0, 0) for into in (ROOM, high)]
refused += [libc.syscall(NUMBERS["waitid"], 0, 0, 0, 5, into, 0) for into in (ROOM, high)]
print(refused, ctypes.get_errno() == errno.EPERM, room.raw.strip(b"\\0"))
"""
    assert said(student, cell) == f"{[-1] * 7} True b''\n"


def test_student_code_can_measure_its_own_processor_time(student):
    cell = """
        import resource, time
        %time sum(range(1000))
        %timeit -n1 -r1 sum(range(1000))
        whole = time.process_time()
        used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_THREAD,
                                                    resource.RUSAGE_CHILDREN)]
        for each in used:
            assert each.ru_utime >= 0 and each.ru_stime >= 0 and not any(each[2:])
        assert used[0].ru_utime + used[0].ru_stime >= whole
    """
    told = said(student, cell)
    assert "CPU times" in told
    assert "per loop" in told


def test_student_code_can_wait_for_its_child_processes(kind, student):
    needs_processes(kind)
    cell = """
        import asyncio, os, subprocess, sys
        def child():
            if (number := os.fork()) == 0:
                os._exit(3)
            return number
        async def status():
            return await (await asyncio.create_subprocess_exec("true")).wait()
        codes = [subprocess.run(["true"]).returncode, await status()]
        codes += [os.waitstatus_to_exitcode(os.waitpid(child(), 0)[1])]
        child()
        codes += [os.waitstatus_to_exitcode(os.wait()[1])]
        codes += [os.waitid(os.P_PID, child(), os.WEXITED).si_status]
        print(codes)
    """
    assert ast.literal_eval(said(student, cell)) == [0, 0, 3, 3, 3]


POOLS = """
import multiprocessing, queue, sys
from concurrent.futures import ProcessPoolExecutor
sys.modules["__main__"].__spec__ = None
def work(lock, numbers, number):
    for _ in range(50):
        with lock:
            pass
    numbers.put(number)
done = []
fork = multiprocessing.get_context("fork")
for way in ("fork", "spawn"):
    context = multiprocessing.get_context(way)
    with context.Pool(3) as pool:
        done.append(pool.map(abs, range(-4, 0)))
    with ProcessPoolExecutor(2, context) as pool:
        done.append(list(pool.map(abs, range(-4, 0))))
        kind = pool.submit(eval, "__import__('_multiprocessing').SemLock.__module__").result()
        done.append(kind)
lock, numbers = fork.Lock(), fork.Queue()
every = [fork.Process(target=work, args=(lock, numbers, number)) for number in range(4)]
for each in every:
    each.start()
done.append(sorted(numbers.get() for _ in every))
for each in every:
    each.join()
try:
    numbers.get(timeout=0.01)
except queue.Empty:
    done.append("empty")
lock.acquire()
bounded = fork.BoundedSemaphore(2)
done.append((lock.acquire(timeout=0.01), bounded.acquire(), bounded.get_value()))
print(done)
"""


def test_student_code_can_use_pools_of_processes(kind, student):
    needs_processes(kind)
    numbers, kind = [4, 3, 2, 1], standins.SemLock.__module__.rpartition("autograder.sandbox.")[2]
    pools = [numbers, numbers, kind]
    assert ast.literal_eval(said(student, POOLS)) == [
        *pools, *pools, [0, 1, 2, 3], "empty", (False, True, 1)
    ]  # fmt: skip


def test_waiting_for_a_semaphore_takes_little_of_a_processor(monkeypatch):
    """A clock that only the pauses advance: a minute has as many looks as longest pauses."""
    now = SimpleNamespace(time=0.0, looks=0)

    def sleep(seconds: float) -> None:
        now.time += seconds
        now.looks += 1

    monkeypatch.setattr(standins, "time", SimpleNamespace(monotonic=lambda: now.time, sleep=sleep))
    lock = standins.SemLock(1, 0, 1, f"/{now}"[:9], True)
    assert not lock.acquire(timeout=60.0)
    assert 60.0 <= now.time < 60.1
    assert now.looks < 6100
    lock.release()
    assert lock.acquire(timeout=60.0)
    assert now.looks < 6100
