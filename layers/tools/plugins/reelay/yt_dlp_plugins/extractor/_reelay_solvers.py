"""Solves challenges of forks in one warm Node process per player of YouTube, which holds the prepared player.

Forks name the URL of a player, never its code: a fork of its own fetches and prepares it (`_reelay_challenges.prepare`).
What a fork sends besides are strings, which the functions of the player map to strings.
"""
import contextlib
import hashlib
import json
import os
import re
import subprocess
import time
from collections import deque

from ._reelay_limits import die_with_parent, limit_data, limit_usage

PLAYER_URL = re.compile(r'https://www\.youtube\.com/s/player/[\w./-]{1,200}\.js')
MAX_PLAYERS = 3
MAX_PLAYER_BYTES = 12 << 20
# Less than the capacity of a pipe, so that no write waits.
MAX_MESSAGE_BYTES = 32 << 10
MAX_ANSWER_BYTES = 48 << 10
MAX_WAITING = 64
SOLVE_SECONDS = 5
IDLE_SECONDS = 600
MAX_CPU_SECONDS = 600
# These limit the heap of JavaScript. The limit on data (_reelay_limits) is that of the whole process.
FLAGS = ('--permission', '--max-old-space-size=256', '--max-semi-space-size=4')
PROGRAM = r"""
const solvers = {};
const write = process.stdout.write.bind(process.stdout);
Function('_result', require('node:fs').readFileSync(process.argv[1], 'utf8'))(solvers);
const solve = ({ type, challenges }) => {
  try {
    return { data: Object.fromEntries(challenges.map((challenge) => [challenge, solvers[type](challenge)])) };
  } catch {
    return {};
  }
};
const lines = require('node:readline').createInterface({ input: process.stdin });
lines.on('line', (line) => write(`${JSON.stringify(JSON.parse(line).map(solve))}\n`));
"""


class Player:
    """A player, the fork that prepares it or the process that holds it, and the forks that wait for it."""

    def __init__(self, url, path):
        self.url = url
        self.path = path
        self.helper = None
        self.process = None
        self.waiting = deque()
        # The fork whose challenges are being solved, until a moment.
        self.solving = None
        self.deadline = None
        self.used_at = time.monotonic()
        self.output = bytearray()


class Solvers:
    """The players of one worker.

    start_helper: (url, fork) -> a fork that prepares the player for another fork
    end_helper: (fork)
    answer: (fork, line or None) sends a line to a fork that may have ended
    """

    def __init__(self, directory, forker, selector, start_helper, end_helper, answer):
        self.directory = directory
        self.runtime = forker.ydl.params['js_runtimes']['node']['path']
        self.sandbox = forker.sandbox
        self.selector = selector
        self.start_helper = start_helper
        self.end_helper = end_helper
        self.answer = answer
        self.players = {}
        os.makedirs(directory, mode=0o700, exist_ok=True)

    def receive(self, fork, line):
        """Handles a line of a fork: {"playerUrl", "challenges": [{"type", "challenges": [str]}]}."""
        try:
            message = json.loads(line if len(line) <= MAX_MESSAGE_BYTES else '')
            url, challenges = message['playerUrl'], message['challenges']
            is_valid = PLAYER_URL.fullmatch(url) and '..' not in url and all(
                each['type'] in ('n', 'sig') and all(isinstance(text, str) for text in each['challenges'])
                for each in challenges)
        except (ValueError, TypeError, KeyError, RecursionError):
            is_valid = False
        if not is_valid:
            return self.answer(fork, None)
        player = self.players.get(url) or self._add(url, fork)
        if not player or len(player.waiting) >= MAX_WAITING:
            return self.answer(fork, None)
        player.used_at = time.monotonic()
        player.waiting.append((fork, json.dumps(challenges).encode() + b'\n'))
        self._continue(player)

    def _add(self, url, fork):
        if any(player.helper for player in self.players.values()):
            return None  # one at a time: it takes seconds of a processor
        if len(self.players) >= MAX_PLAYERS:
            self._remove(min(self.players.values(), key=lambda each: each.used_at))
        path = os.path.join(self.directory, f'{hashlib.sha256(url.encode()).hexdigest()}.js')
        player = self.players[url] = Player(url, path)
        player.helper = self.start_helper(url, fork)
        return player

    def owns(self, fd):
        return self._of(fd) is not None

    def _of(self, fd):
        return next((player for player in self.players.values() if fd in descriptors_of(player)), None)

    def descriptors(self):
        return [fd for player in self.players.values() for fd in descriptors_of(player)]

    def read(self, fd):
        player = self._of(fd)
        data = os.read(fd, 1 << 20)
        player.output += data
        is_preparing = player.helper is not None
        if not data or len(player.output) > (MAX_PLAYER_BYTES if is_preparing else MAX_ANSWER_BYTES):
            return self._remove(player)
        if not player.output.endswith(b'\n'):
            return
        line = bytes(player.output)
        player.output.clear()
        try:
            if is_preparing:
                self._keep(player, json.loads(line)['info']['player'])
            else:
                fork, player.solving = player.solving, None
                self.answer(fork, line)
            self._continue(player)
        except (ValueError, KeyError, TypeError, OSError):
            self._remove(player)

    def _keep(self, player, code):
        self._end_helper(player)
        with open(os.open(player.path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), 'w', encoding='utf-8') as file:
            file.write(code)

    def _continue(self, player):
        if player.helper or player.solving or not player.waiting:
            return
        if not player.process:
            self._start(player)
        player.solving, line = player.waiting.popleft()
        player.deadline = time.monotonic() + SOLVE_SECONDS
        with contextlib.suppress(BrokenPipeError):  # its end follows
            os.write(player.process.stdin.fileno(), line)

    def _start(self, player):
        def confine():
            die_with_parent()
            limit_data()
            limit_usage(MAX_CPU_SECONDS)
            self.sandbox.confine(None)

        command = [self.runtime, *FLAGS, f'--allow-fs-read={player.path}', '-e', PROGRAM, player.path]
        player.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                          stderr=subprocess.DEVNULL, env={}, preexec_fn=confine)
        self.selector.register(player.process.stdout.fileno(), 1)

    def check(self):
        """Ends what takes too long, and processes that have no work."""
        now = time.monotonic()
        for player in list(self.players.values()):
            if (player.solving and player.deadline <= now) or (player.helper and player.helper.deadline <= now):
                self._remove(player)
            elif player.process and not player.solving and player.used_at + IDLE_SECONDS <= now:
                self._end_process(player)

    def next_check(self):
        """When `check` is due, in monotonic seconds; None without players that need one."""
        times = [player.helper.deadline if player.helper else player.deadline if player.solving
                 else player.used_at + IDLE_SECONDS for player in self.players.values()
                 if player.helper or player.process]
        return min(times, default=None)

    def _remove(self, player):
        """Forgets a player, so that those who wait for it solve their challenges themselves."""
        self.players.pop(player.url, None)
        self._end_helper(player)
        self._end_process(player)
        with contextlib.suppress(OSError):
            os.unlink(player.path)
        for fork in filter(None, [player.solving, *(fork for fork, _ in player.waiting)]):
            self.answer(fork, None)

    def _end_helper(self, player):
        helper, player.helper = player.helper, None
        if helper:
            self.end_helper(helper)

    def _end_process(self, player):
        process, player.process = player.process, None
        if process:
            self.selector.unregister(process.stdout.fileno())
            process.kill()
            with process:  # closes its pipes and waits
                pass

    def close(self):
        for player in list(self.players.values()):
            self._remove(player)


def descriptors_of(player):
    helper = player.helper.descriptors() if player.helper else []
    process = [player.process.stdin.fileno(), player.process.stdout.fileno()] if player.process else []
    return [*helper, *process]
