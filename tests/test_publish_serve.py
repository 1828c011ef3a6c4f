"""The static server: types, prefix, and that it stays inside its folder."""

import http.client
import threading

import pytest
from publish.serve import HOST, make_server


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    folder = tmp_path_factory.mktemp("site")
    for name in ("index.html", "a.mjs", "a.js", "a.wasm", "a.json", "a.whl", "a.ttf", "a.ipynb", "sub/index.html", "bare/a.txt"):
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(name)
    (folder.parent / "secret.txt").write_text("secret")
    running = make_server(folder, 0, "/some/prefix/")
    threading.Thread(target=running.serve_forever, daemon=True).start()
    yield running
    running.shutdown()
    running.server_close()


def get(server, path, **headers):
    """Status, content type and body."""
    connection = http.client.HTTPConnection(HOST, server.server_port, timeout=10)
    connection.request("GET", path, headers=headers)
    answer = connection.getresponse()
    result = answer.status, answer.getheader("Content-Type"), answer.read().decode()
    connection.close()
    return result


@pytest.mark.parametrize(
    ("name", "mime_type"),
    [
        ("a.mjs", "text/javascript"), ("a.js", "text/javascript"), ("a.wasm", "application/wasm"),
        ("a.json", "application/json"), ("a.ipynb", "application/json"), ("a.whl", "application/zip"),
        ("a.ttf", "font/ttf"), ("index.html", "text/html"), ("", "text/html"), ("sub/", "text/html"),
    ],
)
def test_mime_types(server, name, mime_type):
    status, found, body = get(server, f"/some/prefix/{name}?v=1")
    assert status == 200 and found.split(";")[0] == mime_type
    assert body == (name if "." in name else f"{name}index.html")


@pytest.mark.parametrize(
    "path",
    ["/", "/a.js", "/some/", "/some/prefixa.js", "/some/prefix/missing", "/some/prefix/bare/",
     "/some/prefix/../../secret.txt", "/some/prefix/%2e%2e/secret.txt", "/some/prefix//../secret.txt"],
)
def test_what_is_not_served(server, path):
    status, _, body = get(server, path)
    assert status == 404 and "secret" not in body.replace("secret.txt", "")


def test_a_stalled_reader_holds_up_nobody(server):
    stalled = http.client.HTTPConnection(HOST, server.server_port, timeout=10)
    stalled.putrequest("GET", "/some/prefix/a.js")  # and never ends its request
    assert get(server, "/some/prefix/a.js")[0] == 200
    stalled.close()


def test_it_listens_on_this_machine_only(server):
    assert server.server_address[0] == "127.0.0.1"
