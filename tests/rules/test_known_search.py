"""Lines are found by their words: rare ones count most, spelling may be off."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from dreaming.known.search import LEAST, Index
from dreaming.similarity import grams, overlap

LINES = [
    "A recursive file search hit the timeout. Scope searches to a subdirectory.",
    "`pnpm test` never ends in watch mode. Use `pnpm vitest run`.",
    "`tidepool sync` loses rows. Pass `--cold` to `tidepool sync`.",
    "The deploy of the reef service fails. Run migrations before the deploy.",
    "Tests fail when the deploy is running. Use the test cluster.",
    "必须封存数据库。",
]


def best(words: str) -> int | None:
    """The place of the best line."""
    found = Index(LINES).search(words)
    return found[0][0] if found else None


def test_the_line_with_the_words_is_first() -> None:
    """Each line is found by words of its own, in any order and case."""
    assert best("timeout search") == 0
    assert best("WATCH pnpm") == 1
    assert best("--cold") == 2
    assert best("migrations deploy") == 3
    assert best("封存") == 5


def test_a_misspelled_word_is_found() -> None:
    """A letter too few or too many, a plural, a beginning: still the word."""
    assert best("serch timout") == 0
    assert best("tidepol") == 2
    assert best("migration") == 3
    assert best("vit") == 1


def test_the_rarer_word_decides() -> None:
    """Of two words the one that fewer lines have tells more."""
    assert best("deploy cluster") == 4
    assert best("deploy reef") == 3


def test_words_as_they_stand_win() -> None:
    """A line that has the words just so comes before one that has them apart."""
    assert best("run migrations before") == 3
    assert Index(LINES).search("run migrations before")[0][1] > 1.0


def test_nothing_is_found_where_nothing_is() -> None:
    """Words that nobody wrote find nothing; so do no words."""
    assert Index(LINES).search("zzyzx quux") == []
    assert Index(LINES).search("  ") == []
    assert Index([]).search("deploy") == []


@given(st.lists(st.text(max_size=40), max_size=6), st.text(max_size=30))
def test_any_text_can_be_searched(lines: list[str], words: str) -> None:
    """Best first, each line once, none below what is worth showing."""
    found = Index(lines).search(words)
    scores = [score for _, score in found]
    assert scores == sorted(scores, reverse=True)
    assert len({place for place, _ in found}) == len(found)
    assert all(score >= LEAST for score in scores)


def test_grams_know_where_a_word_ends() -> None:
    """Beginning and end count, so that a word is more like its plural than like its middle."""
    assert overlap(grams("deploy"), grams("deploys")) > overlap(grams("deploy"), grams("eplo"))
    assert grams("") and grams("a")
