"""``python -m toolmend`` runs the command ``toolmend``."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig


def find_command() -> str | None:
    """Returns the path of the command: the one of this environment, or else the first that the shell would find."""
    scripts = sysconfig.get_path("scripts")
    return shutil.which("toolmend", path=scripts) or shutil.which("toolmend")


def main() -> int:
    """Runs the command with the arguments of this process."""
    command = find_command()
    if command is None:
        print("toolmend: the command is not installed; run: pip install 'toolmend[cli]'", file=sys.stderr)
        return 1
    arguments = [command, *sys.argv[1:]]
    if sys.platform == "win32":
        return subprocess.run(arguments, check=False).returncode
    # Signals and the exit code are those of the command.
    os.execv(command, arguments)


if __name__ == "__main__":
    sys.exit(main())
