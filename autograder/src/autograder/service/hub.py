"""Authenticates the service's visitors by their login at a JupyterHub."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from jupyterhub.services.auth import HubOAuthenticated

from .attempts import Role
from .base_page import Visitor


class HubGuard(HubOAuthenticated):
    """Mixin of a page: the visitor is the hub's user, in place of a link's owner."""

    people: Mapping[Role, frozenset[str]] = {}

    def visitor(self) -> Visitor | None:
        user: dict[str, Any] | None = self.get_current_user()
        if user is None or user.get("kind") != "user":
            return None
        name = str(user["name"])
        roles = [role for role, names in self.people.items() if name in names]
        return Visitor(name, Role.INSTRUCTOR if user.get("admin") else [*roles, Role.STUDENT][0])

    def refuse(self) -> None:
        """Redirect a visitor's browser to the hub's login page, which redirects back afterwards.

        A script's request gets 403.
        """
        request: Any = self
        mode = request.request.headers.get("Sec-Fetch-Mode", "navigate")
        # Redirect only a navigation of the browser: a script would get the login page's HTML.
        if request.request.method == "GET" and mode == "navigate":
            request.redirect(self.get_login_url())
        else:
            request.send_error(403)
