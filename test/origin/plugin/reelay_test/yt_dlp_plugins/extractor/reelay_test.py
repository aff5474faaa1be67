"""The watch site of the test origin, as yt-dlp meets it: the origin says what to answer, and how to fail."""
import os
import signal
import time

from yt_dlp.extractor.common import InfoExtractor
from yt_dlp.utils import ExtractorError, UserNotLive


class ReelayTestIE(InfoExtractor):
    _VALID_URL = r'http://127\.0\.0\.\d+:\d+/site/(?P<id>[^?#]+)'

    def _real_extract(self, url):
        video_id = self._match_id(url)
        self._origin = url[:url.index('/site/')]
        answer = self._download_json(url.replace('/site/', '/site-api/', 1), video_id)
        if 'act' in answer:
            return getattr(self, f'_act_{answer["act"]}')(answer.get('message'), video_id)
        return answer['info']

    def _act_drm(self, message, video_id):
        self.report_drm(video_id)

    def _act_login(self, message, video_id):
        self.raise_login_required(message)

    def _act_geo(self, message, video_id):
        self.raise_geo_restricted(message, countries=['NZ'])

    def _act_no_formats(self, message, video_id):
        self.raise_no_formats(message, expected=True, video_id=video_id)

    def _act_skipped(self, message, video_id):
        """As YouTube's extractor does of formats that are only sent by its own protocol."""
        self.report_warning('Some client https formats have been skipped as they are missing a URL', only_once=True)
        return {'id': video_id, 'title': 'Skipped', 'formats': []}

    def _act_refused_api(self, message, video_id):
        """As YouTube's extractor does, which asks one client after the other."""
        try:
            self._download_json(f'{self._origin}/trouble/429', video_id)
        except ExtractorError as error:
            self.report_warning(error)
        self._fail(video_id)

    def _fail(self, video_id):
        # Outside of the handler: the exception has no context.
        raise ExtractorError('Failed to extract any player response')

    def _act_not_live(self, message, video_id):
        raise UserNotLive(video_id=video_id)

    def _act_expected(self, message, video_id):
        raise ExtractorError(message, expected=True)

    def _act_unexpected(self, message, video_id):
        raise ExtractorError(message)

    def _act_bug(self, message, video_id):
        return {}['what is not there']

    def _act_sleep(self, message, video_id):
        time.sleep(3600)

    def _act_spin(self, message, video_id):
        while True:
            pass

    def _act_memory(self, message, video_id):
        kept = []
        while True:
            kept.append(bytearray(16 * 1024 * 1024))

    def _act_exit(self, message, video_id):
        os._exit(3)

    def _act_kill(self, message, video_id):
        os.killpg(0, signal.SIGKILL)

    def _act_noise(self, message, video_id):
        """Writes where the worker's protocol runs, and to file descriptors it should not have."""
        print('{"id":"forged","ok":true}', flush=True)
        os.write(1, b'{"id":"forged","ok":true}\n')
        raise ExtractorError('noise', expected=True)
