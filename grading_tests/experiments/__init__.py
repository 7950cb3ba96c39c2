"""The experiments by which the audit tells whether code computes what the solution does.

They know nothing of the hidden tests, which are judged by them.
"""

from __future__ import annotations

import reference
from autograder.authoring.audit.oracle import Trial

from .engines import (
    FUNCTIONS,
    checked,
    decided,
    descended,
    differentiated,
    drawn,
    expressions,
    in_order,
    in_order_hard,
    made,
    passed_back,
    pushed,
    slopes,
    steps,
    steps_hard,
    traced,
    traced_hard,
    weighted,
    zeroed,
)
from .networks import (
    cross_entropies,
    descents,
    layers,
    learned,
    losses,
    modules,
    networks,
    neurons,
    rates,
    seeded,
    sequences,
    trainings,
)

TRAINING_SECONDS = 20.0
"""Processor time after which a training counts as endless."""

_REFERENCE = vars(reference)
_ARITHMETIC = Trial(expressions(), reference=_REFERENCE)
_FUNCTIONS = Trial(expressions(FUNCTIONS), reference=_REFERENCE)
EXPERIMENTS: dict[str, tuple[Trial, ...]] = {
    "node": (Trial(made, 200), _ARITHMETIC),
    **dict.fromkeys(("add", "mul", "pow", "neg_sub", "div", "reverse"), (_ARITHMETIC,)),
    **dict.fromkeys(("exp", "log", "tanh", "relu", "sigmoid", "extra_ops"), (_FUNCTIONS,)),
    "trace": (Trial(traced), Trial(traced_hard, 1)),
    "manual_backward": (Trial(pushed),),
    "numerical": (Trial(slopes),),
    "topological_order": (Trial(in_order), Trial(in_order_hard, 1)),
    "backward": (
        Trial(differentiated("backward"), reference=_REFERENCE),
        Trial(steps("backward")),
        Trial(steps_hard("backward", 300), 1),
    ),
    "zero_grad": (Trial(zeroed),),
    "check_gradients": (Trial(checked),),
    "deep": (
        Trial(differentiated("backward_without_recursion"), reference=_REFERENCE),
        Trial(steps("backward_without_recursion")),
        Trial(steps_hard("backward_without_recursion", 100_000), 1),
    ),
    "dot_source": (Trial(drawn, 500),),
    "q18": (Trial(weighted),),
    "q19": (Trial(passed_back),),
    "q20": (Trial(descended),),
    "q21": (Trial(decided, 10),),
    "module": (Trial(modules, 200),),
    "neuron": (Trial(neurons, 500),),
    "layer": (Trial(layers, 300),),
    "mlp": (Trial(networks, 300),),
    "linear_sequential": (Trial(sequences, 300),),
    **{name: (Trial(losses(name)),) for name in ("mse", "bce", "hinge")},
    "cross_entropy": (Trial(cross_entropies),),
    "sgd": (Trial(descents),),
    "schedule": (Trial(rates),),
    "train": (Trial(trainings, 500),),
    **{
        task: tuple(
            Trial(experiment, 1, seconds=TRAINING_SECONDS)
            for experiment in (*(learned(task, seed) for seed in range(10)), seeded(task))
        )
        for task in ("xor", "four_points", "moons")
    },
}

SURVIVORS = {
    "q21: d = s * s + s / y → d = s * s + s": (
        "It is a student's test of engines. It still tells all the broken engines that the "
        "exercise asks for; it is only blind to a wrong derivative by the numerator."
    ),
}
"""Why some mutants that compute otherwise may pass the hidden tests, by exercise and change."""
