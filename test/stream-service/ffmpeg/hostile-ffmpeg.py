"""Runs in place of FFmpeg: tries what it must not do, and prints what came of each attempt."""
import ctypes
import errno
import fcntl
import json
import os
import platform
import resource
import socket
import sys

IPPROTO_MPTCP = 262
CLONE_NEWUSER = 0x10000000
IPC_CREAT, IPC_PRIVATE = 0o1000, 0


def main(service, state, port, otherPort, socketPath):
    folder = os.path.dirname(state)
    descriptor = sys.stdin.fileno()
    attempts = {
        'connect to its input': lambda: connect(port),
        'connect elsewhere': lambda: connect(otherPort),
        'connect elsewhere by Multipath TCP': lambda: connect(otherPort, IPPROTO_MPTCP),
        'connect elsewhere while sending': lambda: socket.socket().sendto(b'x', socket.MSG_FASTOPEN, ('127.0.0.1', otherPort)),
        'connect to a socket in the file system': lambda: socket.socket(socket.AF_UNIX).connect(socketPath),
        'send a datagram': lambda: socket.socket(type=socket.SOCK_DGRAM).sendto(b'x', ('127.0.0.1', otherPort)),
        'have a pair of datagram sockets': lambda: socket.socketpair(type=socket.SOCK_DGRAM),
        'hold a capability': hold_capability,
        'listen': lambda: socket.socket().listen(),
        'bind': lambda: socket.socket().bind(('127.0.0.1', 0)),
        'read a file of the system': lambda: open('/etc/passwd').read(),
        'read the state file': lambda: open(state).read(),
        'read the environment of the service': lambda: open(f'/proc/{service}/environ').read(),
        'list a folder': lambda: os.listdir(folder),
        'write a file': lambda: open(os.path.join(folder, 'written'), 'w'),
        'remove a file': lambda: os.unlink(state),
        'truncate a file': lambda: os.truncate(state, 0),
        'change the mode of a file': lambda: os.chmod(state, 0o666),
        'change the mode of a descriptor': lambda: os.fchmod(descriptor, 0o666),
        'change the owner of a file': lambda: os.chown(state, os.getuid(), os.getgid()),
        'change the time of a file': lambda: os.utime(state, (1, 1)),
        'change an attribute of a file': lambda: os.setxattr(state, 'user.reelay', b'x'),
        'watch a file': lambda: call(lambda libc: libc.inotify_add_watch(libc.inotify_init(), state.encode(), 2)),
        'limit the service': lambda: resource.prlimit(service, resource.RLIMIT_NOFILE),
        'slow the service down': lambda: os.setpriority(os.PRIO_PROCESS, service, 19),
        'take processors from the service': lambda: os.sched_setaffinity(service, os.sched_getaffinity(0)),
        'delay what the service reads': lambda: numbered(251, 30, 1, service, 3 << 13),
        'signal the service': lambda: os.kill(service, 0),
        'signal its group': lambda: os.kill(0, 0),
        'signal a thread of the service': lambda: call(lambda libc: libc.tgkill(service, service, 0)),
        'have the kernel signal the service': lambda: fcntl.fcntl(descriptor, fcntl.F_SETOWN, service),
        'open a process': lambda: os.pidfd_open(service),
        'trace': lambda: call(lambda libc: libc.ptrace(16, service, 0, 0)),
        'start a process': os.fork,
        'leave the process group': os.setsid,
        'enter a user namespace': lambda: call(lambda libc: libc.unshare(CLONE_NEWUSER)),
        'have a file in memory': lambda: os.memfd_create('program'),
        'share memory': lambda: call(lambda libc: libc.shmget(IPC_PRIVATE, 4096, IPC_CREAT | 0o600)),
        'share a semaphore': lambda: call(lambda libc: libc.semget(IPC_PRIVATE, 1, IPC_CREAT | 0o600)),
        'share a queue': lambda: call(lambda libc: libc.msgget(IPC_PRIVATE, IPC_CREAT | 0o600)),
        'share a named queue': lambda: numbered(240, 180, b'reelay', os.O_CREAT | os.O_RDWR, 0o600, None),
        'raise its limits': lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (1, 1)),
        'execute a program of the system': lambda: os.execv('/bin/true', ['true']),
    }
    print(json.dumps({name: outcome(attempt) for name, attempt in attempts.items()}))


def outcome(attempt):
    try:
        attempt()
        return 'done'
    except ValueError:
        return 'EPERM'  # of setrlimit
    except OSError as error:
        return errno.errorcode.get(error.errno, str(error.errno))


def connect(port, protocol=0):
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM, protocol) as client:
        client.connect(('127.0.0.1', port))


def hold_capability():
    libc = ctypes.CDLL(None)
    held = (ctypes.c_uint32 * 6)()
    libc.capget((ctypes.c_uint32 * 2)(0x20080522, 0), held)  # linux/capability.h
    # An ordinary user cannot change the bounding set (PR_CAPBSET_READ).
    bounding = [libc.prctl(23, each) == 1 for each in range(32) if os.getuid() == 0]
    if not any([*held, *bounding]):
        raise PermissionError(errno.EPERM, 'none')


def call(function):
    libc = ctypes.CDLL(None, use_errno=True)
    if function(libc) < 0:
        raise OSError(ctypes.get_errno(), 'refused')


def numbered(x64, arm64, *args):
    number = x64 if platform.machine() == 'x86_64' else arm64
    call(lambda libc: libc.syscall(number, *args))


main(**json.loads(sys.argv[1]))
