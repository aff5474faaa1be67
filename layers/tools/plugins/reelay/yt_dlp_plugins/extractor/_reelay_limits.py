"""Limits of the operating system on one process: address space, processor time, open files, sizes of files, its parent.

It imports nothing of yt-dlp: it also limits versions that the worker does not fit (`process-per-link`).
"""
import contextlib
import ctypes
import signal
import subprocess

try:
    import resource
except ImportError:  # missing in some frozen builds
    resource = None

# The JavaScript runtime reserves far more address space than it uses, and does not start in the limit of yt-dlp.
CHILD_BYTES = 8 << 30
# Memory that a process can write to, which bounds that runtime. Node maps 570 MB at its start, and 860 MB to prepare a
# player of 2.5 MB.
CHILD_DATA_BYTES = 1280 << 20
MAX_OPEN_FILES = 256
MAX_FILE_BYTES = 64 << 20  # of one file
# Numbers on Linux, where a frozen build may lack the module `resource`.
NUMBERS = {'CPU': 0, 'FSIZE': 1, 'DATA': 2, 'CORE': 4, 'NOFILE': 7, 'AS': 9}
PR_SET_PDEATHSIG = 1  # linux/prctl.h


def die_with_parent():
    """Makes the kernel kill this process when its parent ends, even while it is stopped. Linux only."""
    with contextlib.suppress(Exception):
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, int(signal.SIGKILL), 0, 0, 0)


def limit_memory(limit):
    """Limits this process to `limit` bytes and children to CHILD_BYTES of addresses and CHILD_DATA_BYTES of memory.

    Returns a function that lifts the limit.
    """
    limit_data(max(limit, CHILD_DATA_BYTES))
    _, before = _get('AS')
    hard = _lower(max(limit, CHILD_BYTES), before)
    soft = _lower(limit, hard)
    spawn = subprocess.Popen.__init__

    def spawn_with_larger_limit(self, *args, **kwargs):
        _set('AS', hard, hard)
        try:
            spawn(self, *args, **kwargs)
        finally:
            _set('AS', soft, hard)

    subprocess.Popen.__init__ = spawn_with_larger_limit
    _set('AS', soft, hard)
    return lambda: _set('AS', hard, hard)


def limit_data(limit=CHILD_DATA_BYTES):
    """Limits the memory that this process and each of its children can write to, for good."""
    lower = _lower(limit, _get('DATA')[1])
    _set('DATA', lower, lower)


def limit_usage(cpu_seconds):
    """Limits this process and its children for good: processor time of each, open files, sizes of files; no core dumps."""
    for kind, limit in (('CPU', cpu_seconds), ('NOFILE', MAX_OPEN_FILES), ('FSIZE', MAX_FILE_BYTES),
                        ('CORE', 0)):
        _, hard = _get(kind)
        lower = _lower(limit, hard)
        _set(kind, lower, lower)


def _lower(limit, hard):
    """The lower of two limits, of which `hard` may be infinite (negative)."""
    return limit if hard < 0 else min(limit, hard)


class _Limits(ctypes.Structure):
    _fields_ = [('soft', ctypes.c_long), ('hard', ctypes.c_long)]


def _get(kind):
    if resource:
        return resource.getrlimit(getattr(resource, f'RLIMIT_{kind}'))
    limits = _Limits()
    ctypes.CDLL(None).getrlimit(NUMBERS[kind], ctypes.byref(limits))
    return limits.soft, limits.hard


def _set(kind, soft, hard):
    if resource:
        resource.setrlimit(getattr(resource, f'RLIMIT_{kind}'), (soft, hard))
    else:
        ctypes.CDLL(None).setrlimit(NUMBERS[kind], ctypes.byref(_Limits(soft, hard)))
