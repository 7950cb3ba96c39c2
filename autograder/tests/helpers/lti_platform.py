"""An LTI 1.3 platform for tests, made with the package `lti1p3platform`."""

from __future__ import annotations

from typing import Any

from lti1p3platform.ltiplatform import LTI1P3PlatformConfAbstract
from lti1p3platform.registration import Registration
from lti1p3platform.request import Request


class AsItComes(Request):  # type: ignore[misc]
    """A request in the form that `lti1p3platform` expects."""

    def build_metadata(self, request: Any) -> Any:
        return request


class Configuration(LTI1P3PlatformConfAbstract):  # type: ignore[misc]
    def init_platform_config(self, **given: Any) -> None:
        self._registration = given["registration"]

    def get_registration_by_params(self, **_: Any) -> Registration:
        return self._registration
