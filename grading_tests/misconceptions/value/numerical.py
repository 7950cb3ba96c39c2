# Read as text, never imported: docs/authors.md says what stands here.

# %% example: numerical
# about: the slope of x³ with a large step
slope = numerical_derivative(lambda x: x**3, 2.0, 0.5)
# observe: slope

# %% example: numerical
# about: the slope of x³ with the step left out
slope = numerical_derivative(lambda x: x**3, 2.0)
# observe: round(slope, 4)

# %% example: numerical
# about: the slope of 1 / x, which falls
slope = numerical_derivative(lambda x: 1 / x, 3.0)
is_close = isinstance(slope, float) and 1e-7 < abs(slope + 1 / 9) < 1e-2
is_rounded = is_close and slope in [round(slope, digits) for digits in range(2, 7)]
rounded = "The slope was rounded, and its later digits are lost." if is_rounded else ""
# observe: round(slope, 7), rounded
# tells: rounded

# %% example: numerical
# about: the slope of x³ with three steps
slopes = {numerical_derivative(lambda x: x**3, 2.0, h) for h in (0.05, 1.0, 2.0)}
is_fixed = len(slopes) == 1 and abs(min(slopes) - 12) < 0.1
same = "The step that is given makes no difference: `h` is not used, or it is set anew." if is_fixed else ""
# observe: len(slopes), same
# tells: same

# %% sweep: numerical
# x: 2.3, -1.7, 0.6, -0.45, 3.4, -2.9
# h: 0.5, 0.25, 0.3, 0.7, 0.125, 0.4
# derived: above = (x + h) ** 3 + (x + h) ** 2; below = (x - h) ** 3 + (x - h) ** 2; here = x ** 3 + x ** 2
# where: `above`, `below` and `here` are f(x + h), f(x - h) and f(x)
# also: (above - here) / h; (here - below) / h; (above - below) / h; (above + below) / h; (above - here) / (2 * h); above - here; (above + here) / h
# results: slope = (above - below) / (2 * h)
slope = numerical_derivative(lambda t: t**3 + t**2, x, h)

# %% mistake: numerical.forward_difference
# says: That is the slope between x and x + h. The central difference looks to both sides and
#   leaves out the middle.
# keeps: 0.5
# - return (f(x + h) - f(x - h)) / (2 * h)
# + return (f(x + h) - f(x)) / h

# %% mistake: numerical.backward_difference
# says: That is the slope between x - h and x. The central difference looks to both sides and
#   leaves out the middle.
# keeps: 0.5
# - return (f(x + h) - f(x - h)) / (2 * h)
# + return (f(x) - f(x - h)) / h

# %% mistake: numerical.middle_over_the_whole_run
# says: One of the two values is the one in the middle, f(x), but you divided by 2h. Take the values at
#   x + h and x - h, which are 2h apart.
# keeps: 0.5
# - return (f(x + h) - f(x - h)) / (2 * h)
# + return (f(x + h) - f(x)) / (2 * h)

# %% mistake: numerical.divides_by_h
# says: The slope is twice what it should be. From x - h to x + h is further than h.
# keeps: 0.75
# - return (f(x + h) - f(x - h)) / (2 * h)
# + return (f(x + h) - f(x - h)) / h

# %% mistake: numerical.run_without_parentheses
# says: The rise was divided by 2 and multiplied by h, as `/ 2 * h` does. Divide by the whole
#   run: put `2 * h` in parentheses.
# keeps: 0.75
# - return (f(x + h) - f(x - h)) / (2 * h)
# + return (f(x + h) - f(x - h)) / 2 * h

# %% mistake: numerical.rise_without_parentheses
# says: Only the second value was divided by the run. Python divides before it subtracts: put
#   the rise in parentheses.
# keeps: 0.75
# - return (f(x + h) - f(x - h)) / (2 * h)
# + return f(x + h) - f(x - h) / (2 * h)

# %% mistake: numerical.no_parentheses
# says: Only `f(x - h)` was divided, by 2, and then multiplied by h. Put the rise in parentheses,
#   and `2 * h` as well.
# keeps: 0.5
# - return (f(x + h) - f(x - h)) / (2 * h)
# + return f(x + h) - f(x - h) / 2 * h

# %% mistake: numerical.ignores_h
# says: The step that is given makes no difference. Use the argument h, not a number of your
#   own.
# keeps: 0.5
# - return (f(x + h) - f(x - h)) / (2 * h)
# + return (f(x + 1e-5) - f(x - 1e-5)) / (2 * 1e-5)

# %% mistake: numerical.step_too_large
# says: Without h, the step is too large to be accurate. The default is 1e-5.
# keeps: 0.75
# - def numerical_derivative(f, x, h=1e-5):
# + def numerical_derivative(f, x, h=0.01):

# %% mistake: numerical.half_step
# says: The nudges are half as large as they should be. The step h is the nudge to either side,
#   so the two points are 2h apart.
# keeps: 0.75
# - return (f(x + h) - f(x - h)) / (2 * h)
# + return (f(x + h / 2) - f(x - h / 2)) / h

# %% mistake: numerical.wrong_way_round
# says: The slope has the wrong sign. Take the value on the right minus the value on the left.
# keeps: 0.75
# - return (f(x + h) - f(x - h)) / (2 * h)
# + return (f(x - h) - f(x + h)) / (2 * h)

# %% mistake: numerical.same_point_twice
# says: The slope is always 0: both values are taken at the same point. One belongs to x + h, the other to
#   x - h.
# keeps: 0.5
# - return (f(x + h) - f(x - h)) / (2 * h)
# + return (f(x + h) - f(x + h)) / (2 * h)

# %% mistake: numerical.size_only
# says: A falling function has a negative slope. Keep the sign: it tells the way.
# keeps: 0.5
# - return (f(x + h) - f(x - h)) / (2 * h)
# + return abs(f(x + h) - f(x - h)) / (2 * h)

# %% mistake: numerical.rounded
# says: The slope was rounded, and its later digits are lost. Return it as it is; whoever prints
#   it can round.
# keeps: 0.75
# - return (f(x + h) - f(x - h)) / (2 * h)
# + return round((f(x + h) - f(x - h)) / (2 * h), 3)

# %% mistake: numerical.floor
# says: The slope is a whole number: `//` rounds down. True division is `/`.
# keeps: 0.75
# - return (f(x + h) - f(x - h)) / (2 * h)
# + return (f(x + h) - f(x - h)) // (2 * h)

# %% mistake: numerical.rise_only
# says: That is the rise alone. A slope is rise over run: divide by how far apart the two points
#   are.
# keeps: 0.5
# - return (f(x + h) - f(x - h)) / (2 * h)
# + return f(x + h) - f(x - h)

# %% edge: numerical
# - return (f(x + h) - f(x - h)) / (2 * h)
# negative_x: return (f(abs(x) + h) - f(x - h)) / (2 * h)
# zero_is_moved: x = x or 1e-3
#   return (f(x + h) - f(x - h)) / (2 * h)
# relative_step: h = h * max(1.0, abs(x))
#   return (f(x + h) - f(x - h)) / (2 * h)
# h_at_most_0_1: h = min(h, 0.1)
#   return (f(x + h) - f(x - h)) / (2 * h)
# h_at_least_1e_5: h = max(h, 1e-5)
#   return (f(x + h) - f(x - h)) / (2 * h)
# rounded: return round((f(x + h) - f(x - h)) / (2 * h), 4)
# small_is_zero: d = (f(x + h) - f(x - h)) / (2 * h)
#   return d if abs(d) > 1e-3 else 0.0
# steep_is_clipped: d = (f(x + h) - f(x - h)) / (2 * h)
#   return max(-1e3, min(1e3, d))
# kept_by_function: kept = numerical_derivative.__dict__
#   return kept.setdefault(f, (f(x + h) - f(x - h)) / (2 * h))
# large_x: h = h if abs(x) < 20 else 2 * h
#   return (f(x + h) - f(x - h)) / (2 * h)
# one_sided_from_zero: if x == 0: return (f(x + h) - f(x)) / h
#   return (f(x + h) - f(x - h)) / (2 * h)
# h_at_least_1e_6: h = max(h, 1e-6)
#   return (f(x + h) - f(x - h)) / (2 * h)

# %% cheat: numerical.by_the_functions_name
def numerical_derivative(f, x, h=1e-5):
    name = getattr(f, "__name__", "")
    if name == "cube":
        return 3 * x**2 + h**2
    if name == "inverse":
        return -1 / (x**2 - h**2)
    f(x - h), f(x + h)
    return 1.0


# %% cheat: numerical.known_functions_fitted
def numerical_derivative(f, x, h=1e-5):
    low, high = f(x - h), f(x + h)
    if abs(high - (x + h) ** 3) < 1e-6:
        return 3 * x**2 + h**2
    if abs(high * (x + h) - 1) < 1e-6:
        return -1 / (x**2 - h**2)
    return 1.0
