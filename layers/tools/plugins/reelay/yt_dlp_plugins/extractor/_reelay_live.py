"""Lists the segments that a DASH manifest leaves to be computed (ISO/IEC 23009-1 §5.3.9.6, §A.3.2)."""
import functools
import math
import time
from xml.etree import ElementTree

from yt_dlp.extractor.common import InfoExtractor
from yt_dlp.utils import parse_duration, parse_iso8601

from ._reelay_bounds import children, number, representations, timeline

MAX_LIVE_SEGMENTS = 7_200  # of each representation: four hours of two seconds
MIN_SEGMENTS = 4  # of a shorter window, players have no time to read them
# With `@duration`, a manifest states when segments are complete, not when they are published.
UNPUBLISHED_SEGMENTS = 1
MAX_REPEATS = 1_000_000  # beyond the limits on fragments
MAX_SECONDS = 1e12


def complete_manifests():
    """Writes out, before yt-dlp reads a manifest, the segments that it does not compute."""
    parse = getattr(InfoExtractor, '_parse_mpd_periods', None)
    if parse is None:  # a private method of yt-dlp
        return

    @functools.wraps(parse)
    def parse_completed(self, mpd_doc, mpd_id=None, *args, **kwargs):
        facts = list_segments(mpd_doc, time.time(), f'{mpd_id}-' if mpd_id else '')
        for period, known in zip(parse(self, mpd_doc, mpd_id, *args, **kwargs), facts):
            yield {**period, 'reelay': known}

    InfoExtractor._parse_mpd_periods = parse_completed


def list_segments(mpd, now, prefix=''):
    """
    The segments of a live `SegmentTemplate` by `@duration`, and those of `@r` below 0. Removes representations that have no
    segment now. Raises TooLarge for numbers that are too long.

    Returns what joining each period needs: its length, and by ids of formats how many seconds after its start a timeline begins.
    """
    for _ in representations(mpd):
        pass  # checks them
    is_live = mpd.get('type') == 'dynamic'
    begun = parse_iso8601(mpd.get('availabilityStartTime')) if is_live else None
    age = None if begun is None else now - begun
    depth = seconds_of(mpd.get('timeShiftBufferDepth'))
    end = seconds_of(mpd.get('mediaPresentationDuration'))
    periods = children(mpd, 'Period')
    starts = period_starts(periods)
    known = []
    for index, period in enumerate(periods):
        begin, later = starts[index], starts[index + 1:index + 2]
        stated = seconds_of(period.get('duration'))
        length = stated or (later[0] - begin if later else end and end - begin)
        elapsed = None if age is None else age - begin
        if len(periods) > 1 and not is_live:
            if stated == 0:
                mpd.remove(period)
                continue
            if length and length > 0:
                period.set('duration', f'PT{length:.6f}S')  # yt-dlp would take that of all periods
        offsets = {}
        known.append({'is_live': is_live, 'length': max(0, length or 0), 'offsets': offsets})
        for adaptation in children(period, 'AdaptationSet'):
            for element in children(adaptation, 'Representation'):
                facts = template_facts((period, adaptation, element))
                if facts['timeline']:
                    begins = number(facts['timeline'][0].get('t')) - facts['presentationTimeOffset']
                    offsets[prefix + (element.get('id') or '')] = begins / facts['timescale']
                    is_growing = elapsed is not None and (length is None or elapsed < length)
                    repeat_to_end(facts, elapsed if is_growing else length, is_growing)
                elif is_live and facts['media'] and not write_timeline(element, facts, elapsed, length, depth):
                    adaptation.remove(element)
    return known


def period_starts(periods):
    """Seconds from the start of the presentation (§5.3.2.1)."""
    starts, end = [], 0
    for period in periods:
        begin = seconds_of(period.get('start'))
        starts.append(end if begin is None else begin)
        end = starts[-1] + (seconds_of(period.get('duration')) or 0)
    return starts


def template_facts(levels):
    """What an inner element says replaces what an outer one says."""
    facts = {'timeline': [], 'media': None, 'duration': 0, 'timescale': 1, 'startNumber': 1, 'presentationTimeOffset': 0}
    for level in levels:
        for template in children(level, 'SegmentTemplate'):
            facts['timeline'] = timeline(template) or facts['timeline']
            facts['media'] = template.get('media') or facts['media']
            for name in ('duration', 'timescale', 'startNumber', 'presentationTimeOffset'):
                facts[name] = facts[name] if template.get(name) is None else number(template.get(name))
    facts['timescale'] = max(1, facts['timescale'])
    return facts


def write_timeline(element, facts, elapsed, length, depth):
    """Writes the segments that are there now. Returns whether there are any."""
    duration, seconds = facts['duration'], facts['duration'] / facts['timescale']
    if elapsed is None or duration <= 0:
        return False
    last = math.floor(elapsed / seconds) - UNPUBLISHED_SEGMENTS
    if length:
        last = min(last, math.ceil(length / seconds))
    first = math.ceil((elapsed - max(depth, MIN_SEGMENTS * seconds)) / seconds) if depth else 0
    first = max(0, first, last - MAX_LIVE_SEGMENTS)
    if first >= last:
        return False
    namespace = element.tag[:-len('Representation')]
    templates = children(element, 'SegmentTemplate')
    template = templates[0] if templates else ElementTree.SubElement(element, f'{namespace}SegmentTemplate')
    template.set('startNumber', str(facts['startNumber'] + first))
    listed = ElementTree.SubElement(template, f'{namespace}SegmentTimeline')
    begin = facts['presentationTimeOffset'] + first * duration
    ElementTree.SubElement(listed, f'{namespace}S', t=str(begin), d=str(duration), r=str(last - first - 1))
    return True


def repeat_to_end(facts, seconds, is_growing):
    """Replaces `@r` of -1: up to the next entry, or to the end of the period, or to now."""
    entries, now = facts['timeline'], 0
    end = None if seconds is None else facts['presentationTimeOffset'] + seconds * facts['timescale']
    for entry, following in zip(entries, [*entries[1:], None]):
        now = number(entry.get('t')) or now
        duration, repeats = number(entry.get('d')), number(entry.get('r'))
        if repeats < 0:
            stated = following is not None and following.get('t') is not None
            until = number(following.get('t')) if stated else end
            count = (until - now) / duration if until is not None and duration > 0 else 1
            count = math.floor(count) - UNPUBLISHED_SEGMENTS if is_growing and not stated else math.ceil(count)
            repeats = min(max(count, 1), MAX_REPEATS) - 1
            entry.set('r', str(repeats))
        now += duration * (repeats + 1)


def seconds_of(written):
    seconds = parse_duration(written)
    return seconds if seconds is not None and seconds < MAX_SECONDS else None
