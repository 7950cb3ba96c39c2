"""Grading works for an ordinary user, and is refused in words where it cannot be confined."""

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

from autograder.authoring.release import copy_course
from autograder.commands.demo import filled_notebook
from autograder.course_folder.assignments import find_course, load_assignment

NOBODY = 65534
READABLE = """
import os, sys
import IPython, nbgrader, autograder
open(os.path.realpath(sys.executable), "rb")
"""
VALUE = load_assignment(find_course(Path(__file__).parent), "value")


@pytest.fixture(scope="module")
def ordinary_user() -> tuple[list[str], str]:
    """A command prefix that leaves root, and an interpreter that an ordinary user can read."""
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
    paths.insert(0, str(Path(__file__).resolve().parent.parent))
    return {"PATH": "/usr/bin:/bin", "PYTHONPATH": os.pathsep.join(paths),
            "HOME": str(home or "/nonexistent"), "PYTHONDONTWRITEBYTECODE": "1"}  # fmt: skip


@pytest.fixture
def course() -> Iterator[Path]:
    """A course that the ordinary user owns, with one submission."""
    # Not below pytest's own folder, which is closed to other users.
    with tempfile.TemporaryDirectory(prefix="ordinary-user-") as folder:
        course = Path(folder) / "course"
        copy_course(find_course(), course)
        right = {exercise.id: exercise.solution for exercise in VALUE.exercises.values()}
        submitted = course / "submitted" / "someone" / "value" / "value.ipynb"
        submitted.parent.mkdir(parents=True)
        submitted.write_text(filled_notebook(course, "value", right))
        if os.getuid() == 0:
            for path in (Path(folder), *Path(folder).rglob("*")):
                os.chown(path, NOBODY, NOBODY)
        yield course


def test_student_processes_are_confined_for_an_ordinary_user_too(ordinary_user):
    script = """
        import json
        from autograder.errors import StudentLost
        from autograder.model import Limits
        from autograder.wall import WarmServer
        said = []
        with WarmServer(Limits(processes=16)) as server:
            for cell in ("print(1 + 1)", "import os\\nwhile True: os.fork()", "print('after')"):
                try:
                    with server.spawn(1) as student:
                        outputs = student.request({"cell": cell}, 10)["outputs"]
                        said.append([o.get("text", o.get("ename")) for o in outputs])
                except StudentLost as lost:
                    said.append(lost.reason)
        print(json.dumps(said))
    """
    prefix, python = ordinary_user
    command = [*prefix, python, "-c", textwrap.dedent(script)]
    done = subprocess.run(
        command, env=_environment(), capture_output=True, text=True, cwd="/", timeout=90
    )
    assert done.returncode == 0, done.stderr
    first, bomb, after = json.loads(done.stdout)
    assert (first, after) == (["2\n"], ["after\n"])
    assert bomb in ("crashed", ["BlockingIOError"], "timeout")


@pytest.mark.slow
def test_an_ordinary_user_examines_the_machine_and_grades(ordinary_user, course):
    prefix, python = ordinary_user
    # nbgrader calls `alembic` by name.
    alembic = course / "alembic"
    alembic.write_text(f'#!/bin/sh\nexec {python} -m alembic "$@"\n')
    alembic.chmod(0o755)
    environment = _environment(course) | {"PATH": f"{course}:/usr/bin:/bin"}

    def run(*arguments: str) -> str:
        done = subprocess.run(
            [*prefix, python, "-m", *arguments], env=environment, cwd=course,
            capture_output=True, text=True, timeout=240,
        )  # fmt: skip
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    findings = {each["what"]: each for each in json.loads(run("autograder", "doctor", "--json"))}
    assert findings["sandbox"]["fine"] and findings["bubblewrap"]["fine"]
    run("nbgrader", "generate_assignment", "value", "--force")
    lines = run("autograder", "grade", "value", "--workers", "1", "--json").splitlines()
    [told] = [json.loads(line) for line in lines if line.startswith("{")]
    assert (told["student"], told["score"]) == ("someone", told["max_score"])


# What a container's runtime covers of /proc: some files and folders, and others for writing.
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


def test_student_processes_are_confined_in_an_unprivileged_container(tmp_path):
    """One in which user namespaces are allowed, and /proc is not whole as in most of them.

    The tests of the sandbox hold in it, without any skipped.
    """
    unshare = shutil.which("unshare")
    if unshare is None:
        pytest.skip("no unshare, so no container can be made")
    container = [unshare, "--user", "--map-root-user", "--mount", "--pid", "--fork", "--net",
                 "--ipc", "--uts", "sh", "-ec", CONTAINER, "sh"]  # fmt: skip
    if subprocess.run([*container, "true"], capture_output=True).returncode != 0:
        pytest.skip("this machine does not let /proc be covered")
    tests = Path(__file__).with_name("test_sandbox.py")
    done = subprocess.run(
        [*container, sys.executable, "-m", "pytest", "-q", "-n", "0", "-p", "no:cacheprovider",
         str(tests)],
        cwd=tests.parent.parent, capture_output=True, text=True, timeout=600,
    )  # fmt: skip
    assert done.returncode == 0 and "skipped" not in done.stdout, done.stdout + done.stderr


def test_where_namespaces_are_missing_it_is_refused_with_the_remedy(tmp_path):
    """In a user namespace that allows no further one, as in many containers."""
    unshare = shutil.which("unshare")
    if unshare is None:
        pytest.skip("no unshare, so the lack of namespaces cannot be had")
    course, marker = tmp_path / "course", tmp_path / "ran"
    copy_course(find_course(), course)
    notebook = tmp_path / "value.ipynb"
    notebook.write_text(
        filled_notebook(course, "value", {"node": f"open({str(marker)!r}, 'w').write('x')"})
    )
    forbid = "echo 0 > /proc/sys/user/max_user_namespaces && exec "
    commands = {
        "check": f"{sys.executable} -m autograder check {notebook} --course {course}",
        "doctor": f"{sys.executable} -m autograder doctor --course {course}",
    }
    said = {}
    for name, command in commands.items():
        done = subprocess.run(
            [unshare, "--user", "--map-root-user", "sh", "-c", forbid + command],
            env=_environment(tmp_path) | {"COLUMNS": "500"}, capture_output=True, text=True,
            cwd=tmp_path, timeout=120,
        )  # fmt: skip
        said[name] = " ".join((done.stdout + done.stderr).split())
        if "max_user_namespaces: Permission" in said[name] or "unshare failed" in said[name]:
            pytest.skip("this machine does not let a namespace be limited")
        assert done.returncode != 0, said
    assert "no student code was run" in said["check"] and "autograder doctor" in said["check"]
    assert "Traceback" not in said["check"] + said["doctor"]
    assert "sudo sysctl -w user.max_user_namespaces" in said["doctor"]
    assert not marker.exists()
