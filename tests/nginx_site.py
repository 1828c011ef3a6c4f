"""Debian's nginx with the built site below a path: as it comes, or with the settings that content/publish/templates/hosts ships."""

import contextlib
import shutil
import socket
import subprocess
import time
import urllib.request
from pathlib import Path

from publish import paths

MIME_TYPES = Path("/etc/nginx/mime.types")
MISSING = "nginx is not installed (Debian: apt-get install nginx-light)"
SHIPPED = paths.PUBLISH / "templates/hosts/nginx.conf"
# The http block of Debian's /etc/nginx/nginx.conf, as far as it bears on what is sent.
HTTP = """
daemon off; pid {folder}/nginx.pid; error_log {folder}/error.log; worker_processes 1;
events {{ worker_connections 768; }}
http {{
    sendfile on; tcp_nopush on; types_hash_max_size 2048; access_log {folder}/access.log;
    include /etc/nginx/mime.types; default_type application/octet-stream; gzip on;
    client_body_temp_path {folder}/body; proxy_temp_path {folder}/proxy; fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi; scgi_temp_path {folder}/scgi;
    server {{ listen 127.0.0.1:{port} backlog=1024; root /var/www/html; {location} }}
}}
"""
PLAIN = "location /course/ {{ alias {site}/; index index.html; }}"


def find_nginx():
    """Its path, or None."""
    found = shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin:/usr/local/sbin")
    return found if found and MIME_TYPES.is_file() else None


@contextlib.contextmanager
def nginx_site(folder: Path, site: Path = paths.DIST, shipped: bool = False):
    """The course's address, with a slash, while nginx runs; its files lie in `folder`."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    location = SHIPPED.read_text(encoding="utf-8").replace("/srv/zero-ledger/dist", str(site)) if shipped else PLAIN.format(site=site)
    config = folder / "nginx.conf"
    config.write_text(HTTP.format(folder=folder, port=port, location=location), encoding="utf-8")
    running = subprocess.Popen([find_nginx(), "-e", folder / "error.log", "-c", config], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    try:
        wait_until_up(running, f"http://127.0.0.1:{port}/course/")
        yield f"http://127.0.0.1:{port}/course/"
    finally:
        running.terminate()
        running.wait(timeout=20)


def wait_until_up(running, url):
    """Returns once the server answers. RuntimeError with what nginx says when it ends instead."""
    for _ in range(200):
        if running.poll() is not None:
            raise RuntimeError(running.stderr.read())
        with contextlib.suppress(OSError):
            urllib.request.urlopen(url, timeout=5).close()
            return
        time.sleep(0.05)
    raise RuntimeError(f"nginx does not answer at {url}")
