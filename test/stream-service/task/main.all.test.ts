import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { Container } from '../../images/container.ts';
import { containersUnavailable } from '../../images/programs.ts';
import { closeAfterwards } from '../../support/close-afterwards.ts';
import { frozenYtDlp } from '../../support/frozen-yt-dlp.ts';
import { descendantsOf } from '../../support/processes.ts';
import { openResponse, sendRequest } from '../../support/request.ts';
import { startTaskFakes, type TaskFakes } from './fakes.ts';
import { publish } from './releases.ts';
import { prepareTaskHost, type TaskHost } from './task-host.ts';

/** Of the image, packed: Fargate keeps no copy, so that it is a part of the time in which a `hobby` instance wakes up. */
const MAX_PACKED_BYTES = 120e6;

let fakes: TaskFakes;
let host: TaskHost;
let environment: Record<string, string>;
let version: string;
beforeAll(async () => {
  fakes = closeAfterwards(await startTaskFakes());
  host = await prepareTaskHost(fakes.dir);
  // The image names its own folder.
  const { TOOLS_DIR: _, ...others } = fakes.environment;
  environment = others;
  const ytDlp = await frozenYtDlp();
  version = ytDlp.version;
  publish(fakes.store, version, await readFile(ytDlp.archive));
}, 600_000);

let task: Container | undefined;
afterEach(async () => {
  await task?.end();
  task = undefined;
});
const start = async (traits: Record<string, string> = {}) => {
  task = await host.start({ ...environment, ...traits });
  const { port } = await task.said(/^Task listening/);
  return { task, port: String(port), url: `http://127.0.0.1:${port}` };
};

describe.skipIf(containersUnavailable)('image', () => {
  it('is packed at most 120 MB', () => expect(host.image?.packedBytes).toBeLessThan(MAX_PACKED_BYTES));

  it('has Node, FFmpeg and the programs that limit child processes, and no others', async () => {
    const folders = ['usr/local/bin', 'usr/bin', 'app'].map((folder) => readdir(join(host.image?.root ?? '', folder)));
    expect((await Promise.all(folders)).map((names) => names.sort())).toEqual([
      ['ffmpeg', 'node'],
      ['perl', 'setpriv'],
      ['health.mjs', 'main.mjs', 'parsing-worker.mjs', 'plugins'],
    ]);
  });

  it('runs as user 1000 without capabilities, on a read-only root', async () => {
    const { task } = await start();
    const status = await readFile(`/proc/${task.pid}/status`, 'utf8');
    const field = (name: string) => new RegExp(`^${name}:\\s(.*)$`, 'm').exec(status)?.[1];
    expect([field('Uid'), field('Gid')]).toEqual(['1000\t1000\t1000\t1000', '1000\t1000\t1000\t1000']);
    expect([field('NoNewPrivs'), Number(field('CapEff')), Number(field('CapBnd'))]).toEqual(['1', 0, 0]);
    const mounts = await readFile(`/proc/${task.pid}/mounts`, 'utf8');
    expect(mounts).toMatch(/^\S+ \/ \S+ ro,/m);
  });
});

describe('task container', () => {
  // It downloads, unpacks and tests a whole release of yt-dlp.
  it('resolves an expired link with the yt-dlp of the pointer, and leaves no process after SIGTERM', {
    timeout: 180_000,
  }, async () => {
    const { task, port, url } = await start();
    expect(await host.checkHealth(port)).toBe(0);
    await task.said(/^Tool installed/, { tool: 'yt-dlp', version });
    const headers = { range: 'bytes=0-99' };
    const { status, body } = await sendRequest(url + fakes.expiredPath, { headers });
    expect([status, body.equals(fakes.source.content.subarray(0, 100))]).toEqual([206, true]);

    const children = await descendantsOf(task.pid);
    expect(children.length).toBeGreaterThan(0);
    task.kill('SIGTERM');
    expect(await task.ended).toBe(0);
    for (const { pid } of children) expect(() => process.kill(pid, 0)).toThrow();
    // Counters are written every minute and at shutdown.
    const metrics = task.lines.filter((line) => '_aws' in line);
    const total = (name: string) => metrics.reduce((sum, line) => sum + Number(line[name] ?? 0), 0);
    expect(metrics.map(({ Stage }) => Stage)).toContain('test');
    expect([total('StreamsStarted'), total('ReResolves')]).toEqual([1, 1]);
    expect(await host.checkHealth(port)).toBe(1);
  });

  it('drains on SIGTERM and exits at once on a second one', async () => {
    const finishing = await start({ TOOLS_BUCKET: 'empty' });
    const { status, body } = await openResponse(finishing.url + fakes.path);
    expect(status).toBe(200);
    const broken = expect(body.arrayBuffer()).rejects.toThrow();
    finishing.task.kill('SIGTERM');
    await finishing.task.said(/^Task shutting down/);
    expect((await sendRequest(`${finishing.url}/healthz`)).status).toBe(503);
    expect(await host.checkHealth(finishing.port)).toBe(1);
    finishing.task.kill('SIGTERM');
    expect(await finishing.task.ended).toBe(1);
    await broken;

    const patient = await start({ TOOLS_BUCKET: 'empty' });
    const answer = await openResponse(patient.url + fakes.path);
    patient.task.kill('SIGTERM');
    await patient.task.said(/^Task shutting down/);
    fakes.source.release();
    expect(Buffer.from(await answer.body.arrayBuffer()).equals(fakes.source.content)).toBe(true);
    expect(await patient.task.ended).toBe(0);
  });

  it('exits with 1 and logs an invalid setting', async () => {
    task = await host.start({ ...environment, PORT: 'eighty' });
    expect(await task.ended).toBe(1);
    expect(task.lines).toEqual([expect.objectContaining({ level: 'error', msg: 'Task failed to start' })]);
    expect(task.lines[0]?.error).toMatch(/^SettingError: PORT must be a whole number/);
  });
});
