# %% assignment: sql
# title: Questions to a database

import sqlite3

# %% exercise: cheap
# title: What is cheap
# text: A table `items` has the columns `name` and `price`. Write a question that gives the names of
#   all items that cost less than a given price, in the order of the alphabet.
# Set cheap to one line of SQL. A question mark stands for the price.
### BEGIN SOLUTION
cheap = "SELECT name FROM items WHERE price < ? ORDER BY name"
### END SOLUTION

# %% exercise: add_item
# title: One item more
# text: Write a function that adds an item to the table `items` of a database that is open.
def add_item(connection, name, price):
    """Add an item to the table `items`.

    The name may hold any characters. A price below 0 raises ValueError, and nothing is added.

    Example:
        add_item(sqlite3.connect("shop.db"), "tea", 2.5)
    """
    ### BEGIN SOLUTION
    if price < 0:
        raise ValueError
    connection.execute("INSERT INTO items VALUES (?, ?)", (name, price))
    ### END SOLUTION
