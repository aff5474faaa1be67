import { dirname } from 'node:path';
import type { YtDlp } from '../../packages/yt-dlp-worker/src/tools.ts';

/**
 * The same release, which runs some Python first.
 * @param args what the code takes from `sys.argv[1]` on, and takes away
 */
export function patchedBy(ytDlp: YtDlp, code: string, ...args: readonly string[]): YtDlp {
  const [python, isolated = '-I', main = ''] = ytDlp.command;
  const begin = 'import runpy, sys\nsys.path.insert(0, sys.argv.pop(1))';
  const program = `${begin}\n${code}\nrunpy.run_module('yt_dlp', run_name='__main__', alter_sys=True)`;
  return { ...ytDlp, command: [python, isolated, '-c', program, dirname(dirname(main)), ...args] };
}

/** Raises what an extractor does when a page is not the one that it knows. */
const WITHOUT_SITE = `
from yt_dlp.extractor.common import InfoExtractor
from yt_dlp.utils import RegexNotFoundError
host = sys.argv.pop(1)
extract = InfoExtractor.extract
def patched(self, url):
    if '//' + host + '/' in url:
        raise RegexNotFoundError('Unable to extract player')
    return extract(self, url)
InfoExtractor.extract = patched`;

/** The same release, whose extractors do not understand the pages of one site. @param host with its port, if any */
export const patchedYtDlp = (ytDlp: YtDlp, host: string): YtDlp => patchedBy(ytDlp, WITHOUT_SITE, host);

/** The same release without the scripts that solve JavaScript challenges of YouTube. */
export const ytDlpWithoutScripts = (ytDlp: YtDlp): YtDlp => patchedBy(ytDlp, "sys.modules['yt_dlp_ejs'] = None");
