"""Test extractor: tries what a process of yt-dlp must not do, and reports what came of each attempt."""
import ctypes
import errno
import json
import os
import resource
import signal
import socket
import subprocess
import tempfile
import time
import urllib.parse

from yt_dlp.extractor.common import InfoExtractor

CLONE_NEWUSER = 0x10000000
IPPROTO_MPTCP = 262


class ReelayHostileIE(InfoExtractor):
    _VALID_URL = r'reelay-hostile:(?P<id>.+)'

    def _real_extract(self, url):
        given = json.loads(urllib.parse.unquote(self._match_id(url)))
        attempts = {name: outcome(attempt) for name, attempt in self._attempts(**given)}
        return {'id': 'hostile', 'title': json.dumps(attempts), 'url': 'http://media.invalid/x.mp4'}

    def _attempts(self, state, outside, server, socketPath, marker):
        # Node does not start within the limit of yt-dlp, which a hostile extractor can raise to the hard one.
        resource.setrlimit(resource.RLIMIT_AS, (8 << 30, resource.getrlimit(resource.RLIMIT_AS)[1]))
        proxy = urllib.parse.urlsplit(self._downloader.params['proxy']).port
        runtime = self._downloader.params['js_runtimes']['node']['path']
        home = os.environ['HOME']
        yield 'read /etc/passwd', lambda: read('/etc/passwd')
        yield 'read the state file', lambda: read(state)
        yield 'list the folder of the service', lambda: os.listdir(os.path.dirname(state))
        yield 'read the environment of the service', lambda: read(f'/proc/{os.getppid()}/environ')
        yield 'write outside', lambda: write(outside)
        yield 'write into its home', lambda: write(os.path.join(home, 'sandbox.json'))
        yield 'write a temporary file', lambda: write(os.path.join(tempfile.mkdtemp(), 'file'))
        yield 'write into the cache', lambda: self.cache.store('hostile', 'name', 'value')
        yield 'execute a program of the system', lambda: subprocess.run(['/bin/ls'], check=True)
        yield 'execute what it has written', lambda: execute(runtime)
        yield 'execute the JavaScript runtime', lambda: solve_challenge(runtime)
        yield 'connect to the proxy', lambda: connect(proxy)
        yield 'connect elsewhere', lambda: connect(server)
        yield 'connect elsewhere by Multipath TCP', lambda: connect(server, IPPROTO_MPTCP)
        yield 'connect elsewhere while sending', lambda: connect_while_sending(server)
        yield 'send a datagram', lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b'x', ('127.0.0.1', server))
        yield 'connect to a socket in the file system', lambda: socket.socket(socket.AF_UNIX).connect(socketPath)
        yield 'listen', lambda: socket.create_server(('127.0.0.1', 0))
        yield 'signal the service', lambda: os.kill(os.getppid(), 0)
        yield 'leave the process group', os.setsid
        yield 'enter a user namespace', lambda: system_call(lambda libc: libc.unshare(CLONE_NEWUSER))
        yield 'mount', lambda: system_call(lambda libc: libc.mount(b'none', b'/tmp', b'tmpfs', 0, None))
        yield 'trace', lambda: system_call(lambda libc: libc.ptrace(16, os.getppid(), 0, 0))
        yield 'gain privileges', lambda: check(read('/proc/self/status').count('NoNewPrivs:\t1') == 1)
        yield 'leave processes behind', lambda: leave_processes(runtime, marker)


def outcome(attempt):
    try:
        attempt()
        return 'done'
    except OSError as error:
        return errno.errorcode.get(error.errno, str(error.errno))


def check(is_prevented):
    if is_prevented:
        raise PermissionError(errno.EPERM, 'prevented')


def read(path):
    with open(path, encoding='latin-1') as file:
        return file.read()


def write(path):
    with open(path, 'a', encoding='utf-8') as file:
        file.write('x')


def execute(runtime):
    path = os.path.join(tempfile.mkdtemp(), 'program')
    with open(path, 'w', encoding='utf-8') as file:
        file.write(f'#!{runtime}\n')
    os.chmod(path, 0o700)
    subprocess.run([path], check=True, stdin=subprocess.DEVNULL)


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
