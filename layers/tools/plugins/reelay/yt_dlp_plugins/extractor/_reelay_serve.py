"""The server loop: reads requests as JSON lines, forks once per request, writes responses as JSON lines.

Request   {"id", "url", "timeoutSeconds", "proxy", "flat", "playlistLimit", "playlistOffset"?, "entry"?, "niceness"?,
           "impersonate"?, "playerClient"?, "player"?: arguments of _reelay_challenges.prepare,
           "cookies"?: those replaced since the start, as _reelay_cookies takes them,
           "identity"?: the outgoing one, by which _reelay_kept keeps values apart}
Cancel    {"cancel": id}
Ping      {"ping": true}, answered by {"pong": true}: a worker that does not answer is stuck
Response  the id of the request and a space, which this process writes, and the line of the fork: it answers its own request.
          {"ok": true, "info": {...}, "isIncomplete"?, "cookies"?}
          or {"ok": false, "error": {"kind", "message"?, ...}}
Left      {"left": name of a folder in that of temporary files}: large or deep, for the service to remove
Greeting  {"ready": true, "sandbox": {"landlock", "seccomp"} or null, "sites": {"count", "names"}}, once
"""
import contextlib
import json
import os
import selectors
import sys
import time
from collections import deque

from ._reelay_forks import MAX_ERROR_LINES, remove, write
from ._reelay_kept import MESSAGE, Kept
from ._reelay_resolve import INTERRUPTED, MAX_RESPONSE_BYTES, encode, failure
from ._reelay_sandbox import available
from ._reelay_sites import known_sites
from ._reelay_solvers import Solvers

MAX_REQUEST_BYTES = 4 << 20  # of one line
MAX_QUEUED_REQUESTS = 1024
MAX_TIMEOUT_SECONDS = 600
MAX_NICENESS = 19
MAX_QUESTIONS = 96  # of one fork: some for each client of YouTube that an extractor tries, and those of _reelay_kept
CHECK_SECONDS = 1
SETTLED_SECONDS = 0.5
QUIET_SECONDS = 0.05


class Server:
    """Serves requests from the descriptor `requests`, in at most `concurrency` forks."""

    def __init__(self, forker, requests, responses, concurrency):
        self.requests = requests
        self.responses = responses
        self.concurrency = concurrency
        self.forker = forker
        self.waiting = deque()
        self.forks = {}
        # Killed forks, until they have exited: waiting for one of a low priority would delay all other requests.
        self.ending = {}
        # Forked ahead of the next request while there is none. One that ends early is not replaced before that request.
        self.spare = None
        self.may_fork_ahead = True
        self.fork_ahead_at = 0
        self.next_check = 0
        self.lines = LineReader()
        self.kept = Kept()
        self.selector = selectors.DefaultSelector()
        self.solvers = Solvers(os.path.join(os.environ['HOME'], 'players'), forker, self.selector,
                               self.start_helper, self.collect, self.answer)

    def run(self):
        self.selector.register(self.requests, selectors.EVENT_READ)
        self.emit(encode({'ready': True, 'sandbox': available(), 'sites': known_sites(self.forker.ydl)}))
        try:
            while self.step():
                pass
        finally:
            for fork in (*self.forks.values(), *self.ending.values(), *filter(None, [self.spare])):
                fork.end()
            self.solvers.close()

    def step(self):
        """Handles the next events. Returns False once the requests have ended."""
        for key, _ in self.selector.select(self.seconds_to_next_check()):
            if key.data:
                self.read_errors(key.data)
            elif key.fd == self.requests:
                data = os.read(self.requests, 1 << 16)
                if not data:
                    return False
                for line in self.lines.feed(data):
                    self.receive(line)
            elif key.fd in self.forks:
                self.read_response(key.fd)
            elif key.fd in self.ending:
                self.read_end(key.fd)
            elif self.spare and key.fd == self.spare.responses:
                self.drop_spare()
            elif self.solvers.owns(key.fd):
                self.solvers.read(key.fd)
        self.solvers.check()
        self.end_overdue()
        self.check_forks()
        while self.waiting and len(self.forks) < self.concurrency:
            self.start(self.waiting.popleft())
        if self.should_fork_ahead() and time.monotonic() >= self.fork_ahead_at:
            self.spare = self.fork(ahead=True)
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
            return self.respond(error.request_id, failure('bug', str(error)))
        except (ValueError, RecursionError) as error:
            return log(f'Invalid request line: {error}')
        if self.is_known(request['id']):
            return log('Duplicate request id')
        if len(self.waiting) >= MAX_QUEUED_REQUESTS:
            return self.respond(request['id'], failure('timeout', 'Too many queued requests'))
        self.waiting.append(request)

    def is_known(self, request_id):
        return any(request['id'] == request_id for request in self.waiting) or any(
            fork.id == request_id for fork in self.forks.values())

    def cancel(self, request_id):
        for request in [request for request in self.waiting if request['id'] == request_id]:
            self.waiting.remove(request)
            self.respond(request_id, failure('cancelled'))
        for fd in [fd for fd, fork in self.forks.items() if fork.id == request_id]:
            # Answered when it has exited: until then it uses the share of its client.
            self.forks[fd].last_response = failure('cancelled')
            self.stop(fd)

    def start(self, request):
        # Those of a low priority belong to clients with several links.
        is_first = not request.get('niceness')
        fork = (self.spare if is_first else None) or self.fork()
        if is_first:
            self.spare = None
        self.may_fork_ahead = True
        fork.send(request)
        self.forks[fork.responses] = fork

    def fork(self, ahead=False):
        unneeded = [self.requests, self.responses, *self.descriptors_of_forks(), *self.solvers.descriptors()]
        if isinstance(self.selector, getattr(selectors, 'EpollSelector', ())):
            unneeded.append(self.selector.fileno())
        fork = self.forker.fork(unneeded, ahead)
        self.selector.register(fork.responses, selectors.EVENT_READ)
        self.selector.register(fork.errors, selectors.EVENT_READ, fork)
        return fork

    def descriptors_of_forks(self):
        forks = (*self.forks.values(), *self.ending.values(), *filter(None, [self.spare]))
        return [fd for fork in forks for fd in fork.descriptors()]

    def should_fork_ahead(self):
        """Forks ahead once all forks have run long enough to wait for responses rather than for a processor."""
        settled = time.monotonic() - SETTLED_SECONDS
        return (self.may_fork_ahead and not self.spare and len(self.forks) < self.concurrency
                and all(fork.started_at < settled for fork in self.forks.values() if not fork.niceness))

    def drop_spare(self):
        spare, self.spare = self.spare, None
        self.may_fork_ahead = False
        self.collect(spare)

    def read_response(self, fd):
        fork = self.forks[fd]
        data = os.read(fd, 1 << 20)
        # One line: JSON escapes line feeds. What follows it is no response.
        fork.response += data[:data.find(b'\n') + 1] or data
        if len(fork.response) > MAX_RESPONSE_BYTES:
            self.end(fd, failure('too_large'))
        elif fork.is_answered() and is_question(fork.response):
            self.read_question(fd)
        elif fork.is_answered():
            self.end(fd, fork.response)
        elif not data:
            # A process that has closed its end of the pipe is exiting: killing it does not change its status.
            self.respond(fork.id, INTERRUPTED if self.remove(fd) else failure('crash'))

    def read_question(self, fd):
        fork = self.forks[fd]
        question = bytes(fork.response)
        fork.response.clear()
        fork.questions += 1
        if fork.is_asking or fork.questions > MAX_QUESTIONS:
            return self.end(fd, failure('crash', 'Too many challenges'))
        fork.is_asking = True
        if question.startswith(MESSAGE):
            return self.answer(fork, self.kept.receive(fork, question))
        self.solvers.receive(fork, question)

    def start_helper(self, url, fork):
        """Starts a fork that prepares a player, with the proxy and the time of the fork that needs it."""
        helper = self.fork()
        helper.send({'id': '', 'player': {'url': url}, 'proxy': fork.proxy, 'deadline': fork.deadline})
        return helper

    def answer(self, fork, line):
        """Answers a question of a fork, which may have ended."""
        line = line or b'null\n'
        if fork not in self.forks.values():
            return
        fork.is_asking = False
        # A fork that does not read must not block this process.
        os.set_blocking(fork.requests, False)
        sent = 0
        with contextlib.suppress(BlockingIOError, BrokenPipeError):
            sent = os.write(fork.requests, line)
        if sent < len(line):
            self.end(fork.responses, failure('crash'))

    def end(self, fd, response):
        # Before the process has ended: to release its memory takes milliseconds.
        self.respond(self.forks[fd].id, response)
        self.stop(fd)

    def stop(self, fd):
        """Kills a fork. It is removed when it has exited."""
        fork = self.forks.pop(fd)
        fork.kill()
        self.ending[fd] = fork
        # A fork ahead would compete with what follows a resolve.
        self.fork_ahead_at = time.monotonic() + QUIET_SECONDS

    def read_end(self, fd):
        if os.read(fd, 1 << 20):
            return  # of a response that nobody waits for
        fork = self.ending.pop(fd)
        self.collect(fork)
        if fork.last_response:
            self.respond(fork.id, fork.last_response)

    def remove(self, fd):
        """Ends a fork that is exiting. Returns whether it had been killed."""
        return self.collect(self.forks.pop(fd))

    def collect(self, fork):
        """Ends a fork, and removes what it has written. Returns whether it had been killed before."""
        self.selector.unregister(fork.responses)
        self.stop_reading_errors(fork)
        was_killed = fork.end()
        if not remove(fork.folder):
            self.emit(encode({'left': os.path.basename(fork.folder)}))
        return was_killed

    def read_errors(self, fork):
        # It may have ended in the same step. One at a limit waits until the next check, where it fills its pipe.
        if fork.errors and not fork.read_errors():
            self.stop_reading_errors(fork)

    def stop_reading_errors(self, fork):
        with contextlib.suppress(KeyError):
            self.selector.unregister(fork.errors)

    def check_forks(self):
        now = time.monotonic()
        if now < self.next_check:
            return
        self.next_check = now + CHECK_SECONDS
        for fd, fork in list(self.forks.items()):
            fork.error_lines = MAX_ERROR_LINES
            if fork.errors not in self.selector.get_map():
                self.selector.register(fork.errors, selectors.EVENT_READ, fork)
            if fork.is_stopped():
                self.end(fd, INTERRUPTED)
            elif fork.keeps_too_much():
                self.end(fd, failure('too_large', 'Too many temporary files'))

    def end_overdue(self):
        now = time.monotonic()
        for fd in [fd for fd, fork in self.forks.items() if fork.deadline <= now]:
            self.end(fd, failure('timeout', 'The deadline passed'))
        for request in [request for request in self.waiting if request['deadline'] <= now]:
            self.waiting.remove(request)
            self.respond(request['id'], failure('timeout', 'The deadline passed in the queue'))

    def seconds_to_next_check(self):
        deadlines = [request['deadline'] for request in self.waiting]
        deadlines += [fork.deadline for fork in self.forks.values()]
        if deadlines:
            deadlines.append(self.next_check)
        if self.should_fork_ahead():
            deadlines.append(self.fork_ahead_at)
        if (check_at := self.solvers.next_check()) is not None:
            deadlines.append(check_at)
        return max(0, min(deadlines) - time.monotonic()) if deadlines else None

    def respond(self, request_id, line):
        self.emit(request_id.encode() + b' ' + line)

    def emit(self, line):
        try:
            write(self.responses, line)
        except BrokenPipeError:
            pass  # the client is gone; the end of the requests follows


def is_question(line):
    """Whether a line of a fork is for its solvers or for what is kept, rather than the response."""
    return line.startswith((b'{"playerUrl":', MESSAGE))


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
    """Validates a request and adds `deadline` in monotonic seconds.

    Raises Malformed, or ValueError where there is no id to respond to.
    """
    if not isinstance(message, dict) or not isinstance(message.get('id'), str):
        raise ValueError('id is missing')
    try:
        now = time.monotonic()
        return {**message, 'deadline': now + checked_timeout(message)}
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
    offset = message.get('playlistOffset', 0)
    if isinstance(offset, bool) or not isinstance(offset, int) or offset < 0:
        raise ValueError('playlistOffset is malformed')
    if not isinstance(message.get('entry', {}), dict):
        raise ValueError('entry is not an object')
    for name in ('impersonate', 'playerClient', 'identity'):
        if not isinstance(message.get(name, ''), str):
            raise ValueError(f'{name} is not a string')
    niceness = message.get('niceness', 0)
    if isinstance(niceness, bool) or not isinstance(niceness, int) or not 0 <= niceness <= MAX_NICENESS:
        raise ValueError('niceness is malformed')
    timeout = message.get('timeoutSeconds')
    if isinstance(timeout, bool) or not isinstance(timeout, (int, float)) or not 0 < timeout <= MAX_TIMEOUT_SECONDS:
        raise ValueError('timeoutSeconds is missing or malformed')
    return timeout


def log(text):
    print(f'reelay worker: {text}', file=sys.stderr, flush=True)
