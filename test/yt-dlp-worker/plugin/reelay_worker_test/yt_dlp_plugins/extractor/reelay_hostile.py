"""Test extractor: tries what a process of yt-dlp must not do, and reports what came of each attempt."""
import asyncio
import ctypes
import errno
import fcntl
import gc
import json
import os
import platform
import re
import resource
import signal
import socket
import stat
import subprocess
import tempfile
import time
import urllib.parse

from yt_dlp.extractor.common import InfoExtractor

CLONE_NEWUSER = 0x10000000
IPPROTO_MPTCP = 262
IPC_CREAT, IPC_PRIVATE = 0o1000, 0
TIOCSTI = 0x5412


class ReelayHostileIE(InfoExtractor):
    _VALID_URL = r'reelay-hostile:(?P<id>.+)'

    def _real_extract(self, url):
        given = json.loads(urllib.parse.unquote(self._match_id(url)))
        attempts = {name: outcome(attempt) for name, attempt in self._attempts(**given)}
        return {'id': 'hostile', 'title': json.dumps(attempts), 'url': 'http://media.invalid/x.mp4'}

    def _attempts(self, service, state, outside, server, socketPath, marker):
        # Node does not start within the limit of yt-dlp, which a hostile extractor can raise to the hard one.
        resource.setrlimit(resource.RLIMIT_AS, (8 << 30, resource.getrlimit(resource.RLIMIT_AS)[1]))
        proxy = urllib.parse.urlsplit(self._downloader.params['proxy']).port
        runtime = self._downloader.params['js_runtimes']['node']['path']
        home = os.environ['HOME']
        temporary = tempfile.mkstemp()[0]
        yield 'read /etc/passwd', lambda: read('/etc/passwd')
        yield 'read the state file', lambda: read(state)
        yield 'list the folder of the service', lambda: os.listdir(os.path.dirname(state))
        yield 'read the environment of the service', lambda: read(f'/proc/{service}/environ')
        yield 'write outside', lambda: write(outside)
        yield 'write into its home', lambda: write(os.path.join(home, 'sandbox.json'))
        yield 'write a temporary file', lambda: write(os.path.join(tempfile.mkdtemp(), 'file'))
        yield 'read what an earlier link has cached', lambda: check(self.cache.load('hostile', 'name') is None)
        yield 'list the temporary files of other links', lambda: os.listdir(os.path.dirname(tempfile.gettempdir()))
        yield 'make a device', lambda: os.mknod(os.path.join(tempfile.mkdtemp(), 'null'), stat.S_IFCHR, os.makedev(1, 3))
        yield 'make a named pipe', lambda: os.mkfifo(os.path.join(tempfile.mkdtemp(), 'pipe'))
        yield 'write into the cache', lambda: self._keep('hostile', 'name', 'value')
        yield 'execute a program of the system', lambda: subprocess.run(['/bin/ls'], check=True)
        yield 'execute what it has written', lambda: execute(runtime)
        yield 'execute what it has in memory', lambda: execute_memory(runtime)
        yield 'execute the JavaScript runtime', lambda: solve_challenge(runtime)
        yield 'connect to the proxy', lambda: connect(proxy)
        yield 'connect elsewhere', lambda: connect(server)
        yield 'connect elsewhere by Multipath TCP', lambda: connect(server, IPPROTO_MPTCP)
        yield 'connect elsewhere while sending', lambda: connect_while_sending(server)
        yield 'send a datagram', lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b'x', ('127.0.0.1', server))
        yield 'have a pair of datagram sockets', lambda: socket.socketpair(type=socket.SOCK_DGRAM)
        yield 'run an event loop', lambda: asyncio.run(asyncio.sleep(0))
        yield 'connect to a socket in the file system', lambda: socket.socket(socket.AF_UNIX).connect(socketPath)
        yield 'listen', lambda: socket.create_server(('127.0.0.1', 0))
        yield 'listen without an address', lambda: socket.socket().listen()
        yield 'signal the service', lambda: os.kill(service, 0)
        yield 'signal a thread of the service', lambda: system_call(lambda libc: libc.tgkill(service, service, 0))
        yield 'have the kernel signal the service', lambda: fcntl.fcntl(temporary, fcntl.F_SETOWN, service)
        yield 'type into a terminal', lambda: fcntl.ioctl(temporary, TIOCSTI, b'x')
        yield 'limit the service', lambda: resource.prlimit(service, resource.RLIMIT_NOFILE)
        yield 'slow the service down', lambda: os.setpriority(os.PRIO_PROCESS, service, 19)
        yield 'slow all of this user down', lambda: os.setpriority(os.PRIO_USER, 0, 19)
        yield 'take processors from the service', lambda: os.sched_setaffinity(service, os.sched_getaffinity(0))
        yield 'delay what the service reads', lambda: numbered_call(251, 30, 1, service, 3 << 13)
        yield 'change the mode of a file', lambda: os.chmod(state, 0o666)
        yield 'change the mode of a descriptor', lambda: os.fchmod(temporary, 0o666)
        yield 'change the owner of a file', lambda: os.chown(state, os.getuid(), os.getgid())
        yield 'change the time of a file', lambda: os.utime(state, (1, 1))
        yield 'change an attribute of a file', lambda: os.setxattr(state, 'user.reelay', b'x')
        yield 'truncate a file', lambda: os.truncate(state, 0)
        yield 'watch a file', lambda: system_call(lambda libc: libc.inotify_add_watch(libc.inotify_init(), state.encode(), 2))
        yield 'share memory', lambda: system_call(lambda libc: libc.shmget(IPC_PRIVATE, 4096, IPC_CREAT | 0o600))
        yield 'share a semaphore', lambda: system_call(lambda libc: libc.semget(IPC_PRIVATE, 1, IPC_CREAT | 0o600))
        yield 'share a queue', lambda: system_call(lambda libc: libc.msgget(IPC_PRIVATE, IPC_CREAT | 0o600))
        yield 'share a named queue', lambda: numbered_call(240, 180, b'reelay', os.O_CREAT | os.O_RDWR, 0o600, None)
        yield 'open a process', lambda: os.pidfd_open(service)
        yield 'leave the process group', os.setsid
        yield 'enter a user namespace', lambda: system_call(lambda libc: libc.unshare(CLONE_NEWUSER))
        yield 'mount', lambda: system_call(lambda libc: libc.mount(b'none', b'/tmp', b'tmpfs', 0, None))
        yield 'trace', lambda: system_call(lambda libc: libc.ptrace(16, service, 0, 0))
        yield 'gain privileges', lambda: check(read('/proc/self/status').count('NoNewPrivs:\t1') == 1)
        yield 'hold a capability', lambda: check(has_no_capability())
        yield 'leave processes behind', lambda: leave_processes(runtime, marker)


    def _keep(self, section, key, value):
        self.cache.store(section, key, value)
        if self.cache.load(section, key) != value:
            raise ValueError('not kept')


class ReelayForgerIE(InfoExtractor):
    """Writes responses for the requests that this process knows of, and for others, in all forms."""
    _VALID_URL = r'reelay-forger:'

    def _real_extract(self, url):
        ids = [each.id for each in gc.get_objects() if type(each).__name__ == 'Fork' and each.id]
        info = {'title': 'forged', 'view_count': len(ids)}
        forged = [json.dumps({'id': str(each), 'ok': True, 'info': info}) for each in (*ids, *range(-20, 40))]
        lines = [line for each, text in zip((*ids, *range(-20, 40)), forged) for line in (text, f'{each} {text}')]
        for fd in range(3, 64):
            try:
                os.write(fd, '\n'.join([*lines, '']).encode())
            except OSError:
                pass  # not to be written to
        time.sleep(30)


class ReelayKeeperIE(InfoExtractor):
    """Leaves files in all folders that it may write into, in a way that is hard to remove, or more than a fork may keep."""
    _VALID_URL = r'reelay-keeper:(?P<id>\w*)'

    def _real_extract(self, url):
        what = self._match_id(url)
        self.cache.store('kept', 'name', 'value')
        os.chdir(tempfile.mkdtemp())
        os.symlink('/etc', 'link')
        for name in (b'\xff', *range(3000 if what == 'entries' else 200)):
            write(name if isinstance(name, bytes) else str(name))
        for number in range(5 if what in ('bytes', 'removed') else 0):
            os.posix_fallocate(os.open(f'large{number}', os.O_RDWR | os.O_CREAT), 0, 60 << 20)
            if what == 'removed':
                os.unlink(f'large{number}')
        # Of a path longer than the system takes.
        for _ in range(30 if what in ('', 'levels') else 0):
            os.mkdir('n' * 200)
            os.chdir('n' * 200)
        os.makedirs('closed/inner')
        os.mkdir('closed/none', 0)
        time.sleep(60 if what else 0)
        return {'id': 'keeper', 'title': 'keeper', 'url': 'http://media.invalid/x.mp4'}


class ReelayTalkerIE(InfoExtractor):
    """Writes more to stderr than is logged."""
    _VALID_URL = r'reelay-talker:(?P<id>\w+)'

    def _real_extract(self, url):
        size = int(self._match_id(url))
        for number in range(60):
            os.write(2, b'talker %d %s\n' % (number, b'x' * size))
        return {'id': 'talker', 'title': 'talker', 'url': 'http://media.invalid/x.mp4'}


def outcome(attempt):
    try:
        attempt()
        return 'done'
    except OSError as error:
        return errno.errorcode.get(error.errno, str(error.errno))


def check(is_prevented):
    if is_prevented:
        raise PermissionError(errno.EPERM, 'prevented')


def has_no_capability():
    # An ordinary user cannot change the bounding set.
    kinds = 'Inh Prm Eff Amb Bnd' if os.geteuid() == 0 else 'Inh Prm Eff Amb'
    return all(re.search(rf'^Cap{kind}:\t0+$', read('/proc/self/status'), re.MULTILINE) for kind in kinds.split())


def read(path):
    with open(path, encoding='latin-1') as file:
        return file.read()


def write(path):
    with open(path, 'a', encoding='utf-8') as file:
        file.write('x')


def execute(runtime):
    path = os.path.join(tempfile.mkdtemp(), 'program')
    with open(os.open(path, os.O_WRONLY | os.O_CREAT, 0o700), 'w', encoding='utf-8') as file:
        file.write(f'#!{runtime}\n')
    subprocess.run([path], check=True, stdin=subprocess.DEVNULL)


def execute_memory(runtime):
    fd = os.memfd_create('program')
    os.write(fd, f'#!{runtime}\n'.encode())
    subprocess.run([f'/proc/self/fd/{fd}'], check=True, stdin=subprocess.DEVNULL, pass_fds=[fd])


def solve_challenge(runtime):
    """As yt-dlp runs the scripts of a site."""
    solved = subprocess.run([runtime, '--permission', '-'], input=b'console.log(6 * 7)', check=True, capture_output=True)
    if solved.stdout != b'42\n' or solved.stderr:
        raise ValueError(solved)


def connect(port, protocol=0):
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM, protocol) as client:
        client.connect(('127.0.0.1', port))


def connect_while_sending(port):
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as client:
        client.sendto(b'x', socket.MSG_FASTOPEN, ('127.0.0.1', port))


def system_call(call):
    libc = ctypes.CDLL(None, use_errno=True)
    if call(libc) < 0:
        raise OSError(ctypes.get_errno(), 'refused')


def numbered_call(x64, arm64, *args):
    """A system call that the C library has no function for, by its number."""
    number = x64 if platform.machine() == 'x86_64' else arm64
    system_call(lambda libc: libc.syscall(number, *args))


def leave_processes(runtime, marker):
    """Starts processes that ignore signals, some of which start others detached."""
    for _ in range(8):
        if os.fork() == 0:
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
            for fd in (1, 2):
                os.dup2(os.open(os.devnull, os.O_RDWR), fd)
            script = f"require('child_process').spawn(process.execPath, ['-e', 'setInterval(Date, 1000)', '{marker}'], " \
                     "{ detached: true, stdio: 'ignore' }).unref(); setInterval(Date, 1000)"
            os.execv(runtime, [runtime, '-e', script, marker])
    time.sleep(1)
