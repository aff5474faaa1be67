"""Resolves one request in a fork: changes that it makes to yt-dlp end with the process."""
import functools
import json
import math

from yt_dlp.extractor.common import InfoExtractor
from yt_dlp.utils import ExtractorError

from ._reelay_bounds import TooLarge
from ._reelay_challenges import prepare
from ._reelay_cookies import CookieRecorder
from ._reelay_failures import describe, is_refusal, is_timeout
from ._reelay_subtitles import reduce_subtitles

MAX_RESPONSE_BYTES = 16 << 20  # of one line: parsing it blocks the service for some 100 ms
# Fields that the service does not read, and that can be large.
UNUSED_FIELDS = {'requested_subtitles', 'requested_formats', 'requested_downloads',
                 'comments', 'heatmap', '_format_sort_fields', 'hls_media_playlist_data'}


def resolve(ydl, request, lift_memory_limit=lambda: None):
    """Resolves a request (see _reelay_serve). Returns the response as one line of bytes."""
    try:
        use_proxy(ydl, request['proxy'])
        impersonate(ydl, request.get('impersonate'))
        use_player_client(ydl, request.get('playerClient'))
        if 'player' in request:
            return encode({'ok': True, 'info': prepare(ydl, **request['player'])})
        cookies = CookieRecorder(ydl, request['cookies']) if 'cookies' in request else None
        info = extract(ydl, request)
        reduce_subtitles(info)
        more = {'isIncomplete': True} if ydl.reelay_timeouts else {}
        if cookies:
            more['cookies'] = cookies.changes()
        line = encode({'ok': True, 'info': plain(ydl.sanitize_info(info)), **more})
        if len(line) <= MAX_RESPONSE_BYTES:
            return line
        return failure('too_large', f'The response has {len(line)} bytes')
    except Exception as error:
        # After a MemoryError, encoding the failure needs memory too.
        lift_memory_limit()
        described = describe(error, ydl.reelay_refusal, ydl.reelay_failed)
        # The message of an HTTP client may contain the proxy URL, with the credentials of this request.
        described['message'] = described['message'].replace(request['proxy'], 'the proxy')
        return encode({'ok': False, 'error': described})


def failure(kind, message=None):
    """A failure response for a cause without an exception, as one line of bytes."""
    return encode({'ok': False, 'error': {'kind': kind, **({'message': message} if message else {})}})


def use_proxy(ydl, proxy):
    """Sends all requests through this proxy. Request handlers hold their own copy of the setting since their creation."""
    proxies = {'all': proxy}
    ydl.params['proxy'] = proxy
    ydl.__dict__['proxies'] = proxies
    for handler in ydl._request_director.handlers.values():
        handler.proxies = proxies


def impersonate(ydl, name):
    """Makes all requests imitate a browser, if this build can. Request handlers hold their own copy of the setting."""
    if not name:
        return
    from yt_dlp.networking.impersonate import ImpersonateRequestHandler, ImpersonateTarget
    target = ImpersonateTarget.from_str(name)
    for handler in ydl._request_director.handlers.values():
        if isinstance(handler, ImpersonateRequestHandler) and handler.is_supported_target(target):
            ydl.params['impersonate'] = handler.impersonate = target


def use_player_client(ydl, name):
    """Makes the extractor of YouTube ask as this client instead of those that it chooses."""
    if name:
        args = ydl.params.get('extractor_args') or {}
        ydl.params['extractor_args'] = {**args, 'youtube': {**args.get('youtube', {}), 'player_client': [name]}}


def keep_proxy(ydl):
    """Removes the header by which an extractor can select another proxy for a request."""
    urlopen = ydl.urlopen

    def urlopen_without_override(request):
        headers = getattr(request, 'headers', {})  # `request` may be a plain URL
        for name in [name for name in headers if name.lower() == 'ytdl-request-proxy']:
            del headers[name]
        return urlopen(request)

    ydl.urlopen = urlopen_without_override


def keep_lists():
    """Makes links of lists give lists, although of a link that names a video and a list, only the video is wanted: Bilibili
    says that the parts of a video are a list with the id of the video."""
    yes_playlist = InfoExtractor._yes_playlist

    @functools.wraps(yes_playlist)
    def yes_playlist_of_one_id(self, playlist_id, video_id, *args, **kwargs):
        is_list = bool(video_id) and video_id is not True and playlist_id == video_id
        return is_list or yes_playlist(self, playlist_id, video_id, *args, **kwargs)

    InfoExtractor._yes_playlist = yes_playlist_of_one_id


def keep_checks_of_hosts():
    """Gives extractors yt-dlp's own value of `check_formats`. That formats are not requested for the selection, as the command
    line says, means to BitChute that the host that its API names has the file: it asks none of the others."""
    get_param = InfoExtractor.get_param

    @functools.wraps(get_param)
    def get_param_as_stock(self, name, *args, **kwargs):
        return None if name == 'check_formats' else get_param(self, name, *args, **kwargs)

    InfoExtractor.get_param = get_param_as_stock


def collect_failures(ydl):
    """Collects the URLs whose last request took too long, for extractors omit what a manifest would have named, and the last
    refusal of the site."""
    ydl.reelay_timeouts = set()
    ydl.reelay_refusal = ydl.reelay_failed = None
    urlopen = ydl.urlopen

    def collecting(url, attempt):
        def attempt_or_collect(*args):
            try:
                result = attempt(*args)
            except Exception as error:
                if is_timeout(error):
                    ydl.reelay_timeouts.add(url)
                if is_refusal(error):
                    ydl.reelay_refusal = error
                raise
            ydl.reelay_timeouts.discard(url)
            return result
        return attempt_or_collect

    def urlopen_and_collect(request):
        url = getattr(request, 'url', request)  # `request` may be a plain URL
        response = collecting(url, urlopen)(request)
        response.read = collecting(url, response.read)
        return response

    ydl.urlopen = urlopen_and_collect


def extract(ydl, request):
    """Returns the info dict of yt-dlp. Raises what the extractor raises, also when every entry of a playlist failed."""
    ydl.reelay_timeouts.clear()
    ydl.reelay_refusal = ydl.reelay_failed = None
    ydl.params['extract_flat'] = 'in_playlist' if request['flat'] else False
    offset = request.get('playlistOffset', 0)
    ydl.params['playliststart'] = offset + 1
    ydl.params['playlistend'] = offset + request['playlistLimit']
    failed = skip_failed_entries(ydl)
    entry = request.get('entry')
    if entry:
        # It is not resolved by its URL alone: this keeps the title, duration and thumbnail that the playlist gives.
        info = ydl.process_ie_result(entry, download=False)
    else:
        info = ydl.extract_info(request['url'], download=False)
    if info is None:
        raise ExtractorError('yt-dlp returned nothing')
    if failed and not any(info.get('entries') or ()):
        raise failed[0]
    return info


def skip_failed_entries(ydl):
    """Makes a failed entry of a playlist null instead of an error. Returns the list that collects the errors.

    yt-dlp's own `ignoreerrors` discards the error of a playlist that fails as a whole.
    """
    failed = []
    name = '_YoutubeDL__process_iterable_entry'
    process = getattr(ydl, name, None)
    if process is None:  # a private method of yt-dlp: without it, a failed entry fails its playlist
        return failed

    def process_or_collect(entry, download, extra_info):
        try:
            return process(entry, download, extra_info)
        except MemoryError:
            raise
        except Exception as error:
            failed.append(error)
            return None

    setattr(ydl, name, process_or_collect)
    return failed


def plain(value):
    """Strict JSON values without unused fields: info dicts of yt-dlp may contain NaN and Infinity.

    Raises TooLarge above MAX_RESPONSE_BYTES: a value that many formats share is one object here, but many in JSON.
    """
    left = MAX_RESPONSE_BYTES

    def copy(value):
        nonlocal left
        left -= len(value) + 2 if isinstance(value, str) else 2
        if left < 0:
            raise TooLarge('The response is too large')
        if isinstance(value, dict):
            return {copy(key): copy(item) for key, item in value.items() if key not in UNUSED_FIELDS}
        if isinstance(value, (list, tuple)):
            return [copy(item) for item in value]
        if isinstance(value, float) and not math.isfinite(value):
            return None
        return value

    return copy(value)


def encode(response):
    """A response as one line of bytes."""
    return (json.dumps(response, separators=(',', ':'), allow_nan=False, default=repr) + '\n').encode()


# The failure response for a fork that something else has killed.
INTERRUPTED = encode({'ok': False, 'error': {'kind': 'crash', 'isInterrupted': True}})
