import { describe, expect, it } from 'vitest';
import { ApiFailure, createApi, type WaitOptions } from '../../../web/src/api/index.ts';
import { createHistory } from '../../../web/src/history.ts';
import { choicesOf } from '../../../web/src/renditions/index.ts';
import { createDownloads } from '../../../web/src/ui/downloads.ts';
import { createMemoryStore } from '../fakes/memory-store.ts';
import { itemOf, referenceOf, renditionOf } from '../fakes/resources.ts';

const URL_OF_FILE = 'https://a.example/api/Stream/Media/k';
const FOUND = 'https://a.example/found';
const ITEM = { link: 'https://b.example/1', title: 'Title', author: null, coverUrl: null };

/** Downloads whose streams open when the test says so. */
function setUp() {
  const taken: string[] = [];
  const asked: (WaitOptions & PromiseWithResolvers<string>)[] = [];
  const history = createHistory({ storage: createMemoryStore() });
  const downloads = createDownloads({
    api: createApi('https://a.example'),
    history,
    handOver: (url) => taken.push(url),
    untilReady(_url, options = {}) {
      const opened = Promise.withResolvers<string>();
      options.signal?.addEventListener('abort', () => opened.reject(options.signal?.reason));
      asked.push({ ...options, ...opened });
      return opened.promise;
    },
  });
  return { downloads, taken, asked, history, stateOf: () => downloads.states.get().get(URL_OF_FILE) };
}

describe('createDownloads', () => {
  it('hands a file over once the instance can send it, and lists it', async () => {
    const { downloads, taken, asked, history, stateOf } = setUp();
    const started = downloads.start(URL_OF_FILE, ITEM);
    expect([stateOf(), taken]).toEqual([{ phase: 'opening' }, []]);
    const waiting = { reason: 'busy' as const, retrySeconds: 5 };
    asked[0]?.onWaiting?.(waiting);
    expect(stateOf()).toEqual({ phase: 'opening', waiting });
    asked[0]?.resolve(FOUND);
    await started;
    expect([stateOf(), taken]).toEqual([{ phase: 'started' }, [URL_OF_FILE]]);
    expect(history.entries.get()).toMatchObject([{ ...ITEM, fileUrl: URL_OF_FILE }]);
  });

  it('hands over the address that is derived from the redirected URL, and lists the original one', async () => {
    const { downloads, taken, asked, history } = setUp();
    const started = downloads.start(URL_OF_FILE, ITEM, (found) => `${found}?more`);
    asked[0]?.resolve(FOUND);
    await started;
    expect(taken).toEqual([`${FOUND}?more`]);
    expect(history.entries.get()).toMatchObject([{ fileUrl: URL_OF_FILE }]);
  });

  it('requests a file once while it is being opened', async () => {
    const { downloads, taken, asked } = setUp();
    const both = [downloads.start(URL_OF_FILE), downloads.start(URL_OF_FILE)];
    asked[0]?.resolve(FOUND);
    await Promise.all(both);
    expect([asked.length, taken.length]).toEqual([1, 1]);
    const again = downloads.start(URL_OF_FILE);
    asked[1]?.resolve(FOUND);
    await again;
    expect(taken).toHaveLength(2);
  });

  it('shows why a file cannot be sent, and can be retried', async () => {
    const { downloads, taken, asked, history, stateOf } = setUp();
    const started = downloads.start(URL_OF_FILE, ITEM);
    const failure = new ApiFailure('not-found', { problem: 'not-found' });
    asked[0]?.reject(failure);
    await started;
    expect([stateOf(), taken, history.entries.get()]).toEqual([{ phase: 'failed', failure }, [], []]);
    const again = downloads.start(URL_OF_FILE);
    expect(stateOf()).toEqual({ phase: 'opening' });
    asked[1]?.reject(new TypeError('unexpected'));
    await again;
    expect(stateOf()).toMatchObject({ phase: 'failed', failure: { kind: 'failed' } });
  });

  it('is cancelled while it waits, and started anew', async () => {
    const { downloads, taken, asked, stateOf } = setUp();
    const started = downloads.start(URL_OF_FILE);
    downloads.cancel(URL_OF_FILE);
    expect(stateOf()).toBeUndefined();
    const again = downloads.start(URL_OF_FILE);
    await started;
    asked[0]?.onWaiting?.({ reason: 'busy', retrySeconds: 5 });
    expect(stateOf()).toEqual({ phase: 'opening' });
    asked[1]?.resolve(FOUND);
    await again;
    expect([stateOf(), taken]).toEqual([{ phase: 'started' }, [URL_OF_FILE]]);
    downloads.cancel(URL_OF_FILE);
    expect(stateOf()).toEqual({ phase: 'started' });
  });

  it.each([
    ['its title and what tells it apart', {}, '03 - Ada - Étude (129 kbps German dubbed)'],
    ['its title where the extension says the rest', { label: 'M4A' }, '03 - Ada - Étude'],
    ['the times of a part', { label: '1080p 0:10–0:25.5' }, '03 - Ada - Étude (1080p 0-10–0-25.5)'],
    ['nothing for a chapter, which has a title of its own', { chapter: 2 }, null],
    ['nothing for the last minutes, which have a time', { lastSeconds: 300 }, null],
  ])('names a file after %s', (_, changes, name) => {
    const rendition = renditionOf({ label: '129 kbps German (dubbed)', fileExtension: '.m4a', mimeType: 'audio/mp4' });
    const item = itemOf({ title: 'Étude', author: 'Ada', audio: referenceOf(rendition) });
    const place = { number: 3, count: 20 };
    const [choice] = choicesOf(item, { place }).audio;
    const url = setUp().downloads.urlOf({ ...(choice ?? expect.fail()), ...changes });
    expect(new URL(url).searchParams.get('name')).toBe(name);
  });
});
