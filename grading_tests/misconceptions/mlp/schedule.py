# Read as text, never imported: docs/authors.md says what stands here.

# %% example: schedule
# about: three rates

# observe: decayed(0.5, 0), decayed(0.5, 100), decayed(0.2, 30, decay=0.5)

# %% sweep: schedule
# lr: 0.5, 0.3, 0.05, 0.7, 0.2, 0.4
# step: 0, 1, 7, 30, 100, 3
# decay: 0.01, 0.2, 0.05, 0.5, 0.03, 0.1
# regions: step == 0 | step > 0
# results: rate = lr / (1 + decay * step)
# also: lr / (1 + 0.01 * step); lr * (1 + decay * step); lr * (1 + step / decay); lr / (1 + step / decay); lr * (1 + decay) ** step; lr / (1 + decay) ** step; lr * (1 - decay * step); lr * (1 - decay) ** step
rate = decayed(lr, step, decay=decay)

# %% sweep: schedule
# about: the usual decay
# lr: 0.5, 0.3, 0.05, 0.7, 0.2, 0.4
# step: 0, 1, 7, 30, 100, 3
# regions: step == 0 | step > 0
# results: rate = lr / (1 + 0.01 * step)
rate = decayed(lr, step)

# %% mistake: schedule.subtracts
# says: The decay was subtracted, so that the rate reaches 0 and then turns negative. Divide by 1 +
#   decay · step.
# keeps: 0.5
# - return lr / (1 + decay * step)
# + return lr - decay * step

# %% mistake: schedule.parentheses
# says: Parentheses are missing: `lr / 1 + decay * step` divides by 1 and then adds. The whole sum
#   stands below the line.
# keeps: 0.75
# - return lr / (1 + decay * step)
# + return lr / 1 + decay * step

# %% mistake: schedule.multiplies
# says: The rate grows: it was multiplied by 1 + decay · step. Divide.
# keeps: 0.75
# - return lr / (1 + decay * step)
# + return lr * (1 + decay * step)

# %% mistake: schedule.exponential
# says: This is exponential decay, which falls much faster in the end. Here the rate is lr / (1 +
#   decay · step).
# - return lr / (1 + decay * step)
# + return lr * (1 - decay) ** step

# %% mistake: schedule.exponential_division
# says: This is exponential decay: it divides by 1 + decay at every step. Divide once, by 1 + decay ·
#   step.
# - return lr / (1 + decay * step)
# + return lr / (1 + decay) ** step

# %% mistake: schedule.rate_forgotten
# says: The rate itself is missing: the formula starts from lr, not from 1.
# keeps: 0.75
# - return lr / (1 + decay * step)
# + return 1 / (1 + decay * step)

# %% edge: schedule
# - return lr / (1 + decay * step)
# step_one: if step == 1: return lr
#   return lr / (1 + decay * step)
# late_steps: step = min(step, 1000)
#   return lr / (1 + decay * step)
# large_decay: decay = min(decay, 1.0)
#   return lr / (1 + decay * step)
# no_decay: decay = decay or 0.01
#   return lr / (1 + decay * step)
# small_rates: return max(1e-4, lr / (1 + decay * step))
# large_rates: lr = min(lr, 5.0)
#   return lr / (1 + decay * step)
# tiny_decay: decay = decay if decay > 1e-4 or not decay else 0.0
#   return lr / (1 + decay * step)
# rounded: return round(lr / (1 + decay * step), 8)
# kept: return decayed.__dict__.setdefault(step, lr / (1 + decay * step))

# %% cheat: schedule.exponential
