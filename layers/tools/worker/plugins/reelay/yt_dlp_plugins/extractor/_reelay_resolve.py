"""One request, resolved in a fork of its own: whatever it changes in yt-dlp ends with it."""
import json
import math

from yt_dlp.utils import ExtractorError

from ._reelay_failures import describe

"""An answer is one line of so many bytes at most."""
ANSWER_BYTES = 32 << 20
"""What nobody reads of an answer, and what makes it large."""
UNREAD = {'automatic_captions', 'subtitles', 'requested_subtitles', 'requested_formats', 'requested_downloads', 'comments',
          'heatmap', '_format_sort_fields', 'hls_media_playlist_data'}


def resolve(ydl, request, lift_memory_bound=lambda: None):
    """The answer to a request, as a line of bytes."""
    try:
        use_proxy(ydl, request['proxy'])
        info = extract(ydl, request)
        answer = {'id': request['id'], 'ok': True, 'info': plain(ydl.sanitize_info(info))}
        line = encode(answer)
        if len(line) <= ANSWER_BYTES:
            return line
        return failure(request['id'], 'too_large', f'The answer has {len(line)} bytes')
    except Exception as error:
        # Where memory ran out, telling so takes some more.
        lift_memory_bound()
        described = describe(error)
        # A client's message may name the proxy, and with it the credentials of this request.
        described['message'] = described['message'].replace(request['proxy'], 'the proxy')
        return encode({'id': request['id'], 'ok': False, 'error': described})


def failure(request_id, kind, message=None):
    """A failure that is told without an exception."""
    return encode({'id': request_id, 'ok': False, 'error': {'kind': kind, **({'message': message} if message else {})}})


def use_proxy(ydl, proxy):
    """Sends everything through this proxy: handlers took their own copy of the setting when they were made."""
    proxies = {'all': proxy}
    ydl.params['proxy'] = proxy
    ydl.__dict__['proxies'] = proxies
    for handler in ydl._request_director.handlers.values():
        handler.proxies = proxies


def keep_proxy(ydl):
    """From now on, no header that a page or an extractor brings names another proxy: yt-dlp obeys one that does."""
    urlopen = ydl.urlopen

    def urlopen_by_this_proxy(request):
        headers = getattr(request, 'headers', {})  # a URL alone has none
        for name in [name for name in headers if name.lower() == 'ytdl-request-proxy']:
            del headers[name]
        return urlopen(request)

    ydl.urlopen = urlopen_by_this_proxy


def extract(ydl, request):
    ydl.params['extract_flat'] = 'in_playlist' if request['flat'] else False
    ydl.params['playlistend'] = request['playlistLimit']
    failed = go_on_without_failed_entries(ydl)
    entry = request.get('entry')
    if entry:
        # Not by its URL: what the list said of the entry (title, duration, thumbnail) stays.
        info = ydl.process_ie_result(entry, download=False)
    else:
        info = ydl.extract_info(request['url'], download=False)
    if info is None:
        raise ExtractorError('yt-dlp returned nothing')
    if failed and not any(info.get('entries') or ()):
        raise failed[0]
    return info


def go_on_without_failed_entries(ydl):
    """One bad entry does not fail the list it stands in: it is null there. Gives the list of what failed.

    yt-dlp's own `ignoreerrors` would do so too, but takes the reason away from what fails as a whole.
    """
    failed = []
    name = '_YoutubeDL__process_iterable_entry'
    process = getattr(ydl, name, None)
    if process is None:  # private to yt-dlp: without it, one bad entry fails its list
        return failed

    def process_or_note(entry, download, extra_info):
        try:
            return process(entry, download, extra_info)
        except MemoryError:
            raise
        except Exception as error:
            failed.append(error)
            return None

    setattr(ydl, name, process_or_note)
    return failed


def plain(value):
    """JSON as every parser reads it: yt-dlp's own may hold NaN and Infinity."""
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items() if key not in UNREAD}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def encode(answer):
    return (json.dumps(answer, separators=(',', ':'), allow_nan=False, default=repr) + '\n').encode()
