"""The state of the service, in words and in numbers: written by the grading, read by monitoring."""

from __future__ import annotations

import time
from dataclasses import dataclass, field

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram


@dataclass
class Health:
    """The state of the service, for monitoring.

    Attributes:
        trouble: why attempts cannot be graded, in words; "" if they can.
        looked: when the loop last ran, in seconds since 1970.
    """

    trouble: str = ""
    looked: float = field(default_factory=time.time)


class Metrics:
    """Metrics in Prometheus's form."""

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
