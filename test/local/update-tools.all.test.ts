import { readFile, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readSettings, type Settings } from '../../core/config/settings.ts';
import { updateNow } from '../../local/local-tools.ts';
import { startService } from '../../local/service/service.ts';
import type { Ffmpeg, ToolProvider, YtDlp } from '../../packages/yt-dlp-worker/src/tools.ts';
import type { OriginHandler } from '../origin/handler.ts';
import { writeFileHead } from '../origin/respond.ts';
import { startOrigin } from '../origin/server.ts';
import { closeAfterwards } from '../support/close-afterwards.ts';
import { installedTools } from '../support/installed-tools.ts';
import { descendantsOf } from '../support/processes.ts';
import { QUICK_YT_DLP } from '../support/quick-yt-dlp.ts';
import { openResponse, sendRequest } from '../support/request.ts';
import { shellQuote } from '../support/shell-quote.ts';
import { useStarted } from '../support/started.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { pathTo } from './local-service.ts';

const MAIN = resolve(import.meta.dirname, '../../local/update-tools.ts');
const root = await temporaryFolder();
const { ytDlp, ffmpeg } = await installedTools();
const [python = ''] = ytDlp.command;
const packages = resolve(ytDlp.command.at(-1) ?? '', '../..');

/** A program of Python under a version of the test's. */
const ytDlpAs = (version: string, program: string): ToolProvider<YtDlp> => ({
  name: 'pypi',
  label: 'the test',
  findNewest: async () => version,
  async fetch(folder) {
    await writeFile(join(folder, 'main.py'), program);
    return (place) => ({ version, command: [python, '-I', join(place, 'main.py')], source: 'pypi' });
  },
});
const realYtDlp = (version: string) =>
  ytDlpAs(version, `import sys; sys.path.insert(0, ${JSON.stringify(packages)}); import yt_dlp; yt_dlp.main()`);
const brokenYtDlp = (version: string) => ytDlpAs(version, 'raise SystemExit(1)');
const quickYtDlp = (version: string): ToolProvider<YtDlp> => ({
  ...realYtDlp(version),
  fetch: async () => () => ({ version, command: QUICK_YT_DLP, source: 'pypi' }),
});
const realFfmpeg: ToolProvider<Ffmpeg> = { name: 'system', label: 'the test', fetch: async () => () => ffmpeg };

let folders = 0;
const settingsHere = (): Settings => {
  const dataDir = join(root, String(folders++));
  return readSettings({ DATA_DIR: dataDir, PORT: '0', TOOLS_UPDATE_HOURS: '0' });
};
const progress: string[] = [];
const update = (settings: Settings, source: ToolProvider<YtDlp>) => {
  progress.length = 0;
  return updateNow({
    settings,
    onProgress: ({ name }) => progress.push(name),
    signal: new AbortController().signal,
    sources: { ytDlp: [source], ffmpeg: [realFfmpeg] },
  });
};
const ffmpegLine = `FFmpeg ${ffmpeg.version} (${ffmpeg.source})`;

describe('updateNow', () => {
  it('installs missing tools, then newer ones that work, and reports each in a line', async () => {
    const settings = settingsHere();
    expect(await update(settings, quickYtDlp('2026.11.01'))).toEqual({
      inPlace: ['yt-dlp 2026.11.01 (pypi)', ffmpegLine],
      failures: [],
    });
    expect(progress[0]).toBe('Downloading FFmpeg');
    const { inPlace } = await update(settings, quickYtDlp('2026.11.20'));
    expect(inPlace).toEqual(['yt-dlp 2026.11.01 → 2026.11.20 (pypi)', ffmpegLine]);
    expect(progress).toEqual(['Updating yt-dlp to 2026.11.20', 'Checking yt-dlp']);
    const { inPlace: kept, failures } = await update(settings, brokenYtDlp('2026.11.25'));
    expect(kept).toEqual(['yt-dlp 2026.11.20 (pypi)', ffmpegLine]);
    expect(failures).toEqual([
      expect.stringMatching(/^Update of yt-dlp to 2026\.11\.25 failed, keeping 2026\.11\.20: /),
    ]);
  });

  it('asks for a canary link by the connection that a rule names for its site, as the service does', async () => {
    const origin = closeAfterwards(await startOrigin());
    const settings = {
      ...settingsHere(),
      canaryLinks: [origin.url('/files/clip.mp4')],
      egressAllow: [origin.host],
      // Nobody listens there.
      outgoingProxies: ['http://127.0.0.1:1'],
      proxyRules: ['127.0.0.1=direct'],
    };
    await update(settings, realYtDlp('2026.11.01'));
    expect((await update(settings, realYtDlp('2026.11.20'))).failures).toEqual([]);
  });
});

describe('running service', () => {
  /** A short clip with padding that exceeds the buffers between service and client. */
  const PADDING = 32 * 2 ** 20;

  it('answers a first link after a restart, and takes up a new version without interrupting streams and contradicting App', async () => {
    let padded = Buffer.alloc(0);
    let handedOut = 0;
    const sendPadded: OriginHandler = ({ request, response }) => {
      const range = writeFileHead(request, response, padded.length, { 'content-type': 'video/mp4' });
      if (!range) return;
      const part = padded.subarray(range.first, range.last + 1);
      handedOut += part.length;
      response.end(part);
    };
    const origin = closeAfterwards(await startOrigin({ mounts: { '/padded/': sendPadded } }));
    const box = Buffer.alloc(PADDING);
    box.writeUInt32BE(PADDING, 0);
    box.write('free', 4);
    padded = Buffer.concat([await readFile(join(origin.mediaDir, 'clip.mp4')), box]);

    const settings = { ...settingsHere(), egressAllow: [origin.host] };
    await update(settings, realYtDlp('2026.11.01'));
    const start = async () => closeAfterwards(await startService({ settings, hasPage: false }));
    const first = await start();
    await first.ready;
    await first.close();

    const { baseUrl, ready } = await start();
    const askApp = async () => {
      const { headers, body } = await sendRequest(`${baseUrl}/api/App`);
      return { tools: String(headers['x-tools']), maintenance: JSON.parse(body.toString()).maintenance };
    };
    const resolveLink = async (path: string) => {
      const { status, body } = await sendRequest(baseUrl + pathTo('Fetch/GetResource', origin.url(path)));
      return { status, resource: JSON.parse(body.toString()) };
    };
    const contradictions: unknown[] = [];
    let links = 0;
    const askBoth = async () => {
      const before = await askApp();
      const { status, resource } = await resolveLink(`/files/clip.mp4?${links++}`);
      const after = await askApp();
      const named = [before.maintenance, after.maintenance];
      if (status === 503 && !named.includes(resource.title)) contradictions.push([resource.title, named]);
      return { status, tools: after.tools };
    };
    // It waits for the tools; what it asks for may take too long on a slow machine.
    expect((await askBoth()).status).not.toBe(503);
    await ready;
    const { key } = (await resolveLink('/padded/clip.mp4')).resource.mediaItems[0].video.renditions[0];
    handedOut = 0;
    const stream = await openResponse(`${baseUrl}/api/Stream/Media/${key}`);
    expect(stream.status).toBe(200);
    const chunks = stream.body[Symbol.asyncIterator]();
    const got = [(await chunks.next()).value as Buffer];

    await update(settings, realYtDlp('2026.11.20'));
    const askAll = async () => {
      const asked = await askBoth();
      const running = await descendantsOf(process.pid);
      return { ...asked, isRun: running.some(({ command }) => command.includes('/2026.11.20/')) };
    };
    const takenUp = { status: 200, tools: expect.stringContaining('2026.11.20'), isRun: true };
    await expect.poll(askAll, { interval: 500, timeout: 150_000 }).toEqual(takenUp);
    expect(contradictions).toEqual([]);

    expect(handedOut, 'the stream is still under way').toBeLessThan(padded.length);
    for await (const chunk of chunks) got.push(chunk);
    expect(Buffer.concat(got).equals(padded)).toBe(true);
  });
});

describe('npm run update-tools', () => {
  const start = useStarted(root);
  const run = async (env: NodeJS.ProcessEnv) => {
    const { ended, lines } = start({ TOOLS_CHANNEL: undefined, DATA_DIR: String(folders++), ...env }, [
      process.execPath,
      MAIN,
    ]);
    return { code: await ended, lines };
  };

  it('prints the installed versions and exits with 0', async () => {
    const own = join(root, 'own-yt-dlp');
    await writeFile(own, `#!/bin/sh\nexec ${ytDlp.command.map(shellQuote).join(' ')} "$@"\n`, { mode: 0o755 });
    const { code, lines } = await run({ YT_DLP_PATH: own, FFMPEG_PATH: ffmpeg.path });
    expect(lines.slice(-2)).toEqual([`yt-dlp ${ytDlp.version} (path)`, `FFmpeg ${ffmpeg.version} (path)`]);
    expect(code).toBe(0);
  });

  it.each([
    ['an invalid setting', { TOOLS_CHANNEL: 'weekly' }, /^TOOLS_CHANNEL must be /],
    [
      'a tool that cannot be had',
      { YT_DLP_PATH: '/nowhere/yt-dlp', FFMPEG_PATH: ffmpeg.path },
      /^yt-dlp cannot be installed/,
    ],
  ])('reports %s in one line and exits with 1', async (_, env, line) => {
    const { code, lines } = await run(env);
    expect(lines.at(-1)).toMatch(line);
    expect(code).toBe(1);
  });
});
