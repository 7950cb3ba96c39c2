# Read as text, never imported: docs/authors.md says what stands here.

# %% form: q6
# about: b runs before c
# answer: a number

# %% mistake: q6.as_if_in_order
# says: This is the true derivative, as if the order did not matter. When `b` runs, only a part of
#   its gradient has arrived; follow the numbers step by step.
q6 = 15

# %% mistake: q6.only_by_b
# says: This is what `b` passes on when it runs. `c` runs after it, and gives `a` a share of its
#   own.
q6 = 3

# %% mistake: q6.only_by_c
# says: This is the share that `c` gives directly. `b` ran before, and what `e` had given it by
#   then was not nothing.
q6 = 6

# %% mistake: q6.b_runs_again
# says: This counts what `b` passes on twice. It is called only once, and then never learns what
#   `c` gives it later.
q6 = 18

# %% mistake: q6.as_c_holds
# says: This is the number that `c` holds, and no sum of shares. `a` gets a share when `b` runs
#   and another when `c` runs, each by the gradient of that moment.
q6 = 12

# %% mistake: q6.own_number
# says: The share by `c` was taken to be the number of `a` itself. What a product gives one of
#   its operands is scaled by the other one.
q6 = 5

# %% cheat: q6.no_number
# earns: nothing
q6 = float("nan")
