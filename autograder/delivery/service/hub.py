"""Authenticates visitors by a JupyterHub."""

from __future__ import annotations

from typing import Any

from jupyterhub.services.auth import HubOAuthenticated

from .base_page import Visitor


class HubGuard(HubOAuthenticated):
    """Asks the hub for the visitor, in place of a link's secret."""

    instructors: frozenset[str] = frozenset()

    def visitor(self) -> Visitor | None:
        user: dict[str, Any] | None = self.get_current_user()
        if user is None or user.get("kind") != "user":
            return None
        name = str(user["name"])
        return Visitor(name, name in self.instructors or bool(user.get("admin")))

    def refuse(self) -> None:
        """Send a visitor who is not logged in to the hub, and back."""
        request: Any = self
        mode = request.request.headers.get("Sec-Fetch-Mode", "navigate")
        if request.request.method == "GET" and mode == "navigate":
            request.redirect(self.get_login_url())
        else:
            request.send_error(403)
