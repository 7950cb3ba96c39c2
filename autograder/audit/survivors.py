"""Why some mutants that compute otherwise may pass the hidden tests, by exercise and change."""

EXPLAINED = {
    "q21: d = s * s + s / y → d = s * s + s": (
        "It is a student's test of engines. It still tells all the broken engines that the "
        "exercise asks for; it is only blind to a wrong derivative by the numerator."
    ),
}


def explanation(exercise: str, change: str) -> str:
    """Why such a mutant may pass; "" where nobody has said so yet."""
    return EXPLAINED.get(f"{exercise}: {change}") or EXPLAINED.get(exercise, "")
