"""Starts the course: makes an environment in this folder once, then opens JupyterLab.

Type `python3 start.py` on Linux and macOS, `py start.py` on Windows. Arguments that you add go to
JupyterLab, such as `--no-browser`.
"""

import os
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
ENVIRONMENT = HERE / ".venv"
PYTHON = ENVIRONMENT / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
DONE = ENVIRONMENT / "installed.txt"
FIRST = ""  # the notebook that the first start opens, as a part of a URL
NO_NEWS = '{"@jupyterlab/apputils-extension:notification": {"fetchNews": "false"}}'


def main() -> int:
    if sys.version_info < (3, 11):  # noqa: UP036 - a student may have any Python
        return failed(
            "Python 3.11 or newer is needed, and this is " + sys.version.split()[0] + ". Install "
            "it from your system's app store or package manager, then start again."
        )
    opened = []
    wanted = (HERE / "requirements.txt").read_text("utf-8")
    if not DONE.exists() or DONE.read_text("utf-8") != wanted:
        print("Installing what the course needs. This takes some minutes, once.", flush=True)
        if not ran(sys.executable, "-m", "venv", str(ENVIRONMENT)):
            return failed(
                "The environment could not be made. On Debian and Ubuntu, "
                "`sudo apt install python3-venv` may be what is missing."
            )
        if not ran(str(PYTHON), "-m", "pip", "install", "--quiet", "--disable-pip-version-check",
                   "-r", "requirements.txt"):  # fmt: skip
            return failed(
                "Something could not be installed; the lines above say what. Are you online? "
                "Start again once that is mended."
            )
        settings = ENVIRONMENT / "etc" / "jupyter" / "labconfig"
        settings.mkdir(parents=True, exist_ok=True)
        (settings / "default_setting_overrides.json").write_text(NO_NEWS, "utf-8")
        if FIRST and not DONE.exists():
            opened = ["--LabApp.default_url=/lab/tree/" + FIRST]
        DONE.write_text(wanted, "utf-8")
    try:
        return subprocess.call([str(PYTHON), "-m", "jupyterlab", *opened, *sys.argv[1:]], cwd=HERE)
    except KeyboardInterrupt:
        return 0


def ran(*command: str) -> bool:
    """Run a command in this folder; return whether it succeeded."""
    return subprocess.call(command, cwd=HERE) == 0


def failed(message: str) -> int:
    """Print a message; return the exit status of an error."""
    print(message, file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
