import { describe, expect, it } from 'vitest';
import { ApiFailure } from '../../../web/src/api/failure.ts';
import { createDeferredDownload, type DeferredDownloadOptions } from '../../../web/src/download/deferred-download.ts';
import { hasEnded } from '../../../web/src/download/download-state.ts';
import { createQueue } from '../../../web/src/download/queue.ts';
import { digestOf, serve, setUp, someBytes, until } from '../fakes/byte-sources.ts';

const BYTES = someBytes(50_000);

async function file() {
  return setUp(await serve((_, response) => void response.end(BYTES)));
}
const RECORD = { id: 'entry', url: 'https://a.example/entry', fileName: 'Some entry' };
const later = (find: DeferredDownloadOptions['find']) =>
  createDeferredDownload({ id: RECORD.id, record: RECORD, name: RECORD.fileName, find });

describe('createDeferredDownload', () => {
  it('resolves when started, then downloads', async () => {
    const { download: found, sink } = await file();
    const download = later(async () => found);
    expect([download.fileName, download.state.get().phase]).toEqual(['Some entry', 'ready']);
    expect(download.record()).toEqual(RECORD);
    await download.start();
    expect([download.fileName, download.state.get().phase]).toEqual(['file.mp4', 'done']);
    expect(download.record()).toBeUndefined();
    expect(digestOf(sink.bytes)).toBe(digestOf(BYTES));
  });

  it('reports what it waits for', async () => {
    const answered = Promise.withResolvers<never>();
    const waiting = { reason: 'too-many', retrySeconds: 120 } as const;
    const download = later(({ onWaiting }) => {
      onWaiting?.(waiting);
      return answered.promise;
    });
    void download.start();
    expect(download.state.get()).toMatchObject({ phase: 'waiting', waiting });
  });

  it.each([
    ['not-found', 'nothing', false],
    ['refused', 'refused', false],
    ['failed', 'failed', true],
  ] as const)('fails when its look-up does: %s', async (kind, told, canRetry) => {
    const download = later(() => Promise.reject(new ApiFailure(kind)));
    await download.start();
    expect(download.state.get()).toMatchObject({ phase: 'failed', failure: { kind: told }, canRetry });
  });

  it('resolves again on retry', async () => {
    const { download: found } = await file();
    const answers = [() => Promise.reject(new ApiFailure('failed')), async () => found];
    const download = later(() => answers.shift()?.() ?? expect.fail('It asked too often'));
    await download.start();
    download.resume();
    await until(download, ({ phase }) => phase === 'done');
  });

  it('ignores a late result after cancellation', async () => {
    const { download: found } = await file();
    const answered = Promise.withResolvers<typeof found>();
    let asked: AbortSignal | undefined;
    const download = later(({ signal }) => {
      asked = signal;
      return answered.promise;
    });
    const ended = download.start();
    download.cancel();
    expect([asked?.aborted, download.state.get().phase]).toEqual([true, 'cancelled']);
    answered.resolve(found);
    await ended;
    expect([download.state.get().phase, found.state.get().phase]).toEqual(['cancelled', 'ready']);
  });

  it('releases the queue however it ends', async () => {
    const queue = createQueue({ maxRunning: 1 });
    const { download: found } = await file();
    const all = [
      later(() => Promise.reject(new ApiFailure('failed'))),
      later(() => new Promise(() => undefined)),
      later(async () => found),
    ];
    for (const one of all) queue.add(one);
    const [, waiting, last] = all as [unknown, (typeof all)[0], (typeof all)[0]];
    await until(waiting, ({ phase }) => phase === 'waiting');
    expect(last.state.get().phase).toBe('ready');
    waiting.cancel();
    await until(last, hasEnded);
    expect(last.state.get().phase).toBe('done');
  });
});
