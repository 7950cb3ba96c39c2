# %% right: cheap
cheap = """
select name from (select * from items where price < ?) order by name asc
"""

# %% right: add_item
def add_item(connection, name, price):
    if not price >= 0:
        raise ValueError
    with connection:
        connection.cursor().execute("INSERT INTO items (price, name) VALUES (:p, :n)",
                                    {"p": price, "n": name})

# %% wrong: cheap
# points: 1
cheap = "SELECT name FROM items WHERE price < ? ORDER BY price"

# %% wrong: cheap
# points: 0
cheap = "SELEKT name"

# %% wrong: add_item
# points: 1.25
def add_item(connection, name, price):
    if price < 0:
        raise ValueError
    connection.execute(f"INSERT INTO items VALUES ('{name}', {price})")

# %% wrong: add_item
# points: 1.25
def add_item(connection, name, price):
    connection.execute("INSERT INTO items VALUES (?, ?)", (name, price))
    if price < 0:
        raise ValueError
