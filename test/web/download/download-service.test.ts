import { beforeAll, describe, expect, it } from 'vitest';
import { createApi } from '../../../web/src/api/api.ts';
import { choicesOf } from '../../../web/src/renditions/choices.ts';
import { useTarget } from '../../contract/target.ts';
import { digestOf, setUp, until } from '../fakes/byte-sources.ts';

const target = useTarget();

/** The choices of an origin link, and their bytes read in one request. */
async function offered(path: string) {
  const api = createApi(target.baseUrl);
  const { mediaItems } = await api.resolve(target.origin.baseUrl + path);
  const [item] = mediaItems ?? [];
  if (!item) return expect.fail(`Nothing at ${path}`);
  const choices = choicesOf(item);
  const take = async (choice = choices.preselected) => {
    if (!choice) return expect.fail('Nothing to take');
    const url = api.streamUrl(choice.rendition);
    const whole = Buffer.from(await (await fetch(url)).arrayBuffer());
    return { url, whole, choice, ...setUp(url, { expectedBytes: choice.sizeBytes ?? 0, fileName: choice.fileName }) };
  };
  return { choices, take };
}

describe('download from the service', () => {
  let file: Awaited<ReturnType<typeof offered>>;
  beforeAll(async () => {
    file = await offered('/files/long.mp4');
  });

  it('is byte-exact after two pauses', async () => {
    const { download, sink, whole } = await file.take();
    const ended = download.start();
    for (const part of [0.2, 0.6]) {
      await until(download, ({ receivedBytes, phase }) => receivedBytes >= whole.length * part || phase === 'done');
      download.pause();
      download.resume();
    }
    await ended;
    expect(download.state.get()).toMatchObject({ phase: 'done', totalBytes: whole.length });
    expect(digestOf(sink.bytes)).toBe(digestOf(whole));
    expect(sink.restarts).toBe(0);
  });

  it("is byte-exact after a conversion's connection is lost", async () => {
    const { choices, take } = await offered('/site/combined/cut');
    const { url, whole, choice } = await take(choices.mp3[0]);
    let cuts = 2;
    // Two connection losses, each after as many bytes.
    const cutAfterBytes = 50_000;
    const cutting: typeof fetch = async (input, init) => {
      const response = await fetch(input, init);
      if (cuts-- <= 0 || !response.body) return response;
      let left = cutAfterBytes;
      const body = response.body.pipeThrough(
        new TransformStream<Uint8Array, Uint8Array>({
          transform(chunk, controller) {
            if (left === 0) return controller.error(new TypeError('cut'));
            const passed = chunk.subarray(0, left);
            left -= passed.length;
            controller.enqueue(passed);
          },
        }),
      );
      return new Response(body, { status: response.status, headers: response.headers });
    };
    const { download, sink } = setUp(url, { fetch: (to, init) => cutting(to, init) });
    await download.start();
    // Two were cut, the third was not.
    expect(cuts).toBe(-1);
    expect(choice.sizeBytes).toBe(whole.length);
    expect(download.state.get().phase).toBe('done');
    expect(digestOf(sink.bytes)).toBe(digestOf(whole));
    expect(sink.restarts).toBe(0);
  });

  it('holds a combined stream while paused and estimates its size', async () => {
    const { take, choices } = await offered('/site/watch/demo');
    // A pair that is muxed while it is sent: its size is estimated.
    const { download, sink, whole, choice } = await take(choices.video[2]);
    expect(choice.isMuxed).toBe(true);
    let wasEstimate = false;
    download.state.subscribe(({ phase, isEstimate }) => {
      wasEstimate ||= phase === 'running' && isEstimate;
    });
    const ended = download.start();
    await until(download, ({ receivedBytes }) => receivedBytes > 0);
    expect(download.state.get().canResume).toBe(false);
    download.pause();
    download.resume();
    await ended;
    expect(wasEstimate).toBe(true);
    expect(download.state.get()).toMatchObject({ phase: 'done', isEstimate: false });
    expect(digestOf(sink.bytes)).toBe(digestOf(whole));
  });

  it('reports an unknown key', async () => {
    const { download } = setUp(`${target.baseUrl}/api/Stream/Media/nothing`);
    await download.start();
    expect(download.state.get()).toMatchObject({ phase: 'failed', failure: { kind: 'not-found' }, canRetry: false });
  });
});
