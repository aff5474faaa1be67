import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { createTools, pythonForYtDlp, smokeTestYtDlp, type YtDlp } from '@reelay/yt-dlp-worker';
import type { Settings } from '../../core/config/index.ts';
import { createEgress, openLoopbackProxy } from '../../core/egress/index.ts';
import { messageOf } from '../../core/errors/index.ts';
import { toToolsOptions } from '../tools/index.ts';
import { type Finding, findingsOn } from './finding.ts';

/** Runs the installed tools, without fetching any. */
export async function checkTools(settings: Settings): Promise<Finding[]> {
  const { ok, warning, problem } = findingsOn('Tools');
  const dir = resolve(settings.toolsDir);
  if (!existsSync(dir)) return [ok(`not installed yet: the first start fetches them into ${dir}`), await checkPython()];
  const egress = createEgress({ allow: [] });
  let isInstalling = false;
  const tools = createTools({
    ...toToolsOptions(settings, { egress }),
    providers: { ytDlp: [], ffmpeg: [] },
    onActivity({ name, tool }) {
      isInstalling = tool === undefined;
      // Ends the wait, which may take minutes.
      if (isInstalling) throw new Error(name);
    },
    record: async () => undefined,
  });
  try {
    // Fails for what is missing, which is reported below.
    await tools.ensure().catch(() => undefined);
    if (isInstalling) return [warning('another process installs them: ask again when it has ended')];
    const ffmpeg = tools.ffmpeg();
    const ytDlp = tools.ytDlp();
    return [
      ffmpeg
        ? ok(`FFmpeg ${ffmpeg.version} (${ffmpeg.source})`)
        : problem(`no FFmpeg in ${dir}: run npm run update-tools`),
      ytDlp ? await checkYtDlp(ytDlp) : problem(`no yt-dlp in ${dir}: run npm run update-tools`),
    ];
  } finally {
    await tools.close();
    await egress.close();
  }
}

/** The Python that yt-dlp of PyPI needs: where the official release cannot be fetched, it comes from there. */
async function checkPython(): Promise<Finding> {
  const { ok, warning } = findingsOn('Python');
  try {
    return ok((await pythonForYtDlp()).version);
  } catch (error) {
    return warning(`${messageOf(error)}: without the official release there is no yt-dlp`);
  }
}

/** Runs the smoke test of one yt-dlp. */
async function checkYtDlp(ytDlp: YtDlp): Promise<Finding> {
  const { ok, problem } = findingsOn('Tools');
  const name = `yt-dlp ${ytDlp.version} (${ytDlp.source})`;
  try {
    const signal = AbortSignal.timeout(SMOKE_TEST_TIMEOUT_MS);
    await smokeTestYtDlp(ytDlp, { openProxy: openLoopbackProxy, signal });
    return ok(`${name} resolves a link; its JavaScript runtime is Node ${process.versions.node}`);
  } catch (error) {
    return problem(`${name} does not resolve a link (${messageOf(error)}): run npm run update-tools`);
  }
}

const SMOKE_TEST_TIMEOUT_MS = 60_000;
