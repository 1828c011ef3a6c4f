"""Runs inside Pyodide: an archive of Python sources becomes one of byte code that zipimport can use.

Its entries are stored as they are: the archive is compressed as a whole, which is smaller, and the browser unpacks it
with code of its own, which is quicker than unpacking each module in Python at its import. A wheel stays a wheel.
"""

import _imp
import base64
import csv
import hashlib
import importlib.util
import io
import json
import marshal
import warnings
import zipfile

# What no learner's program imports in a browser: installers, graphical tools, consoles, servers and
# clients that need sockets, other systems' parts.
LEFT_OUT = (
    "idlelib/", "turtledemo/", "ensurepip/", "lib2to3/", "test/", "tkinter/", "venv/", "__phello__/", "site-packages/",
    "ctypes/macholib/", "asyncio/windows_", "multiprocessing/popen_spawn_win32.py", "_pyrepl/", "wsgiref/", "xmlrpc/",
    # These need modules in C that Pyodide does not have: importing them fails either way.
    "concurrent/futures/interpreter.py", "concurrent/interpreters/", "encodings/mbcs.py", "encodings/oem.py",
    "multiprocessing/forkserver.py", "multiprocessing/popen_forkserver.py", "multiprocessing/resource_tracker.py",
    "multiprocessing/shared_memory.py", "multiprocessing/synchronize.py",
    "ftplib.py", "imaplib.py", "mailbox.py", "poplib.py", "smtplib.py", "turtle.py", "zipapp.py", "_pyio.py",
    "asyncio/proactor_events.py", "asyncio/tools.py",
    # Stand-ins for C modules that are there.
    "_pydatetime.py", "_py_abc.py",
    # Python's binary holds these, and imports its own.
    "importlib/_bootstrap.py", "importlib/_bootstrap_external.py", *(f"{name.replace('.', '/')}.py" for name in _imp._frozen_module_names()),
)
KEPT = ("_pyrepl/__init__.py", "_pyrepl/pager.py", "_pyrepl/trace.py", "_pyrepl/types.py", "_pyrepl/utils.py")  # for help(), pdb and doctest
SITE_PACKAGES = "/lib/python3.14/site-packages"  # what tracebacks name
FIXED_TIME = (2020, 1, 1, 0, 0, 0)  # equal sources give equal bytes


def compile_archive(source: str, target: str) -> None:
    """Compiles each .py of the archive `source`; other files are copied; LEFT_OUT is left out."""
    with zipfile.ZipFile(source) as archive, zipfile.ZipFile(target, "w") as out:
        for name in sorted(archive.namelist()):
            if name.endswith("/") or (name.startswith(LEFT_OUT) and name not in KEPT):
                continue
            content = archive.read(name)
            if name.endswith(".py"):
                name, content = name + "c", compile_module(name, content)
            entry = zipfile.ZipInfo(name, FIXED_TIME)
            out.writestr(entry, content)


def compile_module(name: str, source: bytes) -> bytes:
    """A .pyc as bytes that no import checks against a source file (PEP 552, unchecked hash)."""
    flags = (0b01).to_bytes(4, "little")
    return importlib.util.MAGIC_NUMBER + flags + importlib.util.source_hash(source) + marshalled(name, source)


def marshalled(name: str, source: bytes) -> bytes:
    """The code of a module; tracebacks call its file `name`."""
    return marshal.dumps(compile(source, name, "exec", dont_inherit=True))


def compile_runner(source: str, target: str) -> None:
    """The modules of the archive `source` as JSON, {module: its code in base64}. Their names in tracebacks are no other file's."""
    with zipfile.ZipFile(source) as archive:
        modules = {name.removesuffix(".py"): archive.read(name) for name in sorted(archive.namelist())}
    code = {name: base64.b64encode(marshalled(f"<zero-runner {name}>.py", text)).decode() for name, text in modules.items()}
    with open(target, "w", encoding="ascii") as file:
        json.dump(code, file)


def compile_wheel(source: str, target: str) -> None:
    """Compiles each .py of the wheel `source`, except those that are no Python 3; the list of its files follows."""
    warnings.simplefilter("ignore")  # at other people's sources
    with zipfile.ZipFile(source) as archive, zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as out:
        names = [name for name in sorted(archive.namelist()) if not name.endswith("/")]
        record = next(name for name in names if name.endswith(".dist-info/RECORD"))
        files = dict(compiled_or_not(name, archive.read(name)) for name in names if name != record)
        for name, content in (files | {record: record_of(files, record)}).items():
            entry = zipfile.ZipInfo(name, FIXED_TIME)
            entry.compress_type = zipfile.ZIP_DEFLATED
            out.writestr(entry, content)


def compiled_or_not(name: str, content: bytes) -> tuple[str, bytes]:
    """Name and content in the new wheel."""
    if not name.endswith(".py"):
        return name, content
    try:
        return name + "c", compile_module(f"{SITE_PACKAGES}/{name}", content)
    except SyntaxError:
        return name, content


def record_of(files: dict[str, bytes], own_name: str) -> bytes:
    """A wheel's RECORD: each file's hash and length."""
    lines = io.StringIO()
    rows = [(name, f"sha256={base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b'=').decode()}", len(content)) for name, content in files.items()]
    csv.writer(lines, lineterminator="\n").writerows([*rows, (own_name, "", "")])
    return lines.getvalue().encode()
