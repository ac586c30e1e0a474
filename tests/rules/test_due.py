"""What is due, and where the watermark may go."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dreaming.due import LONGEST_WAIT, MAX_ATTEMPTS, Sight, Standing, standing, watermark

NOW = 1_800_000_000.0
HALF_AN_HOUR = 1800.0
INSTANTS = st.floats(min_value=0, max_value=2e9)


def _stands(sight: Sight, *, settle: float = HALF_AN_HOUR, since: float | None = None) -> Standing:
    return standing(sight, now=NOW, settle=settle, since=since)


@pytest.mark.parametrize(
    ("sight", "expected"),
    [
        (Sight(NOW - 7200, changed=True, waits_since=None), Standing.DUE),
        (Sight(NOW - 60, changed=True, waits_since=None), Standing.OPEN),
        (Sight(NOW - 60, changed=True, waits_since=NOW - LONGEST_WAIT), Standing.DUE),
        (Sight(NOW - 60, changed=True, waits_since=NOW + 9999), Standing.DUE),
        (Sight(NOW + 9999, changed=True, waits_since=None), Standing.DUE),
        (Sight(0.0, changed=True, waits_since=NOW - 60), Standing.DUE),
        (Sight(NOW - 7200, changed=False, waits_since=NOW - 60), Standing.SETTLED),
        (Sight(NOW - 60, changed=False, waits_since=NOW - 60, stale=True), Standing.STALE),
        (Sight(NOW - 7200, changed=False, waits_since=NOW, attempts=1), Standing.DUE),
        (
            Sight(NOW - 7200, changed=False, waits_since=NOW, attempts=MAX_ATTEMPTS),
            Standing.SET_ASIDE,
        ),
        (
            Sight(NOW - 7200, changed=False, waits_since=NOW, waits_for=Standing.OPEN),
            Standing.DUE,
        ),
        (
            Sight(NOW - 9e6, changed=False, waits_since=NOW, waits_for=Standing.OLDER),
            Standing.OLDER,
        ),
        (Sight(NOW - 9e6, changed=True, waits_since=NOW, waits_for=Standing.OLDER), Standing.DUE),
    ],
)
def test_where_a_transcript_stands(sight: Sight, expected: Standing) -> None:
    """Changed means due, unless it is still being written, which is not believed for ever."""
    assert _stands(sight) is expected


def test_a_late_file_with_an_old_time_is_due() -> None:
    """A restored file is new to us whatever its time says, once the first night is over."""
    assert _stands(Sight(1.0, changed=True, waits_since=None)) is Standing.DUE


def test_a_first_night_leaves_older_history_alone() -> None:
    """What nobody has read and is older than the instant waits, and can be asked for."""
    old = Sight(NOW - 9e6, changed=True, waits_since=None)
    assert _stands(old, since=NOW - 1000) is Standing.OLDER
    assert _stands(old, since=0.0) is Standing.DUE


def test_without_settling_nothing_is_still_written() -> None:
    """``--settle 0`` reads a session that is being typed."""
    assert _stands(Sight(NOW, changed=True, waits_since=None), settle=0) is Standing.DUE


@given(
    before=st.none() | INSTANTS,
    listed=INSTANTS,
    unsettled=st.lists(st.none() | INSTANTS),
)
def test_the_watermark_never_goes_back_and_never_over_what_is_left(
    before: float | None, listed: float, unsettled: list[float | None]
) -> None:
    """It moves only over what is settled, whatever the clock says."""
    moved = watermark(before, listed, unsettled)
    if before is not None:
        assert moved is not None
        assert moved >= before
    if moved is not None and moved != before:
        assert moved <= listed
        assert None not in unsettled
        assert all(settled_at is not None and moved <= settled_at for settled_at in unsettled)


def test_everything_settled_moves_it_to_the_listing() -> None:
    """Nothing new is a success."""
    assert watermark(None, NOW, []) == NOW
    assert watermark(NOW - 5, NOW, []) == NOW
