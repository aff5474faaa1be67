"""Confines a process by what Linux offers without privileges: no_new_privs, Landlock and a filter of system calls.

It imports nothing of yt-dlp: it also confines versions that the worker does not fit (`process-per-link`). The file
`sandbox.json` in the home of the process says what is permitted (`process-home.ts`).
"""
import base64
import contextlib
import ctypes
import errno
import functools
import json
import os
import sys
import tempfile

PR_SET_SECCOMP, SECCOMP_MODE_FILTER = 22, 2  # linux/prctl.h, linux/seccomp.h
PR_CAPBSET_DROP, PR_SET_NO_NEW_PRIVS = 24, 38
CAPABILITY_VERSION = 0x20080522  # linux/capability.h
# The same numbers on every processor.
CREATE_RULESET, ADD_RULE, RESTRICT_SELF = 444, 445, 446
CREATE_RULESET_VERSION = 1
RULE_PATH_BENEATH, RULE_NET_PORT = 1, 2
# Rights of linux/landlock.h. Those of files: execute, write_file, read_file, truncate, ioctl_dev.
EXECUTE, READ_FILE, READ_DIR = 1 << 0, 1 << 2, 1 << 3
# write_file, remove_dir, remove_file, make_dir, make_reg, make_sym, truncate. No devices, sockets and named pipes.
CHANGE = 1 << 1 | 1 << 4 | 1 << 5 | 1 << 7 | 1 << 8 | 1 << 12 | 1 << 14
OF_FILES = 1 << 0 | 1 << 1 | 1 << 2 | 1 << 14 | 1 << 15
# All that a version of the interface knows: 1 has 13 rights, 2 adds refer, 3 truncate, 5 ioctl_dev.
RIGHTS = {1: (1 << 13) - 1, 2: (1 << 14) - 1, 3: (1 << 15) - 1, 5: (1 << 16) - 1}
PORTS_SINCE, BIND_TCP, CONNECT_TCP = 4, 1 << 0, 1 << 1
SCOPES_SINCE, SCOPES = 6, 1 << 0 | 1 << 1  # abstract sockets, signals

LIBRARIES = ('/lib', '/lib64', '/usr/lib', '/usr/lib64', '/usr/local/lib', '/nix/store', '/gnu/store')
# Certificates and time zones, and what describes the system to Python, curl and Node.
SYSTEM = ('/usr/share', '/etc/ssl', '/etc/pki', '/etc/ca-certificates', '/etc/crypto-policies', '/etc/ld.so.cache',
          '/etc/localtime', '/etc/mime.types', '/etc/hosts', '/etc/host.conf', '/etc/nsswitch.conf', '/etc/resolv.conf',
          '/etc/gai.conf', '/dev/urandom', '/dev/random', '/dev/zero', '/proc/self', '/proc/meminfo', '/proc/cpuinfo',
          '/proc/stat', '/sys/devices/system/cpu', '/sys/fs/cgroup')


class Sandbox:
    """What a process may still do once it is confined."""

    def __init__(self, path):
        """path: the file that says what is permitted"""
        with open(path, encoding='utf-8') as file:
            permitted = json.load(file)
        self.programs = permitted['programs']
        self.readable = permitted['readable']
        self.temporary = permitted['temporary']
        self.ports = permitted['ports']
        self.capabilities = permitted['capabilities']
        self.filter = base64.b64decode(permitted['filter'])

    def confine(self, folder, *ports):
        """Confines the calling thread and all that it starts, for good. Elsewhere than on Linux it does nothing.

        folder: the only one that it may write into, or None
        ports: of TCP, beyond those of the file
        """
        if folder:
            os.environ['TMPDIR'] = tempfile.tempdir = folder
        if not sys.platform.startswith('linux') or _prctl(PR_SET_NO_NEW_PRIVS, 1) != 0:
            return
        _drop_capabilities(self.capabilities)
        version = landlock_version()
        if version:
            self._restrict_access(version, folder, [*self.ports, *ports])
        if self.filter and can_filter():
            _set_filter(self.filter)

    def _restrict_access(self, version, folder, ports):
        rights = RIGHTS[max(known for known in RIGHTS if known <= version)]
        net = BIND_TCP | CONNECT_TCP if version >= PORTS_SINCE else 0
        handled = _Ruleset(rights, net, SCOPES if version >= SCOPES_SINCE else 0)
        ruleset = _syscall(CREATE_RULESET, ctypes.byref(handled), ctypes.c_size_t(ctypes.sizeof(handled)), 0)
        try:
            for path in (*LIBRARIES, *self.programs):
                _permit_path(ruleset, path, EXECUTE | READ_FILE | READ_DIR)
            for path in (*SYSTEM, *_own_files(), *self.readable):
                _permit_path(ruleset, path, READ_FILE | READ_DIR)
            # A file that it has written is no program of its own, although the loader and interpreters may read it.
            for path in ('/dev/null', *filter(None, [folder])):
                _permit_path(ruleset, path, rights & (READ_FILE | READ_DIR | CHANGE))
            for port in ports if net else ():
                _syscall(ADD_RULE, ruleset, RULE_NET_PORT, ctypes.byref(_NetPort(CONNECT_TCP, port)), 0)
            _syscall(RESTRICT_SELF, ruleset, 0)
        finally:
            os.close(ruleset)


def _own_files():
    """What this Python may still have to load: modules, and their libraries."""
    prefixes = {sys.prefix, sys.base_prefix, sys.exec_prefix}
    return [*(path for path in sys.path if path), *(os.path.join(prefix, 'lib') for prefix in prefixes),
            # A frozen build has its modules in the program and in a folder.
            *([sys.executable, sys._MEIPASS] if hasattr(sys, '_MEIPASS') else [])]


def landlock_version():
    """The version of the kernel's interface, 0 without one."""
    with contextlib.suppress(OSError, AttributeError):
        return _syscall(CREATE_RULESET, None, ctypes.c_size_t(0), CREATE_RULESET_VERSION)
    return 0


def can_filter():
    """Whether the kernel filters system calls: then it looks for the filter that this leaves out."""
    return _prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER) != 0 and ctypes.get_errno() == errno.EFAULT


def available():
    """What this system has, for the operator: {"landlock": version, "seccomp": bool}."""
    if not sys.platform.startswith('linux'):
        return None
    return {'landlock': landlock_version(), 'seccomp': can_filter()}


def _permit_path(ruleset, path, rights):
    try:
        fd = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return  # it does not exist here
    try:
        rights &= ~0 if os.path.isdir(path) else OF_FILES
        _syscall(ADD_RULE, ruleset, RULE_PATH_BENEATH, ctypes.byref(_PathBeneath(rights, fd)), 0)
    finally:
        os.close(fd)


def _drop_capabilities(kept):
    """Drops the capabilities of root, and of a user whom the service manager gave some.

    kept: a mask. What root executes gets those of the bounding set, which only a process with CAP_SETPCAP can reduce.
    """
    for capability in range(64):
        if not kept >> capability & 1 and _prctl(PR_CAPBSET_DROP, capability) != 0:
            break
    held = (ctypes.c_uint32 * 6)(kept, kept)  # effective, permitted, inheritable, and the same of the numbers from 32 on
    if _libc().capset((ctypes.c_uint32 * 2)(CAPABILITY_VERSION, 0), held) != 0 and os.geteuid() == 0:
        raise OSError(ctypes.get_errno(), 'Capabilities were not dropped')


def _set_filter(instructions):
    memory = ctypes.create_string_buffer(instructions, len(instructions))
    program = _FilterProgram(len(instructions) // 8, ctypes.addressof(memory))
    if _prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, ctypes.byref(program)) != 0:
        raise OSError(ctypes.get_errno(), 'The filter of system calls was refused')


@functools.cache
def _libc():
    return ctypes.CDLL(None, use_errno=True)


def _prctl(option, *args):
    padded = [arg if isinstance(arg, _Reference) else ctypes.c_ulong(arg) for arg in (*args, 0, 0, 0, 0)[:4]]
    return _libc().prctl(option, *padded)


def _syscall(number, *args):
    result = _libc().syscall(ctypes.c_long(number), *args)
    if result < 0:
        raise OSError(ctypes.get_errno(), f'System call {number} failed')
    return result


_Reference = type(ctypes.byref(ctypes.c_int()))


class _Ruleset(ctypes.Structure):
    _fields_ = [('files', ctypes.c_uint64), ('net', ctypes.c_uint64), ('scoped', ctypes.c_uint64)]


class _PathBeneath(ctypes.Structure):
    _pack_ = 1
    _fields_ = [('rights', ctypes.c_uint64), ('fd', ctypes.c_int32)]


class _NetPort(ctypes.Structure):
    _fields_ = [('rights', ctypes.c_uint64), ('port', ctypes.c_uint64)]


class _FilterProgram(ctypes.Structure):
    _fields_ = [('length', ctypes.c_ushort), ('instructions', ctypes.c_void_p)]
