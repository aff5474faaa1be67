"""Reads a subtitle file as a browser: YouTube limits the requests of other clients."""
import base64

from yt_dlp.extractor.common import InfoExtractor
from yt_dlp.utils import ExtractorError

MAX_BYTES = 5_000_000  # as packages/seekable-media/src/text/subtitles.ts


class ReelaySubtitleIE(InfoExtractor):
    """The fragment is one that links of clients never have: the service removes theirs."""

    IE_DESC = False
    _VALID_URL = r'(?P<file>https?://[^#]+)#reelay-subtitle$'

    def _real_extract(self, url):
        # Without a browser to imitate, yt-dlp sends the request as it is.
        response = self._request_webpage(self._match_valid_url(url).group('file'), None, note=False, impersonate=True)
        data = response.read(MAX_BYTES + 1)
        if len(data) > MAX_BYTES:
            raise ExtractorError('The subtitle file is too large', expected=True)
        # An item needs formats, a list needs no entries.
        return {'_type': 'playlist', 'id': 'subtitle', 'entries': [],
                'reelay_file': base64.b64encode(data).decode()}
