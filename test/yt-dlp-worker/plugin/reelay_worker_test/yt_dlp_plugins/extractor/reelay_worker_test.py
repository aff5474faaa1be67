"""Test extractor: reports the environment of a fork, and returns info dicts that the worker must not forward as they are."""
import json
import os
import re
import resource
import urllib.parse

from yt_dlp.extractor.common import InfoExtractor
from yt_dlp.extractor.youtube import YoutubeIE
from yt_dlp.extractor.youtube.jsc.provider import JsChallengeRequest, JsChallengeType, NChallengeInput, SigChallengeInput
from yt_dlp.networking import Request
from yt_dlp.utils import Popen


PLAYER = """var _yt_player={};(function(g){var window=this;
var reverse=function(text){return text.split("").reverse().join("")};
g.Url=function(){this.values={}};
g.Url.prototype={set:function(k,v){this.values[k]=v},get:function(k){return this.values[k]},clone:function(){return this},
solve:function(){if(this.values.n==="forever")for(;;);this.values.n=this.values.n&&reverse(this.values.n)+"-%s"}};
g.open=function(a,k,s){var u=new g.Url;u.set("alr","yes");if(s)u.set(k,reverse(decodeURIComponent(s)));return u};
})(_yt_player);"""

def load_player(self, video_id, player_url, fatal=True):
    """Instead of a download: a player that names the process that has loaded it."""
    return PLAYER % os.getpid()


YoutubeIE._load_player = load_player


class ReelayWorkerTestIE(InfoExtractor):
    _VALID_URL = r'reelay-worker-test:(?P<id>[a-z-]+)(?:\?(?P<target>.+))?'

    def _real_extract(self, url):
        act, target = self._match_valid_url(url).group('id', 'target')
        info = {'id': act, 'title': act, 'url': target or 'http://media.invalid/x.mp4'}
        return getattr(self, f'_act_{act.replace("-", "_")}')(info)

    def _act_environment(self, info):
        return {**info, 'tags': [*os.environ, os.getcwd()]}

    def _act_arguments(self, info):
        of_youtube = [self._configuration_arg(name, ie_key='youtube') for name in ('skip', 'player_client')]
        return {**info, 'tags': [*self._configuration_arg('tokens', casesense=True), *sum(of_youtube, [])]}

    def _act_descriptors(self, info):
        return {**info, 'tags': [os.readlink(f'/proc/self/fd/{name}') for name in os.listdir('/proc/self/fd')
                                 if os.path.exists(f'/proc/self/fd/{name}')]}

    def _act_limits(self, info):
        names = ('AS', 'NOFILE', 'FSIZE', 'CORE', 'CPU', 'DATA')
        limits = [resource.getrlimit(getattr(resource, f'RLIMIT_{name}')) for name in names]
        return {**info, 'tags': [limits[0][0], *(hard for _, hard in limits)]}

    def _act_challenge(self, info):
        name, n = info['url'].rsplit('/', 1)
        if n == 'hostile':
            YoutubeIE._load_player = lambda *_, **__: PLAYER % 'hostile'
        youtube = self._downloader.get_info_extractor('Youtube')
        youtube.initialize()
        url = f'https://www.youtube.com/s/player/{name}/player_ias.vflset/en_US/base.js'
        requests = [JsChallengeRequest(JsChallengeType.N, NChallengeInput(url, [n, 'xy'])),
                    JsChallengeRequest(JsChallengeType.SIG, SigChallengeInput(url, ['012345']))]
        results = [response.output.results for _, response in youtube._jsc_director.bulk_solve(requests)]
        solutions = [text for each in results for text in each.values()]
        return {**info, 'url': 'http://media.invalid/x.mp4', 'tags': [os.getpid(), *solutions]}

    def _act_flood(self, info):
        from yt_dlp_plugins.extractor import _reelay_challenges
        while True:
            _reelay_challenges.ask({'playerUrl': 'x' * 100_000, 'challenges': []})

    def _act_patterns(self, info):
        # `re` returns the same object as long as it keeps it.
        known = [each for each in self._downloader._ies.values()
                 if isinstance(each._VALID_URL, str) and '_VALID_URL_RE' in each.__dict__]
        lost = [each.__name__ for each in known if re.compile(each._VALID_URL) is not each._VALID_URL_RE[0]]
        return {**info, 'view_count': len(known), 'tags': lost}

    def _act_niceness(self, info):
        return {**info, 'view_count': os.getpriority(os.PRIO_PROCESS, 0)}

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

    def _act_runtime_memory(self, info):
        runtime = self._downloader.params['js_runtimes']['node']['path']
        script = 'const kept = []; for (let i = 0; i < 40; i++) kept.push(Buffer.alloc(2 ** 26, 1)); console.log("kept")'
        output, _, code = Popen.run([runtime, '-e', script], text=True, stdout=-1, stderr=-1)
        return {**info, 'description': output, 'view_count': abs(code)}

    def _act_other_proxy(self, info):
        # Nothing listens there: a request through this proxy fails.
        self._request_webpage(info['url'], info['id'], headers={'ytdl-request-proxy': 'http://127.0.0.1:9'})

    def _act_impatient(self, info):
        self._request_webpage(Request(info['url'], extensions={'timeout': 0.5}), info['id'], fatal=False)
        return info

    def _act_remember(self, info):
        seen = getattr(self._downloader, 'reelay_seen', 0)
        self._downloader.reelay_seen = seen + 1
        return {**info, 'view_count': seen}


class ReelayCacheTestIE(InfoExtractor):
    """Answers what the cache has before it stores what the link says; `forge`: messages to the worker."""
    _VALID_URL = r'https?://[\w.-]+/reelay-cache\?(?P<id>.+)'

    def _real_extract(self, url):
        given = json.loads(urllib.parse.unquote(self._match_id(url)))
        name = given.get('section', 'soundcloud'), given.get('key', 'client_id')
        if 'via' in given:
            return self.url_result(given['via'])
        loaded = self.cache.load(*name)
        if 'value' in given:
            self.cache.store(*name, given['value'])
            if self.cache.load(*name) != given['value']:
                raise ValueError('not kept for this link')
        from yt_dlp_plugins.extractor import _reelay_challenges
        for message in given.get('forge', ()):
            _reelay_challenges.ask({'kept': message})
        return {'id': 'cache', 'title': json.dumps(loaded), 'url': 'http://media.invalid/x.mp4'}
