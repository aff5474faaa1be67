"""Classifies failures of a resolve, by exception class rather than by message."""
import functools
import re
import socket

from yt_dlp import YoutubeDL
from yt_dlp.extractor.common import InfoExtractor
from yt_dlp.networking.exceptions import HTTPError, NoSupportingHandlers, ProxyError, RequestError, UnsupportedRequest
from yt_dlp.utils import ExtractorError, GeoRestrictedError, UnsupportedError, UserNotLive

MAX_MESSAGE_LENGTH = 600
# The status of a failed CONNECT, in messages of urllib3, http.client and curl.
TUNNEL_STATUS = re.compile(r'tunnel (?:connection )?failed\D*(\d{3})', re.IGNORECASE)


def tag_reports():
    """Tags the exceptions of yt-dlp's reporting helpers (`reelay_kind`), which all raise the same class."""
    _tag(InfoExtractor, 'report_drm', lambda *_: 'drm')
    _tag(InfoExtractor, 'raise_login_required', lambda *_: 'login')
    _tag(InfoExtractor, 'raise_geo_restricted', lambda *_: 'geo')
    _tag(InfoExtractor, 'raise_no_formats', lambda *_: 'no_formats')
    _tag(YoutubeDL, 'raise_no_formats', _kind_without_formats)


def _kind_without_formats(ydl, info, *_):
    if info.get('_has_drm'):
        return 'drm'
    return 'upcoming' if info.get('live_status') == 'is_upcoming' else 'no_formats'


def _tag(owner, name, kind_of):
    report = getattr(owner, name)

    @functools.wraps(report)
    def tagged(self, *args, **kwargs):
        try:
            return report(self, *args, **kwargs)
        except ExtractorError as error:
            # The outermost helper wins, since it is the most specific: report_drm calls raise_no_formats.
            error.reelay_kind = kind_of(self, *args)
            raise

    setattr(owner, name, tagged)


def describe(error):
    """Describes an exception as WorkerFailure (worker-protocol.ts).

    Returns {"kind", "httpStatus"?, "expected"?, "message"?, "extractor"?, "classes"}.
    """
    chain = list(_chain(error))
    extractor_error = _first(chain, ExtractorError)
    http_error = _first(chain, HTTPError)
    failure = {
        'kind': _kind(chain, extractor_error, http_error),
        'httpStatus': getattr(http_error, 'status', None),
        'expected': getattr(extractor_error, 'expected', None),
        'message': (getattr(extractor_error, 'orig_msg', None) or str(error))[:MAX_MESSAGE_LENGTH],
        'extractor': getattr(extractor_error, 'ie', None),
        'classes': [type(link).__name__ for link in chain],
    }
    return {name: value for name, value in failure.items() if value is not None}


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
    # Before ProxyError: a proxy that times out raises both.
    if any(isinstance(link, TimeoutError) or 'Timeout' in type(link).__name__ for link in chain):
        return 'timeout'
    if _first(chain, ProxyError) or _tunnel_status(chain):
        return 'proxy'
    if _first(chain, socket.gaierror) or any(_is_invalid_host(link) for link in chain):
        return 'dns'
    return 'network' if _first(chain, (RequestError, OSError)) else None


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
