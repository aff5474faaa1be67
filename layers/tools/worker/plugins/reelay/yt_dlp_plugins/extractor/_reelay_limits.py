"""Limits of the operating system on one fork: address space, processor time, open files, sizes of files, its parent."""
import contextlib
import ctypes
import signal

from yt_dlp.utils import Popen

try:
    import resource
except ImportError:  # missing in some frozen builds
    resource = None

# The JavaScript runtime reserves far more address space than it uses, and does not start in the limit of a fork.
CHILD_BYTES = 8 << 30
MAX_OPEN_FILES = 256
MAX_FILE_BYTES = 64 << 20  # of one file
# Numbers on Linux, where a frozen build may lack the module `resource`.
RLIMIT_CPU, RLIMIT_FSIZE, RLIMIT_CORE, RLIMIT_NOFILE, RLIMIT_AS = 0, 1, 4, 7, 9
PR_SET_PDEATHSIG = 1  # linux/prctl.h


def die_with_parent():
    """Makes the kernel kill this process when its parent ends, even while it is stopped. Linux only."""
    with contextlib.suppress(Exception):
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, int(signal.SIGKILL), 0, 0, 0)


def limit_memory(limit):
    """Limits this process to `limit` bytes and children to CHILD_BYTES. Returns a function that lifts the limit."""
    before, hard = _get(RLIMIT_AS)

    def clamp(limit_bytes):
        return limit_bytes if hard < 0 else min(limit_bytes, hard)

    spawn = Popen.__init__

    def spawn_with_larger_limit(self, *args, **kwargs):
        _set(RLIMIT_AS, clamp(max(limit, CHILD_BYTES)), hard)
        try:
            spawn(self, *args, **kwargs)
        finally:
            _set(RLIMIT_AS, clamp(limit), hard)

    Popen.__init__ = spawn_with_larger_limit
    _set(RLIMIT_AS, clamp(limit), hard)
    return lambda: _set(RLIMIT_AS, before, hard)


def limit_usage(cpu_seconds):
    """Limits this process and its children for good: processor time of each, open files, sizes of files; no core dumps."""
    for kind, limit in ((RLIMIT_CPU, cpu_seconds), (RLIMIT_NOFILE, MAX_OPEN_FILES), (RLIMIT_FSIZE, MAX_FILE_BYTES),
                        (RLIMIT_CORE, 0)):
        _, hard = _get(kind)
        lower = limit if hard < 0 else min(limit, hard)
        _set(kind, lower, lower)


class _Limits(ctypes.Structure):
    _fields_ = [('soft', ctypes.c_long), ('hard', ctypes.c_long)]


def _get(kind):
    if resource:
        return resource.getrlimit(_number(kind))
    limits = _Limits()
    ctypes.CDLL(None).getrlimit(kind, ctypes.byref(limits))
    return limits.soft, limits.hard


def _set(kind, soft, hard):
    if resource:
        resource.setrlimit(_number(kind), (soft, hard))
    else:
        ctypes.CDLL(None).setrlimit(kind, ctypes.byref(_Limits(soft, hard)))


def _number(kind):
    """The number of a limit on this system: they differ from those of Linux elsewhere."""
    return {RLIMIT_CPU: resource.RLIMIT_CPU, RLIMIT_FSIZE: resource.RLIMIT_FSIZE, RLIMIT_CORE: resource.RLIMIT_CORE,
            RLIMIT_NOFILE: resource.RLIMIT_NOFILE, RLIMIT_AS: resource.RLIMIT_AS}[kind]
