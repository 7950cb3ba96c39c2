"""Grading works for an ordinary user, and is refused with a message if code cannot be confined."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import textwrap
from collections.abc import Iterator
from pathlib import Path

import pytest
from attacks.same_account import FULL
from campaigns import size
from programs import run_program
from schools import COURSE, append, solutions

from autograder.authoring.release import copy_course
from autograder.commands.demo import filled_notebook, hand_in
from autograder.course_folder.course import Course
from autograder.packages import module_folder
from autograder.records import LANDLOCK
from autograder.sandbox import kinds

pytestmark = [pytest.mark.subprocess, pytest.mark.full]

NOBODY = 65534
READABLE = """
import os, sys
import IPython, nbgrader, autograder
open(os.path.realpath(sys.executable), "rb")
"""


@pytest.fixture(scope="module")
def ordinary_user() -> tuple[list[str], str]:
    """Return a command prefix that leaves root, and an interpreter that an ordinary user can
    read."""
    if os.getuid() != 0:
        return [], sys.executable
    setpriv = shutil.which("setpriv")
    if setpriv is None:
        pytest.skip("no setpriv, so root cannot become an ordinary user")
    prefix = [setpriv, f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups",
              "--no-new-privs"]  # fmt: skip
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    for python in (sys.executable, f"/usr/bin/{version}", f"/usr/local/bin/{version}"):
        check = [*prefix, python, "-c", READABLE]
        done = subprocess.run(check, env=_environment(), capture_output=True, cwd="/")
        if done.returncode == 0:
            return prefix, python
    pytest.skip("no interpreter of this version that an ordinary user can read")


def _environment(home: Path | None = None) -> dict[str, str]:
    paths = [entry for entry in sys.path if entry.endswith(("site-packages", "dist-packages"))]
    paths += [str(module_folder(name).parent) for name in ("autograder", "coursecheck")]
    return {"PATH": "/usr/bin:/bin", "PYTHONPATH": os.pathsep.join(paths),
            "HOME": str(home or "/nonexistent"), "PYTHONDONTWRITEBYTECODE": "1"}  # fmt: skip


@pytest.fixture
def course() -> Iterator[Path]:
    """Return a course that the ordinary user owns, with one submission."""
    # Not below pytest's own folder, which is closed to other users.
    with tempfile.TemporaryDirectory(prefix="ordinary-user-") as folder:
        course = Path(folder) / "course"
        copy_course(COURSE, course)
        hand_in(Course(course), Course(course).assignment("value"), {"someone": solutions("value")})
        if os.getuid() == 0:
            for path in (Path(folder), *Path(folder).rglob("*")):
                os.chown(path, NOBODY, NOBODY)
        yield course


@pytest.mark.parametrize("kind", kinds.KINDS)
def test_student_processes_are_confined_for_an_ordinary_user_too(ordinary_user, kind):
    if why := kinds.KINDS[kind].why_not():
        pytest.skip(f"{kind}: {why}")
    script = """
        import json, sys
        from autograder.errors import StudentProcessDied
        from autograder.records import Limits
        from autograder.sandbox import ForkServer
        said = []
        with ForkServer(Limits(processes=16, disk_megabytes=16), kind=sys.argv[1]) as server:
            bomb = "import os\\nwhile True: os.fork()"
            for cell in ("print(1 + 1)", bomb, sys.argv[2], "print('after')"):
                try:
                    with server.spawn(1) as student:
                        outputs = student.request({"cell": cell}, 10)["outputs"]
                        said.append([o.get("text", o.get("ename")) for o in outputs])
                except StudentProcessDied as lost:
                    said.append(lost.reason)
        print(json.dumps(said))
    """
    prefix, python = ordinary_user
    command = [*prefix, python, "-c", textwrap.dedent(script), kind]
    command.append(FULL["files that nobody sees"])
    done = run_program(command, env=_environment(), cwd="/")
    first, bomb, hidden, after = json.loads(done.stdout)
    assert (first, after) == (["2\n"], ["after\n"])
    assert bomb in ("crashed", ["BlockingIOError"], "timeout", ["PermissionError"])
    assert hidden == ("crashed" if kind == LANDLOCK else ["OSError"])


def test_doctor_and_grade_work_for_an_ordinary_user(ordinary_user, course):
    prefix, python = ordinary_user
    # nbgrader calls `alembic` by name.
    alembic = course / "alembic"
    alembic.write_text(f'#!/bin/sh\nexec {python} -m alembic "$@"\n')
    alembic.chmod(0o755)
    environment = _environment(course) | {"PATH": f"{course}:/usr/bin:/bin"}

    def run(*arguments: str) -> str:
        return run_program([*prefix, python, "-m", *arguments], env=environment, cwd=course).stdout

    findings = {each["what"]: each for each in json.loads(run("autograder", "doctor", "--json"))}
    assert all(findings[what]["fine"] for what in ("sandbox", "bubblewrap", "landlock"))
    run("nbgrader", "generate_assignment", "value", "--force")
    lines = run("autograder", "grade", "value", "--workers", "1", "--json").splitlines()
    [seen] = [json.loads(line) for line in lines if line.startswith("{")]
    assert (seen["student"], seen["score"]) == ("someone", seen["max_score"])


# Parts of /proc that a container's runtime covers: some files and folders, and others for writing.
CONTAINER = """
mount -t proc proc /proc
for file in kcore keys timer_list; do
    [ ! -e /proc/$file ] || mount --bind /dev/null /proc/$file
done
for folder in acpi scsi; do [ ! -d /proc/$folder ] || mount -t tmpfs -o ro none /proc/$folder; done
for folder in bus fs irq sys; do
    [ ! -d /proc/$folder ] || mount --bind /proc/$folder /proc/$folder
    [ ! -d /proc/$folder ] || mount -o remount,bind,ro /proc/$folder
done
exec "$@"
"""


@pytest.mark.sized
def test_student_processes_are_confined_in_an_unprivileged_container(tmp_path):
    """Use a container that allows user namespaces and covers parts of /proc, as most containers do.

    The tests of the sandbox pass in this container, and none is skipped. Most attacks, which the
    same program stops there, are tried only in a campaign.
    """
    unshare = shutil.which("unshare")
    if unshare is None:
        pytest.skip("no unshare, so no container can be made")
    container = [unshare, "--user", "--map-root-user", "--mount", "--pid", "--fork", "--net",
                 "--ipc", "--uts", "sh", "-ec", CONTAINER, "sh"]  # fmt: skip
    if subprocess.run([*container, "true"], capture_output=True).returncode != 0:
        pytest.skip("this machine does not let /proc be covered")
    tests = Path(__file__).with_name("test_sandbox.py")
    most = "landlock" if size(0, 1) else "landlock or attack and not (reaches or kill or sleeping)"
    line = [*container, sys.executable, "-m", "pytest", "-q", "-n", "0", "-p", "no:cacheprovider"]
    done = run_program([*line, "-k", f"not ({most})", tests], cwd=tests.parent.parent)
    assert "skipped" not in done.stdout, done.stdout


@pytest.mark.parametrize("kind", ["bubblewrap", "auto"])
def test_without_namespaces_bubblewrap_is_refused_and_landlock_confines(tmp_path, kind):
    """Use a user namespace that allows no further one, as in many containers."""
    unshare = shutil.which("unshare")
    if unshare is None:
        pytest.skip("no unshare, so the lack of namespaces cannot be had")
    if why := kinds.KINDS[LANDLOCK].why_not():
        pytest.skip(f"landlock: {why}")
    course, marker = tmp_path / "course", tmp_path / "ran"
    copy_course(COURSE, course)
    append(course / "course.toml", f'\n[sandbox]\nkind = "{kind}"\n')
    notebook = tmp_path / "value.ipynb"
    notebook.write_text(
        filled_notebook(Course(course), "value", {"node": f"open({str(marker)!r}, 'w').write('x')"})
    )
    forbid = "echo 0 > /proc/sys/user/max_user_namespaces && exec "
    commands = {
        "check": f"{sys.executable} -m autograder check {notebook} --course {course}",
        "doctor": f"{sys.executable} -m autograder doctor --course {course}",
    }
    said, status = {}, {}
    for name, command in commands.items():
        line = [unshare, "--user", "--map-root-user", "sh", "-c", forbid + command]
        environment = _environment(tmp_path) | {"COLUMNS": "500"}
        done = run_program(line, status=None, env=environment, cwd=tmp_path)
        said[name] = " ".join((done.stdout + done.stderr).split())
        status[name] = done.returncode
        if "max_user_namespaces: Permission" in said[name] or "unshare failed" in said[name]:
            pytest.skip("this machine does not let a namespace be limited")
    assert "Traceback" not in said["check"] + said["doctor"]
    assert "echo user.max_user_namespaces=15000 | sudo tee /etc/sysctl.d" in said["doctor"]
    assert not marker.exists()
    if kind == "bubblewrap":
        assert 0 not in status.values()
        assert "no student code was run" in said["check"] and "autograder doctor" in said["check"]
        assert "course.toml asks for bubblewrap" in said["doctor"]
    else:
        assert set(status.values()) == {0}, said
        assert "runs in the sandbox of the kind landlock" in said["check"]
        assert "sandbox landlock" in said["check"]
        assert "in the kind landlock, since bubblewrap does not work" in said["doctor"]
