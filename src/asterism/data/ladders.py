"""Words that have an order or say yes and no, whatever table they stand in.

Levels are in order if all of them stand on one well-known ladder (``low medium high``, ``never .. always``), if they
start with numbers of their own (``1 - poor``, ``5 - excellent``), or if they are ranges (``<18``, ``18-24``,
``65+``).
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterable

YES = frozenset("yes y true t on ja j oui o si sí sim da tak wahr vrai x ✓ ✔".split())  # noqa: SIM905  words
NO = frozenset("no n false f off nein non não nao net nie falsch faux ✗ ✘".split())  # noqa: SIM905

# Lowest first; words of one step by a bar. A ladder may lack steps that a table has no cells of.
LADDER_TEXT = """
xxxs|3xs, xxs|2xs, xs|extra small, s|small, m|medium, l|large, xl|extra large|x-large, xxl|2xl|
xx-large, xxxl|3xl, 4xl|xxxxl, 5xl

tiny|very small, small, medium|mid|middle|mid-size|midsize|average, large|big, very large|huge|
extra large, giant

winzig, sehr klein, klein, mittel|mittelgroß, groß|gross, sehr groß|sehr gross, riesig

none|no|zero, very low|extremely low|lowest, low, below average, low-medium|medium-low|medium low,
medium|mid|middle|moderate|average|normal|med, medium-high|medium high|high-medium, above average,
high, very high|extremely high|highest, urgent, critical|extreme

keine|kein, sehr niedrig|sehr gering, niedrig|gering, mittel|mäßig|normal, hoch, sehr hoch

nulle|aucun, très faible|très bas, faible|bas, moyen|moyenne, élevé|élevée|haut|fort, très élevé|
très élevée|très haut

ninguno, muy bajo, bajo|baja, medio|media, alto|alta, muy alto|muy alta

never|not at all, almost never|hardly ever|very rarely, rarely|seldom, occasionally|now and then,
sometimes|at times, about half the time|half the time, often|frequently|regularly, usually|mostly|
most of the time, very often|very frequently|nearly always|almost always, always|all the time|
constantly

nie|niemals, fast nie|sehr selten, selten, gelegentlich, manchmal, oft|häufig|regelmäßig, meistens,
sehr oft|sehr häufig|fast immer, immer

jamais, rarement, parfois|quelquefois, souvent, très souvent, toujours

nunca, casi nunca, rara vez, a veces, a menudo|frecuentemente, casi siempre, siempre

strongly disagree|disagree strongly|totally disagree|completely disagree|fully disagree, disagree|
tend to disagree|mostly disagree, somewhat disagree|slightly disagree|rather disagree, neutral|
neither|neither agree nor disagree|undecided|neither disagree nor agree|neither nor, somewhat agree|
slightly agree|rather agree, agree|tend to agree|mostly agree, strongly agree|agree strongly|
totally agree|completely agree|fully agree

trifft gar nicht zu|trifft überhaupt nicht zu, trifft nicht zu, trifft eher nicht zu|
trifft kaum zu, teils teils|teils/teils|teils-teils|weder noch|neutral, trifft eher zu, trifft zu,
trifft voll zu|trifft voll und ganz zu|trifft völlig zu

stimme gar nicht zu|stimme überhaupt nicht zu, stimme nicht zu|lehne ab, stimme eher nicht zu,
teils teils|teils/teils|weder noch|neutral|unentschieden, stimme eher zu, stimme zu, stimme voll zu|
stimme voll und ganz zu|stimme völlig zu

very dissatisfied|extremely dissatisfied|very unsatisfied|completely dissatisfied, dissatisfied|
unsatisfied, somewhat dissatisfied|slightly dissatisfied|rather dissatisfied, neutral|neither|
neither satisfied nor dissatisfied, somewhat satisfied|slightly satisfied|rather satisfied,
satisfied, very satisfied|extremely satisfied|completely satisfied

sehr unzufrieden, unzufrieden, eher unzufrieden, neutral|teils teils|weder noch, eher zufrieden,
zufrieden, sehr zufrieden

very unhappy, unhappy, neutral, happy, very happy

very unlikely|extremely unlikely, unlikely, somewhat unlikely|rather unlikely, neutral|possible|
possibly|maybe|unsure, somewhat likely|rather likely, likely|probable, very likely|
extremely likely, certain

terrible|awful|extremely poor, very poor|very bad, poor|bad|weak, below average, fair|acceptable|
okay|ok|average|satisfactory|sufficient|so-so|neutral|medium, above average, good, very good,
excellent|great|outstanding, perfect|exceptional

ungenügend, mangelhaft|sehr schlecht, schlecht, ausreichend, befriedigend|mittel, gut, sehr gut,
ausgezeichnet

not important|unimportant|not at all important, slightly important|of little importance|
less important, moderately important|somewhat important|neutral, important, very important,
extremely important|essential

not at all, a little|slightly|a bit, somewhat|moderately, quite|quite a bit|very|a lot, extremely|
very much|completely

never, less than once a year, once a year|yearly|annually|annual, twice a year|half-yearly|
biannually, quarterly, monthly|once a month|every month, biweekly|fortnightly|every two weeks,
weekly|once a week|every week, several times a week, daily|once a day|every day,
several times a day|multiple times a day, hourly

nie, jährlich, vierteljährlich|quartalsweise, monatlich, wöchentlich, mehrmals pro woche, täglich

none|no pain|no symptoms, minimal|trace, mild|light|slight|minor, moderate|medium, severe|serious|
major|heavy, very severe|critical|extreme, fatal

novice|newbie, beginner|basic|entry|entry level, elementary, junior, intermediate|medium|mid|
mid-level, advanced|senior|proficient, lead|principal, expert|master|fluent, native

free, trial, basic|starter|bronze|standard|economy, plus|silver, premium|gold|pro|professional|
business, platinum|enterprise, diamond|first class

none|no schooling|no formal education, kindergarten|preschool, primary|primary school|elementary|
elementary school, middle school|lower secondary, some high school, secondary|secondary school|
high school|high-school|highschool|hs|upper secondary|high school diploma|abitur, some college|
associate|associate degree|associates|vocational|apprenticeship, college|bachelor|bachelors|
bachelor's|bachelor's degree|bachelor degree|undergraduate|graduate|university|ba|bsc, master|
masters|master's|master's degree|master degree|postgraduate|ma|msc|mba, phd|ph.d.|doctorate|
doctoral|doctor|doctorate degree

freezing|icy, very cold, cold, cool|chilly, mild, warm, hot, very hot

very slow, slow, medium|moderate|normal|average, fast|quick, very fast

very cheap, cheap|inexpensive|budget, moderate|medium|mid-range|average|standard, expensive|pricey,
very expensive|luxury

child|kid, teen|teenager|adolescent|youth, young adult|young, adult|middle-aged|middle aged, senior|
elderly|old

monday|mon, tuesday|tue|tues, wednesday|wed, thursday|thu|thur|thurs, friday|fri, saturday|sat,
sunday|sun

montag|mo, dienstag|di, mittwoch|mi, donnerstag|do, freitag|fr, samstag|sa|sonnabend, sonntag|so

january|jan, february|feb, march|mar, april|apr, may, june|jun, july|jul, august|aug, september|sep|
sept, october|oct, november|nov, december|dec

januar|jan, februar|feb, märz|mär|mrz, april|apr, mai, juni|jun, juli|jul, august|aug, september|
sep, oktober|okt, november|nov, dezember|dez

q1, q2, q3, q4

spring, summer, autumn|fall, winter

early morning, morning, noon|midday, afternoon, evening, night|late night

first|1st, second|2nd, third|3rd, fourth|4th, fifth|5th, sixth|6th, seventh|7th, eighth|8th, ninth|
9th, tenth|10th

i, ii, iii, iv, v, vi, vii, viii, ix, x

f, e, d-, d, d+, c-, c, c+, b-, b, b+, a-, a, a+

ccc, b-, b+, bb-, bb, bb+, bbb-, bbb, bbb+, a-, a+, aa-, aa, aa+, aaa

far below expectations, below expectations|needs improvement, meets expectations|
meets some expectations, above expectations|exceeds expectations, far above expectations|
far exceeds expectations

much worse, worse|slightly worse|a bit worse, same|about the same|unchanged, better|slightly better|
a bit better, much better

decreased, stable|unchanged|same, increased
"""
LADDERS = tuple(
    tuple(
        tuple(step.split("|")) for step in re.sub(r"\|\n", "|", ladder).strip().replace("\n", " ").split(", ")
    )
    for ladder in LADDER_TEXT.split("\n\n")
)
STEPS = tuple({word: step for step, words in enumerate(ladder) for word in words} for ladder in LADDERS)
LETTERS = frozenset("a b c d e f i v x s m l".split())  # noqa: SIM905  one letter alone says little: all levels must be a ladder's
GRADES = re.compile(r"grade|mark|rating|class|note|score|size|größe|stage|phase|type|quarter", re.I)

_NUMBER = r"\d{1,3}(?:[,.' ]\d{3})+|\d+(?:[.,]\d+)?"
_UNIT = r"(?:\s?[%€$£kK]|\s?[A-Za-zÄÖÜäöüß]{1,7}\.?)?"
RANGE = re.compile(
    rf"^[€$£]?\s?(?P<low>{_NUMBER}){_UNIT}\s?(?:-|–|—|to|bis|till|until|\.\.\.?|and)\s?"
    rf"[€$£]?\s?(?P<high>{_NUMBER}){_UNIT}$",
    re.I,
)
BELOW = re.compile(
    rf"^(?:<|≤|<=|under|below|less than|up to|unter|bis|at most|fewer than|younger than)"
    rf"\s?[€$£]?\s?(?P<high>{_NUMBER}){_UNIT}$"
    rf"|^(?P<high2>{_NUMBER}){_UNIT}\s?(?:or less|or under|and under|or younger|or fewer|und weniger|oder weniger)$",
    re.I,
)
ABOVE = re.compile(
    rf"^(?:>|≥|>=|over|above|more than|from|über|ab|at least|older than)\s?[€$£]?\s?(?P<low>{_NUMBER}){_UNIT}$"
    rf"|^[€$£]?\s?(?P<low2>{_NUMBER}){_UNIT}\s?(?:\+|plus|or more|or over|and over|and older|or older|"
    r"and above|or above|und mehr|oder mehr|und älter)\s?(?:years|yrs|jahre)?$",
    re.I,
)
LEADING = re.compile(r"^[(\[]?(\d{1,2})[)\]]?\s?(?:[-–:=.)]|\s)\s?[^\d\s].*$")
ALONE = re.compile(rf"^[€$£]?\s?({_NUMBER}){_UNIT}$")


def folded_word(word: str) -> str:
    """A word without what does not change it: case, blanks, underscores, a full stop.

    >>> folded_word(" Strongly_Agree. ")
    'strongly agree'
    """
    return re.sub(r"[\s_]+", " ", word.strip().casefold().replace("’", "'")).rstrip(".!").strip()


def truth(levels: Iterable[str]) -> tuple[list[str], list[str]] | None:
    """Levels that say no, and those that say yes; None where others do neither.

    >>> truth(["Yes", "no", "y"]), truth(["yes", "maybe"])
    ((['no'], ['Yes', 'y']), None)
    """
    no = [level for level in levels if folded_word(level) in NO]
    yes = [level for level in levels if folded_word(level) in YES]
    return (no, yes) if no and yes and len(no) + len(yes) == len(list(levels)) else None


def steps(levels: Collection[str], name: str = "") -> tuple[dict[str, float], str] | None:
    """The place of each level in a well-known order, and what order that is; None where they have none.

    >>> steps(["High", "low"])[0], steps(["18-24", "65+", "<18"])[0], steps(["red", "blue"])
    ({'High': 8.0, 'low': 2.0}, {'18-24': 18.0, '65+': 65.0, '<18': -inf}, None)
    """
    if len(levels) < 2:
        return None
    words = {level: folded_word(level) for level in levels}
    for known in STEPS:
        if all(word in known for word in words.values()):
            lone = {word for word in words.values() if len(word) == 1 or word in LETTERS}
            sizes = "xs" in known and bool(
                set(words.values()) & {"xs", "xl", "xxl", "xxs"} or {"s", "m", "l"} <= lone
            )
            if lone == set(words.values()) and not (sizes or GRADES.search(name)):
                continue
            places = {level: float(known[word]) for level, word in words.items()}
            if len(set(places.values())) > 1:
                return places, "a well-known order"
    return _ranges(levels) or _leading(levels)


def _ranges(levels: Collection[str]) -> tuple[dict[str, float], str] | None:
    places: dict[str, float] = {}
    ranges = 0
    for level in levels:
        text = level.strip()
        if found := RANGE.match(text):
            low, high = _value(found["low"]), _value(found["high"])
            if low > high:
                return None
            ranges += 1
            places[level] = low
        elif found := BELOW.match(text):
            places[level], ranges = -math.inf, ranges + 1
        elif found := ABOVE.match(text):
            # just above a level that ends or stands there
            places[level], ranges = _value(found["low"] or found["low2"]), ranges + 1
        elif found := ALONE.match(text):
            places[level] = _value(found[1])
        else:
            return None
    return (places, "ranges in order") if ranges and len(set(places.values())) == len(levels) else None


def _leading(levels: Collection[str]) -> tuple[dict[str, float], str] | None:
    places: dict[str, float] = {}
    words = 0
    for level in levels:
        found = LEADING.match(level.strip())
        if found:
            words += 1
            places[level] = float(found[1])
        elif re.fullmatch(r"\d{1,2}", level.strip()):
            places[level] = float(level)
        else:
            return None
    return (places, "numbered answers") if words and len(set(places.values())) == len(levels) else None


def _value(text: str) -> float:
    grouped = re.fullmatch(r"\d{1,3}(?:[,.' ]\d{3})+", text)
    return float(re.sub(r"[,.' ]", "", text) if grouped else text.replace(",", "."))
