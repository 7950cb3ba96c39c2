# %% right: total
async def total(measure, names):
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(measure(name)) for name in names]
    return sum(task.result() for task in tasks)

# %% wrong: total
# points: 2
async def total(measure, names):
    return sum([await measure(name) for name in names])

# %% wrong: total
# points: 0
def total(measure, names):
    return asyncio.run(measure(names[0]))
