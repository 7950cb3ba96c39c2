"""JupyterHub's configuration for a trial on one machine, as `autograder hub` starts it.

For a server of your own, keep the spawner and the folders, and set your own authenticator, host
name and certificate.
"""

import hmac
import os
import sys
import tempfile
from pathlib import Path

from jupyterhub.auth import Authenticator
from jupyterhub.spawner import SimpleLocalProcessSpawner

from autograder.hub.box import command
from autograder.hub.folders import INSTRUCTOR, HubFolder

FOLDER = HubFolder(Path(os.environ["AUTOGRADER_HUB"]))
SERVER = [sys.executable, "-m", "jupyterhub.singleuser"]
# Students' servers share the host's network, so that one student could connect to another's kernel
# by TCP. So kernels use Unix sockets in a private folder. Its path is short, since the path of a
# socket may have at most 107 bytes.
RUNTIME = tempfile.TemporaryDirectory(prefix="hub-")


class PasswordsInAFile(Authenticator):
    """Checks passwords against a file that only the hub can read."""

    async def authenticate(self, handler, data):
        expected = FOLDER.users().get(data["username"])
        password = data["password"]
        # compare_digest takes constant time, so that a reply's delay says nothing about passwords.
        fits = expected is not None and hmac.compare_digest(expected.encode(), password.encode())
        return data["username"] if fits else None


class SandboxedSpawner(SimpleLocalProcessSpawner):
    """Starts a student's server under bubblewrap, the instructor's server in the course folder."""

    def make_preexec_fn(self, name):
        return None

    async def start(self):
        who = self.user.name
        if who == INSTRUCTOR:
            self.cmd, self.notebook_dir = SERVER, str(FOLDER.course)
            self.popen_kwargs = {"cwd": FOLDER.course.root}
        else:
            self.cmd = command(FOLDER, who, SERVER)
        return await super().start()


def _in_home(*parts):
    return lambda spawner: str(FOLDER.home(spawner.user.name).joinpath(*parts))


c = get_config()  # noqa: F821

c.JupyterHub.bind_url = f"http://127.0.0.1:{os.environ['AUTOGRADER_HUB_PORT']}"
c.JupyterHub.hub_port = int(os.environ["AUTOGRADER_HUB_PORT"]) + 1
c.ConfigurableHTTPProxy.api_url = f"http://127.0.0.1:{int(os.environ['AUTOGRADER_HUB_PORT']) + 2}"
c.ConfigurableHTTPProxy.command = [os.environ["AUTOGRADER_HUB_PROXY"]]
c.ConfigurableHTTPProxy.pid_file = str(FOLDER.state / "proxy.pid")
c.JupyterHub.cookie_secret_file = str(FOLDER.state / "cookie_secret")
c.JupyterHub.db_url = f"sqlite:///{FOLDER.state}/users.sqlite"
c.JupyterHub.authenticator_class = PasswordsInAFile
c.Authenticator.allowed_users = set(FOLDER.users())
c.JupyterHub.spawner_class = SandboxedSpawner
c.JupyterHub.cleanup_servers = True

# Grades submissions at once, and shows students the results.
SERVICE = "grading"
c.JupyterHub.services = [
    {
        "name": SERVICE,
        "url": f"http://127.0.0.1:{int(os.environ['AUTOGRADER_HUB_PORT']) + 3}",
        "command": [sys.executable, "-m", "autograder", "serve", "--instructor", INSTRUCTOR],
        "cwd": str(FOLDER.course),
        "oauth_no_confirm": True,
    }
]
c.JupyterHub.load_roles = [
    {"name": "user", "scopes": ["self", f"access:services!service={SERVICE}"]}
]

c.Spawner.home_dir_template = str(FOLDER.root / "homes" / "{username}")
c.Spawner.default_url = "/lab"
c.Spawner.start_timeout = c.Spawner.http_timeout = 300
c.Spawner.args = [
    "--ServerApp.quit_button=False",
    "--LabApp.extension_manager=readonly",
    "--KernelManager.transport=ipc",
]
if os.getuid() == 0:
    c.Spawner.args.append("--allow-root")
c.Spawner.env_keep = ["PATH", "LANG", "LC_ALL", "PYTHONPATH", "JUPYTERHUB_SINGLEUSER_APP"]
c.Spawner.environment = {
    "HOME": _in_home(),
    "JUPYTER_CONFIG_PATH": lambda spawner: str(
        FOLDER.settings("instructor" if spawner.user.name == INSTRUCTOR else "student")
    ),
    "JUPYTER_CONFIG_DIR": _in_home(".jupyter"),
    "JUPYTER_DATA_DIR": _in_home(".local", "share", "jupyter"),
    "JUPYTER_RUNTIME_DIR": lambda spawner: (
        RUNTIME.name if spawner.user.name == INSTRUCTOR else "/tmp/runtime"
    ),
    "IPYTHONDIR": _in_home(".ipython"),
}

# Your own settings: `autograder hub --config FILE`.
if more := os.environ.get("AUTOGRADER_HUB_CONFIG"):
    load_subconfig(more)  # noqa: F821
