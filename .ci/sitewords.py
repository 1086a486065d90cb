"""What the search of the site knows of each page: its first sentence, and the words that tell it from the others."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Mapping

# Words of a page that the search ranks by.
KEPT = 40
# What the most typical word of a page adds to its score.
HIGHEST = 30

WORD = re.compile(r"[^\W_][\w]*(?:-\w+)*")
FENCE = re.compile(r"^(```+)[^\n]*\n.*?^\1$", re.M | re.S)
LINK = re.compile(r"!?\[([^\]]*)\]\([^)]*\)")


def words_of(text: str) -> list[str]:
    """The words of a text in lower case; a compound counts as itself and as its parts."""
    found = []
    for word in WORD.findall(text.lower()):
        found.append(word)
        if "-" in word:
            found += word.split("-")
    return found


def counts(text: str) -> Counter[str]:
    """How often a page has a word; one in a heading counts as five."""
    prose = LINK.sub(r"\1", FENCE.sub("", text))
    headings = re.findall(r"^#+ (.+)$", prose, re.M)
    count = Counter(words_of(prose))
    for heading in headings:
        count.update({word: 4 for word in words_of(heading)})
    return count


def about(text: str) -> str:
    """The first sentence of a page."""
    for block in FENCE.sub("", text).split("\n\n"):
        block = LINK.sub(r"\1", block.strip())
        if block and not block.startswith(("#", "<", "|", "!", "`", "---")):
            plain = re.sub(r"[*`]", "", block.replace("\n", " "))
            return re.split(r"(?<=[.?!:]) ", plain)[0]
    return ""


def described(
    texts: Mapping[str, str], config: Mapping[str, Mapping[str, object]]
) -> dict[str, object]:
    """For each page what search.js reads."""
    found = {page: counts(text) for page, text in texts.items()}
    having = Counter(word for count in found.values() for word in count)
    described: dict[str, object] = {}
    for page, count in found.items():
        total = math.sqrt(sum(count.values()))
        weights = {
            word: n / total * math.log(len(found) / having[word])
            for word, n in count.items()
            if len(word) > 1 and having[word] < len(found)
        }
        kept = sorted(weights, key=lambda word: (-weights[word], word))[:KEPT]
        highest = max(weights.values(), default=1.0)
        described[page] = {
            "about": about(texts[page]),
            "keywords": config["keywords"].get(page, []),
            "rank": config["rank"].get(page, 0),
            "words": {word: round(HIGHEST * weights[word] / highest) for word in kept},
        }
    return described
