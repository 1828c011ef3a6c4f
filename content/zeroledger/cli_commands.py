"""The argument parser of ``python -m zeroledger``: one module a group of commands, listed in ``COMMAND_MODULES``."""

import argparse
from importlib import import_module

# Each has ``add(commands)``, which adds its commands; a command's ``run(arguments)`` returns the text to print.
COMMAND_MODULES = ("cli_ledger", "cli_budget", "cli_snapshot")


class OneLineParser(argparse.ArgumentParser):
    """Reports a bad argument as one line, like every other error."""

    def error(self, message):
        self.exit(2, f"{self.prog}: {message} (try --help)\n")


def build_parser():
    """The parser with all commands; ``arguments.run`` is the chosen one."""
    parser = OneLineParser(prog="zeroledger", description="What a training run keeps in memory, byte by byte.")
    commands = parser.add_subparsers(required=True, metavar="command", parser_class=OneLineParser)
    for name in COMMAND_MODULES:
        import_module(f".{name}", __package__).add(commands)
    return parser
