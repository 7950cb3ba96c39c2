"""Login from a learning management system by LTI 1.3, for every member of one course.

`ltiauthenticator` implements the protocol. This module maps the platform's users to the hub's:
instructors of the course share the hub's instructor account; everybody else becomes a student and
is added to the gradebook.
"""

from __future__ import annotations

import os
import re
from hashlib import blake2b
from pathlib import Path
from typing import Any

from ltiauthenticator.lti13.auth import LTI13Authenticator
from ltiauthenticator.lti13.error import LoginError
from traitlets import Unicode

from .folders import INSTRUCTOR, HubFolder, admit

_CLAIM = "https://purl.imsglobal.org/spec/lti/claim/"
_TEACHES = "http://purl.imsglobal.org/vocab/lis/v2/membership#Instructor"


class CourseLogin(LTI13Authenticator):
    """Authenticates the members of one course of the platform, by whichever of its links."""

    course = Unicode(
        help="The platform's own id of the course: `context.id` in what it sends. Whoever comes "
        "from another course is refused, its instructors too."
    ).tag(config=True)

    async def authenticate(
        self, handler: Any, data: dict[str, Any] | None = None
    ) -> dict[str, Any] | None:
        # Only the LTI callback has data signed by the platform; JupyterHub's login form has not.
        if not isinstance(handler, self.callback_handler):
            return None
        identity: dict[str, Any] = await super().authenticate(handler, data)
        return identity

    def get_username(self, token: dict[str, Any]) -> str:
        context = (token.get(f"{_CLAIM}context") or {}).get("id")
        if not self.course or context != self.course:
            self.log.warning("somebody came from the course %r, which is not this one", context)
            raise LoginError("This link does not lead here from your course. Ask the instructor.")
        if _TEACHES in token.get(f"{_CLAIM}roles", ()):
            return INSTRUCTOR
        if not (user := token.get("sub")):
            raise LoginError("Your course does not say who you are. Ask the instructor.")
        name = user_name(user)
        admit(
            HubFolder(Path(os.environ["AUTOGRADER_HUB"])),
            name,
            first_name=token.get("given_name") or token.get("name"),
            last_name=token.get("family_name"),
            email=token.get("email"),
            lms_user_id=user,
        )
        return name


def user_name(user: str) -> str:
    """Return the user name, on the hub and in the gradebook, for a platform's user id.

    Different ids have different names. An id of at most 24 lower-case letters and digits is part of
    the name. Any other id is hashed: JupyterHub converts names to lower case, so that the names of
    two ids could become equal.
    """
    if re.fullmatch(r"[a-z0-9]{1,24}", user):
        return f"user-{user}"
    return f"user_{blake2b(user.encode(), digest_size=10).hexdigest()}"
