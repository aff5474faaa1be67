"""Test extractor: reports the environment of a fork, and returns info dicts that the worker must not forward as they are."""
import os
import resource

from yt_dlp.extractor.common import InfoExtractor
from yt_dlp.utils import Popen


class ReelayWorkerTestIE(InfoExtractor):
    _VALID_URL = r'reelay-worker-test:(?P<id>[a-z-]+)'

    def _real_extract(self, url):
        act = self._match_id(url)
        return getattr(self, f'_act_{act.replace("-", "_")}')({'id': act, 'title': act, 'url': 'http://media.invalid/x.mp4'})

    def _act_environment(self, info):
        return {**info, 'tags': [*os.environ, os.getcwd()]}

    def _act_arguments(self, info):
        return {**info, 'tags': self._configuration_arg('tokens', casesense=True)}

    def _act_descriptors(self, info):
        return {**info, 'tags': [os.readlink(f'/proc/self/fd/{name}') for name in os.listdir('/proc/self/fd')
                                 if os.path.exists(f'/proc/self/fd/{name}')]}

    def _act_niceness(self, info):
        return {**info, 'view_count': os.nice(0)}

    def _act_not_a_number(self, info):
        return {**info, 'average_rating': float('nan'), 'tags': [float('inf')], 'description': '\ud800 \u2028 "}\n{'}

    def _act_large(self, info):
        return {**info, 'description': 'x' * (33 * 1024 * 1024)}

    def _act_worker(self, info):
        return self.url_result('reelay-worker:1:1')

    def _act_runtime(self, info):
        runtime = self._downloader.params['js_runtimes']['node']['path']
        output, _, code = Popen.run([runtime, '-p', '6 * 7'], text=True, stdout=-1, stderr=-1)
        return {**info, 'description': output, 'view_count': code,
                'duration': resource.getrlimit(resource.RLIMIT_AS)[0]}

    def _act_other_proxy(self, info):
        # Nothing listens there: a request through this proxy fails.
        self._request_webpage(info['url'], info['id'], headers={'ytdl-request-proxy': 'http://127.0.0.1:9'})

    def _act_remember(self, info):
        seen = getattr(self._downloader, 'reelay_seen', 0)
        self._downloader.reelay_seen = seen + 1
        return {**info, 'view_count': seen}
