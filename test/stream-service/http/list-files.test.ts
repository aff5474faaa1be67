import { once } from 'node:events';
import { buffer } from 'node:stream/consumers';
import type { SourceLimits } from '@reelay/source';
import { beforeEach, describe, expect, it } from 'vitest';
import { createFaultHandler } from '../../origin/faults.ts';
import { picturesOf, probeBody } from '../../support/media-tools.ts';
import { sendRequest } from '../../support/request.ts';
import { expectRanges } from '../../support/seekable.ts';
import { expectSized, expectUnsized, resourceOf, tableOf, trackOf, until } from '../fixture.ts';
import { useFolderSite } from '../folder-site.ts';
import { AAC, fragmented, H264, tone } from '../matrix/sources.ts';

const PICTURE = ['-f', 'lavfi', '-i', 'testsrc=s=64x48:r=25:d=20'];
const WIDE = ['-f', 'lavfi', '-i', 'testsrc=s=96x48:r=25:d=6'];
const CODED = [...tone(400), ...H264, ...AAC];
const site = useFolderSite([
  [...PICTURE, ...CODED, ...fragmented('both')],
  [...PICTURE, ...CODED, '-g', '25', ...fragmented('many', 1)],
  [...WIDE, ...CODED, '-t', '6', ...fragmented('wide')],
]);
const { texts, handlers, pathOf: made, read, linesOf, listOf } = site;
const attachments = new Map<string, Buffer>();
beforeEach(() => attachments.clear());

/** Another process. */
const serve = async (name = 'both', limits: Partial<SourceLimits> = {}) => {
  const track = trackOf('f', listOf(name));
  return (await site.serve([track], { durationSeconds: 20 }, { state: tableOf(attachments), limits })).media('f');
};

/** The list as a file of the source alone. */
async function openFile(limits: Partial<SourceLimits>) {
  const { openSource, findFile } = site.upstream.openers({ refresh: async (resource) => resource, limits });
  const track = trackOf('f', listOf('both'));
  const file = await findFile(resourceOf([track]), track);
  const source = await openSource(resourceOf([track]), { ...track, file });
  if (source.needsRemux) throw new Error('A file is expected');
  return source;
}

const SEGMENTS = [0, 1, 2, 3, 4].map((index) => `both${index}.m4s`);

// What it has in common with other sources is in the matrix (test/stream-service/matrix).
describe('a complete list of fragmented MP4', () => {
  it('is known by its list alone where another process has stored its table, and each subsegment is requested once', async () => {
    const whole = await sendRequest(await serve());
    const other = await serve();
    site.requests.length = 0;
    await expectRanges(other, whole);
    expect(site.asked).toEqual(['both.m3u8', ...site.asked.slice(1)]);
    // Besides, some bytes of what is kept are compared with it.
    const subsegments = site.requests.slice(1).filter(({ range = '' }) => !/^bytes=[1-9]/.test(range));
    expect(subsegments.map(({ path }) => path).toSorted()).toEqual(SEGMENTS);

    const third = await serve();
    site.requests.length = 0;
    expect((await sendRequest(third)).body.equals(whole.body)).toBe(true);
    expect(site.asked.toSorted()).toEqual(['both.m3u8', ...SEGMENTS]);
  });

  it('is sent from the beginning while its table takes too long, and has a length afterwards, as parts that wait', async () => {
    const { promise: released, resolve: release } = Promise.withResolvers<void>();
    const held = createFaultHandler({ bytes: read('both3.m4s') });
    handlers.set('both3.m4s', async (request, response) => {
      if (request.headers.range) await released;
      held(request, response);
    });
    const url = await serve('both', { maxTableWaitMs: 20 });
    const head = await sendRequest(url, { method: 'HEAD' });
    expect([head.status, head.headers['content-length']]).toEqual([200, undefined]);
    const part = sendRequest(`${url}?start=1&end=2`);
    const early = await expectUnsized(url);
    await site.expectPackets(early.body, 'both.m3u8', undefined, { sides: ['v'] });
    release();
    expect((await part).status).toBe(200);
    await until(() => attachments.size > 0);
    // A busy machine may take longer than a stream waits here, once more.
    await until(async () => {
      const { headers, body } = await sendRequest(url);
      return headers['content-length'] === String(body.length);
    });
  });

  it.each([600, 60])(
    'whose client leaves HEAD early costs few requests from then on: of %i segments',
    async (count) => {
      const { promise: released, resolve: release } = Promise.withResolvers<void>();
      const served = createFaultHandler({ bytes: read('both1.m4s') });
      let [open, asked] = [0, 0];
      const lines = linesOf('both').filter((line) => !/^(#EXTINF|#EXT-X-ENDLIST|both)/.test(line));
      const listed = Array.from({ length: count }, (_, index) => `#EXTINF:4.0,\nboth1.m4s?${index}`);
      texts.set('long.m3u8', Buffer.from([...lines, ...listed, '#EXT-X-ENDLIST'].join('\n')));
      handlers.set('both1.m4s', async (request, response) => {
        open += 1;
        asked += 1;
        response.once('close', () => {
          open -= 1;
        });
        if (asked > 20) await released;
        served(request, response);
      });
      const left = new AbortController();
      const answer = fetch(await serve('long'), { method: 'HEAD', signal: left.signal });
      await until(() => asked > 20 && open > 0);
      left.abort();
      await answer.catch(() => undefined);
      if (count < 500) release();
      await until(() => open === 0 && (count > 500 || attachments.size > 0));
      expect(asked).toBeLessThan(200);
      release();
    },
  );

  it('asks a host that is overloaded for one segment at a time', async () => {
    let [pending, most, refusals] = [0, 0, 0];
    for (const path of SEGMENTS) {
      const served = createFaultHandler({ bytes: read(path) });
      handlers.set(path, (request, response) => {
        if (refusals < 2) {
          refusals += 1;
          response.writeHead(429, { 'retry-after': '0' }).end();
          return;
        }
        pending += 1;
        most = Math.max(most, pending);
        response.once('close', () => {
          pending -= 1;
        });
        served(request, response);
      });
    }
    const { headers } = await sendRequest(await serve(), { method: 'HEAD' });
    expect([most, Number(headers['content-length']) > 0]).toEqual([1, true]);
  });

  it('waits for the memory of its subsegments, which a stream that nobody reads gives back when it ends', async () => {
    const source = await openFile({ totalSegmentBytes: 1000 });
    const { size = 0, headerBytes } = source;
    const held = source.read(headerBytes ?? 0);
    await once(held, 'readable');
    site.requests.length = 0;
    const waiting = source.read(size - 100);
    const read = buffer(waiting);
    texts.set('barrier', Buffer.alloc(1));
    await fetch(`${site.upstream.origin}/barrier`);
    expect(site.asked).toEqual(['barrier']);
    held.destroy();
    expect((await read).length).toBe(100);
    expect(site.asked).toEqual(['barrier', 'both4.m4s']);
  });

  it('is the same for streams at once, although each frees what it has passed', async () => {
    const source = await openFile({ totalSegmentBytes: 400_000 });
    const [first, ...others] = await Promise.all([0, 0, 1, 1].map((from) => buffer(source.read(from))));
    expect(first?.length).toBe(source.size);
    expect(others.map((read) => first?.subarray(-read.length).equals(read))).toEqual([true, true, true]);
    expect((await buffer(source.read(0))).equals(first ?? Buffer.alloc(0))).toBe(true);
  });

  it('is left to FFmpeg where a segment does not tell its size', async () => {
    const served = read('both1.m4s');
    handlers.set('both1.m4s', (_, response) => {
      response.write(served.subarray(0, 1000));
      response.end(served.subarray(1000));
    });
    const url = await serve();
    await expectUnsized(url);
    expect([...attachments.values()].map(({ length }) => length)).toEqual([0]);
    site.requests.length = 0;
    expect((await sendRequest(url, { method: 'HEAD' })).headers['accept-ranges']).toBe('none');
    expect(site.asked).toEqual([]);
  });

  it('is sent although servers of its source give the same segment other ETags, from its second table on', async () => {
    let answers = 0;
    for (const path of SEGMENTS) {
      const bytes = read(path);
      handlers.set(path, (request, response) => {
        answers += 1;
        createFaultHandler({ bytes, etag: `"${answers}"` })(request, response);
      });
    }
    const url = await serve();
    await expect(sendRequest(url)).rejects.toThrow();
    await site.expectPackets(await expectSized(url), 'both.m3u8');
  });
});

describe('a list with', () => {
  it('byte ranges of one file is known by some of them', async () => {
    site.listRanges('many');
    const url = await serve('ranges');
    const head = await sendRequest(url, { method: 'HEAD' });
    expect(site.asked.filter((path) => path === 'all').length).toBe(6);
    expect(Number(head.headers['content-length'])).toBeGreaterThan(0);
  });

  it('another encoding between discontinuities is one file, whose pictures are decoded, also after a seek', async () => {
    site.joinLists('mixed', 'both', 'wide', 'both');
    const { body } = await sendRequest(await serve('mixed'));
    const { durationSeconds, codecs } = await probeBody(body, '.mp4');
    expect([Math.round(durationSeconds), codecs]).toEqual([46, ['h264', 'aac']]);
    const [both, wide] = [await picturesOf(made('both.m3u8')), await picturesOf(made('wide.m3u8'))];
    const pictures = [...both, ...wide, ...both];
    expect(await picturesOf(body)).toEqual(pictures);
    // To the first and the second access point of a segment.
    for (const seconds of [21.5, 22.5, 27.5, 28.5]) {
      const sought = await picturesOf(body, '-ss', String(seconds));
      expect(sought.length).toBeCloseTo((46 - seconds) * 25, -1);
      expect(sought).toEqual(pictures.slice(-sought.length));
    }
  });
});
