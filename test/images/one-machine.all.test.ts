import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { EXIT_CODES } from '../../clients/reelay-client/src/cli/run.ts';
import { type Origin, startOrigin } from '../origin/server.ts';
import { descendantsOf } from '../support/processes.ts';
import { openResponse, sendRequest } from '../support/request.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { type Container, startContainer, WITHOUT_TIMEOUT } from './container.ts';
import type { Image } from './image.ts';
import { oneMachineImage, startOneMachine } from './one-machine-image.ts';
import { containersUnavailable } from './programs.ts';

/** Packed, with all tools. */
const MAX_PACKED_BYTES = 160e6;

describe.skipIf(containersUnavailable)('container for one machine', () => {
  let image: Image;
  let origin: Origin;
  let dir: string;
  let container: Container | undefined;
  beforeAll(async () => {
    dir = await temporaryFolder();
    [image, origin] = [await oneMachineImage(), await startOrigin()];
  }, 600_000);
  afterEach(() => container?.end());
  afterAll(() => origin?.close());

  const start = async () => {
    const started = await startOneMachine(image, dir, { EGRESS_ALLOW: origin.host });
    container = started.container;
    return { ...started, port: new URL(started.baseUrl).port };
  };
  const resolveLink = async (baseUrl: string, path: string) => {
    const { status, body } = await sendRequest(
      `${baseUrl}/api/Fetch/GetResource?url=${encodeURIComponent(origin.url(path))}`,
    );
    expect(status).toBe(200);
    const { mediaItems } = JSON.parse(body.toString());
    return mediaItems[0];
  };
  const checkHealth = async (port: string) => {
    const [program = '', ...args] = image.config.Healthcheck?.Test.slice(1) ?? [];
    const command = [program, ...WITHOUT_TIMEOUT, ...args];
    return (await startContainer(image, { command, env: { PORT: port } })).ended;
  };

  it('is packed at most 160 MB, and contains the tools and no other programs', async () => {
    expect(image.packedBytes).toBeLessThan(MAX_PACKED_BYTES);
    expect((await readdir(join(image.root, 'usr/local/bin'))).sort()).toEqual(['ffmpeg', 'node']);
    expect((await readdir(join(image.root, 'usr/bin'))).sort()).toEqual(['perl', 'setpriv']);
    expect((await readdir(join(image.root, 'app'))).sort()).toEqual([
      ...[
        'client.mjs',
        'health.mjs',
        'main.mjs',
        'mcp-messages.mjs',
        'parsing-worker.mjs',
        'plugins',
        'swagger',
        'update-tools.mjs',
        'web',
        'yt-dlp',
      ],
    ]);
  });

  it('declares an unprivileged user, one volume, a health check and SIGTERM', () => {
    const { User, Volumes, StopSignal, Healthcheck, Entrypoint } = image.config;
    expect({ User, Volumes, StopSignal, Healthcheck, Entrypoint }).toMatchObject({
      User: '1000:1000',
      Volumes: { '/data': {} },
      StopSignal: 'SIGTERM',
      Healthcheck: { Test: ['CMD', 'node', '/app/health.mjs', '/api/App'] },
    });
    expect(Entrypoint ?? []).toEqual([]);
  });

  it('serves page, API and streams on a read-only root with the tools of the image', async () => {
    const { container, baseUrl, port } = await start();
    await container.said(/^Ready: yt-dlp \S+ \(release\), FFmpeg /);
    expect(await checkHealth(port)).toBe(0);
    expect(await readFile(`/proc/${container.pid}/status`, 'utf8')).toMatch(/^Uid:\t1000\t1000\t1000\t1000$/m);
    const page = await sendRequest(`${baseUrl}/`);
    expect([page.status, page.headers['content-type']]).toEqual([200, 'text/html; charset=utf-8']);
    expect((await sendRequest(`${baseUrl}/swagger/v1/swagger.json`)).status).toBe(200);

    const { video, audio } = await resolveLink(baseUrl, '/files/clip.mp4');
    const [rendition] = video.renditions;
    const whole = await sendRequest(`${baseUrl}/api/Stream/Media/${rendition.key}`);
    const expected = await readFile(join(origin.mediaDir, 'clip.mp4'));
    expect([whole.status, whole.body.equals(expected)]).toEqual([200, true]);
    const { key } = audio.renditions.find(({ convertTo }: { convertTo?: string }) => convertTo === 'mp3');
    const mp3 = await sendRequest(`${baseUrl}/api/Stream/Media/${key}?format=mp3`);
    expect([mp3.status, mp3.body.toString('latin1', 0, 3)]).toEqual([200, 'ID3']);
  });

  // As root, as the add-on of Home Assistant does.
  it.each(['4321:4321', '0:0'])(
    'runs as %s, and keeps a folder in step by the command of compose.yaml',
    async (user) => {
      const fresh = await temporaryFolder();
      const started = await startOneMachine(image, fresh, { EGRESS_ALLOW: origin.host }, user);
      container = started.container;
      await container.said(/^Ready: /);
      const compose = await readFile('compose.yaml', 'utf8');
      const [, block = ''] = /^ {2}folder:[\s\S]*?\n {4}command:\n((?: {6}- .*\n)+)/m.exec(compose) ?? [];
      const command = [...block.matchAll(/^ {6}- (.*)$/gm)].map(([, word = '']) =>
        word
          .replace(/\$\{REELAY_LIST:-\}/, origin.url('/feeds/podcast.xml'))
          .replaceAll(/\$\{\w+:-(.*?)\}/g, '$1')
          .replace('/folder/', '/tmp/'),
      );
      const folder = await temporaryFolder();
      const client = await startContainer(image, {
        command,
        user,
        env: { REELAY_INSTANCE: started.baseUrl },
        volumes: { '/tmp': folder },
      });
      await expect.poll(() => client.stderr).toContain('3 fetched, 0 there already, 0 failed\n');
      client.kill('SIGTERM');
      expect(await client.ended).toBe(EXIT_CODES.interrupted);
      expect((await readdir(folder)).filter((name) => name.includes('Episode '))).toHaveLength(3);
    },
  );

  it('drains on SIGTERM, leaves no process, and finds its keys again in the volume', async () => {
    const first = await start();
    await first.container.said(/^Ready: /);
    const { audio } = await resolveLink(first.baseUrl, '/slow/tone.flac?rate=400000');
    const [{ key }] = audio.renditions;
    const stream = await openResponse(`${first.baseUrl}/api/Stream/Media/${key}`);
    expect(stream.status).toBe(200);
    const processes = await descendantsOf(first.container.pid);
    expect(processes.length).toBeGreaterThan(0);
    first.container.kill('SIGTERM');
    await first.container.said(/^Shutting down/);
    const expected = await readFile(join(origin.mediaDir, 'tone.flac'));
    expect(Buffer.from(await stream.body.arrayBuffer()).equals(expected)).toBe(true);
    expect(await first.container.ended).toBe(0);
    expect(await checkHealth(first.port)).toBe(1);
    for (const { pid } of processes) expect(() => process.kill(pid, 0)).toThrow();

    const second = await start();
    await second.container.said(/^Ready: /);
    const again = await sendRequest(`${second.baseUrl}/api/Stream/Media/${key}`, { headers: { range: 'bytes=0-3' } });
    expect([again.status, again.body.toString()]).toEqual([206, 'fLaC']);
  });
});
