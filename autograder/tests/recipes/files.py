# %% right: warm
from pathlib import Path

def warm(source, target, least):
    rows = [line.split(",") for line in Path(source).read_text().splitlines()]
    Path(target).write_text("".join(f"{day}\n" for day, number in rows if float(number) >= least))

# %% right: bars
def bars(counts):
    print("".join("*" * count + "\n" for count in counts), end="")

# %% wrong: warm
# points: 1
# - with open(source) as days, open(target, "w") as found:
# + with open(source) as days, open(target, "a") as found:

# %% wrong: warm
# points: 1
# - if float(temperature) >= least:
# + if float(temperature) > least:

# %% wrong: warm
# points: 1
# - with open(source) as days, open(target, "w") as found:
# + with open("days.csv") as days, open(target, "w") as found:

# %% wrong: bars
# points: 1
def bars(counts):
    return "\n".join("*" * count for count in counts)

# %% wrong: bars
# points: 1
def bars(counts):
    print("\n".join("*" * count for count in counts))
