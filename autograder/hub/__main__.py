"""Starts the hub: `python -m autograder.hub`."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

import click

from ..assignments import CourseError, find_course
from ..terminal import console, course_option, for_people
from .folders import INSTRUCTOR, prepare

PROXY = "configurable-http-proxy"


@click.command()
@click.option(
    "--folder",
    type=click.Path(file_okay=False, path_type=Path),
    help="Where the hub keeps everything; by default artefacts/hub in the course folder.",
)
@click.option("--port", default=8000, show_default=True, help="The first of three free ports.")
@click.option(
    "--student",
    "students",
    multiple=True,
    default=("ada", "blaise", "carl"),
    show_default=True,
    help="A student's name; give it once for each.",
)
@click.option(
    "--assignment",
    "names",
    multiple=True,
    help="An assignment that a new course begins with; by default all.",
)
@course_option
@for_people
def main(
    folder: Path | None,
    port: int,
    students: tuple[str, ...],
    names: tuple[str, ...],
    course: Path | None,
) -> None:
    """Start a JupyterHub for the course on this machine alone, for a trial."""
    proxy = _proxy()
    try:
        import jupyterhub  # noqa: F401
    except ImportError as error:
        raise CourseError(
            "the hub needs JupyterHub: `pip install 'autograder[hub]'`, or `make hub`"
        ) from error
    clone = find_course(course)
    with console.status("preparing the course"):
        root = folder or clone / "artefacts" / "hub"
        made = prepare(clone, root, list(students), list(names))
    console.print(f"The hub: http://127.0.0.1:{port}", highlight=False)
    for name, password in made.users().items():
        role = "the instructor" if name == INSTRUCTOR else "a student"
        console.print(f"  {name}, {role}: {password}", markup=False, highlight=False)
    console.print("Ctrl+C ends it; what everybody did is kept.", highlight=False)
    environment = os.environ | {
        "AUTOGRADER_HUB": str(made.root),
        "AUTOGRADER_HUB_PORT": str(port),
        "AUTOGRADER_HUB_PROXY": proxy,
        "PATH": os.path.dirname(sys.executable) + os.pathsep + os.environ.get("PATH", ""),
    }
    os.chdir(made.state)
    config = str(Path(__file__).with_name("jupyterhub_config.py"))
    sys.stdout.flush()
    line = [sys.executable, "-m", "jupyterhub", "--config", config, "--log-level", "WARN"]
    os.execve(sys.executable, line, environment)


def _proxy() -> str:
    """The proxy's program: the environment's own, or one on the path."""
    own = Path(sys.prefix) / "node_modules" / ".bin" / PROXY
    found = str(own) if own.exists() else shutil.which(PROXY)
    if found is None:
        raise CourseError(
            f"the hub needs its proxy: `npm install --prefix {sys.prefix} {PROXY}`, or `make hub`"
        )
    return found


if __name__ == "__main__":
    main()
