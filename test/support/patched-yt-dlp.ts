import { dirname } from 'node:path';
import type { YtDlp } from '../../packages/yt-dlp-worker/src/tools.ts';

/** Raises what an extractor does when a page is not the one that it knows. */
const WITH_PATCH = `
import runpy, sys
packages, host = sys.argv[1:3]
del sys.argv[1:3]
sys.path.insert(0, packages)
from yt_dlp.extractor.common import InfoExtractor
from yt_dlp.utils import RegexNotFoundError
extract = InfoExtractor.extract
def patched(self, url):
    if '//' + host + '/' in url:
        raise RegexNotFoundError('Unable to extract player')
    return extract(self, url)
InfoExtractor.extract = patched
runpy.run_module('yt_dlp', run_name='__main__', alter_sys=True)`;

/** The same release, whose extractors do not understand the pages of one site. @param host with its port, if any */
export function patchedYtDlp(ytDlp: YtDlp, host: string): YtDlp {
  const [python, isolated = '-I', main = ''] = ytDlp.command;
  return { ...ytDlp, command: [python, isolated, '-c', WITH_PATCH, dirname(dirname(main)), host] };
}

const WITHOUT_SCRIPTS = `
import runpy, sys
sys.path.insert(0, sys.argv[1])
del sys.argv[1]
sys.modules['yt_dlp_ejs'] = None
runpy.run_module('yt_dlp', run_name='__main__', alter_sys=True)`;

/** The same release without the scripts that solve JavaScript challenges of YouTube. */
export function ytDlpWithoutScripts(ytDlp: YtDlp): YtDlp {
  const [python, isolated = '-I', main = ''] = ytDlp.command;
  return { ...ytDlp, command: [python, isolated, '-c', WITHOUT_SCRIPTS, dirname(dirname(main))] };
}
