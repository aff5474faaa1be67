"""Forked processes that resolve one request each.

A fork is created for a request, or ahead of it: then it has rehearsed when the request arrives. A fork shares the memory
of the worker until one of them writes to a page, and a resolve writes to thousands, if only to count references. These
page faults take longer than the resolve itself.
"""
import contextlib
import itertools
import json
import os
import select
import signal
import stat
import tempfile
import threading
import time
from urllib.parse import urlsplit

from . import _reelay_challenges, _reelay_kept
from ._reelay_limits import die_with_parent, limit_memory, limit_usage
from ._reelay_resolve import resolve
from ._reelay_warm import forget, rehearse

REHEARSAL_SECONDS = 5
# A link to a file is offered to every extractor, and so touches most of the pages that any link touches.
REHEARSED_AHEAD = ('/a.mp3',)
MAX_STOPPED_CHECKS = 3  # in a row, of a stopped fork (SIGSTOP)
# What a fork may keep in temporary files. Its processes and their descriptors are entries, too.
MAX_KEPT_BYTES = 256 << 20
MAX_KEPT_ENTRIES = 2000
MAX_LEVELS = 16
MAX_REMOVED_FILES = 100  # by this process, which waits for it
# Of what a fork writes to stderr, for the log.
MAX_ERROR_BYTES = 64 << 10
MAX_ERROR_LINES = 20  # a second


class Fork:
    """A forked process: its request and deadline (monotonic seconds) once it has one, and the response read so far."""

    def __init__(self, pid, requests, responses, errors, folder):
        self.pid = pid
        self.folder = folder
        self.requests = requests
        self.responses = responses
        # None once it has ended. Of its last line, the beginning.
        self.errors = errors
        self.error_line = b''
        self.error_bytes = MAX_ERROR_BYTES
        self.error_lines = MAX_ERROR_LINES
        self.id = None
        self.place = None
        self.proxy = None
        self.deadline = None
        self.niceness = 0
        self.started_at = None
        # Sent when the process has exited.
        self.last_response = None
        self.response = bytearray()
        # For the solvers of challenges: how many so far, and whether the last one is still without an answer.
        self.questions = 0
        self.is_asking = False
        self.stopped_checks = 0

    def descriptors(self):
        """Those of this process, which no other fork may have."""
        return [self.requests, self.responses, self.errors]

    def send(self, request):
        """Starts the resolve of a request."""
        self.id = request['id']
        self.place = _reelay_kept.place_of(request)
        self.proxy = request['proxy']
        self.deadline = request['deadline']
        self.niceness = request.get('niceness', 0)
        self.started_at = time.monotonic()
        with contextlib.suppress(BrokenPipeError):  # it has ended: so will its response
            write(self.requests, json.dumps(request).encode() + b'\n')

    def is_answered(self):
        """Whether the response is complete."""
        return self.response.endswith(b'\n')

    def is_stopped(self):
        """Whether this fork was stopped at several checks in a row (proc_pid_stat(5): state `T`)."""
        try:
            with open(f'/proc/{self.pid}/stat', 'rb') as stat:
                state = stat.read().rpartition(b') ')[2][:1]
        except OSError:
            return False
        self.stopped_checks = self.stopped_checks + 1 if state == b'T' else 0
        return self.stopped_checks > MAX_STOPPED_CHECKS

    def keeps_too_much(self):
        """Whether its temporary files exceed a bound, or cannot be counted."""
        kept = 0
        try:
            for count, size in enumerate(itertools.chain(sizes_in(self.folder), sizes_held_by(self.pid)), 1):
                kept += size
                if kept > MAX_KEPT_BYTES or count > MAX_KEPT_ENTRIES:
                    return True
        except OSError:
            return True
        return False

    def read_errors(self):
        """Copies whole lines of its stderr to that of this process. Returns whether more of them may be read before the next check."""
        try:
            data = os.read(self.errors, 1 << 16)
        except BlockingIOError:
            return True
        *lines, self.error_line = (self.error_line + data[:self.error_bytes]).split(b'\n')
        is_cut = len(lines) > self.error_lines or 0 < self.error_bytes < len(data)
        more = [b'reelay worker: further lines are left out'] if is_cut else []
        write(2, b''.join(line + b'\n' for line in [*lines[:self.error_lines], *more]))
        self.error_bytes -= min(len(data), self.error_bytes)
        self.error_lines -= min(len(lines), self.error_lines)
        return bool(data and self.error_bytes and self.error_lines)

    def kill(self):
        """Kills the process and its children, such as a JavaScript runtime."""
        # The group may not exist yet: the fork itself is killed too.
        for kill in (os.killpg, os.kill):
            with contextlib.suppress(ProcessLookupError, PermissionError):
                kill(self.pid, signal.SIGKILL)

    def end(self):
        """Kills the process and waits for its end. Returns whether it had been killed before, not by its limits."""
        os.close(self.requests)
        os.close(self.responses)
        self.kill()
        _, status = os.waitpid(self.pid, 0)
        self.read_errors()
        write(2, self.error_line and self.error_line + b'\n')
        os.close(self.errors)
        self.errors = None
        if not os.WIFSIGNALED(status):
            return False
        # The alarm of a rehearsal, which a busy machine delays until there is a request.
        is_rehearsal = self.deadline is not None and time.monotonic() < self.deadline
        return os.WTERMSIG(status) == signal.SIGKILL or (os.WTERMSIG(status) == signal.SIGALRM and is_rehearsal)


class Forker:
    """Forks this process."""

    def __init__(self, ydl, memory, sandbox):
        self.ydl = ydl
        self.memory = memory
        self.sandbox = sandbox
        # Only this process holds the write end: when it dies for any reason, its forks read the end of the pipe.
        self.lifeline, self.lifeline_writer = os.pipe()

    def fork(self, unneeded, ahead=False):
        """Returns a Fork that waits for its request.

        unneeded: descriptors of this process that the fork closes
        ahead: whether the fork rehearses until its request arrives
        """
        folder = tempfile.mkdtemp(dir=self.sandbox.temporary)
        requests, requests_writer = os.pipe()
        responses, responses_writer = os.pipe()
        errors, errors_writer = os.pipe()
        pid = os.fork()
        if pid == 0:
            try:
                for fd in (requests_writer, responses, errors, self.lifeline_writer, *unneeded):
                    os.close(fd)
                for fd in (1, 2):
                    os.dup2(errors_writer, fd)
                os.close(errors_writer)
                self._serve_one(requests, responses_writer, folder, ahead)
            finally:
                # This skips the exit handlers, which belong to the worker.
                os._exit(0)
        os.close(requests)
        os.close(responses_writer)
        os.close(errors_writer)
        os.set_blocking(errors, False)
        return Fork(pid, requests_writer, responses, errors, folder)

    def _serve_one(self, requests, responses, folder, ahead):
        # A group of its own to kill, but no session: Linux schedules sessions equally, whatever the niceness of their
        # processes (sched(7), autogroup).
        os.setpgrp()
        die_with_parent()
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        lift_memory_limit = limit_memory(self.memory)
        if ahead:
            signal.alarm(REHEARSAL_SECONDS)
            rehearse(self.ydl, REHEARSED_AHEAD, until=lambda: select.select([requests], [], [], 0)[0])
            forget(self.ydl)
            signal.alarm(0)
        lines = open(requests, 'rb')
        line = lines.readline()
        if not line:
            return
        request = json.loads(line)
        # The thread starts later, because Landlock and the filter of system calls apply to threads.
        os.nice(request.get('niceness', 0))
        # What one link has yt-dlp keep, such as scripts that it runs, is not for the next one.
        self.ydl.params['cachedir'] = os.path.join(folder, 'cache')
        self.sandbox.confine(folder, urlsplit(request['proxy']).port)
        threading.Thread(target=end_with_parent, args=(self.lifeline,), daemon=True).start()
        # The thread cannot run while a long regular expression holds the interpreter lock: the alarm still ends the fork.
        seconds = max(1, int(request['deadline'] - time.monotonic()) + 2)
        signal.alarm(seconds)
        limit_usage(seconds)
        if 'player' not in request:
            _reelay_challenges.ask = _reelay_kept.ask = lambda message: ask(lines, responses, message)
        write(responses, resolve(self.ydl, request, lift_memory_limit))


def sizes_in(folder, parent=None, levels=MAX_LEVELS):
    """The bytes that each entry of a folder takes. By descriptors: paths may be longer than the system takes.

    parent: descriptor of the folder that it is in
    """
    if levels == 0:
        raise OSError('Nested too deep')
    fd = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=parent)
    try:
        with os.scandir(fd) as entries:
            for entry in entries:
                with contextlib.suppress(FileNotFoundError):  # removed meanwhile
                    yield entry.stat(follow_symlinks=False).st_blocks * 512
                    if entry.is_dir(follow_symlinks=False):
                        yield from sizes_in(entry.name, fd, levels - 1)
    finally:
        os.close(fd)


def sizes_held_by(group):
    """For each process of a group and each of its descriptors, the bytes of a file that only it keeps: one without a name."""
    for pid in filter(str.isdigit, os.listdir('/proc') if os.path.exists('/proc') else ()):
        # Those of a process that ends are not shown.
        with contextlib.suppress(FileNotFoundError, ProcessLookupError, PermissionError):
            if os.getpgid(int(pid)) != group:
                continue
            yield 0
            for fd in os.listdir(f'/proc/{pid}/fd'):
                status = os.stat(f'/proc/{pid}/fd/{fd}')
                yield status.st_blocks * 512 if stat.S_ISREG(status.st_mode) and not status.st_nlink else 0


def remove(folder):
    """Removes what a fork has written, which has ended, and whose processes run no more. Returns whether it was little enough."""
    left = MAX_REMOVED_FILES
    folders = [folder]
    for path in folders:
        with contextlib.suppress(OSError), os.scandir(path) as entries:
            for entry in itertools.islice(entries, left):
                left -= 1
                if entry.is_dir(follow_symlinks=False):
                    folders.append(entry.path)
                else:
                    os.unlink(entry.path)
    for path in reversed(folders):
        with contextlib.suppress(OSError):
            os.rmdir(path)
    return not os.path.lexists(folder)


def ask(lines, responses, message):
    """Sends a message to the worker instead of the response. Returns its answer, None if it has none."""
    write(responses, json.dumps(message).encode() + b'\n')
    return json.loads(lines.readline() or 'null')


def end_with_parent(lifeline):
    """Kills the process group of this fork once the parent has exited."""
    with contextlib.suppress(OSError):
        os.read(lifeline, 1)
    os.killpg(0, signal.SIGKILL)


def write(fd, data):
    left = memoryview(data)
    while left:
        left = left[os.write(fd, left):]
