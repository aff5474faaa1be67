"""Classifies failures of a resolve, by exception class rather than by message."""
import functools
import json
import re
import socket
import sys
import time

from yt_dlp import YoutubeDL
from yt_dlp.extractor.common import InfoExtractor
from yt_dlp.networking.exceptions import HTTPError, NoSupportingHandlers, ProxyError, RequestError, UnsupportedRequest
from yt_dlp.utils import ExtractorError, GeoRestrictedError, UnsupportedError, UserNotLive

from ._reelay_periods import SEPARATE_PERIODS

MAX_MESSAGE_LENGTH = 600
MAX_BODY_BYTES = 65_536
# What is said of formats that are left out, and the kind of failure that it is where no others are there.
SKIPPED_FORMATS = {'missing a URL': 'unreadable_formats', SEPARATE_PERIODS: 'separate_periods'}
# What extractors go on after, although nothing may be left: their own failures, and what a site says of a video.
NOTED = ('Unable to ', 'This video is ')
IMPERSONATION = 'impersonation'
# The status of a failed CONNECT, in messages of urllib3, http.client and curl.
TUNNEL_STATUS = re.compile(r'tunnel (?:connection )?failed\D{0,99}(\d{3})', re.IGNORECASE)


def tag_reports():
    """Tags the exceptions of yt-dlp's reporting helpers (`reelay_kind`), which all raise the same class."""
    _tag(InfoExtractor, 'report_drm', lambda *_: 'drm')
    _tag(InfoExtractor, 'raise_login_required', lambda *_: 'login')
    _tag(InfoExtractor, 'raise_geo_restricted', lambda *_: 'geo')
    _tag(InfoExtractor, 'raise_no_formats', lambda *_: 'no_formats')
    _tag(YoutubeDL, 'raise_no_formats', _kind_without_formats)
    _note_messages('report_warning')
    _note_messages('write_debug')
    _drop_images()


def _kind_without_formats(ydl, info, *_):
    if info.get('_has_drm'):
        return 'drm'
    if info.get('live_status') == 'is_upcoming':
        return 'upcoming'
    return getattr(ydl, 'reelay_skipped_formats', 'no_formats')


def _tag(owner, name, kind_of):
    report = getattr(owner, name)

    @functools.wraps(report)
    def tagged(self, *args, **kwargs):
        try:
            return report(self, *args, **kwargs)
        except ExtractorError as error:
            # The outermost helper wins, since it is the most specific: report_drm calls raise_no_formats.
            error.reelay_kind = kind_of(self, *args)
            error.reelay_starts_at = next((arg.get('release_timestamp') for arg in args if isinstance(arg, dict)), None)
            raise

    setattr(owner, name, tagged)


def _note_messages(name):
    """Notes of what an extractor only writes a message: that it has skipped formats (YouTube: SABR alone), and the
    last failure after which it went on."""
    write = getattr(InfoExtractor, name)

    @functools.wraps(write)
    def noting(self, message, *args, **kwargs):
        skipped = next((kind for said, kind in SKIPPED_FORMATS.items() if said in str(message)), None)
        if skipped:
            self._downloader.reelay_skipped_formats = skipped
        elif str(message).startswith(NOTED):
            self._downloader.reelay_failed = str(message)
        return write(self, message, *args, **kwargs)

    setattr(InfoExtractor, name, noting)


def _drop_images():
    """Drops images, which are no media: of a video with nothing else, yt-dlp says that the requested format is not available."""
    process = YoutubeDL.process_video_result

    @functools.wraps(process)
    def process_media(self, info_dict, *args, **kwargs):
        formats = info_dict.get('formats')
        if formats:
            info_dict['formats'] = [each for each in formats if each.get('protocol') != 'mhtml']
        return process(self, info_dict, *args, **kwargs)

    YoutubeDL.process_video_result = process_media


def report_failures(prefix):
    """Describes each error that yt-dlp reports on stderr, in JSON behind a prefix: for a process that serves one link alone."""
    tag_reports()
    report_error = YoutubeDL.report_error

    @functools.wraps(report_error)
    def describe_and_report(self, *args, **kwargs):
        error = sys.exc_info()[1]
        if error:
            described = describe(error, failed=getattr(self, 'reelay_failed', None))
            print(prefix + json.dumps(described), file=sys.stderr, flush=True)
        return report_error(self, *args, **kwargs)

    YoutubeDL.report_error = describe_and_report


def describe(error, refusal=None, failed=None):
    """Describes an exception as WorkerFailure (worker-protocol.ts).

    `refusal` is the last HTTPError by which the site refused a request of the same link: extractors that try several
    addresses drop them, and then fail in a way that does not say so. `failed` is the message of the last failure after which
    the extractor went on: what is left without formats has no other reason.
    Returns {"kind", "httpStatus"?, "retryAfterSeconds"?, "expected"?, "message"?, "extractor"?, "classes"}.
    """
    chain = list(_chain(error))
    extractor_error = _first(chain, ExtractorError)
    http_error = _first(chain, HTTPError)
    kind = _kind(chain, extractor_error, http_error)
    message = getattr(extractor_error, 'orig_msg', None) or str(error)
    # After a refusal, yt-dlp advises to install what imitates a browser.
    is_reason = getattr(extractor_error, 'expected', False) and IMPERSONATION not in message
    if refusal and kind in ('bug', 'no_formats', 'unreadable_formats') and not is_reason:
        kind, http_error = 'http', refusal
    if failed and kind == 'no_formats' and not is_reason:
        message = f'{message} {failed}'
    if kind == 'http' and ('HTTP Error' in message or not is_reason):
        message = _said(http_error) or message
    failure = {
        'kind': kind,
        'httpStatus': getattr(http_error, 'status', None),
        'retryAfterSeconds': _retry_after(chain, http_error),
        'expected': getattr(extractor_error, 'expected', None),
        'message': message[:MAX_MESSAGE_LENGTH],
        'extractor': getattr(extractor_error, 'ie', None),
        'classes': [type(link).__name__ for link in chain],
    }
    return {name: value for name, value in failure.items() if value is not None}


def _said(http_error):
    """What the JSON body of a 4xx says, as far as its status does not say it; None if it says nothing."""
    response = http_error.response
    if not 400 <= http_error.status < 500 or http_error.status in (410, 429, 451):
        return None
    if 'json' not in (response.get_header('Content-Type') or ''):
        return None
    try:
        # Empty where the extractor has read it.
        body = json.loads(response.read(MAX_BODY_BYTES))
    except Exception:
        return None
    if isinstance(body, dict) and isinstance(body.get('error'), dict):
        body = body['error']
    texts = (body.get(name) for name in ('error', 'message', 'detail')) if isinstance(body, dict) else ()
    return ' '.join(text for text in texts if isinstance(text, str)) or None


def is_refusal(error):
    """Whether a site has refused a request, rather than failed. The egress proxy is no site."""
    return isinstance(error, HTTPError) and error.status in (403, 429) and not _is_refused_by_proxy([], error)


def _retry_after(chain, http_error):
    """Seconds until another attempt may succeed, by Retry-After or by the start of a live stream, if known."""
    starts_at = next((at for link in chain if (at := getattr(link, 'reelay_starts_at', None))), None)
    if starts_at:
        return max(1, int(starts_at - time.time()))
    response = getattr(http_error, 'response', None)
    value = response.headers.get('Retry-After') if response is not None else None
    return int(value) if value and re.fullmatch(r'[0-9]{1,6}', value) else None


def _kind(chain, extractor_error, http_error):
    if _first(chain, MemoryError):
        return 'memory'
    if _is_refused_by_proxy(chain, http_error):
        return 'egress_refused'
    for link in chain:
        if tag := getattr(link, 'reelay_kind', None):
            return tag
    return _kind_of_class(chain, extractor_error) or _kind_of_request(chain, http_error) or (
        'expected' if getattr(extractor_error, 'expected', False) else 'bug')


def _kind_of_class(chain, extractor_error):
    for cls, kind in ((UnsupportedError, 'unsupported'), (GeoRestrictedError, 'geo'), (UserNotLive, 'not_live')):
        if isinstance(extractor_error, cls):
            return kind
    if (site := getattr(extractor_error, 'ie', None)) in ('DRM', 'Piracy', 'Liability'):
        return f'site_{site.lower()}'
    return 'bad_scheme' if _first(chain, (UnsupportedRequest, NoSupportingHandlers)) else None


def _kind_of_request(chain, http_error):
    if http_error:
        return 'http'
    # This comes before ProxyError, because a proxy that times out raises both.
    if _has_timeout(chain):
        return 'timeout'
    if _first(chain, ProxyError) or _tunnel_status(chain):
        return 'proxy'
    if _first(chain, socket.gaierror) or any(_is_invalid_host(link) for link in chain):
        return 'dns'
    return 'network' if _first(chain, (RequestError, OSError)) else None


def is_timeout(error):
    """Whether a request has failed because it took too long."""
    return _has_timeout(_chain(error))


def _has_timeout(chain):
    return any(isinstance(link, TimeoutError) or 'Timeout' in type(link).__name__ for link in chain)


def _is_invalid_host(link):
    """A host name that DNS cannot represent (an empty or too long label) fails in the IDNA codec, before a lookup."""
    return isinstance(link, UnicodeError) and 'idna' in str(link)


def _is_refused_by_proxy(chain, http_error):
    """The egress proxy marks a refused http request by a header; of a refused CONNECT, clients report the status only."""
    response = getattr(http_error, 'response', None)
    if response is not None and response.headers.get('X-Egress') == 'refused':
        return True
    return _tunnel_status(chain) == '403'


def _tunnel_status(chain):
    for link in chain:
        if isinstance(link, (OSError, RequestError)) and (match := TUNNEL_STATUS.search(str(link))):
            return match[1]
    return None


def _first(chain, cls):
    return next((link for link in chain if isinstance(link, cls)), None)


def _chain(error):
    """Yields the exception and all its causes, which yt-dlp links in several ways."""
    seen, waiting = set(), [error]
    while waiting:
        link = waiting.pop(0)
        if not isinstance(link, BaseException) or id(link) in seen:
            continue
        seen.add(id(link))
        yield link
        exc_info = getattr(link, 'exc_info', None) or (None, None)
        waiting += [getattr(link, 'cause', None), link.__cause__, link.__context__, getattr(link, 'reason', None),
                    exc_info[1], *(arg for arg in link.args if isinstance(arg, BaseException))]
