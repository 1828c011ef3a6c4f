"""The command ``snapshot``."""

from .cli_inputs import as_json, byte_unit, optional_whole, read_text
from .snapshot import LARGEST_TEXT
from .units import BYTE_UNITS


def add(commands):
    """Add the command to the parser's ``commands``."""
    command = commands.add_parser("snapshot", help="a PyTorch memory snapshot (JSON): its timeline, its peak, the prediction")
    command.add_argument("file", metavar="SNAPSHOT.json", help="torch.cuda.memory._snapshot() as JSON (- reads standard input)")
    command.add_argument("--device", metavar="N", help="which device's events (default: the first that has any)")
    command.add_argument("--unit", default="GB", help="unit of the table: " + ", ".join(BYTE_UNITS))
    command.add_argument("--json", action="store_true", help="print JSON with exact bytes")
    command.set_defaults(run=run_snapshot)


def run_snapshot(arguments):
    """The snapshot as a table or as JSON. Raises ``ConfigError``."""
    from .snapshot import read_snapshot
    from .snapshot_curves import snapshot_timeline
    from .snapshot_report import snapshot_as_dict
    from .snapshot_tables import snapshot_table

    unit, device = byte_unit(arguments.unit), optional_whole("--device", arguments.device)
    timeline = snapshot_timeline(read_snapshot(read_text(arguments.file, "file", LARGEST_TEXT), device))
    return as_json(snapshot_as_dict(timeline)) if arguments.json else snapshot_table(timeline, unit)
