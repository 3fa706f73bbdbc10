"""Tables with groups of answers and categories: surveys, batteries of yes and no, ladders, votes."""

from __future__ import annotations

from bench.choose_pieces import Rng
from bench.mixed_draft import LADDER, Draft
from bench.mixed_tables import DrawnTable, register

AGREE = ("strongly disagree", "disagree", "neutral", "agree", "strongly agree")


def questions(n: int) -> list[str]:
    return [f"q{j + 1}" for j in range(n)]


def one_mode(rng: Rng) -> DrawnTable:
    return Draft(rng, (2, 4), (300, 1500)).ratings(questions(int(rng.integers(6, 11))), gap=1.6).table()


def loved_or_hated(rng: Rng) -> DrawnTable:
    return Draft(rng, (2, 4), (300, 1500)).loved_or_hated(questions(int(rng.integers(6, 11))), 0.8).table()


def with_a_trait(rng: Rng) -> DrawnTable:
    t = Draft(rng, (2, 3), (500, 2500))
    return t.ratings(questions(int(rng.integers(8, 13))), gap=1.3, trait=0.8).table()


def with_people(rng: Rng) -> DrawnTable:
    t = Draft(rng, (2, 4), (400, 2000)).ratings(questions(5), gap=1.5, levels=AGREE)
    t.normal({"age": (43, 9)}, gap=1.8).log_normal({"income": (31_000, 0.4)}, gap=1.8)
    return t.levels("party", ["red", "blue", "green", "none"], 1.2).yes_no(["voted"], 1.5).table()


def yes_no_battery(rng: Rng) -> DrawnTable:
    names = [f"has_{j + 1}" for j in range(int(rng.integers(10, 16)))]
    return Draft(rng, (2, 4), (400, 2000)).yes_no(names, 3.0).table()


def yes_no_with_a_trait(rng: Rng) -> DrawnTable:
    names = [f"symptom_{j + 1}" for j in range(int(rng.integers(12, 19)))]
    return Draft(rng, (2, 3), (800, 3000)).ratings(names, gap=2.4, levels=("no", "yes"), trait=0.7).table()


def categories(rng: Rng) -> DrawnTable:
    t = Draft(rng, (2, 4), (500, 2500))
    for j, n in enumerate(rng.integers(2, 13, int(rng.integers(6, 10)))):
        t.levels(f"code_{j + 1}", int(n), 1.4)
    return t.table()


def rare_levels(rng: Rng) -> DrawnTable:
    t = Draft(rng, (2, 4), (500, 2500))
    for j in range(7):
        t.levels(f"type_{j + 1}", int(rng.integers(5, 11)), 1.6, rare=0.5)
    return t.table()


def ladders(rng: Rng) -> DrawnTable:
    t = Draft(rng, (2, 4), (300, 1500))
    t.ratings(["sport", "reading", "cinema", "travel"], 1.7, LADDER)
    t.ratings(["pain", "fatigue"], 1.7, ["none", "mild", "moderate", "severe"])
    t.ratings(["size"], 1.7, ["S", "M", "L", "XL"])
    return t.normal({"age": (45, 10)}, gap=1.5).table()


def votes(rng: Rng) -> DrawnTable:
    names = [f"bill_{j + 1}" for j in range(14)]
    return Draft(rng, (2, 3), (300, 800)).yes_no(names, 3.0).missing(0.1, by_group=0.8).table()


def mushrooms(rng: Rng) -> DrawnTable:
    t = Draft(rng, (3, 7), (800, 3000))
    for name, levels in {
        "cap": 6,
        "gill": 8,
        "odour": 9,
        "ring": 4,
        "stalk": 4,
        "spore": 7,
        "habitat": 6,
    }.items():
        t.levels(name, levels, 1.9, rare=0.1)
    return t.yes_no(["bruises"], 2.0).table()


def likes_and_numbers(rng: Rng) -> DrawnTable:
    t = Draft(rng, (2, 4), (400, 2000)).loved_or_hated([f"dish_{j + 1}" for j in range(6)], 0.9)
    return t.gamma("spend", 35, 4, gap=1.6).counts(["visits"], 4, gap=1.6).missing(0.04).table()


register(
    "groups",
    {
        "survey, one mode": one_mode,
        "survey, loved or hated": loved_or_hated,
        "survey, a trait in each group": with_a_trait,
        "survey and people": with_people,
        "yes or no": yes_no_battery,
        "yes or no, a trait in each group": yes_no_with_a_trait,
        "categories of 2 to 12 levels": categories,
        "categories, rare levels": rare_levels,
        "ladders of words": ladders,
        "votes, missing": votes,
        "mushrooms": mushrooms,
        "likes and numbers": likes_and_numbers,
    },
)
