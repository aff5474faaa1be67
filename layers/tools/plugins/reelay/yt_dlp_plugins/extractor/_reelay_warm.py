"""Warms the process up before the first fork: saves each request 150 ms of imports and regular expressions."""
import contextlib
import gc
import re
import socket
import threading

from yt_dlp.utils import unified_timestamp

from . import _reelay_kept
from ._reelay_bounds import bound_manifests, bound_responses
from ._reelay_live import complete_manifests
from ._reelay_periods import join_periods
from ._reelay_resolve import (
    collect_failures, encode, extract, keep_checks_of_hosts, keep_lists, keep_proxy, plain, use_proxy,
)

ORIGIN = 'http://warm.invalid'
MASTER = (b'#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1000000,RESOLUTION=640x360,CODECS="avc1.4d401e,mp4a.40.2"\n'
          b'v.m3u8\n')
MEDIA = b'#EXTM3U\n#EXT-X-TARGETDURATION:4\n#EXTINF:4,\n0.ts\n#EXT-X-ENDLIST\n'
FEED = (b'<?xml version="1.0"?><rss version="2.0"><channel><title>w</title><item><title>w</title>'
        b'<enclosure url="http://warm.invalid/a.mp3" type="audio/mpeg"/></item></channel></rss>')
PAGE = b'<html><head><title>w</title></head><body><video src="/a.mp4"></video></body></html>'
DOCUMENTS = {
    '/page': ('text/html', PAGE),
    '/nothing': ('text/html', b'<html><head><title>w</title></head></html>'),
    '/a.mp3': ('audio/mpeg', bytes(1024)),
    '/v.m3u8': ('application/vnd.apple.mpegurl', MEDIA),
    '/master.m3u8': ('application/vnd.apple.mpegurl', MASTER),
    '/feed': ('application/rss+xml', FEED),
}
MAX_PATTERNS = 8192  # more than there are extractors


class SilentLogger:
    def debug(self, message):
        pass

    info = warning = error = debug


def warm_up(ydl):
    """Prepares this YoutubeDL for forks."""
    # Nearly all that is allocated here stays: collections in between, a tenth of the start, would find little.
    gc.disable()
    ydl.params.update(logger=SilentLogger(), quiet=True, simulate=True, skip_download=True, ignoreerrors=False)
    # An extractor that a fork loads compiles its pattern again, large for YouTube, unless `re` still has it.
    re._MAXCACHE = MAX_PATTERNS
    for extractor in ydl._ies.values():
        with contextlib.suppress(Exception):
            extractor.suitable(f'{ORIGIN}/page')
    unified_timestamp('Sat, 21 Nov 2026 00:31:02 GMT')
    'warm'.encode('idna')
    bound_responses(ydl)
    bound_manifests()
    complete_manifests()
    join_periods()
    keep_proxy(ydl)
    keep_lists()
    keep_checks_of_hosts()
    collect_failures(ydl)
    _reelay_kept.prepare(ydl)
    rehearse(ydl)
    forget(ydl)
    gc.collect()
    gc.freeze()
    gc.enable()


def rehearse(ydl, paths=DOCUMENTS, until=lambda: False):
    """Resolves one link of each common kind. The process is its own proxy on loopback, so that nothing leaves it.

    until: called before each link; the rehearsal ends once it returns a true value
    """
    with socket.create_server(('127.0.0.1', 0)) as listener:
        server = threading.Thread(target=serve_documents, args=(listener,), daemon=True)
        server.start()
        use_proxy(ydl, f'http://127.0.0.1:{listener.getsockname()[1]}')
        for path in paths:
            if until():
                break
            # A failed rehearsal only makes the first such request slower.
            with contextlib.suppress(Exception):
                info = extract(ydl, {'url': ORIGIN + path, 'flat': True, 'playlistLimit': 10})
                encode(plain(ydl.sanitize_info(info)))
        # Ends accept() in the thread, which closing the socket does not.
        with contextlib.suppress(OSError), socket.create_connection(listener.getsockname(), 1) as last:
            last.sendall(b'\r\n\r\n')
        server.join(5)


def serve_documents(listener):
    while True:
        connection, _ = listener.accept()
        with connection, contextlib.suppress(OSError):
            connection.settimeout(5)
            head = b''
            while b'\r\n\r\n' not in head and (data := connection.recv(65536)):
                head += data
            target = head.split(b' ', 2)[1].decode() if head.count(b' ') > 1 else ''
            if not target:
                return
            kind, body = DOCUMENTS.get(target.removeprefix(ORIGIN), ('text/plain', b''))
            connection.sendall(b'HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Type: %s\r\nContent-Length: %d\r\n\r\n%s'
                               % (kind.encode(), len(body), body))


def forget(ydl):
    """Removes the state of the rehearsal, which would show in the first response."""
    ydl._playlist_urls.clear()
    ydl._printed_messages.clear()
    ydl._first_webpage_request = True
    ydl.__dict__.pop('_YoutubeDL__process_iterable_entry', None)
    # Nothing listens there: without the proxy of a request, no connection succeeds.
    use_proxy(ydl, 'http://127.0.0.1:9')
