import { openAsBlob } from 'node:fs';
import { join as pathOf } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { describe, expect, it } from 'vitest';
import { packetsOf, picturesOf, probeBody } from '../../../test/support/media-tools.ts';
import { clip, join, respond, type Source, UnsupportedMp4, urlSource, type VirtualFile } from '../src/index.ts';
import { serveMedia } from './served-media.ts';

const media = await serveMedia();
const pathTo = (name: string) => pathOf(media.folder, name);
const open = (name: string) => urlSource(`${media.url}/${name}`);
const bytesOf = (file: VirtualFile, start = 0, end = file.size): Promise<Buffer> => buffer(file.read(start, end));
const blobSource = async (name: string): Promise<Source> => {
  const blob = await openAsBlob(pathTo(name));
  return { size: blob.size, read: (start, end) => blob.slice(start, end).stream() };
};
const pair = async () => join([await open('video.mp4'), await open('audio.m4a')]);

describe('join', () => {
  it.each([
    ['video.mp4', open],
    ['fragments.mp4', open],
    ['video.mp4', blobSource],
  ])('makes one file of %s and an audio file, of which any range is read', async (video, openSource) => {
    const file = await join([await openSource(video), await openSource('audio.m4a')]);
    const whole = await bytesOf(file);
    expect(file).toMatchObject({ size: whole.length, type: 'video/mp4', durationSeconds: expect.closeTo(12, 1) });
    expect(await packetsOf(whole, 'v')).toEqual(await packetsOf(pathTo('video.mp4'), 'v'));
    expect(await packetsOf(whole, 'a')).toEqual(await packetsOf(pathTo('audio.m4a'), 'a'));
    for (const [start, end] of [
      [0, 1],
      [17, 17],
      [1000, 300_000],
      [file.size - 5000, file.size],
    ] as const)
      expect((await bytesOf(file, start, end)).equals(whole.subarray(start, end)), `${start}-${end}`).toBe(true);
    expect(() => file.read(0, file.size + 1)).toThrow(RangeError);
  });

  it('reads no more of the sources than their headers, and for a range its bytes', async () => {
    media.requests.length = 0;
    const file = await pair();
    await bytesOf(file, file.size - 10_000, file.size);
    const [sizes, ranges] = [media.requests.splice(0, 2), media.requests.map(({ range = '' }) => range)];
    expect(sizes.map(({ range }) => range)).toEqual(['bytes=0-0', 'bytes=0-0']);
    expect(ranges.filter((range) => range.startsWith('bytes=0-'))).toEqual(['bytes=0-65535', 'bytes=0-65535']);
    for (const [first = 0, last = 0] of ranges.map((range) => (range.match(/\d+/g) ?? []).map(Number)))
      expect(last - first).toBeLessThan(66_000);
  });

  it('names a file by its sources: another version has another entity tag', async () => {
    const source = await blobSource('video.mp4');
    const of = async (version: string) => (await join([{ ...source, version }])).etag;
    expect(await of('1')).toMatch(/^"[\w-]{22}"$/);
    expect(await of('1')).toBe(await of('1'));
    expect(await of('2')).not.toBe(await of('1'));
  });

  it('gives twins, whose bytes alone differ, entity tags of their own', async () => {
    const unnamed = await blobSource('video.mp4');
    expect((await join([unnamed])).etag).not.toBe((await join([unnamed])).etag);
    const fetch = async (_: unknown, { headers }: RequestInit = {}) => {
      const response = await globalThis.fetch(`${media.url}/video.mp4`, { headers });
      const { status, body } = response;
      const range = response.headers.get('content-range') ?? '';
      return new Response(body, { status, headers: { 'content-range': range, 'last-modified': 'Thu, 01 Jan 1970' } });
    };
    const of = async (url: string) => (await join([await urlSource(url, { fetch })])).etag;
    expect(await of('http://a.test/1')).toBe(await of('http://a.test/1'));
    expect(await of('http://a.test/1')).not.toBe(await of('http://a.test/2'));
  });

  it('reads sources that are objects with state', async () => {
    class Remembered {
      readonly #source: Source;
      constructor(source: Source) {
        this.#source = source;
      }
      get size() {
        return this.#source.size;
      }
      read(start: number, end: number) {
        return this.#source.read(start, end);
      }
    }
    const [video, audio] = [await blobSource('video.mp4'), await blobSource('audio.m4a')];
    const [file, same] = [await join([new Remembered(video), new Remembered(audio)]), await join([video, audio])];
    expect((await bytesOf(file)).equals(await bytesOf(same))).toBe(true);
  });

  it('fails for what is no MP4 and for a signal, and closes the streams of all sources', async () => {
    const closed: string[] = [];
    const pending = (name: string): Source => ({
      size: 1000,
      read: () => new ReadableStream({ cancel: () => void closed.push(name) }),
    });
    const text: Source = { size: 1000, read: (start, end) => new Blob(['a'.repeat(end - start)]).stream() };
    await expect(join([pending('video'), text])).rejects.toThrow(UnsupportedMp4);
    const signal = AbortSignal.abort(new Error('Enough'));
    await expect(join([pending('never')], { signal })).rejects.toThrow('Enough');
    const late = new AbortController();
    const joining = join([pending('late')], { signal: late.signal });
    late.abort(new Error('Later'));
    await expect(joining).rejects.toThrow('Later');
    expect(closed).toEqual(['video', 'late']);
  });
});

describe('a file whose source fails', () => {
  it.each<[string, Pick<Source, 'read'>, string]>([
    ['ends early', { read: (start) => new Blob(['a'.repeat(Math.min(10, start))]).stream() }, 'The source ended early'],
    [
      'fails',
      {
        read: () =>
          new ReadableStream({
            pull: () => {
              throw new Error('Broken');
            },
          }),
      },
      'Broken',
    ],
  ])('that %s fails while it is read', async (_, { read }, message) => {
    const source = await blobSource('video.mp4');
    let isRead = false;
    const changing: Source = { size: source.size, read: (...range) => (isRead ? read : source.read)(...range) };
    const file = await join([changing]);
    isRead = true;
    await expect(bytesOf(file)).rejects.toThrow(message);
    const response = respond(new Request('http://a.test/'), file);
    expect(response.status).toBe(200);
    await expect(response.arrayBuffer()).rejects.toThrow(message);
  });

  it('closes the streams of its sources when it is cancelled, and when a range ends before them', async () => {
    let opened = 0;
    const source = await blobSource('fragments.mp4');
    const counted: Source = {
      size: source.size,
      read(start, end) {
        opened += 1;
        const reader = source.read(start, end).getReader();
        let isOpen = true;
        const close = () => {
          opened -= isOpen ? 1 : 0;
          isOpen = false;
        };
        return new ReadableStream({
          async pull(controller) {
            const { value, done } = await reader.read();
            if (!done) return controller.enqueue(value);
            close();
            controller.close();
          },
          cancel: close,
        });
      },
    };
    const file = await join([counted]);
    expect(opened).toBe(0);
    const reader = file.read(0, file.size).getReader();
    await reader.read();
    await reader.read();
    await reader.cancel();
    expect(opened).toBe(0);
    await bytesOf(file, 0, 20_000);
    expect(opened).toBe(0);
  });
});

describe('urlSource', () => {
  it.each([
    ['a server without ranges', 200, {}, 'cannot be read by ranges: it answers 200'],
    ['what is not there', 404, {}, 'it answers 404'],
    ['a size that is not known', 206, { 'content-range': 'bytes 0-0/*' }, 'it answers 206'],
  ])('fails for %s', async (_, status, headers, message) => {
    const fetch = async () => new Response('a', { status, headers });
    await expect(urlSource('http://a.test/', { fetch })).rejects.toThrow(message);
  });

  it.each([
    ['another version', { etag: '"2"' }, 'aa', 'has changed'],
    ['another size', { 'content-range': 'bytes 4-5/11' }, 'aa', 'has changed'],
    ['other bytes', { 'content-range': 'bytes 0-1/10' }, 'aa', 'cannot be read by ranges'],
    ['fewer bytes', {}, 'a', 'ended early'],
  ])('fails for a server that sends %s', async (_, headers, body, message) => {
    const answer = (bytes: string, given: Record<string, string>) =>
      new Response(bytes, { status: 206, headers: given });
    let isKnown = false;
    const fetch = async () => {
      if (isKnown) return answer(body, { 'content-range': 'bytes 4-5/10', etag: 'W/"1"', ...headers });
      isKnown = true;
      return answer('a', { 'content-range': 'bytes 0-0/10', etag: 'W/"1"' });
    };
    const source = await urlSource('http://a.test/', { fetch });
    expect(source).toMatchObject({ size: 10, version: 'http://a.test/ W/"1"' });
    await expect(buffer(source.read(4, 6))).rejects.toThrow(message);
  });
});

describe('clip', () => {
  it.each([
    ['video.mp4', 2.52, 7.2],
    ['fragments.mp4', 2.52, 7.2],
    ['audio.m4a', 3.5, 5],
    ['video.mp4', 10, Number.POSITIVE_INFINITY],
  ])('of %s begins at %d s and ends at %d s', async (name, start, end) => {
    const file = await clip(await open(name), start, end);
    const whole = await bytesOf(file);
    const [kind, type] = name.endsWith('.m4a') ? ['audio', 'audio/mp4'] : ['video', 'video/mp4'];
    expect(file).toMatchObject({ size: whole.length, type });
    const seconds = Math.min(end, 12) - start;
    expect(await probeBody(whole, '.mp4')).toMatchObject({
      durationSeconds: expect.closeTo(seconds, 1),
      streams: [{ type: kind }],
    });
    if (kind === 'audio') return;
    const pictures = await picturesOf(pathTo('video.mp4'));
    expect(await picturesOf(whole)).toEqual(pictures.slice(Math.round(start * 25), Math.round((start + seconds) * 25)));
  });

  it('takes a part of a file that was joined', async () => {
    const file = await clip(await pair(), 2, 4);
    expect(await probeBody(await bytesOf(file), '.mp4')).toMatchObject({
      durationSeconds: expect.closeTo(2, 1),
      codecs: ['h264', 'aac'],
    });
  });

  it('fails for a part that is not there', async () => {
    await expect(clip(await open('video.mp4'), 20, 30)).rejects.toThrow(UnsupportedMp4);
  });
});

describe('respond', async () => {
  const file = await pair();
  const whole = await bytesOf(file);
  const { size, etag } = file;

  it.each<[string, string, Record<string, string>, number, [first: number, last: number]?]>([
    ['all of it', 'GET', {}, 200, [0, size - 1]],
    ['a range', 'GET', { range: 'bytes=100-199' }, 206, [100, 199]],
    ['a range to the end', 'GET', { range: `bytes=${size - 10}-` }, 206, [size - 10, size - 1]],
    ['a range beyond the end', 'GET', { range: `bytes=${size - 10}-${size + 10}` }, 206, [size - 10, size - 1]],
    ['a suffix', 'GET', { range: 'bytes=-50' }, 206, [size - 50, size - 1]],
    ['no range that it has', 'GET', { range: `bytes=${size}-` }, 416],
    ['all, of several ranges', 'GET', { range: 'bytes=0-1,4-5' }, 200, [0, size - 1]],
    ['its headers', 'HEAD', {}, 200],
    ['its headers, whatever the range', 'HEAD', { range: 'bytes=0-9' }, 200],
    ['nothing that is known', 'GET', { 'if-none-match': `"other", ${etag}` }, 304],
    ['nothing that is known to HEAD', 'HEAD', { 'if-none-match': etag }, 304],
    ['what is not known', 'GET', { 'if-none-match': '"other"', range: 'bytes=0-9' }, 206, [0, 9]],
    ['a range of the same file', 'GET', { range: 'bytes=5-9', 'if-range': etag }, 206, [5, 9]],
    ['all, for a range of another file', 'GET', { range: 'bytes=5-9', 'if-range': '"other"' }, 200, [0, size - 1]],
    ['nothing to other methods', 'POST', {}, 405],
  ])('sends %s: %s %j is %d', async (_, method, headers, status, range) => {
    const response = respond(new Request('http://a.test/', { method, headers }), file);
    expect(response.status).toBe(status);
    const { etag: tag, ...named } = Object.fromEntries(response.headers);
    expect(tag).toBe(status < 400 ? etag : undefined);
    const [first, last] = range ?? [0, size - 1];
    const sent = { 'content-type': 'video/mp4', 'accept-ranges': 'bytes', 'content-length': String(last - first + 1) };
    expect(named).toEqual(
      {
        200: sent,
        206: { ...sent, 'content-range': `bytes ${first}-${last}/${size}` },
        416: { 'content-range': `bytes */${size}` },
        304: {},
        405: { allow: 'GET, HEAD' },
      }[status],
    );
    const expected = range ? whole.subarray(first, last + 1) : Buffer.alloc(0);
    expect(Buffer.from(await response.arrayBuffer()).equals(expected)).toBe(true);
  });
});
