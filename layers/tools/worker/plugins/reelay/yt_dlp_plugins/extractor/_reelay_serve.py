"""The server loop: reads requests as JSON lines, forks once per request, writes responses as JSON lines.

Request   {"id", "url", "timeoutSeconds", "proxy", "flat", "playlistLimit", "entry"?}
Cancel    {"cancel": id}
Ping      {"ping": true}, answered by {"pong": true}: a worker that does not answer is stuck
Response  {"id", "ok": true, "info": {...}} or {"id", "ok": false, "error": {"kind", "message"?, ...}}
Greeting  {"ready": true}, once
"""
import contextlib
import json
import os
import selectors
import signal
import sys
import threading
import time
from collections import deque

from ._reelay_limits import die_with_parent, limit_memory, limit_usage
from ._reelay_resolve import MAX_RESPONSE_BYTES, failure, interrupted, resolve

MAX_REQUEST_BYTES = 4 << 20  # of one line
MAX_QUEUED_REQUESTS = 1024
MAX_TIMEOUT_SECONDS = 600
CHECK_SECONDS = 1
MAX_STOPPED_CHECKS = 3  # in a row, of a stopped fork (SIGSTOP)


class Fork:
    """One request being resolved: its process, its deadline (monotonic seconds), and the response read so far."""

    def __init__(self, pid, request):
        self.pid = pid
        self.id = request['id']
        self.deadline = request['deadline']
        self.response = bytearray()
        self.stopped_checks = 0

    def is_stopped(self):
        """Whether this fork was stopped at several checks in a row (proc_pid_stat(5): state `T`)."""
        try:
            with open(f'/proc/{self.pid}/stat', 'rb') as stat:
                state = stat.read().rpartition(b') ')[2][:1]
        except OSError:
            return False
        self.stopped_checks = self.stopped_checks + 1 if state == b'T' else 0
        return self.stopped_checks > MAX_STOPPED_CHECKS

    def kill(self):
        """Ends this fork. Returns whether it had been killed before."""
        # The group includes a JavaScript runtime. It may not exist yet: the fork itself is killed too.
        for kill in (os.killpg, os.kill):
            with contextlib.suppress(ProcessLookupError, PermissionError):
                kill(self.pid, signal.SIGKILL)
        _, status = os.waitpid(self.pid, 0)
        return os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL


class Server:
    """Serves requests from the descriptor `requests`, in at most `concurrency` forks of `memory` bytes each."""

    def __init__(self, ydl, requests, responses, concurrency, memory):
        self.ydl = ydl
        self.requests = requests
        self.responses = responses
        self.concurrency = concurrency
        self.memory = memory
        self.waiting = deque()
        self.forks = {}
        self.next_check = 0
        self.lines = LineReader()
        self.selector = selectors.DefaultSelector()
        # Only this process holds the write end: when it dies for any reason, its forks read the end of the pipe.
        self.lifeline, self.lifeline_writer = os.pipe()

    def run(self):
        self.selector.register(self.requests, selectors.EVENT_READ)
        self.emit(b'{"ready":true}\n')
        try:
            while self.step():
                pass
        finally:
            for fork in self.forks.values():
                fork.kill()

    def step(self):
        """Handles the next events. Returns False once the requests have ended."""
        for key, _ in self.selector.select(self.seconds_to_next_check()):
            if key.fd == self.requests:
                data = os.read(self.requests, 1 << 16)
                if not data:
                    return False
                for line in self.lines.feed(data):
                    self.receive(line)
            elif key.fd in self.forks:
                self.read_response(key.fd)
        self.end_overdue()
        self.end_stopped()
        while self.waiting and len(self.forks) < self.concurrency:
            self.start(self.waiting.popleft())
        return True

    def receive(self, line):
        try:
            message = json.loads(line)
            if isinstance(message, dict) and isinstance(message.get('cancel'), str):
                return self.cancel(message['cancel'])
            if isinstance(message, dict) and message.get('ping') is True:
                return self.emit(b'{"pong":true}\n')
            request = checked(message)
        except Malformed as error:
            return self.emit(failure(error.request_id, 'bug', str(error)))
        except (ValueError, RecursionError) as error:
            return log(f'Invalid request line: {error}')
        if self.is_known(request['id']):
            return log('Duplicate request id')
        if len(self.waiting) >= MAX_QUEUED_REQUESTS:
            return self.emit(failure(request['id'], 'timeout', 'Too many queued requests'))
        self.waiting.append(request)

    def is_known(self, request_id):
        return any(request['id'] == request_id for request in self.waiting) or any(
            fork.id == request_id for fork in self.forks.values())

    def cancel(self, request_id):
        for request in [request for request in self.waiting if request['id'] == request_id]:
            self.waiting.remove(request)
            self.emit(failure(request_id, 'cancelled'))
        for fd in [fd for fd, fork in self.forks.items() if fork.id == request_id]:
            self.end(fd, failure(request_id, 'cancelled'))

    def start(self, request):
        reader, writer = os.pipe()
        pid = os.fork()
        if pid == 0:
            try:
                os.close(reader)
                self.resolve_in_fork(request, writer)
            finally:
                os._exit(0)
        os.close(writer)
        self.forks[reader] = Fork(pid, request)
        self.selector.register(reader, selectors.EVENT_READ)

    def resolve_in_fork(self, request, writer):
        os.setsid()
        die_with_parent()
        for fd in (self.lifeline_writer, self.requests, self.responses, *self.forks):
            os.close(fd)
        threading.Thread(target=end_with_parent, args=(self.lifeline,), daemon=True).start()
        # The thread cannot run while a long regular expression holds the interpreter lock: the alarm still ends the fork.
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        seconds = max(1, int(request['deadline'] - time.monotonic()) + 2)
        signal.alarm(seconds)
        limit_usage(seconds)
        lift_memory_limit = limit_memory(self.memory)
        write(writer, resolve(self.ydl, request, lift_memory_limit))

    def read_response(self, fd):
        fork = self.forks[fd]
        data = os.read(fd, 1 << 20)
        fork.response += data
        if len(fork.response) > MAX_RESPONSE_BYTES:
            self.end(fd, failure(fork.id, 'too_large'))
        elif not data and fork.response.endswith(b'\n'):
            self.end(fd, fork.response)
        elif not data:
            # A process that has closed its end of the pipe is exiting: killing it does not change its status.
            self.emit(interrupted(fork.id) if self.remove(fd) else failure(fork.id, 'crash'))

    def end(self, fd, response):
        self.remove(fd)
        self.emit(response)

    def remove(self, fd):
        """Ends a fork. Returns whether it had been killed before."""
        fork = self.forks.pop(fd)
        self.selector.unregister(fd)
        os.close(fd)
        return fork.kill()

    def end_stopped(self):
        now = time.monotonic()
        if now < self.next_check:
            return
        self.next_check = now + CHECK_SECONDS
        for fd in [fd for fd, fork in self.forks.items() if fork.is_stopped()]:
            self.end(fd, interrupted(self.forks[fd].id))

    def end_overdue(self):
        now = time.monotonic()
        for fd in [fd for fd, fork in self.forks.items() if fork.deadline <= now]:
            self.end(fd, failure(self.forks[fd].id, 'timeout', 'The deadline passed'))
        for request in [request for request in self.waiting if request['deadline'] <= now]:
            self.waiting.remove(request)
            self.emit(failure(request['id'], 'timeout', 'The deadline passed in the queue'))

    def seconds_to_next_check(self):
        deadlines = [request['deadline'] for request in self.waiting]
        deadlines += [fork.deadline for fork in self.forks.values()]
        return max(0, min(CHECK_SECONDS, min(deadlines) - time.monotonic())) if deadlines else None

    def emit(self, line):
        try:
            write(self.responses, line)
        except BrokenPipeError:
            pass  # the client is gone; the end of the requests follows


class LineReader:
    """Splits a byte stream into lines, and drops lines longer than MAX_REQUEST_BYTES."""

    def __init__(self):
        self.rest = bytearray()
        self.dropping = False

    def feed(self, data):
        *ends, rest = data.split(b'\n')
        for end in ends:
            self.keep(end)
            line, dropped = bytes(self.rest), self.dropping
            self.rest.clear()
            self.dropping = False
            if not dropped and line.strip():
                yield line
        self.keep(rest)

    def keep(self, part):
        if len(self.rest) + len(part) <= MAX_REQUEST_BYTES and not self.dropping:
            self.rest += part
        elif not self.dropping:
            self.dropping = True
            self.rest.clear()
            log('Request line too long')


class Malformed(Exception):
    """An invalid request that has an id, and so gets a response."""

    def __init__(self, request_id, message):
        super().__init__(message)
        self.request_id = request_id


def checked(message):
    """Validates a request and adds its `deadline` in monotonic seconds.

    Raises Malformed, or ValueError where there is no id to respond to.
    """
    if not isinstance(message, dict) or not isinstance(message.get('id'), str):
        raise ValueError('id is missing')
    try:
        return {**message, 'deadline': time.monotonic() + checked_timeout(message)}
    except ValueError as error:
        raise Malformed(message['id'], f'Malformed request: {error}') from error


def checked_timeout(message):
    """Validates all fields. Returns the timeout in seconds."""
    for name, kind in (('url', str), ('proxy', str), ('flat', bool), ('playlistLimit', int)):
        if not isinstance(message.get(name), kind):
            raise ValueError(f'{name} is missing or malformed')
    if not message['proxy'].startswith('http://'):
        raise ValueError('proxy is not an http URL')
    if message['playlistLimit'] < 1:
        raise ValueError('playlistLimit is not positive')
    if not isinstance(message.get('entry', {}), dict):
        raise ValueError('entry is not an object')
    timeout = message.get('timeoutSeconds')
    if isinstance(timeout, bool) or not isinstance(timeout, (int, float)) or not 0 < timeout <= MAX_TIMEOUT_SECONDS:
        raise ValueError('timeoutSeconds is missing or malformed')
    return timeout


def end_with_parent(lifeline):
    """Kills the process group of this fork once the parent has exited."""
    with contextlib.suppress(OSError):
        os.read(lifeline, 1)
    os.killpg(0, signal.SIGKILL)


def write(fd, data):
    left = memoryview(data)
    while left:
        left = left[os.write(fd, left):]


def log(text):
    print(f'reelay worker: {text}', file=sys.stderr, flush=True)
