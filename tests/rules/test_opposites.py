"""Rules that tell one to do opposite things are pointed at; rules that agree are left alone."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dreaming.known.opposites import opposite, stance

OPPOSITE = [
    ("Use `reefctl` instead of `kelpctl`.", "Use `kelpctl` instead of `reefctl`."),
    ("Always pass `--cold` to `tidepool sync`.", "Never pass `--cold` to `tidepool sync`."),
    ("Run migrations before the deploy.", "Run migrations after the deploy."),
    ("Enable the bloom cache in CI.", "Disable the bloom cache in CI."),
    ("Commit the generated schema.", "Do not commit the generated schema."),
    ("Scope searches to one folder.", "Don't scope searches to one folder."),
    ("Set `KELP_STRICT` to true.", "Set `KELP_STRICT` to false."),
    ("Avoid `sudo` with the reef installer.", "Run the reef installer with `sudo`."),
    ("Add the lockfile to the image.", "Remove the lockfile from the image."),
    (
        "Increase the pool size of the anemone worker.",
        "Reduce the pool size of the anemone worker.",
    ),
    ("Start the fixture server without `--watch`.", "Start the fixture server with `--watch`."),
    ("Squash commits, never rebase them.", "Rebase commits; never squash them."),
    ("Write timestamps in UTC, not in local time.", "Write timestamps local, not in UTC."),
    ("Turn on retries for the urchin client.", "Turn off retries for the urchin client."),
    ("Stop the emulator between tests.", "Never stop the emulator between tests."),
    ("Allow the linter to rewrite imports.", "Forbid the linter to rewrite imports."),
    ("Rather than mocking the broker, start it.", "Mock the broker; avoid to start it."),
    ("Nie `flutctl push` verwenden.", "Immer `flutctl push` verwenden."),
    ("Ne jamais utiliser `maree push`.", "Utiliser `maree push`."),
    ("Use tabs in Makefiles.", "Do not use tabs in Makefiles."),
    ("Always mock the clock in tests.", "Use the real clock in tests, don't mock it."),
    ("Keep the cache between builds.", "Clear the cache between builds."),
    ("Run the formatter on save.", "Never run the formatter on save."),
    (
        "Set the log level to debug when it hangs.",
        "Do not set the log level to debug when it hangs.",
    ),
    ("Call the API with retries.", "Call the API without retries."),
    ("Delete the lockfile before installing.", "Keep the lockfile when installing."),
    ("Use npm, not yarn.", "Use yarn, not npm."),
    (
        "Merge the snapshot updates in the same commit.",
        "Snapshot updates must not be in the same commit.",
    ),
    ("Start the database first.", "Start the database last."),
    ("Increase the heap of the JVM.", "Decrease the heap of the JVM."),
]
"""Each pair belongs to one symptom."""

AGREE = [
    ("Never commit without running the linter.", "Run the linter before each commit."),
    ("Use `reefctl` instead of `kelpctl`.", "Call `reefctl`, not `kelpctl`."),
    ("Never pass `--cold` to `tidepool sync`.", "Avoid `--cold` with `tidepool sync`."),
    ("Do not deploy before the migrations ran.", "Run the migrations before a deploy."),
    ("Scope searches to one folder.", "Search in one folder only."),
    ("Use `kelp ci`, not `kelp install`.", "Use `reef`, not `kelp`."),
    ("Set the timeout to 30 seconds.", "Set a timeout of 30 seconds or more."),
    ("Add the flag `--frozen`.", "Pass `--frozen` and never edit the lockfile."),
    ("Enable the bloom cache.", "Enable the bloom cache and clear it weekly."),
    ("Never edit generated files.", "Edit the template, not the generated files."),
    ("Stop the emulator when the tests end.", "Stop the emulator after the tests."),
    ("Quote globs in the shell.", "Escape globs, or quote them."),
    ("Use `--yes` with npx.", "Pass `--yes` to npx so it does not prompt."),
    ("Do not read the whole log, use tail.", "Use tail instead of reading the whole log."),
    ("Never use `latest` tags.", "Pin tags; don't rely on `latest`."),
    ("Run `make gen` before the tests.", "Tests need `make gen` first."),
    ("Avoid heredocs in the sandbox.", "Write a file instead of a heredoc in the sandbox."),
    ("Set CI=1 to stop watch mode.", "Without CI=1 watch mode never stops; set it."),
    ("Don't forget to commit the lockfile.", "Commit the lockfile with the change."),
    ("Use absolute paths.", "Never use relative paths."),
    ("Don't skip the type check.", "Run the type check."),
    ("Quote the glob so the shell does not expand it.", "Never leave the glob unquoted."),
    ("Wait for the port instead of sleeping.", "Do not sleep; wait for the port."),
    ("Do not push without tests.", "Run the tests before you push."),
    ("Run the tests with `--serial`.", "Use `--serial` for tests that share a port."),
]


@pytest.mark.parametrize(("one", "other"), OPPOSITE)
def test_opposites_are_seen_both_ways(one: str, other: str) -> None:
    """One wants what the other leaves, whichever is asked about first."""
    assert opposite(one, other)
    assert opposite(other, one)


@pytest.mark.parametrize(("one", "other"), AGREE)
def test_rules_that_agree_are_left_alone(one: str, other: str) -> None:
    """A negation in one of them is no contradiction by itself."""
    assert not opposite(one, other)
    assert not opposite(other, one)


@given(st.text(max_size=80), st.text(max_size=80))
def test_it_does_not_matter_which_is_first(one: str, other: str) -> None:
    """Opposite is mutual, for any text at all."""
    assert opposite(one, other) == opposite(other, one)


@given(st.text(max_size=80))
def test_no_rule_is_its_own_opposite(rule: str) -> None:
    """What a rule wants and what it leaves have nothing in common."""
    found = stance(rule)
    assert not found.wanted & found.left
    assert not opposite(rule, rule)
