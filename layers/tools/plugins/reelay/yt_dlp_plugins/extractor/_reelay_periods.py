"""Joins the periods of DASH manifests (ISO/IEC 23009-1 §5.3.2): a representation goes on in the next period as another one."""
import collections
import urllib.parse

from yt_dlp.extractor.common import InfoExtractor

from ._reelay_bounds import MAX_MANIFEST_CHARS, MAX_MANIFEST_FRAGMENTS, TooLarge

SEPARATE_PERIODS = 'The periods of this manifest do not make one file'
MIN_SECONDS = 0.001  # a fragment without a duration is an initialization segment


def join_periods():
    """
    Replaces the way in which yt-dlp joins periods: it takes those alone whose attributes are equal, measured bandwidth and base
    URL included, and lists each of the others as if it were the whole.
    """
    def merge(self, periods):
        periods = list(periods)
        formats = joined([each for each in periods if has_media(each) or not facts_of(each).get('is_live')])
        if formats is None:
            self.report_warning(SEPARATE_PERIODS)
        subtitles = [each['subtitles'] for each in periods]
        # A file is that of its period alone, unless all of them name it.
        return formats or [], {
            language: files for language, files in (subtitles[0] if subtitles else {}).items()
            if all(each.get(language) == files for each in subtitles)}

    if hasattr(InfoExtractor, '_merge_mpd_periods'):  # a private method of yt-dlp
        InfoExtractor._merge_mpd_periods = merge


def joined(periods):
    """The formats of the whole; None where what is in one of the periods does not go on through all of them."""
    while len(periods) > 1:
        is_live = facts_of(periods[0]).get('is_live')
        chains = list(chains_of(periods)) if all(map(has_media, periods)) else []
        if chains and kinds_of(main for main, _ in chains) == kinds_of(f for each in periods for f in media_of(each)):
            require_small(chains)
            seconds = None if is_live else seconds_of_parts([parts for _, parts in chains], periods)
            return list(concatenated(chains, seconds))
        if not is_live:
            return None
        periods = periods[1:]  # a live stream is read from its end
    return periods[0]['formats'] if periods else []


def chains_of(periods):
    """Each format of the longest period, with the formats of all periods that it consists of."""
    numbered = [list(numbered_formats(media_of(each))) for each in periods]
    for own in max(numbered, key=lambda each: max(listed_seconds(found[0]) for found in each)):
        parts = [counterpart(own, each) for each in numbered]
        if all(parts):
            yield own[0], parts


def numbered_formats(formats):
    """
    Each format, what those that go on as each other have in common, and its number among those alike: the order tells such as two
    audio tracks of one language apart, whatever bandwidth was measured.
    """
    counts = collections.Counter()
    for each in formats:
        family = (each['url'],)  # a file is no part of another one
        if 'fragments' in each:
            first, *others = each['fragments'] or [{}]
            if not listed_seconds(each) or not all(found.get('duration') for found in others):
                continue
            codecs = [(each.get(name) or '').partition('.')[0] for name in ('vcodec', 'acodec')]
            family = (each['ext'], *codecs, 'duration' in first)
        alike = (family, each.get('language'), each.get('dynamic_range'), each.get('height'))
        yield each, family, counts[alike]
        counts[alike] += 1


def counterpart(own, numbered):
    """The format of a period by which another one goes on there; None if there is none."""
    format, family, number = own

    def distance(found):
        other, _, at = found
        return (*(format.get(name) != other.get(name) for name in ('language', 'dynamic_range')),
                abs((format.get('height') or 0) - (other.get('height') or 0)),
                format['format_id'] != other['format_id'], abs(number - at))

    return min((each for each in numbered if each[1] == family), key=distance, default=[None])[0]


def seconds_of_parts(chains, periods):
    """How many seconds of each chain are to be listed for each period but the last, so that all tracks begin the next one in time."""
    columns = list(zip(*chains))
    offsets = [[facts_of(period).get('offsets', {}).get(part['format_id']) for part in parts]
               for parts, period in zip(columns, periods)]
    listed = []
    for parts, period, begins, following in zip(columns, periods, offsets, offsets[1:]):
        length = facts_of(period).get('length', 0)
        # Without a timeline the last segment is listed as long as the others.
        ends = [min(seconds, length or seconds) if begin is None else begin + seconds
                for seconds, begin in zip(map(listed_seconds, parts), begins)]
        # Later than the manifest says where the media of a track would overlap.
        step = max(length, *(end - (later or 0) for end, later in zip(ends, following)))
        listed.append([step + (later or 0) - (begin or 0) for begin, later in zip(begins, following)])
    return list(zip(*listed))


def require_small(chains):
    """A period of one representation may be a part of many formats, with URLs that are written out."""
    parts = [(main, part, len(part.get('fragments', ()))) for main, parts in chains for part in parts]
    chars = sum(count * len(part['fragment_base_url']) for main, part, count in parts
                if count and part['fragment_base_url'] != main['fragment_base_url'])
    if chars > MAX_MANIFEST_CHARS or sum(count for *_, count in parts) > sum(MAX_MANIFEST_FRAGMENTS.values()):
        raise TooLarge('The periods of the manifest have too many fragments')


def concatenated(chains, seconds):
    for index, (main, parts) in enumerate(chains):
        if 'fragments' not in main:
            yield main
            continue
        fragments = []
        for at, part in enumerate(parts):
            base = part['fragment_base_url']
            for each in part['fragments']:
                if base == main['fragment_base_url']:
                    fragments.append({**each})
                else:
                    url = urllib.parse.urljoin(base, each.get('url') or each['path'])
                    fragments.append({'url': url, 'duration': each.get('duration')})
            if seconds and at < len(seconds[index]):
                last = fragments[-1]
                last['duration'] = max(MIN_SECONDS, last['duration'] + seconds[index][at] - listed_seconds(part))
        yield {**main, 'fragments': fragments, 'filesize': None,
               **({'has_drm': True} if any(part.get('has_drm') for part in parts) else {})}


def facts_of(period):
    return period.get('reelay', {})


def media_of(period):
    return [each for each in period['formats'] if each['ext'] != 'mhtml']


def has_media(period):
    return any(True for _ in numbered_formats(media_of(period)))


def kinds_of(formats):
    return {tuple(each.get(name) != 'none' for name in ('vcodec', 'acodec')) for each in formats}


def listed_seconds(format):
    return sum(each.get('duration') or 0 for each in format.get('fragments', ()))
