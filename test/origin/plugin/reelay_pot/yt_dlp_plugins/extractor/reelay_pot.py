"""Requests a PO token as the YouTube extractor does, and answers with it as the title."""
from yt_dlp.extractor.common import InfoExtractor


class ReelayPotIE(InfoExtractor):
    _VALID_URL = r'http://127\.0\.0\.\d+:\d+/pot/(?P<id>[^?#]+)'

    def _real_extract(self, url):
        from yt_dlp.extractor.youtube.pot._director import initialize_pot_director
        from yt_dlp.extractor.youtube.pot.provider import PoTokenContext, PoTokenRequest
        from yt_dlp.utils.networking import select_proxy

        video_id = self._match_id(url)
        director = initialize_pot_director(self._downloader.get_info_extractor('Youtube'))
        token = director.get_po_token(PoTokenRequest(
            context=PoTokenContext.GVS,
            innertube_context={'client': {'clientName': 'WEB', 'clientVersion': '2.20260819.00.00'}},
            internal_client_name='web',
            visitor_data=video_id,
            video_id=video_id,
            request_proxy=select_proxy('https://www.youtube.com', self._downloader.proxies),
        ))
        return {
            'id': video_id,
            'title': f'token {token}',
            'url': url.replace(f'/pot/{video_id}', '/files/clip.mp4'),
            'ext': 'mp4',
        }
