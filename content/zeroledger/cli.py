"""The command line: tables for people, ``--json`` for machines, exit status 2 and one line on bad input."""

import sys

from .errors import InvalidInput


def main(argv=None):
    """Run one command; returns the exit status (0 done, 2 bad input)."""
    from .cli_commands import build_parser

    try:
        arguments = build_parser().parse_args(argv)
        print(arguments.run(arguments))
        sys.stdout.flush()
    except InvalidInput as problem:
        print(f"zeroledger: {problem}", file=sys.stderr)
        return 2
    except OSError as problem:
        return _system_problem(problem)
    except KeyboardInterrupt:
        return 130
    return 0


def _system_problem(problem):
    if isinstance(problem, BrokenPipeError):  # the reader (head, less) has closed: nothing left to say
        import os

        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    print(f"zeroledger: {problem.filename or 'file'}: {problem.strerror or problem}", file=sys.stderr)
    return 2
