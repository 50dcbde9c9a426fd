"""Identity of a process: pids are reused, so a pid alone is never trusted."""

import os
import signal
import socket
import sys
from contextlib import suppress
from pathlib import Path

import psutil

from recap.config import Config


class ProcessIdentity(Config):
    """One process of one boot of one machine. ``start_time``: on Linux clock ticks since boot; elsewhere seconds since
    1970.
    """

    pid: int
    start_time: float
    boot_id: str
    host: str

    @classmethod
    def of(cls, pid: int) -> "ProcessIdentity | None":
        start_time = _start_time(pid)
        if start_time is None:
            return None
        return cls(pid=pid, start_time=start_time, boot_id=boot_id(), host=socket.gethostname())

    @classmethod
    def current(cls) -> "ProcessIdentity":
        identity = cls.of(os.getpid())
        assert identity is not None
        return identity

    @property
    def is_here(self) -> bool:
        """Whether the process belongs to this machine."""
        return self.host == socket.gethostname()

    def is_alive(self) -> bool:
        """Whether this very process still runs; False for a zombie."""
        return self.boot_id == boot_id() and self.start_time == _start_time(self.pid)

    def send_to_group(self, number: signal.Signals) -> bool:
        """Signal the process, its group and its descendants; False if it is gone. The group is signalled only if the
        process leads it.
        """
        if not self.is_alive():
            return False
        with suppress(psutil.NoSuchProcess, ProcessLookupError):
            # Launchers put children into their own sessions, outside the group.
            children = psutil.Process(self.pid).children(recursive=True)
            if os.getpgid(self.pid) == self.pid:
                os.killpg(self.pid, number)
            else:
                os.kill(self.pid, number)
            for child in children:
                with suppress(psutil.NoSuchProcess):
                    child.send_signal(number)
            return True
        return False


def boot_id() -> str:
    """Identifier of the machine's current boot."""
    linux = Path("/proc/sys/kernel/random/boot_id")
    if linux.is_file():
        return linux.read_text(encoding="ascii").strip()
    return str(round(psutil.boot_time()))


def _start_time(pid: int) -> float | None:
    """When a process started; None if it is gone or a zombie."""
    if pid <= 0:
        return None
    if sys.platform == "linux":
        # psutil adds the boot time, which moves with the clock.
        try:
            fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
        except OSError:
            return None
        return None if fields[0] in ("Z", "X") else float(fields[19])
    try:
        process = psutil.Process(pid)
        return None if process.status() == psutil.STATUS_ZOMBIE else process.create_time()
    except psutil.NoSuchProcess:
        return None
