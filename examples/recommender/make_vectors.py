"""Makes up users.csv.gz and items.csv.gz: nobody's ratings, but with tastes that a recommender should find.

There are ten tastes, each a direction in a space of 16 dimensions. An item belongs to one of them, a user likes one to
three, and both are a little off. Vectors of a real model, such as a matrix factorisation, are written in the same way.

    python examples/recommender/make_vectors.py
"""

import gzip
import random
from pathlib import Path

USERS = range(113_001, 115_001)
ITEMS = range(1_001, 2_001)
DIMENSIONS = 16
TASTES = 10
NOISE = 0.3

# Any seed will do; with this one user 114521 likes the item 1887.
SEED = 493


def main() -> None:
    chance = random.Random(SEED)
    tastes = [direction(chance) for _ in range(TASTES)]
    directory = Path(__file__).parent
    write(directory / "users.csv.gz", {user: user_vector(tastes, chance) for user in USERS})
    write(directory / "items.csv.gz", {item: item_vector(tastes, chance) for item in ITEMS})


def direction(chance: random.Random) -> list[float]:
    """A vector of length 1."""
    vector = [chance.gauss(0, 1) for _ in range(DIMENSIONS)]
    length = sum(value * value for value in vector) ** 0.5
    return [value / length for value in vector]


def user_vector(tastes: list[list[float]], chance: random.Random) -> list[float]:
    liked = chance.sample(tastes, chance.randint(1, 3))
    return [3.5 * sum(values) / len(liked) ** 0.5 + chance.gauss(0, NOISE) for values in zip(*liked)]


def item_vector(tastes: list[list[float]], chance: random.Random) -> list[float]:
    taste = chance.choice(tastes)
    quality = chance.uniform(0.5, 3.5)
    return [quality * value + chance.gauss(0, NOISE) for value in taste]


def write(file: Path, vectors: dict[int, list[float]]) -> None:
    header = ",".join(["id", *(f"v{dimension}" for dimension in range(DIMENSIONS))])
    rows = [",".join([str(name), *(f"{value:.3f}" for value in vector)]) for name, vector in vectors.items()]
    # Without the time in it, so that equal vectors make equal files.
    file.write_bytes(gzip.compress("\n".join([header, *rows, ""]).encode(), mtime=0))


if __name__ == "__main__":
    main()
