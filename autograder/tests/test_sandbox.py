"""A student process can read, reach and change only its own files."""

from __future__ import annotations

import ast
import os
import pwd
import re
import socket
import sys
import textwrap
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from zlib import crc32

import pytest
from attacks.breaking import CONNECTION
from attacks.cells import CELLS, LITTLE, Attack
from sandboxes import LIMITS, VISIBLE, descendants, kind, needs, printed, run, server
from schools import append
from small_school import wait_for
from tested_course import COURSE

from autograder.authoring.release import copy_course
from autograder.course_folder.course import Course
from autograder.errors import SandboxDied, SandboxUnavailable, StudentProcessDied
from autograder.records import BUBBLEWRAP, LANDLOCK, Limits, VisibleFiles
from autograder.sandbox import ForkServer, kinds, on_one_processor
from autograder.sandbox.bubblewrap import may_mount_proc

pytestmark = pytest.mark.subprocess

assert kind  # fixtures of every test here
assert server

LIBC = """
import ctypes, errno, os
libc = ctypes.CDLL(None, use_errno=True)
def refused(name, *arguments):
    ctypes.set_errno(0)
    return getattr(libc, name)(*arguments) == -1 and ctypes.get_errno() in (
        errno.EPERM, errno.EACCES, errno.ENOSYS)
def syscall_refused(number, *arguments):
    return refused("syscall", number, *arguments)
"""


def wait_until_left(server: ForkServer, students: int) -> None:
    """Wait until there are so many students' processes, beside the one that was forked ahead.

    Processes are killed without waiting for their end, so it may take a moment.
    """
    server.fork_ahead()
    assert server._spare is not None
    assert server._program is not None
    server._spare.request({"steps": []}, 5)  # Once it answers it has been forked.
    idle = 2  # its one server and the process forked ahead
    if server.kind == BUBBLEWRAP:
        idle += 2 if may_mount_proc() else 1
    program = server._program.process.pid
    wait_for(lambda: len(descendants(program)) - idle == students)


def homes(server: ForkServer) -> Path:
    """Return the parent of the folders of student processes that Landlock confines."""
    assert server._program is not None
    given = " ".join(map(str, server._program.process.args))
    [folder] = {*re.findall(r"/\S+/autograder-sandbox-[^/']+", given)}
    return Path(folder) / "homes"


# Files and names that a process sees.


def test_cells_give_the_same_outputs_as_in_a_kernel(server: ForkServer) -> None:
    """Compare history, counts, displays and errors, for cells with and without IPython's syntax."""
    cells = [
        "a = 1",
        "a + 1",
        "b = _ + len(In)",
        "b",
        "b = 0\n1 / 0\nb = 1",
        "%precision 2\nc = b",
        "c",
        "print(_i3, _ih[4])\nd = 4",
        "return 5\nd = 5",
        "d",
    ]
    outputs = run(server, *cells)
    shown = {
        output["execution_count"]: output["data"]["text/plain"]
        for [output] in filter(None, outputs)
        if output["output_type"] == "execute_result"
    }
    assert shown == {2: "2", 4: "6", 7: "0", 10: "4"}
    [error], [printed], [refused] = outputs[4], outputs[7], outputs[8]
    assert error["ename"] == "ZeroDivisionError"
    assert "Cell In[5], line 2" in "".join(error["traceback"])
    assert printed["text"] == "b = _ + len(In) b\n"
    assert refused["ename"] == "SyntaxError"


# The output of each ends in 7; the others end with a statement that has no value.
WITH_A_VALUE = [
    "def f():\n    return 7\nf()",
    "x = 1; 7",
    'def f(x):\n    return 7\nf("""\na = 1 # """)',
    "def f(*_): return 7\nf(\n1,\n2)",
    "class A:\n    def __repr__(self):\n        return '7'\nA()\n# class B:\n",
    'def f(x): return 7\nf(f"""\ndef g(): {1}""")',
    'def f(x): return 7\nf("""\nclass B: # """)',
    "x = 7\n\fx",
    "7 if True else \\\n8",
    "(\n7\n)",
    "[\n7][0]",
]
WITHOUT = [
    "def f():\n    7\n",
    "class A:\n    7\n# 7\n",
    "x = 7\ny = (\n7)",
    'def f():\n    """\n7\n"""',
    "if True:\n    x = 7\nelse:\n    7",
    'x = """\n7\n"""',
    "@staticmethod\ndef f(): 7",
    "for x in [7]: x",
    "7; x = 7",
    "def f(): 7; 7",
    "",
    "# 7",
]


def test_the_value_of_a_cell_s_last_expression_is_shown_as_in_a_notebook(server):
    shown = run(server, *WITH_A_VALUE, *WITHOUT)
    printed = [
        "".join(output["data"]["text/plain"] for output in outputs)[-1:] for outputs in shown
    ]
    assert printed == ["7"] * len(WITH_A_VALUE) + [""] * len(WITHOUT)


def test_student_code_sees_no_process(server):
    cell = """
        import os
        try:
            print(os.listdir("/proc"))
        except PermissionError:
            print([])
    """
    assert printed(server, cell) == []


def test_student_code_has_a_fixed_list_of_environment_variables(server, monkeypatch):
    monkeypatch.setenv("AUTOGRADER_SECRET", "canary")
    seen = printed(server, "import os; print(dict(os.environ))")
    assert "canary" not in str(seen)
    more = {BUBBLEWRAP: {"PYTHONPATH"}, LANDLOCK: {"TMPDIR", "JOBLIB_MULTIPROCESSING"}}
    assert set(seen) == {
        "HOME", "USER", "LOGNAME", "PATH", "LANG", "TZ", "MPLBACKEND", "MPLCONFIGDIR", "IPYTHONDIR",
        "OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "PYTHONHASHSEED", "PYTHONDONTWRITEBYTECODE",
        "NBGRADER_EXECUTION", "PWD", *more[server.kind],
    }  # fmt: skip


def test_no_file_of_the_course_or_of_any_home_is_visible(server, course):
    here = Path(__file__)
    paths = [here, here.parents[1] / "src", COURSE.source, COURSE.grading_tests, course,
             Path.home() / ".bashrc", Path("/etc/passwd"), Path("/var"), Path("/run"),
             Path("/home", pwd.getpwuid(os.getuid()).pw_name), Path("/etc/hostname")]  # fmt: skip
    cell = f"""
        import os
        def is_seen(path):
            try:
                return bool(os.listdir(path) if os.path.isdir(path) else open(path, "rb"))
            except OSError:
                return False
        print([path for path in {list(map(str, paths))} if is_seen(path)])
    """
    assert printed(server, cell) == []
    if server.kind == BUBBLEWRAP:  # docs/security.md: Landlock hides no names.
        cell = f"import os; print([p for p in {list(map(str, paths))} if os.path.exists(p)])"
        assert printed(server, cell) == []


def test_a_student_process_is_alone_in_its_pid_namespace(server):
    needs(server, BUBBLEWRAP)
    cell = """
        import os
        def alive(pid):
            try:
                os.kill(pid, 0)
            except ProcessLookupError:
                return False
            except PermissionError:
                pass
            return True
        print([pid for pid in range(1, 5000) if alive(pid)])
    """
    assert printed(server, cell) == [1]


# Rights of a process.


def test_student_code_reaches_no_network(server):
    cell = """
        import socket
        def attempt(*family):
            try:
                with socket.socket(*family) as s:
                    s.settimeout(1)
                    s.connect(("127.0.0.1" if family[0] == socket.AF_INET else "::1", 53))
            except OSError as error:
                return True
        def no_socket(family, kind):
            try:
                socket.socket(family, kind)
            except OSError:
                return True
        print([attempt(socket.AF_INET, socket.SOCK_STREAM),
               attempt(socket.AF_INET6, socket.SOCK_STREAM),
               attempt(socket.AF_INET, socket.SOCK_DGRAM),
               no_socket(40, socket.SOCK_STREAM), no_socket(socket.AF_NETLINK, socket.SOCK_RAW),
               no_socket(socket.AF_PACKET, socket.SOCK_RAW), no_socket(38, socket.SOCK_SEQPACKET)])
    """
    assert printed(server, cell) == [True] * 7


CALLS = [
    'refused("mount", b"none", b"/tmp", b"tmpfs", 0, None)',
    'refused("umount2", b"/proc", 2)',
    'refused("unshare", 0x10000000)',
    'refused("unshare", 0x00020000)',
    'refused("setns", 3, 0)',
    'refused("ptrace", 16, 1, 0, 0)',
    'refused("memfd_create", b"x", 0)',
    'refused("process_vm_readv", 1, None, 0, None, 0, 0)',
    'refused("chroot", b"/tmp")',
    'refused("setuid", 0) or ctypes.get_errno() == errno.EINVAL',
    'refused("sethostname", b"x", 1)',
    'syscall_refused({"x86_64": 250}.get(os.uname().machine, 219), 0, 0)',
    'syscall_refused({"x86_64": 56}.get(os.uname().machine, 220), 0x10000011, 0, 0, 0, 0)',
    "syscall_refused(435, 0, 0)",
    "syscall_refused(425, 1, 0)",
    "syscall_refused(438, 0, 0, 0)",
    "syscall_refused(451, 0, 0, 0, 0)",
    'refused("mincore", 0, 0, 0)',
    'refused("inotify_add_watch", libc.inotify_init1(0), b"/usr/bin/env", 0x20)',
    'refused("fanotify_init", 0x200, 0)',
    "syscall_refused(444, 0, 0, 1)",
]


def test_dangerous_system_calls_are_refused(server):
    asked = ", ".join(f"({call!r}, {call})" for call in CALLS)
    allowed = printed(
        server, f"{LIBC}print([name for name, is_refused in [{asked}] if not is_refused])"
    )
    assert allowed == []


def test_a_process_has_no_capability_and_can_gain_none(server):
    cell = """
        import ctypes
        libc = ctypes.CDLL(None, use_errno=True)
        header, data = (ctypes.c_uint32 * 2)(0x20080522, 0), (ctypes.c_uint32 * 6)()
        assert libc.capget(header, data) == 0
        bounding = [c for c in range(41) if libc.prctl(23, c, 0, 0, 0) == 1]
        print(list(data), bounding, libc.prctl(39, 0, 0, 0, 0))
    """
    [output] = run(server, cell)[0]
    assert output["text"] == "[0, 0, 0, 0, 0, 0] [] 1\n"


def test_a_student_process_can_write_only_in_its_own_folders(server, course):
    # If it may not list the folders, it may still know their names.
    known = {"/", "/tmp", "/var/tmp", "/dev/shm", str(course), *map(str, Path("/").glob("*/*"))}
    cell = """
        known = KNOWN
        import os, tempfile
        found = []
        own = [os.environ["HOME"], tempfile.gettempdir()]
        for folder in dict.fromkeys([*(each[0] for each in os.walk("/")), *known, *own]):
            path = os.path.join(folder, "written-by-a-student")
            try:
                os.close(os.open(path, os.O_CREAT | os.O_WRONLY))
            except OSError:
                continue
            found.append(folder)
            os.unlink(path)
        print(sorted(found))
    """
    # A disk may be slow to list all its folders.
    folders = printed(server, cell.replace("KNOWN", repr(sorted(known))), seconds=120.0)
    shared = ["/dev/shm"] if server.kind == BUBBLEWRAP else []
    assert folders == [*shared, "/home/student", "/tmp"]


def test_a_student_process_sees_only_packages_for_students(server):
    """The autograder may be installed beside nbgrader: no part of it can be seen."""
    cell = """
        import os, sys
        for place in ("/", "/usr", sys.base_prefix, *sys.path):
            for folder, folders, files in os.walk(place):
                for name in {"nbgrader", "autograder", "pytest"} & {*folders, *files}:
                    print(os.path.join(folder, name))
        import importlib.util
        hidden = ("nbgrader", "autograder", "pytest", "sqlalchemy")
        print([name for name in hidden if importlib.util.find_spec(name)])
    """
    assert printed(server, cell, seconds=120.0) == []


def test_locks_on_a_shared_file_carry_no_message_between_students(server):
    cell = """
        import fcntl, os, struct
        file, told = os.open("/usr/bin/env", os.O_RDONLY), []
        for command in (fcntl.F_GETLK, fcntl.F_SETLK, fcntl.F_SETLKW, 36, 37, 38, 1024, 1026):
            try:
                lock = struct.pack("hhqqi4x", fcntl.F_RDLCK, 0, 1234, 1, 0)
                told.append((command, fcntl.fcntl(file, command, lock) == lock))
            except PermissionError:
                pass
        fcntl.flock(file, fcntl.LOCK_EX)
        print(told, fcntl.fcntl(file, fcntl.F_GETFL) & os.O_ACCMODE)
    """
    finds_no_lock, *seem_to_lock = [(5, False), (6, True), (7, True), (37, True), (38, True)]
    [output] = run(server, cell)[0]
    assert output["text"] == f"{[finds_no_lock, *seem_to_lock]} 0\n"


def test_a_process_counts_the_processors_that_it_may_use(server):
    cell = "import multiprocessing, os; print(multiprocessing.cpu_count(), os.sched_getaffinity(0))"
    count, *processors = run(server, cell)[0][0]["text"].split()
    assert int(count) == len(processors)


def test_a_file_lock_has_no_effect(server):
    """A second descriptor of the file would find it locked."""
    cell = """
        import fcntl
        with open("file", "w") as first, open("file", "w") as second:
            fcntl.flock(first, fcntl.LOCK_EX)
            fcntl.flock(second, fcntl.LOCK_EX | fcntl.LOCK_NB)
            fcntl.lockf(first, fcntl.LOCK_EX)
        print("unlocked")
    """
    assert run(server, cell)[0][0]["text"] == "unlocked\n"


def test_student_code_can_use_an_sqlite_database_in_a_file(server):
    cell = """
        import sqlite3
        for number in range(2):
            with sqlite3.connect("shop.db") as shop:
                shop.execute("create table if not exists goods (name text, price real)")
                shop.execute("insert into goods values ('tea', 2.5)")
            shop.close()
        with sqlite3.connect("shop.db") as shop:
            print(shop.execute("select count(*), sum(price) from goods").fetchone())
    """
    assert run(server, cell)[0][0]["text"] == "(2, 5.0)\n"


def test_two_students_share_no_state(server):
    leave = """
        import os, tempfile
        own = os.environ["HOME"], tempfile.gettempdir()
        for folder in ("/tmp", "/dev/shm", "/dev", "/dev/pts", *own):
            try:
                open(folder + "/left", "w").write("a secret")
            except OSError:
                pass
        os.write(1, b"a secret"); os.write(2, b"a secret")
        try:
            terminal = os.openpty()
        except OSError:
            pass
    """
    look = """
        import os, tempfile
        own = os.environ["HOME"], tempfile.gettempdir()
        found = []
        for folder in ("/tmp", "/dev/shm", "/dev", "/dev/pts", *own, os.path.dirname(own[0]),
                       os.path.dirname(os.path.dirname(own[0]))):
            try:
                found += [name for name in os.listdir(folder) if name in ("left", "0", "1")]
            except OSError:
                pass
        for fd in (0, 1, 2):
            try:
                found += os.pread(fd, 100, 0).split()
            except OSError:
                pass
        print(found)
    """
    with server.spawn(1) as one:
        assert one.request({"cell": textwrap.dedent(leave)}, 5)["error"] is None
        assert printed(server, look) == []
    assert printed(server, look) == []


def test_the_same_seed_gives_the_same_random_numbers_and_hashes(server):
    cell = "import random; print([random.random(), hash('text'), list({'a', 'b', 'c', 'd'})])"
    with ForkServer(visible=VISIBLE, kind=server.kind) as another:
        assert printed(server, cell) == printed(another, cell)


@pytest.mark.parametrize("magic", ["", "%matplotlib inline"])
def test_a_plot_is_shown_as_a_picture(server, magic):
    """No part of matplotlib is in memory: the student's process imports it."""
    cell = f"{magic}\nfrom matplotlib import pyplot as plt\nplt.plot([1, 2])\nplt.show()"
    imported = "import sys; print('matplotlib' in sys.modules)"
    before, *_, shown = run(server, imported, cell)
    assert before[0]["text"] == "False\n"
    assert [item["data"].keys() for item in shown] == [{"text/plain", "image/png"}]


def test_a_student_process_runs_on_the_processor_of_its_grader(server):
    look = "import os; print(os.sched_getaffinity(0))"
    everywhere = os.sched_getaffinity(0)
    with on_one_processor():
        [here] = os.sched_getaffinity(0)
        assert printed(server, look) == {here}
    assert os.sched_getaffinity(0) == printed(server, look) == everywhere


def test_fork_hooks_of_modules_run_in_forks_by_student_code(server):
    """The hooks that the server leaves out at a fork run in a student's own forks."""
    needs(server, BUBBLEWRAP)
    code = """
import os, random, threading, warnings
warnings.simplefilter("ignore")  # From Python 3.12 on, forking beside a thread gives one.
over = threading.Event()
threading.Thread(target=over.wait).start()
theirs, mine = os.pipe()
if os.fork() == 0:
    os.write(mine, repr((threading.active_count(), random.random())).encode())
    os._exit(0)
os.wait()
print((threading.active_count(), random.random()) + eval(os.read(theirs, 100)))
over.set()
"""
    threads, number, threads_in_child, number_in_child = printed(server, code)
    assert (threads, threads_in_child) == (2, 1)
    assert number != number_in_child


def test_closing_one_of_two_fork_servers_does_not_affect_the_other(kind):
    first, second = ForkServer.start_fork_servers(2, kind=kind)
    with second, second.spawn(1) as student:
        with first:
            left = first.spawn(1)
            assert left.request({"cell": "print(1)"}, 5)["error"] is None
        wait_until_left(second, 1)
        assert student.request({"cell": "print(2)"}, 5)["outputs"][0]["text"] == "2\n"
        assert printed(second, "print(3)") == 3


# Damage stays in its own cell.


@pytest.fixture
def listener(tmp_path: Path) -> Iterator[tuple[str, str, list[socket.socket]]]:
    """Return a path and a name, and the sockets that a process of this account can reach by
    them."""
    path, name = tmp_path / "socket", f"{os.getpid()}-{tmp_path.name}"
    with (
        socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as one,
        socket.socket(socket.AF_UNIX) as other,
    ):
        one.bind(str(path))
        other.bind(f"\0{name}")
        other.listen()
        for each in (one, other):
            each.setblocking(False)
        yield str(path), name, [one, other]


def came_to(server: ForkServer, attack: Attack) -> str:
    """Return the reason for the end of the process, or the last error or text that the cell
    showed."""
    try:
        outputs, after = run(server, attack.code, "print('in use')", seconds=attack.seconds)
    except StudentProcessDied as lost:
        return lost.reason
    assert after[0]["text"] == "in use\n"
    shown = str(outputs[-1].get("ename") or outputs[-1].get("text")) if outputs else ""
    return LITTLE if shown.strip().isdigit() and int(shown) << 20 < LIMITS.memory else shown


def marks(name: str, place: int) -> list[pytest.MarkDecorator]:
    """Return an attack's marks in a kind of sandbox: by day it is tried in one kind, drawn by its
    name."""
    return [] if crc32(name.encode()) % len(kinds.KINDS) == place else [pytest.mark.campaign]


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        pytest.param(each, name, marks=marks(name, place))
        for place, each in enumerate(kinds.KINDS)
        for name in CELLS
    ],
    indirect=["kind"],
)
def test_each_attack_ends_with_the_outcome_that_its_entry_requires(
    server, listener, measured, name
):
    path, own_name, sockets = listener
    attack = CELLS[name]
    if "LISTENER" in attack.code:
        code = attack.code.replace("LISTENER", path).replace("NAME", own_name)
        attack = attack._replace(code=code)
    must = attack.must
    if server.kind == LANDLOCK and attack.under_landlock is not None:
        must = attack.under_landlock
    found = came_to(server, attack)
    assert found in must if must else found not in ("crashed", "timeout", "out_of_memory")
    measured("attacks", 1)
    for each, ask in zip(sockets, (lambda it: it.recv(10), socket.socket.accept), strict=True):
        with pytest.raises(BlockingIOError):
            ask(each)
    # The next process finds no trace.
    wait_until_left(server, 0)
    if server.kind == LANDLOCK:
        assert len(list(homes(server).iterdir())) <= 3  # of the server, this process and the next
    assert printed(server, "import os; print(os.listdir('.'))") == []


def test_allocating_more_than_the_memory_limit_raises_a_memory_error(server):
    with server.spawn(1) as student:
        answer = student.request({"cell": "hoard = bytearray(4 << 30)"}, 5)
        assert answer["error"] == "MemoryError"


def test_processes_left_running_end_with_the_student_process(server):
    needs(server, BUBBLEWRAP)
    cell = """
        import os, time
        if os.fork() == 0:
            os.setsid()
            if os.fork() == 0:
                os.closerange(0, 256)
                time.sleep(1000)
            os._exit(0)
        print(1)
    """
    assert printed(server, cell) == 1
    wait_until_left(server, 0)


# Replies.


def test_a_reply_sent_in_advance_counts_as_the_reply_to_the_next_request(server):
    """A reply sent before its request counts as the reply; then the order is wrong."""
    said = {"outputs": [], "execution_count": 1, "error": None, "stopped": []}
    cell = CONNECTION + f"say({said})\nfor _ in range(3): say({{'values': [1]}})"
    with server.spawn(1) as student:
        assert student.request({"cell": cell}, 5) == said
        assert student.request({"steps": []}, 5) == {"values": [1]}


def test_only_the_first_process_replies_if_a_cell_forks(server):
    needs(server, BUBBLEWRAP)
    fork = "import os\nchild = os.fork()\nif child: os.waitpid(child, 0)\nprint(child > 0)"
    first, second = run(server, fork, "print('next')")
    assert first[0]["text"] == "True\n"
    assert second[0]["text"] == "next\n"


def test_a_process_that_does_not_listen_cannot_block_the_grader(server):
    said = {"outputs": [], "execution_count": 1, "error": None, "stopped": []}
    cell = CONNECTION + f"say({said}); time.sleep(100)"
    with server.spawn(1) as student:
        student.request({"cell": cell}, 5)
        student.allow(1, latest=time.monotonic() + 1)
        with pytest.raises(StudentProcessDied, match="timeout"):
            student.request({"cell": "#" * 5_000_000})


def test_starting_a_student_process_ends_the_former_one(server):
    first = server.spawn(1)
    first.request({"cell": "import os\nos.fork()"}, 5)
    with server.spawn(2) as second:
        assert not first.is_open
        with pytest.raises(StudentProcessDied, match="has ended"):
            first.request({"cell": "1"}, 5)
        assert second.request({"cell": "1"}, 5)["error"] is None


def test_a_student_process_inherits_only_its_connection(kind):
    """The grader may have many files open before it starts."""
    cell = """
        import os, stat
        held = {}
        for fd in range(5000):
            try:
                found = os.fstat(fd)
            except OSError:
                continue
            null = os.path.samestat(found, os.stat("/dev/null"))
            own = stat.S_ISREG(found.st_mode) and not found.st_nlink and not found.st_size
            held[fd] = "null" if null else "own" if own else stat.S_ISSOCK(found.st_mode)
        print(held)
    """
    held = [os.open(os.devnull, os.O_RDONLY) for _ in range(300)]
    try:
        with ForkServer(kind=kind) as server:
            # 4 to 6 belong to the event loop.
            assert printed(server, cell) == {
                0: "null", 1: "own", 2: "own", 3: True, 4: False, 5: True, 6: True
            }  # fmt: skip
    finally:
        for descriptor in held:
            os.close(descriptor)


SHARED_COUNTS = """
import ctypes, fcntl, os, socket
libc, refused = ctypes.CDLL(None, use_errno=True), []
a, b = socket.socketpair()
def tried(name, action):
    try:
        failed = action()
        if failed is not None and failed < 0:
            raise OSError(ctypes.get_errno(), name)
    except (PermissionError, OSError) as error:
        refused.append((name, error.errno))
r, w = os.pipe()
tried("descriptors in sockets", lambda: socket.send_fds(a, [b"x"], [0]) and None)
tried("inotify", lambda: libc.inotify_init1(0))
tried("sysinfo", lambda: libc.sysinfo(ctypes.create_string_buffer(200)))
tried("size of a pipe", lambda: fcntl.fcntl(w, 1032) and None)
tried("larger pipe", lambda: fcntl.fcntl(w, 1031, 1 << 20) and None)
tried("io_setup", lambda: libc.syscall({"x86_64": 206}.get(os.uname().machine, 0), 1,
                                       ctypes.byref(ctypes.c_ulong())))
file = os.open("/usr/bin/env", os.O_RDONLY)
tried("advice on files", lambda: os.posix_fadvise(file, 0, 0, os.POSIX_FADV_DONTNEED))
room = [bytearray(1)]
tried("reading what is in memory", lambda: os.preadv(file, room, 0, os.RWF_NOWAIT) and None)
tried("cookie", lambda: a.getsockopt(socket.SOL_SOCKET, 57, 8) and None)
[name for name, number in refused if number == 1]
"""


def test_system_calls_that_read_counters_shared_by_all_processes_are_refused(server):
    with server.spawn(1) as student:
        reply = student.request({"cell": SHARED_COUNTS}, 5)
    assert reply["outputs"][0]["data"]["text/plain"] == (
        "['descriptors in sockets',\n 'inotify',\n 'sysinfo',\n 'size of a pipe',\n"
        " 'larger pipe',\n 'io_setup',\n 'advice on files',\n 'reading what is in memory',\n"
        " 'cookie']"
    )


# Requirements of the machine.


@pytest.fixture
def fake_bwrap(tmp_path, monkeypatch):
    """Put a program in the place of bubblewrap, or none at all."""

    def put(script: str | None) -> Path:
        ran = tmp_path / "ran"
        if script is not None:
            program = tmp_path / "bwrap"
            program.write_text(f"#!/bin/sh\n{script}\n".replace("RAN", str(ran)))
            program.chmod(0o755)
        monkeypatch.setenv("PATH", str(tmp_path))
        monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))
        return ran

    return put


@pytest.mark.parametrize(
    ("script", "says"),
    [
        (None, "bubblewrap is not installed"),
        ("echo 'No permissions to create a new namespace' >&2; exit 1", "No permissions"),
        ("exit 0", "did not start"),
    ],
    ids=["missing", "refused", "says nothing"],
)
def test_without_a_sandbox_no_student_code_runs(fake_bwrap, script, says, tmp_path):
    from autograder.judging.grader import Grader
    from autograder.records import Cell

    folder = tmp_path / "course"
    copy_course(COURSE, folder)
    append(folder / "course.toml", '\n[sandbox]\nkind = "bubblewrap"\n')
    fake_bwrap(script)
    here = Path("/tmp/made-by-a-student-without-a-sandbox")
    with Grader(Course(folder), bytes(16)) as grader, pytest.raises(SandboxUnavailable, match=says):
        grader.grade("value", [Cell(f"open({str(here)!r}, 'w')")])
    assert not here.exists()


def test_a_kind_of_sandbox_that_works_is_chosen_and_reported(monkeypatch):
    why = {BUBBLEWRAP: "", LANDLOCK: ""}
    for name, module in kinds.KINDS.items():
        monkeypatch.setattr(module, "why_not", partial(why.__getitem__, name))
    assert (kinds.choose("auto"), kinds.notice("auto")) == (BUBBLEWRAP, "")
    why[BUBBLEWRAP] = "no namespaces"
    assert kinds.choose("auto") == LANDLOCK
    assert LANDLOCK in kinds.notice("auto")
    assert "no namespaces" in kinds.notice("auto")
    assert (kinds.choose(BUBBLEWRAP), kinds.notice(LANDLOCK)) == (BUBBLEWRAP, "")
    why[LANDLOCK] = "an old kernel"
    with pytest.raises(SandboxUnavailable, match=r"no namespaces.*an old kernel.*no student"):
        kinds.choose("auto")


def test_a_course_can_limit_the_output_of_a_cell():
    with ForkServer(Limits(output_bytes=5000)) as server, server.spawn(1) as student:
        [shown] = student.request({"cell": "print('x' * 100_000)"}, 10)["outputs"]
    assert shown["text"].startswith("x" * 5000 + "\n[The rest of this output was dropped")
    assert len(shown["text"]) < 5200


def test_modules_that_a_course_preloads_are_imported_in_each_process():
    visible = VisibleFiles(("ipython", "numpy"), preload=("numpy",))
    with ForkServer(visible=visible) as server, server.spawn(1) as student:
        cell = "import sys\nprint('numpy' in sys.modules, 'numpy' in globals())"
        [shown] = student.request({"cell": cell}, 10)["outputs"]
    assert shown["text"] == "True False\n"


def test_a_preloaded_module_that_fails_to_import_is_reported():
    with pytest.raises(SandboxDied, match=r"importing numpy, which course.toml names, raised Mod"):
        ForkServer(visible=VisibleFiles(preload=("numpy",))).start()


TABLES = """
import io, os, tempfile
import numpy as np, pandas as pd
table = pd.read_csv("marks.csv", parse_dates=["when"])
table["share"] = table["points"] / table["points"].max()
by_group = table.groupby("group").agg(mean=("points", "mean"), count=("points", "size"))
wide = table.pivot_table(index="when", columns="group", values="points").resample("7D").sum()
merged = table.merge(by_group, left_on="group", right_index=True).sort_values("points")
table.to_csv("out.csv"); table.to_json("out.json", date_format="iso"); table.to_pickle("out.pickle")
same = pd.read_csv("out.csv", index_col=0)["points"].equals(table["points"])
chunks = sum(len(each) for each in pd.read_csv("out.csv", chunksize=2))
text = table.to_html()
rng = np.random.default_rng(1)
a = rng.normal(size=(300, 300))
u, s, vt = np.linalg.svd(a)
solved = np.allclose(a @ np.linalg.solve(a, a[:, 0]), a[:, 0])
back = np.allclose(np.fft.ifft(np.fft.fft(a[0])).real, a[0])
np.save("a.npy", a); np.savez_compressed("a.npz", a=a)
mapped = np.load("a.npy", mmap_mode="r")
on_disk = np.memmap("b.bin", dtype="f8", mode="w+", shape=(100,)); on_disk[:] = 1; on_disk.flush()
with tempfile.TemporaryFile() as file:
    np.savetxt(file, a[:3])
large = np.ones((1500, 1500)); product = large @ large
print((by_group.to_dict()["count"], same, chunks, bool(np.allclose(u * s @ vt, a)), solved, back,
       bool(mapped[0, 0] == a[0, 0]), float(on_disk.sum()), float(product[0, 0]), len(text) > 100))
"""


def test_student_code_can_use_numpy_and_pandas(kind, tmp_path):
    """Import them by the names in a course's settings, with all processors visible and files to
    read."""
    (tmp_path / "marks.csv").write_text(
        "when,group,points\n2030-03-01,a,1\n2030-03-02,b,2\n2030-03-09,a,4\n"
    )
    data = (("value", "marks.csv", str(tmp_path / "marks.csv")),)
    visible = VisibleFiles(("ipython", "numpy", "pandas"), (), data)
    with ForkServer(Limits(), visible, kind) as server, server.spawn(1, "value") as student:
        reply = student.request({"cell": TABLES}, 60)
    assert reply["error"] is None, reply
    assert ast.literal_eval(reply["outputs"][0]["text"]) == (
        {"a": 2, "b": 1}, True, 3, True, True, True, True, 100.0, 1500.0, True
    )  # fmt: skip
