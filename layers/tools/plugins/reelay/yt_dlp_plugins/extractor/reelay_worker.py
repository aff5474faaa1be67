"""Turns yt-dlp into a warm worker: JSON lines on stdin and stdout (`worker-protocol.ts`), one fork per request.

It is an extractor because every build of yt-dlp loads extractor plugins, including the standalone builds. Resolving
`reelay-worker:concurrency=…&memory=…&node=…` starts it and never returns. A fork of the warm process takes a few
milliseconds, shares no state with the next one, and can be killed at any time.
"""
import os
import traceback

from yt_dlp.extractor.common import InfoExtractor

from ._reelay_challenges import keep_version, register
from ._reelay_failures import tag_reports
from ._reelay_forks import Forker
from ._reelay_limits import die_with_parent
from ._reelay_sandbox import Sandbox
from ._reelay_serve import Server
from ._reelay_warm import warm_up


class ReelayWorkerIE(InfoExtractor):
    IE_DESC = False
    _VALID_URL = r'reelay-worker:concurrency=(?P<concurrency>\d+)&memory=(?P<memory>\d+)&node=(?P<node>[\d.]+)$'
    _is_serving = False

    @classmethod
    def suitable(cls, url):
        # Links that a page contains are never requests to the worker, which serves already.
        return not cls._is_serving and super().suitable(url)

    def _real_extract(self, url):
        *numbers, node = self._match_valid_url(url).group('concurrency', 'memory', 'node')
        concurrency, memory = map(int, numbers)
        # A group of its own, so that Ctrl-C reaches only the service, which then closes the worker in order; but no session:
        # Linux schedules sessions equally, whatever the niceness of their processes (sched(7), autogroup).
        os.setpgrp()
        die_with_parent()
        requests, responses = claim_streams()
        ReelayWorkerIE._is_serving = True
        tag_reports()
        register()
        keep_version(self._downloader, node)
        warm_up(self._downloader)
        try:
            forker = Forker(self._downloader, memory, Sandbox(os.path.join(os.environ['HOME'], 'sandbox.json')))
            Server(forker, requests, responses, max(1, concurrency)).run()
        except Exception:
            traceback.print_exc()
        finally:
            # Returning would let yt-dlp write the cookies file and print a result.
            os._exit(0)


def claim_streams():
    """Reserves stdin and stdout for the protocol. Returns their duplicates as (requests, responses).

    Other code reads an empty stdin, and prints to stderr.
    """
    requests, responses = os.dup(0), os.dup(1)
    devnull = os.open(os.devnull, os.O_RDWR)
    os.dup2(devnull, 0)
    os.dup2(2, 1)
    os.close(devnull)
    return requests, responses
