"""What the build prints: a line a step with its time, a bar for downloads, plain text in a log."""

import sys
import time

NAME_WIDTH = 34
BAR_WIDTH = 24
BAR_INTERVAL_S = 0.1


class Console:
    """Prints progress to a stream; moves the cursor only where the stream is a terminal."""

    def __init__(self, stream=None):
        self.stream = stream or sys.stdout
        self.in_place = self.stream.isatty()
        self._bar_shown_at = 0.0

    def begin(self, name: str) -> None:
        """Shows which step runs now; on a terminal `end` overwrites it."""
        if self.in_place:
            self._write(f"\r\033[K  {name} …")

    def end(self, name: str, outcome: str) -> None:
        """The step's one lasting line."""
        self._write(f"{self._clear()}  {name:<{NAME_WIDTH}}{outcome}\n")

    def note(self, text: str) -> None:
        """A lasting line below the step that runs."""
        self._write(f"{self._clear()}    {text}\n")

    def bar(self, name: str, done_bytes: int, total_bytes: int | None) -> None:
        """A bar that is redrawn in place; silent where the output is not a terminal."""
        now = time.monotonic()
        finished = total_bytes is not None and done_bytes >= total_bytes
        if not self.in_place or (now - self._bar_shown_at < BAR_INTERVAL_S and not finished):
            return
        self._bar_shown_at = now
        self._write(f"\r\033[K    {name} {draw_bar(done_bytes, total_bytes)}")

    def _clear(self) -> str:
        return "\r\033[K" if self.in_place else ""

    def _write(self, text: str) -> None:
        self.stream.write(text)
        self.stream.flush()


def draw_bar(done_bytes: int, total_bytes: int | None) -> str:
    """The bar as text, e.g. `[######......] 3.0 of 6.0 MB`; without a total only the amount."""
    done_mb = done_bytes / 1e6
    if not total_bytes:
        return f"{done_mb:.1f} MB"
    filled = min(BAR_WIDTH, BAR_WIDTH * done_bytes // total_bytes)
    return f"[{'#' * filled}{'.' * (BAR_WIDTH - filled)}] {done_mb:.1f} of {total_bytes / 1e6:.1f} MB"


def seconds(elapsed_s: float) -> str:
    """An elapsed time for people: `0.4 s`, `75 s`."""
    return f"{elapsed_s:.1f} s" if elapsed_s < 10 else f"{elapsed_s:.0f} s"
