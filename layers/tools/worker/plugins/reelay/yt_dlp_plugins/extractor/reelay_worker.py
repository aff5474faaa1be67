"""Turns yt-dlp into a warm worker: JSON lines in and out (`worker-protocol.ts`), one fork for every request.

It is an extractor because that is the one kind of plugin that every build of yt-dlp loads, the standalone ones too: the
link `reelay-worker:concurrency=…&memory=…` starts it, and it never returns. Warming up is what costs; a fork of the warm
process costs a few milliseconds, shares nothing with the next one, and can be killed at any moment.
"""
import os
import traceback

from yt_dlp.extractor.common import InfoExtractor

from ._reelay_failures import tag_reports
from ._reelay_serve import Server
from ._reelay_warm import warm_up


class ReelayWorkerIE(InfoExtractor):
    IE_DESC = False
    _VALID_URL = r'reelay-worker:concurrency=(?P<concurrency>\d+)&memory=(?P<memory>\d+)$'
    _is_serving = False

    @classmethod
    def suitable(cls, url):
        # A page that leads here finds nothing.
        return not cls._is_serving and super().suitable(url)

    def _real_extract(self, url):
        concurrency, memory = map(int, self._match_valid_url(url).group('concurrency', 'memory'))
        requests, answers = claim_streams()
        ReelayWorkerIE._is_serving = True
        tag_reports()
        warm_up(self._downloader)
        try:
            Server(self._downloader, requests, answers, max(1, concurrency), memory).run()
        except Exception:
            traceback.print_exc()
        finally:
            # Not by returning: yt-dlp would write the cookies file, and print what it makes of the result.
            os._exit(0)


def claim_streams():
    """Standard input and output for the protocol alone: what else reads finds nothing, what else prints goes to stderr."""
    requests, answers = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, 0)
    os.dup2(2, 1)
    os.close(nothing)
    return requests, answers
