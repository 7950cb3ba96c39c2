"""Login from a learning management system by LTI 1.3: every member of the course is let in.

The protocol is JupyterHub's LTI authenticator's. This module maps people: an instructor of the
course is the hub's one instructor, everybody else a student, who is added to the gradebook.
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
    """Lets in the members of one course of the platform, by any of its links."""

    course = Unicode(
        help="The platform's own id of the course: `context.id` in what it sends. Whoever comes "
        "from another course is refused, its instructors too."
    ).tag(config=True)

    async def authenticate(
        self, handler: Any, data: dict[str, Any] | None = None
    ) -> dict[str, Any] | None:
        # JupyterHub's own login form would bring unsigned data.
        if not isinstance(handler, self.callback_handler):
            return None
        found: dict[str, Any] = await super().authenticate(handler, data)
        return found

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
    """Return the unique name of a platform's user on the hub and in the gradebook.

    The name holds the platform's id if that is short and has lower-case letters and digits alone.
    Otherwise it holds a digest of the id, since JupyterHub ignores the case of letters, and two
    users must not get one name.
    """
    if re.fullmatch(r"[a-z0-9]{1,24}", user):
        return f"user-{user}"
    return f"user_{blake2b(user.encode(), digest_size=10).hexdigest()}"
