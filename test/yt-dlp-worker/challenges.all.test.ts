import { afterAll, describe, expect, it } from 'vitest';
import { startLinkProcesses } from '../../packages/yt-dlp-worker/src/worker/link-processes.ts';
import { startWorker, type WorkerProcess } from '../../packages/yt-dlp-worker/src/worker/worker-process.ts';
import { startYtDlpFixture } from './yt-dlp-fixture.ts';

const fixture = await startYtDlpFixture();
const { requestOf } = fixture;
const worker = await startWorker(fixture.options);
afterAll(() => worker.close());

/** The process of yt-dlp that resolved the link, the one that loaded the player, and the solutions. */
async function solve(player: string, n: string, by: WorkerProcess = worker) {
  const response = await by.request(requestOf(`reelay-worker-test:challenge?${player}/${n}`));
  if (!('info' in response)) throw new Error(JSON.stringify(response));
  const [pid, ...solutions] = response.info.tags as [number, ...string[]];
  const loadedBy = Number(/-(\d+)$/.exec(solutions[0] ?? '')?.[1]);
  return { pid, loadedBy, solutions: solutions.map((text) => text.replace(`-${loadedBy}`, '')) };
}

describe('challenges of YouTube', () => {
  it('leave forks no descriptor of the processes that solve them', async () => {
    const pipes = async () => {
      const response = await worker.request(requestOf('reelay-worker-test:descriptors'));
      const { tags } = ('info' in response ? response.info : response) as { tags: string[] };
      return new Set(tags.filter((tag) => tag.startsWith('pipe:'))).size;
    };
    const before = await pipes();
    await solve('aaaaaaaa', 'abc');
    // The next fork may have been there before.
    await pipes();
    expect(await pipes()).toBe(before);
  });

  it('are solved with a player that is loaded once, by a process that resolves no link', async () => {
    const [first, second] = [await solve('aaaaaaaa', 'abc'), await solve('aaaaaaaa', 'hostile')];
    expect([first.solutions, second.solutions]).toEqual([
      ['cba', 'yx', '543210'],
      ['elitsoh', 'yx', '543210'],
    ]);
    expect(second.loadedBy).toBe(first.loadedBy);
    expect(new Set([first.loadedBy, first.pid, second.pid]).size).toBe(3);
  });

  it('are solved by the fork where the worker cannot', async () => {
    // Not the URL of a player.
    const { pid, loadedBy, solutions } = await solve('..', 'abc');
    expect([loadedBy, solutions]).toEqual([pid, ['cba', 'yx', '543210']]);
  });

  it('keep no player that does not answer', async () => {
    const forever = worker.request(requestOf('reelay-worker-test:challenge?bbbbbbbb/forever', { timeoutSeconds: 8 }));
    const { loadedBy } = await solve('bbbbbbbb', 'abc');
    await forever;
    expect((await solve('bbbbbbbb', 'abc')).loadedBy).not.toBe(loadedBy);
  });

  it('end a fork that asks without end', async () => {
    const response = await worker.request(requestOf('reelay-worker-test:flood'));
    expect(response).toMatchObject({ ok: false, error: { kind: 'crash', message: 'Too many challenges' } });
  });

  it('of more players than are kept are solved', async () => {
    for (const name of ['1', '2', '3', '4', '1']) expect((await solve(name, 'abc')).solutions[0]).toBe('cba');
  });

  it('are solved by a process per link', async () => {
    const processes = await startLinkProcesses(fixture.options);
    const { pid, loadedBy, solutions } = await solve('aaaaaaaa', 'abc', processes);
    expect([loadedBy, solutions]).toEqual([pid, ['cba', 'yx', '543210']]);
    await processes.close();
  });
});
