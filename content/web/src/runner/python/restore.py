"""What one run may have bent in the interpreter, put straight before the next."""

import asyncio
import builtins
import gc
import os
import sys

from guard import HAS_MONITORING, RUNNER_FILES

_TOOL_IDS = range(6)
_SYS_NAMES = ("stdin", "stdout", "stderr", "__stdout__", "__stderr__", "displayhook", "excepthook", "unraisablehook")


# Modules that the runner itself works with: what a run put in the place of their functions is undone.
_OWN_TOOLS = (
    "ast", "asyncio", "asyncio.base_events", "asyncio.events", "asyncio.runners", "asyncio.tasks", "gc", "json", "json.encoder",
    "linecache", "signal", "time", "traceback", "types",
)


class InterpreterState:
    """A copy, made before any reader code ran, of what print, import and errors depend on."""

    def __init__(self):
        self._builtins = dict(vars(builtins))
        self._sys = {name: getattr(sys, name) for name in _SYS_NAMES}
        self._paths = list(sys.path)
        self._finders = list(sys.meta_path)
        self._hooks = list(sys.path_hooks)
        self._modules = dict(sys.modules)
        self._tools = [(vars(sys.modules[name]), dict(vars(sys.modules[name]))) for name in _OWN_TOOLS]
        self._recursion_limit = sys.getrecursionlimit()

    def restore_builtins(self):
        """Put back what nearly all Python code calls, the runner's report included."""
        vars(builtins).update(self._builtins)

    def restore(self):
        """Put the rest back. Variables of the reader's sessions are untouched."""
        sys.settrace(None)
        sys.setprofile(None)
        self._free_monitoring_tools()
        self.restore_builtins()
        asyncio._set_running_loop(None)
        for current, saved in self._tools:
            current.update(saved)
        for name, value in self._sys.items():
            setattr(sys, name, value)
        sys.path[:] = self._paths
        sys.meta_path[:] = self._finders
        sys.path_hooks[:] = self._hooks
        for name, module in self._modules.items():
            sys.modules.setdefault(name, module)
        sys.setrecursionlimit(self._recursion_limit)
        gc.enable()

    def is_usable(self):
        """False when the next run could not print: its streams or descriptors are closed."""
        try:
            return all(os.fstat(self._sys[name].fileno()) for name in ("stdout", "stderr"))
        except (OSError, ValueError):
            return False

    def flush(self):
        """Send what is still in the output buffers, whatever the reader put in their place."""
        for stream in {id(s): s for s in (sys.stdout, sys.stderr, self._sys["stdout"], self._sys["stderr"])}.values():
            try:
                stream.flush()
            except Exception:
                pass

    @staticmethod
    def _free_monitoring_tools():
        for tool in _TOOL_IDS if HAS_MONITORING else ():
            if sys.monitoring.get_tool(tool) is not None:
                sys.monitoring.set_events(tool, 0)
                sys.monitoring.free_tool_id(tool)


RUNNER_FILES.add(InterpreterState.restore.__code__.co_filename)
