"""The queue: a list that draws only the rows one sees, so that thousands cost nothing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from rich.cells import cell_len, set_cell_size
from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.geometry import Region, Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip

from dreaming.jobs.showing import Item


class QueueList(ScrollView, inherit_bindings=False):
    """Candidates, best first; one of them is the one a key is about."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {
        "queue--row",
        "queue--cursor",
        "queue--muted",
        "queue--care",
        "queue--mark",
    }
    can_focus = True

    class Moved(Message):
        """One stands on another candidate."""

        def __init__(self, item: Item | None) -> None:
            self.item = item
            super().__init__()

    def __init__(self) -> None:
        super().__init__(id="queue")
        self.items: Sequence[Item] = ()
        self.marked: set[str] = set()
        self.place = 0
        self._is_doubtful = False
        self.tall = True
        """Two lines a row, where there is no room for columns."""

    @property
    def current(self) -> Item | None:
        """The candidate one stands on."""
        return self.items[self.place] if self.items else None

    def show(self, items: Sequence[Item], place: int) -> None:
        """Show these and stand on one of them."""
        self.items = items
        self._is_doubtful = any(one.doubts for one in items)
        self._measure()
        self.stand(place)

    def lay(self, *, tall: bool) -> None:
        """Choose rows of two lines or of columns."""
        self.tall = tall
        self._measure()
        self._reveal()

    def stand(self, place: int) -> None:
        """Stand on the candidate at this place, or the nearest there is."""
        self.place = max(0, min(place, len(self.items) - 1))
        self._reveal()
        self.refresh()
        self.post_message(self.Moved(self.current))

    def move(self, by: int) -> None:
        """Go down (or up) by so many."""
        self.stand(self.place + by)

    @property
    def page(self) -> int:
        """How many rows one sees."""
        return max(1, self.size.height // self._each)

    @property
    def _each(self) -> int:
        return 2 if self.tall else 1

    def on_resize(self) -> None:
        """Keep the row one stands on in sight."""
        self._measure()
        self._reveal()

    def on_click(self, event: events.Click) -> None:
        """Stand on what was clicked; nothing is decided by a mouse."""
        self.stand((event.y + self.scroll_offset.y) // self._each)

    def _measure(self) -> None:
        self.virtual_size = Size(max(1, self.size.width), len(self.items) * self._each)

    def _reveal(self) -> None:
        top = self.place * self._each
        self.scroll_to_region(Region(0, top, 1, self._each), animate=False, force=True)

    def render_line(self, y: int) -> Strip:
        """Draw one line of one row."""
        place, part = divmod(y + self.scroll_offset.y, self._each)
        width = self.size.width
        if place >= len(self.items):
            return Strip.blank(width, self.get_component_rich_style("queue--row"))
        item, here = self.items[place], place == self.place
        base = self.get_component_rich_style("queue--cursor" if here else "queue--row")
        pieces = self._tall(item, width, part) if self.tall else self._columns(item, width)
        lead = self._lead(item, here, part)
        segments = [Segment(text, base + style) for text, style in [lead, *pieces]]
        return Strip(segments).adjust_cell_length(width, base)

    def _lead(self, item: Item, here: bool, part: int) -> tuple[str, Style]:
        mark = "*" if item.id in self.marked and part == 0 else " "
        return f"{'>' if here and part == 0 else ' '}{mark} ", self._style("mark")

    def _tall(self, item: Item, width: int, part: int) -> list[tuple[str, Style]]:
        if part == 0:
            return [(_fit(item.slug, width - 3), Style())]
        about = f"{item.topic} · {item.sessions} sessions · {item.last_seen}"
        doubts = f" · {_doubts(item)}" if item.doubts else ""
        return [
            (about, self._style("muted")),
            (_fit(doubts, width - 3 - cell_len(about)), self._style("care")),
        ]

    def _columns(self, item: Item, width: int) -> list[tuple[str, Style]]:
        topic, count, seen, doubt = 12, 12, 11, self._doubt_width(width)
        slug = max(8, width - 3 - topic - count - seen - doubt)
        return [
            (_fit(item.slug, slug - 1) + " ", Style()),
            (_fit(item.topic, topic - 1) + " ", self._style("muted")),
            (_fit(f"{item.sessions} sessions", count - 1) + " ", self._style("muted")),
            (_fit(item.last_seen, seen), self._style("muted")),
            (_fit(_doubts(item), doubt), self._style("care")),
        ]

    def _doubt_width(self, width: int) -> int:
        """Room for doubts, where anything that waits has one."""
        return min(26, max(11, width // 5)) if self._is_doubtful else 0

    def _style(self, name: str) -> Style:
        """A component's colour without its background, so that it fits on any row."""
        style = self.get_component_rich_style(f"queue--{name}")
        return Style(color=style.color, bold=style.bold, dim=style.dim)


def _doubts(item: Item) -> str:
    return ", ".join(doubt.word for doubt in item.doubts)


def _fit(text: str, width: int) -> str:
    fitted = set_cell_size(text, max(0, width))
    if fitted.rstrip() == text.rstrip() or width < 2:
        return fitted
    return set_cell_size(text, width - 1) + "…"
