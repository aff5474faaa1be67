"""Bounds what one resolve expands: decoded responses, fragments of DASH manifests, and the response of the worker."""
import functools
import re
import zlib

from yt_dlp.extractor.common import InfoExtractor
from yt_dlp.utils import parse_duration

MAX_BODY_BYTES = 32 << 20  # of one response, decoded
MAX_BODIES_BYTES = 64 << 20  # of all responses of one resolve, decoded
READ_BYTES = 64 << 10
MAX_MANIFEST_FRAGMENTS = {'audio': 50_000, 'video': 150_000}  # as core/resolve/yt-dlp/tracks.ts
MAX_MANIFEST_CHARS = 16 << 20  # of all fragment URLs of one manifest, before their base is added
MAX_REPRESENTATIONS = 2_000
MAX_URL_CHARS = 8_192
MAX_NUMBER_CHARS = 20
# A width in a template (ISO/IEC 23009-1 §5.3.9.4.4): $Number%05d$
WIDTH = re.compile(r'\$\w+%([^$]*)\$')
MAX_WIDTH = 32


class TooLarge(Exception):
    """A limit is exceeded. Not an ExtractorError, which extractors catch."""

    reelay_kind = 'too_large'


def bound_responses(ydl):
    """Limits the decoded bytes of responses, which may be a thousand times the bytes that the egress proxy counts."""
    bound_urllib_decoders()
    urlopen = ydl.urlopen
    left = MAX_BODIES_BYTES

    def count(data):
        nonlocal left
        left -= len(data)
        if left < 0:
            raise TooLarge('The responses are too large')
        return data

    def read_bounded(read):
        def bounded(amt=None):
            if amt is not None and amt >= 0:
                return count(read(amt))
            parts, size = [], 0
            while data := count(read(READ_BYTES)):
                size += len(data)
                if size > MAX_BODY_BYTES:
                    raise TooLarge('A response is too large')
                parts.append(data)
            return b''.join(parts)
        return bounded

    def urlopen_bounded(request):
        response = urlopen(request)
        response.read = read_bounded(response.read)
        return response

    ydl.urlopen = urlopen_bounded


def bound_urllib_decoders():
    """The urllib handler decodes a whole response while it opens it."""
    from yt_dlp.networking import _urllib
    handler = getattr(_urllib, 'HTTPHandler', None)
    if handler is None or not hasattr(handler, 'gz'):
        return
    handler.gz = staticmethod(lambda data: data and inflate(data, zlib.MAX_WBITS | 16))
    handler.deflate = staticmethod(inflate_either)
    if _urllib.brotli:
        # Decoders of brotli have no limit on their output in all versions: the encoding is not offered.
        _urllib.brotli = None
        _urllib.SUPPORTED_ENCODINGS[:] = [name for name in _urllib.SUPPORTED_ENCODINGS if name != 'br']


def inflate_either(data):
    if not data:
        return data
    try:
        return inflate(data, -zlib.MAX_WBITS)
    except zlib.error:
        return inflate(data, zlib.MAX_WBITS)


def inflate(data, wbits):
    decoder = zlib.decompressobj(wbits)
    decoded = decoder.decompress(data, MAX_BODY_BYTES + 1)
    if len(decoded) > MAX_BODY_BYTES:
        raise TooLarge('A response is too large')
    if not decoder.eof:
        raise zlib.error('incomplete or truncated stream')
    return decoded


def bound_manifests():
    """Checks DASH manifests before yt-dlp expands them: a manifest of 200 bytes may name 2,000,000,000 fragments."""
    parse = getattr(InfoExtractor, '_parse_mpd_periods', None)
    if parse is None:  # a private method of yt-dlp: without it, the limit on memory remains
        return

    @functools.wraps(parse)
    def parse_bounded(self, mpd_doc, *args, **kwargs):
        prune_manifest(mpd_doc)
        return parse(self, mpd_doc, *args, **kwargs)

    InfoExtractor._parse_mpd_periods = parse_bounded


def prune_manifest(mpd):
    """Removes representations beyond the limits, those with less bandwidth first. Raises TooLarge if none is left."""
    fragments_left, chars_left = dict(MAX_MANIFEST_FRAGMENTS), MAX_MANIFEST_CHARS
    found = list(representations(mpd))
    found.sort(key=lambda each: number(each[1].get('bandwidth')), reverse=True)
    kept = 0
    total_of = functools.cache(timeline_total)  # representations share the timeline of their adaptation set
    for parents, element in found:
        kind = 'audio' if is_audio(parents[-1], element) else 'video'
        count, chars = expansion(parents, element, total_of)
        if count <= fragments_left[kind] and count * chars <= chars_left:
            fragments_left[kind] -= count
            chars_left -= count * chars
            kept += 1
        else:
            parents[-1].remove(element)
    if found and not kept:
        raise TooLarge('The manifest names too many fragments')


def representations(mpd):
    """Yields ([MPD, Period, AdaptationSet], Representation). Raises TooLarge for too many, or for a long URL or number."""
    count = 0
    checked(mpd)
    for period in children(mpd, 'Period'):
        checked(period)
        for adaptation in children(period, 'AdaptationSet'):
            checked(adaptation)
            for element in children(adaptation, 'Representation'):
                checked(element)
                count += 1
                if count > MAX_REPRESENTATIONS:
                    raise TooLarge('The manifest has too many representations')
                yield [mpd, period, adaptation], element


def checked(element):
    for base in children(element, 'BaseURL'):
        if len(base.text or '') > MAX_URL_CHARS:
            raise TooLarge('A URL of the manifest is too long')
    for source in sources(element):
        for name in ('startNumber', 'timescale', 'duration', 'presentationTimeOffset'):
            if len(source.get(name) or '') > MAX_NUMBER_CHARS:
                raise TooLarge('A number of the manifest is too long')
        for entry in timeline(source):
            if any(len(value) > MAX_NUMBER_CHARS for value in entry.attrib.values()):
                raise TooLarge('A number of the manifest is too long')
        for name in ('media', 'initialization'):
            template = source.get(name) or ''
            if len(template) > MAX_URL_CHARS:
                raise TooLarge('A URL of the manifest is too long')
            if any(number(re.sub(r'\D', '', width)) > MAX_WIDTH for width in WIDTH.findall(template)):
                raise TooLarge('A number of the manifest is too long')


def timeline_total(source):
    entries = timeline(source)
    return sum(1 + max(0, number(entry.get('r'))) for entry in entries) if entries else None


def expansion(parents, element, total_of):
    """The number of fragments that yt-dlp makes of a representation, and the characters of one of them, at most."""
    _, period, _ = parents
    seconds = duration_seconds(period.get('duration')) or duration_seconds(parents[0].get('mediaPresentationDuration'))
    listed = total = template = step = None
    timescale = 1
    # As yt-dlp: what an inner element says replaces what an outer one says.
    for level in (*parents[1:], element):
        for source in sources(level):
            total = total_of(source) or total
            listed = len(children(source, 'SegmentURL')) or listed
            template = source.get('media') or template
            timescale = number(source.get('timescale')) or timescale
            step = real(source.get('duration')) or step
    name = element.get('id') or ''
    template = template or ''
    chars = len(template) + template.count('$RepresentationID$') * len(name) + template.count('$') * MAX_WIDTH
    if listed:
        return listed, 0  # written in full
    if total is None and step:
        total = seconds * timescale / step
    return 1 + int(min(total or 0, 1e15)), chars


def is_audio(adaptation, element):
    kind = element.get('mimeType') or adaptation.get('mimeType') or adaptation.get('contentType') or ''
    return kind.startswith('audio')


def sources(element):
    return children(element, 'SegmentTemplate') + children(element, 'SegmentList')


def timeline(source):
    return [entry for element in children(source, 'SegmentTimeline')[:1] for entry in children(element, 'S')]


def children(element, name):
    return [child for child in element if isinstance(child.tag, str) and child.tag.rpartition('}')[2] == name]


def number(written):
    try:
        return int(written or 0)
    except ValueError:
        return 0


def real(written):
    try:
        return float(written or 0)
    except ValueError:
        return 0


def duration_seconds(written):
    """Seconds, as yt-dlp's own parser reads them."""
    return parse_duration(written) or 0
