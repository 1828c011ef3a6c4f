"""Downloads: whole and right, or not there at all."""

import hashlib
import io
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from publish.console import Console, draw_bar
from publish.download import adopt, fetch, has_sha256
from publish.errors import BuildError

CONTENT = b"wheel " * 200_000
SHA256 = hashlib.sha256(CONTENT).hexdigest()


class Handler(BaseHTTPRequestHandler):
    """/whole is right; /half promises all and sends half; /other has another content."""

    def do_GET(self):
        body = {"/whole": CONTENT, "/half": CONTENT[: len(CONTENT) // 2], "/other": CONTENT[::-1]}.get(self.path)
        self.send_response(200 if body else 404)
        self.send_header("Content-Length", str(len(CONTENT)))
        self.end_headers()
        self.wfile.write(body or b"")

    def log_message(self, *args):
        pass


@pytest.fixture(scope="module")
def server():
    running = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=running.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{running.server_port}"
    running.shutdown()
    running.server_close()


def quiet():
    return Console(io.StringIO())


def test_a_whole_download_arrives(server, tmp_path):
    target = tmp_path / "new folder" / "a.whl"
    fetch(f"{server}/whole", target, SHA256, quiet())
    assert target.read_bytes() == CONTENT
    assert [file.name for file in target.parent.iterdir()] == ["a.whl"]


@pytest.mark.parametrize("path", ["/half", "/other", "/missing"])
def test_a_broken_download_leaves_nothing(server, tmp_path, path):
    with pytest.raises(BuildError):
        fetch(server + path, tmp_path / "a.whl", SHA256, quiet())
    assert list(tmp_path.iterdir()) == []


def test_a_broken_download_leaves_the_older_file_alone(server, tmp_path):
    (tmp_path / "a.whl").write_bytes(b"older")
    with pytest.raises(BuildError, match="sha256"):
        fetch(f"{server}/half", tmp_path / "a.whl", SHA256, quiet())
    assert (tmp_path / "a.whl").read_bytes() == b"older"


def test_an_unreachable_host_is_a_build_error(tmp_path):
    with pytest.raises(BuildError, match="could not be downloaded"):
        fetch("http://127.0.0.1:1/a.whl", tmp_path / "a.whl", SHA256, quiet())


def test_a_local_file_is_adopted_only_with_the_right_hash(tmp_path):
    (tmp_path / "right").write_bytes(CONTENT)
    (tmp_path / "wrong").write_bytes(CONTENT + b"!")
    adopt(tmp_path / "right", tmp_path / "a.whl", SHA256)
    assert has_sha256(tmp_path / "a.whl", SHA256)
    with pytest.raises(BuildError, match="wrong has sha256"):
        adopt(tmp_path / "wrong", tmp_path / "b.whl", SHA256)
    assert not (tmp_path / "b.whl").exists()


def test_the_bar_is_drawn_on_a_terminal_only():
    class Terminal(io.StringIO):
        def isatty(self):
            return True

    for stream, drawn in ((Terminal(), True), (io.StringIO(), False)):
        Console(stream).bar("a.whl", 3_000_000, 3_000_000)
        assert ("3.0 of 3.0 MB" in stream.getvalue()) == drawn


@pytest.mark.parametrize(
    ("done", "total", "text"),
    [
        (0, 6_000_000, "[........................] 0.0 of 6.0 MB"),
        (3_000_000, 6_000_000, "[############............] 3.0 of 6.0 MB"),
        (6_000_000, 6_000_000, "[########################] 6.0 of 6.0 MB"),
        (7_000_000, 6_000_000, "[########################] 7.0 of 6.0 MB"),
        (1_500_000, None, "1.5 MB"),
    ],
)
def test_bar_text(done, total, text):
    assert draw_bar(done, total) == text
