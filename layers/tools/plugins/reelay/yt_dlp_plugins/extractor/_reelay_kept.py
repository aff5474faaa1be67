"""What extractors keep between links with yt-dlp's cache, such as the id of a client, which takes a page and its scripts to find.

A value counts for later links that come the same way alone: through the same outgoing identity, from the same host, by the same
extractors. The worker has identity and host from the request, and a fork names each extractor before that requests anything: a
fork that a hostile page controls can only lengthen its way, and so changes what other links of that page load, and nothing else.
"""
import contextlib
import json
import re
import time
from urllib.parse import urlsplit

from yt_dlp.extractor.common import InfoExtractor

# Keys by section of the cache: ids and tokens that sites give to anyone, which the extractor replaces once they are refused. Other
# sections are of accounts, or have code that an extractor runs.
KEYS = {
    'brightcove': r'\d+_[\w-]+',
    'radiko': r'auth_data',
    'soundcloud': r'client_id',
    'wykop': r'bearer',
    'zdf': r'api-token',
}
MAX_STEPS = 4  # extractors of one link
MAX_VALUES = 4  # of one place
MAX_VALUE_BYTES = 4096
MAX_PLACES = 256
MAX_STORED = 16  # by one fork
KEPT_SECONDS = 3600
MESSAGE = b'{"kept":'

# Sends a message to the worker and returns its response. Set in forks that resolve.
ask = None


def place_of(request):
    """Where the link of a request begins. Removes the outgoing identity from it, which is not for the fork."""
    identity = request.pop('identity', '')
    with contextlib.suppress(ValueError):
        return identity, urlsplit(request.get('url', '')).hostname or ''
    return None


class Kept:
    """The values of one worker, by the place of their links. The places used least recently are forgotten."""

    def __init__(self):
        self.places = {}

    def receive(self, fork, line):
        """Handles {"kept": {"extractor": its module} or {"section", "key", "value"}} of a fork.

        Returns the values for that extractor, as one line, or None.
        """
        try:
            message = json.loads(line if len(line) <= 2 * MAX_VALUE_BYTES else '')['kept']
            if 'extractor' in message:
                fork.place = lengthen(fork.place, str(message['extractor'])[:100])
                return self._values_of(fork.place)
            self._store(fork.place, message['section'], message['key'], message['value'])
        except (ValueError, TypeError, KeyError, RecursionError):
            pass
        return None

    def _values_of(self, place):
        found = self.places.pop(place, None)
        if not found:
            return None
        self.places[place] = found
        now = time.monotonic()
        return json.dumps([[*name, value] for name, (value, until) in found.items() if until > now]).encode() + b'\n'

    def _store(self, place, section, key, value):
        # Without an extractor it is of any page of the host.
        if place is None or len(place) < 3 or not is_known(section, key) or size_of(value) > MAX_VALUE_BYTES:
            return
        found = self.places.pop(place, {})
        found.pop((section, key), None)
        if value is not None:
            found[section, key] = value, time.monotonic() + KEPT_SECONDS
        while len(found) > MAX_VALUES:
            found.pop(next(iter(found)))
        self.places[place] = found
        while len(self.places) > MAX_PLACES:
            self.places.pop(next(iter(self.places)))


def lengthen(place, extractor):
    """The place after another extractor; None once there are too many."""
    if place is None or place[-1] == extractor:
        return place
    return (*place, extractor) if len(place) < MAX_STEPS + 2 else None


def is_known(section, key):
    return isinstance(key, str) and len(key) <= 200 and re.fullmatch(KEYS.get(section, '(?!)'), key) is not None


def size_of(value):
    return len(json.dumps(value))


def prepare(ydl):
    """Makes extractors load what is kept, and hand over what they store, in forks that set `ask`.

    Before the fork: a change of the base class touches all extractors, whose memory the fork would have to copy.
    """
    extract, load, store = InfoExtractor.extract, ydl.cache.load, ydl.cache.store
    values, left = {}, {'steps': MAX_STEPS + 1, 'stored': MAX_STORED}

    def extract_with_kept(self, url):
        values.clear()
        if ask and left['steps'] > 0:
            # The last one makes the worker keep no more.
            left['steps'] -= 1
            answer = ask({'kept': {'extractor': type(self).__module__}})
            values.update({(section, key): value for section, key, value in answer or ()})
        return extract(self, url)

    def load_kept(section, key, *args, **kwargs):
        value = values.get((section, key))
        return load(section, key, *args, **kwargs) if value is None else value

    def store_and_keep(section, key, data, *args, **kwargs):
        store(section, key, data, *args, **kwargs)
        values.pop((section, key), None)
        with contextlib.suppress(TypeError, ValueError):
            if ask and left['stored'] > 0 and is_known(section, key) and size_of(data) <= MAX_VALUE_BYTES:
                left['stored'] -= 1
                ask({'kept': {'section': section, 'key': key, 'value': data}})

    InfoExtractor.extract = extract_with_kept
    ydl.cache.load, ydl.cache.store = load_kept, store_and_keep
