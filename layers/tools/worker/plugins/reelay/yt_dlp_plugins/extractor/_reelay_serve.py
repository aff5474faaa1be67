"""The loop: lines in, one fork per request, lines out."""
import contextlib
import json
import os
import selectors
import signal
import sys
import threading
import time
from collections import deque

from ._reelay_limits import limit_memory
from ._reelay_resolve import ANSWER_BYTES, failure, resolve

"""A request is one line of so many bytes at most."""
REQUEST_BYTES = 4 << 20
"""Requests that may wait for a fork."""
QUEUE_LENGTH = 1024
"""A request may not ask for more time than this, in seconds."""
LONGEST_TIMEOUT = 600


class Fork:
    def __init__(self, pid, request):
        self.pid = pid
        self.id = request['id']
        self.deadline = request['deadline']
        self.answer = bytearray()

    def kill(self):
        # The group first: a JavaScript runtime may run in it. The fork may not have made its group yet.
        for kill in (os.killpg, os.kill):
            with contextlib.suppress(ProcessLookupError, PermissionError):
                kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)


class Server:
    def __init__(self, ydl, requests, answers, concurrency, memory):
        self.ydl = ydl
        self.requests = requests
        self.answers = answers
        self.concurrency = concurrency
        self.memory = memory
        self.waiting = deque()
        self.forks = {}
        self.lines = LineReader()
        self.selector = selectors.DefaultSelector()
        # Held open by this process alone: however it dies, its forks see the end of it.
        self.lifeline, self.life = os.pipe()

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
        """Waits for the next thing to happen. False once nobody asks any more."""
        for key, _ in self.selector.select(self.seconds_to_next_deadline()):
            if key.fd == self.requests:
                data = os.read(self.requests, 1 << 16)
                if not data:
                    return False
                for line in self.lines.feed(data):
                    self.receive(line)
            elif key.fd in self.forks:
                self.read_answer(key.fd)
        self.end_overdue()
        while self.waiting and len(self.forks) < self.concurrency:
            self.start(self.waiting.popleft())
        return True

    def receive(self, line):
        try:
            message = json.loads(line)
            if isinstance(message, dict) and isinstance(message.get('cancel'), str):
                return self.cancel(message['cancel'])
            request = checked(message)
        except Malformed as error:
            return self.emit(failure(error.request_id, 'bug', str(error)))
        except (ValueError, RecursionError) as error:
            return note(f'A line that is no request: {error}')
        if self.is_known(request['id']):
            return note('A request with the id of another')
        if len(self.waiting) >= QUEUE_LENGTH:
            return self.emit(failure(request['id'], 'timeout', 'Too many requests wait'))
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
        answer, pipe = os.pipe()
        pid = os.fork()
        if pid == 0:
            try:
                os.close(answer)
                self.answer_in_fork(request, pipe)
            finally:
                os._exit(0)
        os.close(pipe)
        self.forks[answer] = Fork(pid, request)
        self.selector.register(answer, selectors.EVENT_READ)

    def answer_in_fork(self, request, pipe):
        os.setsid()
        for fd in (self.life, self.requests, self.answers, *self.forks):
            os.close(fd)
        threading.Thread(target=die_with_parent, args=(self.lifeline,), daemon=True).start()
        # Should the parent die while this process is deaf, in one long regular expression, it still ends in time.
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.alarm(max(1, int(request['deadline'] - time.monotonic()) + 2))
        lift_memory_bound = limit_memory(self.memory)
        write(pipe, resolve(self.ydl, request, lift_memory_bound))

    def read_answer(self, fd):
        fork = self.forks[fd]
        data = os.read(fd, 1 << 20)
        fork.answer += data
        if len(fork.answer) > ANSWER_BYTES:
            self.end(fd, failure(fork.id, 'too_large'))
        elif not data:
            self.end(fd, fork.answer if fork.answer.endswith(b'\n') else failure(fork.id, 'crash'))

    def end(self, fd, answer):
        fork = self.forks.pop(fd)
        self.selector.unregister(fd)
        os.close(fd)
        fork.kill()
        self.emit(answer)

    def end_overdue(self):
        now = time.monotonic()
        for fd in [fd for fd, fork in self.forks.items() if fork.deadline <= now]:
            self.end(fd, failure(self.forks[fd].id, 'timeout', 'The deadline passed'))
        for request in [request for request in self.waiting if request['deadline'] <= now]:
            self.waiting.remove(request)
            self.emit(failure(request['id'], 'timeout', 'The deadline passed before its turn'))

    def seconds_to_next_deadline(self):
        deadlines = [request['deadline'] for request in self.waiting]
        deadlines += [fork.deadline for fork in self.forks.values()]
        return max(0, min(deadlines) - time.monotonic()) if deadlines else None

    def emit(self, line):
        try:
            write(self.answers, line)
        except BrokenPipeError:
            pass  # whoever asked is gone; the end of the requests follows


class LineReader:
    """Cuts a stream into lines, and drops those that are too long to keep."""

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
        if len(self.rest) + len(part) <= REQUEST_BYTES and not self.dropping:
            self.rest += part
        elif not self.dropping:
            self.dropping = True
            self.rest.clear()
            note('A line that is too long')


class Malformed(Exception):
    """A request that names itself, and so gets an answer."""

    def __init__(self, request_id, message):
        super().__init__(message)
        self.request_id = request_id


def checked(message):
    """A request with every field of the type the protocol says, and its deadline. Raises Malformed or ValueError."""
    if not isinstance(message, dict) or not isinstance(message.get('id'), str):
        raise ValueError('it has no id')
    try:
        return {**message, 'deadline': time.monotonic() + checked_timeout(message)}
    except ValueError as error:
        raise Malformed(message['id'], f'Malformed request: {error}') from error


def checked_timeout(message):
    for name, kind in (('url', str), ('proxy', str), ('flat', bool), ('playlistLimit', int)):
        if not isinstance(message.get(name), kind):
            raise ValueError(f'{name} is missing or malformed')
    if not message['proxy'].startswith('http://'):
        raise ValueError('proxy is no http URL')
    if message['playlistLimit'] < 1:
        raise ValueError('playlistLimit is not positive')
    if not isinstance(message.get('entry', {}), dict):
        raise ValueError('entry is no object')
    timeout = message.get('timeout')
    if isinstance(timeout, bool) or not isinstance(timeout, (int, float)) or not 0 < timeout <= LONGEST_TIMEOUT:
        raise ValueError('timeout is missing or malformed')
    return timeout


def die_with_parent(lifeline):
    with contextlib.suppress(OSError):
        os.read(lifeline, 1)
    os.killpg(0, signal.SIGKILL)


def write(fd, data):
    left = memoryview(data)
    while left:
        left = left[os.write(fd, left):]


def note(text):
    print(f'reelay worker: {text}', file=sys.stderr, flush=True)
