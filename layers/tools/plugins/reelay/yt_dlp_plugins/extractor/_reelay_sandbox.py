"""Confines a process by what Linux offers without privileges: no_new_privs, Landlock and a filter of system calls.

It imports nothing of yt-dlp: it also confines versions that the worker does not fit (`process-per-link`). What is permitted is
decided by the service (`sandbox.ts`): the file `sandbox.json` in the home of the process has it as the kernel takes it.
"""
import contextlib
import ctypes
import errno
import functools
import json
import os
import struct
import sys
import tempfile

PR_SET_SECCOMP, SECCOMP_MODE_FILTER = 22, 2  # linux/prctl.h, linux/seccomp.h
PR_CAPBSET_DROP, PR_SET_NO_NEW_PRIVS = 24, 38
CAPABILITY_VERSION = 0x20080522  # linux/capability.h
# System calls, by the same numbers on every processor.
CREATE_RULESET, ADD_RULE, RESTRICT_SELF = 444, 445, 446
CREATE_RULESET_VERSION = 1
RULE_PATH_BENEATH, RULE_NET_PORT = 1, 2
CONNECT_TCP = 1 << 1
READ = 1 << 2 | 1 << 3  # rights of linux/landlock.h
# Those of files: execute, write_file, read_file, truncate, ioctl_dev.
OF_FILES = 1 << 0 | 1 << 1 | 1 << 2 | 1 << 14 | 1 << 15


class Sandbox:
    """What a process may still do once it is confined."""

    def __init__(self, path):
        """path: the file that says what is permitted"""
        with open(path, encoding='utf-8') as file:
            self.permitted = json.load(file)
        self.change, self.temporary = self.permitted['temporary']

    def confine(self, folder, *ports):
        """Confines the calling thread and all that it starts, for good. Elsewhere than on Linux it does nothing.

        folder: the only one that it may write into, or None
        ports: of TCP, beyond those of the file
        """
        if folder:
            os.environ['TMPDIR'] = tempfile.tempdir = folder
        if not sys.platform.startswith('linux') or _try('prctl', PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0):
            return
        self._drop_capabilities()
        version = landlock_version()
        if version:
            self._restrict_access(version, folder, ports)
        if self.permitted['filter'] and can_filter():
            instructions = bytes.fromhex(self.permitted['filter'])
            address = ctypes.cast(instructions, ctypes.c_void_p).value
            program = struct.pack('@HP', len(instructions) // 8, address)
            _call('prctl', PR_SET_SECCOMP, SECCOMP_MODE_FILTER, program, 0, 0)

    def _drop_capabilities(self):
        """Drops the capabilities of root, and of a user whom the service manager gave some.

        What root executes gets those of the bounding set, which only a process with CAP_SETPCAP can reduce.
        """
        kept = self.permitted['capabilities']
        for capability in range(64):
            if not kept >> capability & 1 and _try('prctl', PR_CAPBSET_DROP, capability, 0, 0, 0):
                break
        # Effective, permitted, inheritable, and the same of the numbers from 32 on.
        held = struct.pack('6I', kept, kept, 0, 0, 0, 0)
        error = _try('capset', struct.pack('II', CAPABILITY_VERSION, 0), held)
        if error and os.geteuid() == 0:
            raise OSError(error, 'Capabilities were not dropped')

    def _restrict_access(self, version, folder, ports):
        rulesets = self.permitted['rulesets']
        handled = bytes.fromhex(rulesets[min(version, len(rulesets) - 1)])
        files, net, _ = struct.unpack('3Q', handled)
        ruleset = _call('syscall', CREATE_RULESET, handled, len(handled), 0)
        try:
            # A file that it has written is no program of its own, although the loader and interpreters may read it.
            changed = ['/dev/null', *filter(None, [folder])]
            for rights, path in (*self.permitted['paths'], *((READ, path) for path in _own_files()),
                                 *((self.change, path) for path in changed)):
                _permit_path(ruleset, path, rights & files)
            for port in (*self.permitted['ports'], *ports) if net else ():
                _call('syscall', ADD_RULE, ruleset, RULE_NET_PORT, struct.pack('QQ', CONNECT_TCP, port), 0)
            _call('syscall', RESTRICT_SELF, ruleset, 0)
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
        return _call('syscall', CREATE_RULESET, 0, 0, CREATE_RULESET_VERSION)
    return 0


def can_filter():
    """Whether the kernel filters system calls: then it looks for the filter that this leaves out."""
    return _try('prctl', PR_SET_SECCOMP, SECCOMP_MODE_FILTER, 0, 0, 0) == errno.EFAULT


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
        rule = struct.pack('=Qi', rights & (~0 if os.path.isdir(path) else OF_FILES), fd)
        _call('syscall', ADD_RULE, ruleset, RULE_PATH_BENEATH, rule, 0)
    finally:
        os.close(fd)


@functools.cache
def _libc():
    return ctypes.CDLL(None, use_errno=True)


def _call(function, *args):
    """Calls a function of the C library with numbers (`long`) and structures. Raises OSError."""
    result = getattr(_libc(), function)(*(arg if isinstance(arg, bytes) else ctypes.c_long(arg) for arg in args))
    if result < 0:
        raise OSError(ctypes.get_errno(), f'{function} {args[0]} failed')
    return result


def _try(function, *args):
    """Returns the error number of a call, 0 if it succeeds."""
    try:
        _call(function, *args)
    except OSError as error:
        return error.errno
    return 0
