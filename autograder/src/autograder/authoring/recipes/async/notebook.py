# %% assignment: async
# title: Waiting for several things

import asyncio

# %% exercise: total
# title: At the same time
# points: 3
# text: `measure(name)` is a coroutine function that gives a number after a while. Add up what it
#   gives for several names; all are awaited at the same time.
async def total(measure, names):
    """Return the sum of `await measure(name)` over all names, which wait together."""
    ### BEGIN SOLUTION
    return sum(await asyncio.gather(*map(measure, names)))
    ### END SOLUTION
