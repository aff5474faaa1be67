"""The address space of one fork."""
import ctypes

from yt_dlp.utils import Popen

try:
    import resource
except ImportError:  # a frozen build need not carry it
    resource = None

"""The JavaScript runtime reserves far more than it uses, and does not start in what is enough for yt-dlp."""
CHILD_BYTES = 8 << 30
RLIMIT_AS = 9  # Linux; elsewhere the module `resource` is there to tell


def limit_memory(limit):
    """Bounds this process to so many bytes, and what it spawns to CHILD_BYTES. Gives a function that lifts the bound."""
    before, hard = _get()

    def within(bytes_wanted):
        return bytes_wanted if hard < 0 else min(bytes_wanted, hard)

    spawn = Popen.__init__

    def spawn_with_room(self, *args, **kwargs):
        _set(within(max(limit, CHILD_BYTES)), hard)
        try:
            spawn(self, *args, **kwargs)
        finally:
            _set(within(limit), hard)

    Popen.__init__ = spawn_with_room
    _set(within(limit), hard)
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
