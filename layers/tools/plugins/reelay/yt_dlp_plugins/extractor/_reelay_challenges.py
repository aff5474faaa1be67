"""JavaScript challenges of YouTube, in the fork that meets them: the worker solves them with a player that is ready.

Where it cannot, yt-dlp solves them itself, with a JavaScript runtime of this fork.
"""
import contextlib
import json

from yt_dlp.utils import ExtractorError

try:
    from yt_dlp.extractor.youtube.jsc._builtin.node import NodeJCP
    from yt_dlp.extractor.youtube.jsc.provider import (
        JsChallengeProvider,
        JsChallengeProviderRejectedRequest,
        JsChallengeProviderResponse,
        JsChallengeRequest,
        JsChallengeResponse,
        JsChallengeType,
        NChallengeInput,
        NChallengeOutput,
        SigChallengeOutput,
        register_preference,
        register_provider,
    )
except ImportError:  # private in part
    NodeJCP = None

# Sends a message to the worker and returns its response. Set in forks that resolve.
ask = None


def register():
    """Registers the solver, before yt-dlp's own."""
    if not NodeJCP:
        return

    class ReelayJCP(JsChallengeProvider):
        _SUPPORTED_TYPES = None

        def is_available(self):
            return ask is not None

        def _real_bulk_solve(self, requests):
            for player_url in {request.input.player_url for request in requests}:
                group = [request for request in requests if request.input.player_url == player_url]
                challenges = [{'type': each.type.value, 'challenges': list(each.input.challenges)} for each in group]
                answers = ask({'playerUrl': player_url, 'challenges': challenges}) or [{}] * len(group)
                for request, answer in zip(group, answers):
                    yield response_to(request, answer.get('data'))

    def response_to(request, results):
        if not isinstance(results, dict):
            return JsChallengeProviderResponse(request, None, JsChallengeProviderRejectedRequest('Not solved'))
        output = NChallengeOutput if request.type is JsChallengeType.N else SigChallengeOutput
        return JsChallengeProviderResponse(request, JsChallengeResponse(request.type, output(results)))

    # Where a later yt-dlp refuses, its own solver remains.
    with contextlib.suppress(Exception):
        register_preference(register_provider(ReelayJCP))(lambda provider, requests: 10_000)


def keep_version(ydl, version):
    """Keeps the version of Node, for which each fork would start it."""
    with contextlib.suppress(Exception):
        from yt_dlp.utils._jsruntime import JsRuntimeInfo
        runtime = ydl._js_runtimes['node']
        path = ydl.params['js_runtimes']['node']['path']
        runtime.__dict__['info'] = JsRuntimeInfo('node', path, version, tuple(map(int, version.split('.'))))


def prepare(ydl, *, url=None, code=None, n=None):
    """Prepares a player of YouTube (its URL or its code) for any number of challenges.

    It runs in a fork of its own, whose only input is the URL: a fork that a hostile page controls cannot choose the code.
    n: a challenge to solve with it
    Returns {"player": the code that defines the solvers, "n": the solution or None}.
    """
    if not NodeJCP:
        raise ValueError('this version has another solver of JavaScript challenges')
    extractor = ydl.get_info_extractor('Youtube')
    solver = NodeJCP(extractor, Logger(), {})
    requests = [JsChallengeRequest(JsChallengeType.N, NChallengeInput(url or '', [n]))] if n else []
    try:
        code = code or extractor._load_player(None, url, fatal=True)
        output = json.loads(solver._run_js_runtime(solver._construct_stdin(code, False, requests)))
    except JsChallengeProviderRejectedRequest as error:
        raise ExtractorError('yt-dlp-ejs is missing or of another version', expected=True) from error
    solved = output['responses'][0].get('data') if requests else None
    return {'player': output['preprocessed_player'], 'n': solved and solved.get(n)}


class Logger:
    def __getattr__(self, name):
        return lambda *args, **kwargs: None
