"""Limits the address space of one fork."""
import ctypes

from yt_dlp.utils import Popen

try:
    import resource
except ImportError:  # missing in some frozen builds
    resource = None

# The JavaScript runtime reserves far more address space than it uses, and does not start in the limit of a fork.
CHILD_BYTES = 8 << 30
RLIMIT_AS = 9  # on Linux, where a frozen build may lack the module `resource`


def limit_memory(limit):
    """Limits this process to `limit` bytes and children to CHILD_BYTES. Returns a function that lifts the limit."""
    before, hard = _get()

    def clamp(limit_bytes):
        return limit_bytes if hard < 0 else min(limit_bytes, hard)

    spawn = Popen.__init__

    def spawn_with_larger_limit(self, *args, **kwargs):
        _set(clamp(max(limit, CHILD_BYTES)), hard)
        try:
            spawn(self, *args, **kwargs)
        finally:
            _set(clamp(limit), hard)

    Popen.__init__ = spawn_with_larger_limit
    _set(clamp(limit), hard)
    return lambda: _set(before, hard)


class _Limits(ctypes.Structure):
    _fields_ = [('soft', ctypes.c_long), ('hard', ctypes.c_long)]


def _get():
    if resource:
        return resource.getrlimit(resource.RLIMIT_AS)
    limits = _Limits()
    ctypes.CDLL(None).getrlimit(RLIMIT_AS, ctypes.byref(limits))
    return limits.soft, limits.hard


def _set(soft, hard):
    if resource:
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))
    else:
        ctypes.CDLL(None).setrlimit(RLIMIT_AS, ctypes.byref(_Limits(soft, hard)))
