"""Health and metrics of the service, which the grading thread sets and monitoring reads."""

from __future__ import annotations

import time
from dataclasses import dataclass, field

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram


@dataclass
class Health:
    """The state of the service: whether it can grade at the moment.

    Attributes:
        trouble: the reason why attempts cannot be graded; "" if they can.
        last_poll: when the grading loop last ran, in seconds since 1970.
    """

    trouble: str = ""
    last_poll: float = field(default_factory=time.time)


class Metrics:
    """Prometheus metrics of the service."""

    def __init__(self) -> None:
        self.registry = registry = CollectorRegistry()
        self.waiting = Gauge(
            "autograder_attempts_waiting", "Attempts in the queue", registry=registry
        )
        self.running = Gauge(
            "autograder_attempts_running", "Attempts being graded", registry=registry
        )
        self.graded = Counter("autograder_attempts_graded", "Attempts graded", registry=registry)
        self.failed = Counter(
            "autograder_gradings_failed", "Gradings that have to be repeated", registry=registry
        )
        self.seconds = Histogram(
            "autograder_attempt_seconds",
            "From arrival to feedback",
            buckets=(0.1, 0.3, 1, 3, 10, 30, 100, 300, 1000),
            registry=registry,
        )
