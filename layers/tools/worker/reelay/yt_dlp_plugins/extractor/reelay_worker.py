"""Turns yt-dlp into a warm worker: JSON lines in and out, one fork for every request.

It is an extractor because that is the one kind of plugin that every build of yt-dlp loads, the standalone ones too: the
link `reelay-worker:<forks at once>:<bytes a fork may take>` starts it, and it never returns. Warming up is what costs
(the patterns of all sites, the modules that read pages); a fork of the warm process costs a few milliseconds, shares
nothing with the next one, and can be killed at any moment.

`worker-protocol.ts` is the protocol. Only modules that yt-dlp itself needs are sure to be there.
"""
import contextlib
import gc
import json
import os
import select
import signal
import sys
import threading
import time

from yt_dlp import YoutubeDL
from yt_dlp.extractor.common import InfoExtractor
from yt_dlp.networking.exceptions import HTTPError, NoSupportingHandlers, ProxyError, RequestError, UnsupportedRequest
from yt_dlp.utils import ExtractorError, GeoRestrictedError, Popen, UnsupportedError, UserNotLive, unified_timestamp

try:
    import resource
except ImportError:
    resource = None

MAX_QUESTION_BYTES = 4 * 1024 * 1024
MAX_ANSWER_BYTES = 32 * 1024 * 1024
MAX_MESSAGE_CHARS = 600
# Nothing listens there: a request made before a fork has its own proxy goes nowhere.
NO_PROXY_YET = 'http://127.0.0.1:9'
# Kinds of extractors that stand for sites which yt-dlp refuses on principle.
REFUSED_SITES = {'DRM': 'site_drm', 'Piracy': 'site_piracy', 'Liability': 'site_liability'}


class QuietLogger:
    """Warnings go to the operator; failures are answered, and progress is nobody's concern."""

    def debug(self, message):
        pass

    info = error = debug

    def warning(self, message):
        print(str(message)[:MAX_MESSAGE_CHARS].replace('\n', ' '), file=sys.stderr, flush=True)


# What went wrong, told by structure


def mark_failures():
    """Has the helpers that every extractor reports with name the kind of failure on the exception."""

    def mark(owner, name, kind_of):
        report = getattr(owner, name)

        def marked(self, *args, **kwargs):
            try:
                return report(self, *args, **kwargs)
            except ExtractorError as error:
                # The outermost wins: report_drm calls raise_no_formats.
                error.reelay_kind = kind_of(args)
                raise

        setattr(owner, name, marked)

    mark(InfoExtractor, 'report_drm', lambda _: 'drm')
    mark(InfoExtractor, 'raise_login_required', lambda _: 'login')
    mark(InfoExtractor, 'raise_geo_restricted', lambda _: 'geo')
    mark(InfoExtractor, 'raise_no_formats', lambda _: 'no_formats')
    mark(YoutubeDL, 'raise_no_formats', lambda args: kind_without_formats(args[0] if args else {}))


def kind_without_formats(info):
    if info.get('_has_drm'):
        return 'drm'
    return 'upcoming' if info.get('live_status') == 'is_upcoming' else 'no_formats'


def chain_of(error):
    """The exception and all that it came from, outermost first."""
    chain, waiting = [], [error]
    while waiting:
        current = waiting.pop(0)
        if not isinstance(current, BaseException) or any(current is known for known in chain):
            continue
        chain.append(current)
        exc_info = getattr(current, 'exc_info', None)
        waiting += [
            getattr(current, 'cause', None), current.__cause__, current.__context__, getattr(current, 'reason', None),
            exc_info[1] if exc_info else None]
    return chain


def failure_of(error):
    """A failure as `WorkerFailure` describes it."""
    chain = chain_of(error)

    def first(kind):
        return next((link for link in chain if isinstance(link, kind)), None)

    extractor_error, http_error = first(ExtractorError), first(HTTPError)
    failure = {
        'kind': kind_of(chain, first, extractor_error, http_error),
        'message': (getattr(extractor_error, 'orig_msg', None) or str(error))[:MAX_MESSAGE_CHARS],
        'classes': [type(link).__name__ for link in chain],
    }
    if http_error is not None:
        failure['httpStatus'] = http_error.status
    if extractor_error is not None:
        failure['expected'] = bool(extractor_error.expected)
        if extractor_error.ie:
            failure['extractor'] = str(extractor_error.ie)
    return failure


def kind_of(chain, first, extractor_error, http_error):
    if first(MemoryError):
        return 'memory'
    # The egress proxy marks its own refusals.
    if http_error is not None and http_error.response.headers.get('X-Egress'):
        return 'egress_refused'
    marked = next((link.reelay_kind for link in chain if hasattr(link, 'reelay_kind')), None)
    if marked:
        return marked
    if isinstance(extractor_error, UnsupportedError):
        return 'unsupported'
    if isinstance(extractor_error, GeoRestrictedError):
        return 'geo'
    if isinstance(extractor_error, UserNotLive):
        return 'not_live'
    if getattr(extractor_error, 'ie', None) in REFUSED_SITES:
        return REFUSED_SITES[extractor_error.ie]
    if first((UnsupportedRequest, NoSupportingHandlers)):
        return 'bad_scheme'
    if http_error is not None:
        return 'http'
    if first(ProxyError):
        return 'proxy'
    if any(type(link).__name__ == 'gaierror' for link in chain):
        return 'dns'
    if first(TimeoutError):
        return 'timeout'
    if first((RequestError, OSError)):
        return 'network'
    return 'expected' if extractor_error is not None and extractor_error.expected else 'bug'


# In the fork


def resolve(ydl, request):
    """Answers one request, as a line without its id."""
    try:
        prepare(ydl, request)
        if request.get('entry'):
            info = ydl.process_ie_result(request['entry'], download=False)
        else:
            info = ydl.extract_info(request['url'], download=False)
        if info is None:
            raise ExtractorError('Nothing came of it', expected=True)
        line = to_line({'ok': True, 'info': ydl.sanitize_info(info)})
        return line if len(line) <= MAX_ANSWER_BYTES else failed('too_large')
    except MemoryError:
        pass  # What filled the memory is let go with the exception: the answer is written below.
    except BaseException as error:
        return to_line({'ok': False, 'error': failure_of(error)})
    return failed('memory')


def prepare(ydl, request):
    proxy = request['proxy']
    if not isinstance(proxy, str) or not proxy:
        raise ValueError('A request needs a proxy')
    ydl.params.update(
        proxy=proxy,
        extract_flat='in_playlist' if request.get('flat') else False,
        playlistend=request.get('playlistLimit'))
    # The handlers are built already and keep the mapping they were given.
    for proxies in [ydl.proxies, *(handler.proxies for handler in ydl._request_director.handlers.values())]:
        proxies.clear()
        proxies['all'] = proxy


def to_line(answer):
    try:
        text = json.dumps(answer, default=str, allow_nan=False)
    except ValueError:
        # JSON has no NaN and no infinity: they become null.
        text = json.dumps(json.loads(json.dumps(answer, default=str), parse_constant=lambda _: None))
    return text.encode() + b'\n'


def failed(kind, message=None):
    return to_line({'ok': False, 'error': {'kind': kind, **({'message': message} if message else {})}})


def end_with(lifeline):
    """Ends this process and what it started as soon as the worker is gone, which holds the other end."""

    def watch():
        os.read(lifeline, 1)
        os.killpg(0, signal.SIGKILL)

    threading.Thread(target=watch, daemon=True).start()


def limit(memory_bytes, seconds):
    """Bounds what one request may take, where the system can."""
    if resource is None:
        return
    with contextlib.suppress(ValueError, OSError):
        # Reaches even a pattern that holds the interpreter for ever, should the worker be gone.
        resource.setrlimit(resource.RLIMIT_CPU, (int(seconds) + 2, int(seconds) + 3))
    with contextlib.suppress(ValueError, OSError):
        _, most = resource.getrlimit(resource.RLIMIT_DATA)
        resource.setrlimit(resource.RLIMIT_DATA, (memory_bytes, most))
    with contextlib.suppress(ValueError, OSError):
        _, most = resource.getrlimit(resource.RLIMIT_AS)
        resource.setrlimit(resource.RLIMIT_AS, (memory_bytes, most))
        spare_children(memory_bytes, most)


def spare_children(memory_bytes, most):
    """A JavaScript engine reserves far more addresses than it uses: for its children, RLIMIT_DATA alone is the bound."""
    start = Popen.__init__

    def start_without_limit(self, *args, **kwargs):
        resource.setrlimit(resource.RLIMIT_AS, (most, most))
        try:
            start(self, *args, **kwargs)
        finally:
            resource.setrlimit(resource.RLIMIT_AS, (memory_bytes, most))

    Popen.__init__ = start_without_limit


# In the worker


def warm_up(params):
    """A YoutubeDL that has done everything once that it would do lazily, without the network."""
    ydl = YoutubeDL({
        **params, 'logger': QuietLogger(), 'proxy': NO_PROXY_YET, 'quiet': True, 'no_warnings': False,
        'simulate': True, 'skip_download': True, 'ignoreerrors': False, 'noplaylist': True})
    url = 'http://warm.invalid/x.mp4'
    for extractor in ydl._ies.values():
        with contextlib.suppress(Exception):
            extractor.suitable(url)

    class Response:
        headers = {}

    Response.url = url
    with contextlib.suppress(Exception):
        list(ydl.get_info_extractor('Generic')._extract_embeds(url, '<html></html>', urlh=Response()))
    formats = [
        {'format_id': str(number), 'url': url, 'ext': 'mp4', 'vcodec': video, 'acodec': audio, 'tbr': 1.0}
        for number, (video, audio) in enumerate([('avc1', 'none'), ('none', 'mp4a'), ('avc1', 'mp4a')])]
    with contextlib.suppress(Exception):
        ydl.sanitize_info(ydl.process_ie_result({
            'id': 'x', 'title': 'x', 'extractor': 'generic', 'extractor_key': 'Generic', 'webpage_url': url,
            'timestamp': 1, 'thumbnails': [{'url': url}], 'formats': formats}, download=False))
    unified_timestamp('Sat, 21 Nov 2026 00:31:02 GMT')
    'x'.encode('idna')
    for handler in ydl._request_director.handlers.values():
        # Reads the certificates, which is most of what a first https request costs.
        with contextlib.suppress(Exception):
            handler._get_instance(cookiejar=ydl.cookiejar, legacy_ssl_support=None)
    ydl._playlist_urls.clear()
    ydl._printed_messages.clear()
    ydl._first_webpage_request = True
    return ydl


class Fork:
    """One request being answered."""

    def __init__(self, request_id, pid, output, deadline):
        self.request_id, self.pid, self.output, self.deadline = request_id, pid, output, deadline
        self.chunks, self.size = [], 0

    def end(self):
        """Kills it with all it started, and reads how it ended."""
        for kill in (os.killpg, os.kill):
            with contextlib.suppress(OSError):
                kill(self.pid, signal.SIGKILL)
        os.close(self.output)
        return os.waitpid(self.pid, 0)[1]


class Worker:
    def __init__(self, ydl, questions, answers, concurrency, memory_bytes):
        self.ydl, self.questions, self.answers = ydl, questions, answers
        self.concurrency, self.memory_bytes = concurrency, memory_bytes
        self.queue, self.forks = [], {}
        self.pending, self.is_skipping = b'', False
        self.lifeline = os.pipe()

    def serve(self):
        """Runs until nobody asks any more: the other end of its input is closed."""
        self.write(b'{"ready":true}\n')
        while True:
            self.expire()
            while self.queue and len(self.forks) < self.concurrency:
                self.start(*self.queue.pop(0))
            deadlines = [fork.deadline for fork in self.forks.values()] + [deadline for _, deadline in self.queue]
            wait = max(0, min(deadlines) - time.monotonic()) if deadlines else None
            readable, _, _ = select.select([self.questions, *self.forks], [], [], wait)
            for source in readable:
                if source in self.forks:
                    self.read_answer(source)
                elif source == self.questions and not self.read_questions():
                    return

    def close(self):
        for fork in self.forks.values():
            fork.end()

    def expire(self):
        now = time.monotonic()
        for request, deadline in [waiting for waiting in self.queue if waiting[1] <= now]:
            self.queue.remove((request, deadline))
            self.answer(request['id'], failed('timeout', 'No fork was free in time'))
        for fork in [fork for fork in self.forks.values() if fork.deadline <= now]:
            self.finish(fork, failed('timeout', 'Not done by the deadline'))

    def start(self, request, deadline):
        output, own_end = os.pipe()
        pid = os.fork()
        if pid == 0:
            try:
                self.run_fork(request, deadline, own_end)
            finally:
                os._exit(1)
        os.close(own_end)
        self.forks[output] = Fork(request['id'], pid, output, deadline)

    def run_fork(self, request, deadline, output):
        """The life of a fork: nothing of the worker's stays open in it but the lifeline."""
        os.setsid()
        for descriptor in (self.questions, self.answers, self.lifeline[1], *self.forks):
            os.close(descriptor)
        end_with(self.lifeline[0])
        limit(self.memory_bytes, max(0, deadline - time.monotonic()))
        write_all(output, resolve(self.ydl, request))
        os._exit(0)

    def read_answer(self, source):
        fork = self.forks[source]
        chunk = os.read(source, 1 << 20)
        fork.chunks.append(chunk)
        fork.size += len(chunk)
        if fork.size > MAX_ANSWER_BYTES:
            self.finish(fork, failed('too_large'))
        elif not chunk:
            self.finish(fork)

    def finish(self, fork, instead=None):
        del self.forks[fork.output]
        status = fork.end()
        line = instead or b''.join(fork.chunks)
        # A whole answer ends its line; one that broke off is none.
        if not line.endswith(b'}\n'):
            line = self.broken_off(status)
        self.answer(fork.request_id, line)

    @staticmethod
    def broken_off(status):
        code = os.waitstatus_to_exitcode(status)
        if code == -signal.SIGXCPU:
            return failed('timeout', 'Not done by the deadline')
        return failed('crash', f'The fork ended with signal {-code}' if code < 0 else f'The fork ended with code {code}')

    def read_questions(self):
        chunk = os.read(self.questions, 1 << 16)
        *lines, self.pending = (self.pending + chunk).split(b'\n')
        for line in lines:
            if self.is_skipping:
                self.is_skipping = False
            elif line.strip():
                self.take(line)
        if len(self.pending) > MAX_QUESTION_BYTES:
            self.pending, self.is_skipping = b'', True
            report('A line that is too long was dropped')
        return bool(chunk)

    def take(self, line):
        try:
            request = json.loads(line)
            if 'cancel' in request:
                self.cancel(request['cancel'])
            else:
                if not isinstance(request['id'], str) or not isinstance(request['url'], str):
                    raise TypeError('id and url are text')
                self.queue.append((request, time.monotonic() + float(request['timeout'])))
        except (ValueError, TypeError, KeyError, RecursionError) as error:
            report(f'A line that is no request was dropped: {type(error).__name__}')

    def cancel(self, request_id):
        for waiting in [waiting for waiting in self.queue if waiting[0]['id'] == request_id]:
            self.queue.remove(waiting)
            self.answer(request_id, failed('cancelled'))
        for fork in [fork for fork in self.forks.values() if fork.request_id == request_id]:
            self.finish(fork, failed('cancelled'))

    def answer(self, request_id, line):
        self.write(b'{"id":%s,%s' % (json.dumps(request_id).encode(), line[1:]))

    def write(self, data):
        write_all(self.answers, data)


def write_all(descriptor, data):
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(descriptor, rest):]


def report(message):
    print(message, file=sys.stderr, flush=True)


def take_streams():
    """Standard input and output for the protocol alone: what else reads finds nothing, what else prints goes to stderr."""
    questions, answers = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, 0)
    os.dup2(2, 1)
    os.close(nothing)
    return questions, answers


class ReelayWorkerIE(InfoExtractor):
    IE_DESC = False
    _VALID_URL = r'reelay-worker:(?P<concurrency>\d+):(?P<memory>\d+)$'
    _is_serving = False

    @classmethod
    def suitable(cls, url):
        # A page that leads here finds nothing.
        return not cls._is_serving and super().suitable(url)

    def _real_extract(self, url):
        concurrency, memory_bytes = map(int, self._match_valid_url(url).group('concurrency', 'memory'))
        questions, answers = take_streams()
        ReelayWorkerIE._is_serving = True
        mark_failures()
        own = ('http_headers', '_warnings', '_deprecation_warnings', 'warn_when_outdated')
        ydl = warm_up({key: value for key, value in self._downloader.params.items() if key not in own})
        # The forks share the warm pages as long as nothing writes to them, the collector included.
        gc.collect()
        gc.freeze()
        worker = Worker(ydl, questions, answers, max(1, concurrency), memory_bytes)
        try:
            worker.serve()
        except BrokenPipeError:
            pass  # Whoever asked is gone, and with them the reason to go on.
        finally:
            worker.close()
            os._exit(0)
