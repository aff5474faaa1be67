import { chmod, cp, readdir, readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { findOnPath } from '../../../layers/tools/process/program.ts';
import { installedTools } from '../../support/installed-tools.ts';
import { descendantsOf } from '../../support/processes.ts';
import { openResponse, sendRequest } from '../../support/request.ts';
import { Container, canConfine, layOut } from './container.ts';
import { startTaskFakes, type TaskFakes } from './fakes.ts';
import { archiveOf, publish } from './releases.ts';

const VERSION = '2026.01.01';
let fakes: TaskFakes;
let folders: { app: string; scratch: string };
let environment: Record<string, string>;
beforeAll(async () => {
  fakes = await startTaskFakes();
  folders = await layOut(fakes);
  const { scratch } = folders;
  environment = {
    ...fakes.environment,
    ...{ TOOLS_DIR: join(scratch, 'tools'), TMPDIR: scratch, DATA_DIR: scratch, HOME: scratch },
    FFMPEG_PATH: (await findOnPath('ffmpeg')) ?? '',
  };
  publish(fakes.store, VERSION, await archiveOf(fakes.dir, VERSION, await readableYtDlp(fakes.dir)));
});
afterAll(() => fakes.close());

/** The real one, where user 1000 can read it. */
async function readableYtDlp(dir: string): Promise<[string, ...string[]]> {
  const { command } = (await installedTools()).ytDlp;
  if (!canConfine) return [...command];
  const script = command.at(-1) ?? '';
  const folder = join(dir, 'yt-dlp');
  await cp(dirname(dirname(script)), folder, { recursive: true });
  await chmod(folder, 0o755);
  const python = command[0].startsWith('/root/') ? '/usr/bin/python3' : command[0];
  return [python, '-I', join(folder, 'yt_dlp', '__main__.py')];
}

let task: Container | undefined;
afterEach(async () => {
  await task?.end();
  task = undefined;
});
const start = async (traits: Record<string, string> = {}) => {
  task = new Container(folders, { ...environment, ...traits });
  const { port } = await task.said(/^Task listening/);
  return { task, port: String(port), url: `http://127.0.0.1:${port}` };
};
const health = async (port: string) => {
  const check = new Container(folders, { PORT: port }, 'health.mjs');
  return check.ended;
};

describe('task container', () => {
  it.skipIf(!canConfine)('runs as user 1000 on a read-only root', async () => {
    const { task } = await start();
    const { pid = 0 } = task.process;
    const status = await readFile(`/proc/${pid}/status`, 'utf8');
    expect(/^Uid:\s(.*)$/m.exec(status)?.[1]).toBe('1000\t1000\t1000\t1000');
    expect(/^NoNewPrivs:\s(.*)$/m.exec(status)?.[1]).toBe('1');
    expect(await readdir(fakes.dir)).not.toContain('written');
  });

  it('resolves an expired link with the yt-dlp of the pointer, and leaves no process after SIGTERM', async () => {
    const { task, port, url } = await start();
    expect(await health(port)).toBe(0);
    await task.said(/^Tool installed/, { tool: 'yt-dlp', version: VERSION });
    const headers = { range: 'bytes=0-99' };
    const { status, body } = await sendRequest(url + fakes.expiredPath, { headers });
    expect([status, body.equals(fakes.source.content.subarray(0, 100))]).toEqual([206, true]);

    const children = await descendantsOf(task.process.pid ?? 0);
    expect(children.length).toBeGreaterThan(0);
    task.process.kill('SIGTERM');
    expect(await task.ended).toBe(0);
    for (const { pid } of children) expect(() => process.kill(pid, 0)).toThrow();
    // Counters are written at shutdown.
    expect(task.lines.find((line) => '_aws' in line)).toMatchObject({
      Stage: 'test',
      StreamsStarted: 1,
      ReResolves: 1,
    });
    expect(await health(port)).toBe(1);
  });

  it('drains on SIGTERM and exits at once on a second one', async () => {
    const finishing = await start({ TOOLS_BUCKET: 'empty' });
    const { status, body } = await openResponse(finishing.url + fakes.path);
    expect(status).toBe(200);
    const broken = expect(body.arrayBuffer()).rejects.toThrow();
    finishing.task.process.kill('SIGTERM');
    await finishing.task.said(/^Task shutting down/);
    expect((await sendRequest(`${finishing.url}/healthz`)).status).toBe(503);
    expect(await health(finishing.port)).toBe(1);
    finishing.task.process.kill('SIGTERM');
    expect(await finishing.task.ended).toBe(1);
    await broken;

    const patient = await start({ TOOLS_BUCKET: 'empty' });
    const answer = await openResponse(patient.url + fakes.path);
    patient.task.process.kill('SIGTERM');
    await patient.task.said(/^Task shutting down/);
    fakes.source.release();
    expect(Buffer.from(await answer.body.arrayBuffer()).equals(fakes.source.content)).toBe(true);
    expect(await patient.task.ended).toBe(0);
  });

  it.each([
    ['TABLE_NAME', '', /^SettingError: TABLE_NAME must name/],
    ['PORT', 'eighty', /^SettingError: PORT must be a whole number/],
    ['IDLE_MINUTES', 'soon', /^SettingError: IDLE_MINUTES must be a whole number/],
  ])('exits with 1 and logs an invalid %s', async (name, value, message) => {
    task = new Container(folders, { ...environment, [name]: value });
    expect(await task.ended).toBe(1);
    expect(task.lines).toEqual([expect.objectContaining({ level: 'error', msg: 'Task failed to start' })]);
    expect(task.lines[0]?.error).toMatch(message);
  });
});
