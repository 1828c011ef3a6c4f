"""Entry point of `python -m publish`."""

import sys

from publish.cli import main

sys.exit(main(sys.argv[1:]))
