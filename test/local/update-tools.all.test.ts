import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, describe, expect, it, onTestFinished } from 'vitest';
import { readSettings, type Settings } from '../../core/config/settings.ts';
import { updateNow } from '../../local/local-tools.ts';
import { startService } from '../../local/service/service.ts';
import type { Ffmpeg, ToolProvider, YtDlp } from '../../packages/yt-dlp-worker/src/tools.ts';
import { writeFileHead } from '../origin/respond.ts';
import { startOrigin } from '../origin/server.ts';
import { installedTools } from '../support/installed-tools.ts';
import { NODE_ENVIRONMENT } from '../support/node-environment.ts';
import { descendantsOf } from '../support/processes.ts';
import { QUICK_YT_DLP } from '../support/quick-yt-dlp.ts';
import { openResponse, sendRequest } from '../support/request.ts';
import { shellQuote } from '../support/shell-quote.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

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
    const origin = await startOrigin();
    onTestFinished(origin.close);
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
  let padded = Buffer.alloc(0);
  let handedOut = 0;
  let origin: Awaited<ReturnType<typeof startOrigin>> | undefined;
  afterAll(() => origin?.close());

  it('switches to the new version without interrupting streams', async () => {
    origin = await startOrigin({
      mounts: {
        '/padded/': ({ request, response }) => {
          const range = writeFileHead(request, response, padded.length, { 'content-type': 'video/mp4' });
          if (!range) return;
          const part = padded.subarray(range.first, range.last + 1);
          handedOut += part.length;
          response.end(part);
        },
      },
    });
    const box = Buffer.alloc(PADDING);
    box.writeUInt32BE(PADDING, 0);
    box.write('free', 4);
    padded = Buffer.concat([await readFile(join(origin.mediaDir, 'clip.mp4')), box]);

    const settings = { ...settingsHere(), egressAllow: [origin.host] };
    await update(settings, realYtDlp('2026.11.01'));
    const service = await startService({ settings });
    try {
      await service.ready;
      const resolveLink = (path: string) =>
        sendRequest(`${service.baseUrl}/api/Fetch/GetResource?url=${encodeURIComponent(origin?.url(path) ?? '')}`);
      const resource = JSON.parse((await resolveLink('/padded/clip.mp4')).body.toString());
      const { key } = resource.mediaItems[0].video.renditions[0];
      handedOut = 0;
      const stream = await openResponse(`${service.baseUrl}/api/Stream/Media/${key}`);
      expect(stream.status).toBe(200);
      const chunks = stream.body[Symbol.asyncIterator]();
      const got = [(await chunks.next()).value as Buffer];

      await update(settings, realYtDlp('2026.11.20'));
      const isTakenUp = async () => {
        expect((await resolveLink(`/files/clip.mp4?${Math.random()}`)).status).toBe(200);
        const running = await descendantsOf(process.pid);
        return running.some(({ command }) => command.includes('/2026.11.20/'));
      };
      await expect.poll(isTakenUp, { interval: 500, timeout: 150_000 }).toBe(true);

      expect(handedOut, 'the stream is still under way').toBeLessThan(padded.length);
      for await (const chunk of chunks) got.push(chunk);
      expect(Buffer.concat(got).equals(padded)).toBe(true);
    } finally {
      await service.close();
    }
  });
});

describe('npm run update-tools', () => {
  const run = async (env: NodeJS.ProcessEnv) => {
    const cwd = join(root, String(folders++));
    await mkdir(cwd);
    const child = spawn(process.execPath, [MAIN], {
      cwd,
      env: { ...NODE_ENVIRONMENT, ...env },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const ended = once(child, 'close');
    const said = await text(child.stdout);
    return { code: (await ended)[0], lines: said.trimEnd().split('\n') };
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
