import { describe, expect, it } from 'vitest';
import { ApiFailure, createApi, type WaitOptions } from '../../../web/src/api/index.ts';
import { createHistory } from '../../../web/src/lib/index.ts';
import { createDownloads, type DownloadFile } from '../../../web/src/ui/downloads.ts';
import { createMemoryStore } from '../fakes/memory-store.ts';

const FILE = { url: 'https://a.example/api/Stream/Media/k', fileName: 'Title.mp4' };
const ITEM = { link: 'https://b.example/1', title: 'Title', author: null, coverUrl: null };

/** Downloads whose streams open when the test says so. */
function setUp() {
  const taken: DownloadFile[] = [];
  const asked: (WaitOptions & PromiseWithResolvers<void>)[] = [];
  const history = createHistory({ storage: createMemoryStore() });
  const downloads = createDownloads({
    api: createApi('https://a.example'),
    history,
    handOver: (file) => taken.push(file),
    untilReady(_url, options = {}) {
      const opened = Promise.withResolvers<void>();
      options.signal?.addEventListener('abort', () => opened.reject(options.signal?.reason));
      asked.push({ ...options, ...opened });
      return opened.promise;
    },
  });
  return { downloads, taken, asked, history, stateOf: () => downloads.states.get().get(FILE.url) };
}

describe('createDownloads', () => {
  it('hands a file over once the instance can send it, and lists it', async () => {
    const { downloads, taken, asked, history, stateOf } = setUp();
    const started = downloads.start(FILE, ITEM);
    expect([stateOf(), taken]).toEqual([{ phase: 'opening' }, []]);
    const waiting = { reason: 'busy' as const, retrySeconds: 5 };
    asked[0]?.onWaiting?.(waiting);
    expect(stateOf()).toEqual({ phase: 'opening', waiting });
    asked[0]?.resolve();
    await started;
    expect([stateOf(), taken]).toEqual([{ phase: 'started' }, [FILE]]);
    expect(history.entries.get()).toMatchObject([{ ...ITEM, file: FILE }]);
  });

  it('asks once for a file that is being opened', async () => {
    const { downloads, taken, asked } = setUp();
    const both = [downloads.start(FILE), downloads.start(FILE)];
    asked[0]?.resolve();
    await Promise.all(both);
    expect([asked.length, taken.length]).toEqual([1, 1]);
    const again = downloads.start(FILE);
    asked[1]?.resolve();
    await again;
    expect(taken).toHaveLength(2);
  });

  it('shows why a file cannot be sent, and can be asked again', async () => {
    const { downloads, taken, asked, history, stateOf } = setUp();
    const started = downloads.start(FILE, ITEM);
    const failure = new ApiFailure('not-found', { problem: 'not-found' });
    asked[0]?.reject(failure);
    await started;
    expect([stateOf(), taken, history.entries.get()]).toEqual([{ phase: 'failed', failure }, [], []]);
    const again = downloads.start(FILE);
    expect(stateOf()).toEqual({ phase: 'opening' });
    asked[1]?.reject(new TypeError('unexpected'));
    await again;
    expect(stateOf()).toMatchObject({ phase: 'failed', failure: { kind: 'failed' } });
  });

  it('is cancelled while it waits, and started anew', async () => {
    const { downloads, taken, asked, stateOf } = setUp();
    const started = downloads.start(FILE);
    downloads.cancel(FILE.url);
    expect(stateOf()).toBeUndefined();
    const again = downloads.start(FILE);
    await started;
    asked[0]?.onWaiting?.({ reason: 'busy', retrySeconds: 5 });
    expect(stateOf()).toEqual({ phase: 'opening' });
    asked[1]?.resolve();
    await again;
    expect([stateOf(), taken]).toEqual([{ phase: 'started' }, [FILE]]);
    downloads.cancel(FILE.url);
    expect(stateOf()).toEqual({ phase: 'started' });
  });
});
