import type { ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { beforeAll, describe, expect, it } from 'vitest';
import type { Track } from '../../../core/state/resource.ts';
import { createFaultHandler } from '../../origin/faults.ts';
import { fragmentedHls } from '../../origin/media.ts';
import { inspect, probeBody, packetsOf as timedPacketsOf } from '../../support/media-tools.ts';
import { descendants } from '../../support/processes.ts';
import { openResponse, sendRequest, statusOrBroken } from '../../support/request.ts';
import { expectSeekable } from '../../support/seekable.ts';
import {
  audioTrack,
  combinedKey,
  expectSized,
  mediaKey,
  resourceOf,
  startService,
  trackOf,
  until,
  videoTrack,
} from '../fixture.ts';
import { useFolderSite } from '../folder-site.ts';
import { encryptAes128, type Handler } from '../source/upstream.ts';
import { follow, segmentsOf, statusOf } from './windows.ts';

const PICTURE = ['-f', 'lavfi', '-i', 'testsrc=s=64x48:r=10:d=12'];
const TONE = ['-f', 'lavfi', '-i', 'sine=400:r=48000:d=12'];
const H264 = ['-c:v', 'libx264', '-preset', 'ultrafast', '-g', '20', '-bf', '2'];
const BOTH = [...PICTURE, ...TONE, ...H264, '-c:a', 'aac'];
/** Six segments of two seconds, whose clock begins at a time. */
const recording = (name: string, clockSeconds: number, ...coded: string[]): string[] => [
  ...coded,
  '-output_ts_offset',
  String(clockSeconds),
  ...fragmentedHls(name, 2),
];

const site = useFolderSite([
  recording('both', 1000, ...BOTH),
  recording('ad', 5, ...BOTH),
  recording('wide', 0, '-f', 'lavfi', '-i', 'testsrc=s=96x48:r=10:d=12', ...TONE, ...H264, '-c:a', 'aac'),
  recording('video', 1000, ...PICTURE, ...H264),
  recording('audio', 1000, ...TONE, '-c:a', 'aac'),
  [
    ...[...BOTH, '-output_ts_offset', '1000', '-f', 'hls', '-hls_time', '2', '-hls_list_size', '0'],
    ...['-hls_segment_filename', 'ts%d.ts', 'ts.m3u8'],
  ],
]);
const { handlers, read: file } = site;
/** The requests that have not ended. */
const pending = new Set<ServerResponse>();
const sockets = new Set<Duplex>();
beforeAll(() =>
  site.upstream.use((request, response) => {
    pending.add(response);
    response.shouldKeepAlive = false;
    sockets.add(request.socket);
    response.once('close', () => pending.delete(response));
    request.socket.once('close', () => sockets.delete(request.socket));
    site.handle(request, response);
  }),
);

/** Serves a list that changes as the test wants. */
const setList = (path: string, list: () => string) => handlers.set(path, (_, response) => void response.end(list()));
const remove = (path: string) => handlers.set(path, (_, response) => void response.writeHead(404).end());

interface RollingList {
  from: number;
  to: number;
  isEnded?: boolean;
  firstSequence?: number;
}

const START = Date.UTC(2026, 10, 23, 20);

/** What a source lists between two numbers, which the test moves. @param extra lines before a segment */
const rolling =
  (name: string, state: RollingList, { end = 'm4s', extra = (_: number): string[] => [] } = {}) =>
  () =>
    [
      ...['#EXTM3U', '#EXT-X-VERSION:7', '#EXT-X-TARGETDURATION:2'],
      `#EXT-X-MEDIA-SEQUENCE:${(state.firstSequence ?? 100) + state.from}`,
      ...(end === 'm4s' ? [`#EXT-X-MAP:URI="${name}.mp4"`] : []),
      ...Array.from({ length: state.to - state.from }, (_, index) => state.from + index).flatMap((number) => [
        ...(number === state.from ? [`#EXT-X-PROGRAM-DATE-TIME:${new Date(START + 2000 * number).toISOString()}`] : []),
        ...extra(number),
        '#EXTINF:2.000,',
        `${name}${number}.${end}`,
      ]),
      ...(state.isEnded ? ['#EXT-X-ENDLIST'] : []),
    ].join('\n');

/** Lists that are loaded again at once. */
const eager =
  (...list: Parameters<typeof rolling>) =>
  () =>
    rolling(...list)().replace('DURATION:2', 'DURATION:0');

const at = (path: string): Partial<Track> => ({ delivery: 'hls', url: `${site.upstream.origin}/${path}` });
const live = { isLive: true, durationSeconds: undefined };

/** The address of a live rendition whose list is `a.list`. */
async function serve(list: () => string, traits: Partial<Track> = {}): Promise<string> {
  setList('a.list', list);
  const { url } = await site.serve([trackOf('f', { ...at('a.list'), ...traits })], live);
  return `${url}/api/Stream/Media/${mediaKey('f')}`;
}

async function servePair(state: RollingList, audio = state): Promise<string> {
  setList('v.list', rolling('video', state));
  setList('s.list', rolling('audio', audio));
  const { url } = await site.serve([videoTrack(at('v.list')), audioTrack(at('s.list'))], live);
  return `${url}/api/Stream/Media/${combinedKey()}`;
}

/** The digests of the packets of a side, in decode order. */
async function packetsOf(body: Buffer, side: 'v' | 'a'): Promise<string[]> {
  return (await timedPacketsOf(body, side)).map((packet) => packet.split(' ').at(-1) ?? '');
}

/** Expects the samples of some segments on a side. */
async function expectSamples(body: Buffer, side: 'v' | 'a', name: string, from: number, to: number): Promise<void> {
  const numbers = Array.from({ length: to - from }, (_, index) => from + index);
  const source = Buffer.concat([file(`${name}.mp4`), ...numbers.map((number) => file(`${name}${number}.m4s`))]);
  expect(await packetsOf(body, side)).toEqual(await packetsOf(source, side));
}

// A window of MPEG-TS is a row of the matrix (test/stream-service/matrix).
describe('a window of a live stream of fragmented MP4', () => {
  it('is one MP4 with length and ranges, with the samples of its segments from 0 on', async () => {
    const state = { from: 0, to: 5 };
    const base = await serve(rolling('both', state));
    const url = await follow(`${base}?start=-5`);
    expect(new URL(url).search).toBe('?segments=102-104');
    const whole = await expectSeekable(url, { cache: 'no-store' });
    expect(whole.headers['content-type']).toBe('video/mp4');
    expect(decodeURIComponent(whole.headers['content-disposition'] ?? '')).toContain(
      'A clip (2026-11-23 20-00-04Z).mp4',
    );
    const { durationSeconds, complaints, tags, codecs } = await inspect(whole.body, '.mp4');
    expect({ complaints, codecs, recorded: tags.creation_time }).toEqual({
      complaints: '',
      codecs: ['h264', 'aac'],
      recorded: '2026-11-23T20:00:04.000000Z',
    });
    expect(Math.round(durationSeconds)).toBe(6);
    for (const side of ['v', 'a'] as const) await expectSamples(whole.body, side, 'both', 2, 5);

    // What has left the list is still resumed as long as the source has it; another process does not know it.
    Object.assign(state, { from: 4, to: 6 });
    await follow(`${base}?start=-1`);
    const rest = await sendRequest(url, { headers: { range: 'bytes=20000-' } });
    expect([rest.status, rest.body.equals(whole.body.subarray(20_000))]).toEqual([206, true]);
    for (const number of [2, 3, 4]) remove(`both${number}.m4s`);
    expect(await statusOf(`${await serve(rolling('both', state))}${new URL(url).search}`)).toBe('404 /problems/gone');
  });

  it('costs its source at most two requests for each segment, of which HEAD sends the first', async () => {
    const base = await serve(rolling('both', { from: 0, to: 6 }));
    const url = `${base}?segments=100-105`;
    const before = await sendRequest(url, { method: 'HEAD' });
    expect([before.status, site.asked.length]).toEqual([200, 2 + 6]);
    const { headers } = await sendRequest(url);
    const after = await sendRequest(url, { method: 'HEAD' });
    const length = headers['content-length'];
    expect([before.headers['content-length'], after.headers['content-length']]).toEqual([length, length]);
    expect(site.asked.length).toBeLessThanOrEqual(2 + 2 * 6);
  });

  const PAGE = Buffer.from('<html>Blocked</html>');
  it.each([
    ['m4s', 'a page', () => PAGE],
    ['m4s', 'nothing', () => Buffer.alloc(0)],
    ['m4s', 'its first half', (bytes: Buffer) => bytes.subarray(0, bytes.length / 2)],
    ['ts', 'a page', () => PAGE],
    ['ts', 'zeros', (bytes: Buffer) => Buffer.alloc(bytes.length)],
    ['ts', 'nothing', () => Buffer.alloc(0)],
  ] as const)('of .%s with %s in place of a segment is never a complete response', async (end, _, damage) => {
    const name = end === 'ts' ? 'ts' : 'both';
    for (const place of [0, 3, 5]) {
      const base = await serve(rolling(name, { from: 0, to: 6 }, { end }));
      const path = `${name}${place}.${end}`;
      handlers.set(path, createFaultHandler({ bytes: damage(file(path)) }));
      const outcome = await statusOrBroken(sendRequest(`${base}?segments=100-105`));
      expect(['broken', 502], `place ${place}`).toContain(outcome);
      handlers.clear();
    }
  });

  it('has a length when it is long, too', async () => {
    const entries = Array.from({ length: 101 }, (_, index) => `#EXTINF:2.000,\nboth${index % 6}.m4s?${index}`);
    const list = ['#EXTM3U', '#EXT-X-TARGETDURATION:2', '#EXT-X-MAP:URI="both.mp4"', ...entries].join('\n');
    const base = await serve(() => list);
    await expectSized(`${base}?segments=0-100`);
    expect(site.asked.length).toBeLessThanOrEqual(2 + 2 * 101);
  });

  it('is selected by seconds before now, by the time of day and by numbers, as far as it is held', async () => {
    const base = await serve(rolling('both', { from: 1, to: 5 }));
    expect(await segmentsOf(`${base}?start=-999`)).toBe('101-104');
    expect(await segmentsOf(`${base}?start=-6&end=-2`)).toBe('102-103');
    expect(await segmentsOf(`${base}?end=-4`)).toBe('101-102');
    expect(await segmentsOf(`${base}?start=2026-11-23T20:00:05Z&end=2026-11-23T21:00:07%2B01:00`)).toBe('102-103');
    expect(await segmentsOf(`${base}?start=2026-11-23T19:00:00Z`)).toBe('101-104');
    expect(new URL(await follow(`${base}?start=-1&format=mp3&bitrate=128`)).search).toBe(
      '?format=mp3&bitrate=128&segments=104-104',
    );
    const { searchParams } = new URL(await follow(`${base}?start=-1&fileName=Who?&format=mp3`));
    expect([searchParams.get('fileName'), searchParams.get('format')]).toEqual(['Who?', 'mp3']);
    expect((await sendRequest(`${base}?start=-5`, { method: 'HEAD' })).status).toBe(302);
    const times = ['start=-5&end=-9', 'start=-5&end=7', 'start=-0', 'start=5', 'start=2026-13-40T00:00:00Z'];
    const numbers = ['segments=5-4', 'segments=1-20001', 'segments=x', 'segments=1-2&start=-3', 'segments=103-'];
    for (const query of [...times, 'start=2030-01-01T00:00:00Z', ...numbers])
      expect([query, await statusOf(`${base}?${query}`)]).toEqual([query, '400 /problems/bad-parameter']);
    for (const query of ['end=2020-01-01T00:00:00Z', 'segments=1-3', 'segments=104-105'])
      expect([query, await statusOf(`${base}?${query}`)]).toEqual([query, '404 /problems/gone']);
  });

  it.each(['ad', 'wide'])(
    'has one timeline across discontinuities, where the encoding may change: %s',
    async (other) => {
      const begins = (name: string) => ['#EXT-X-DISCONTINUITY', `#EXT-X-MAP:URI="${name}.mp4"`];
      const extra = (number: number) => (number < 2 ? [] : begins(number === 2 ? other : 'both'));
      const list = rolling('both', { from: 0, to: 4 }, { extra });
      const base = await serve(() => list().replace('both2.m4s', `${other}0.m4s`));
      const body = await expectSized(await follow(`${base}?start=-999`));
      expect(await packetsOf(body, 'v')).toHaveLength(80);
      if (other === 'wide') return;
      const { durationSeconds, complaints } = await inspect(body, '.mp4');
      expect([Math.round(durationSeconds), complaints]).toEqual([8, '']);
    },
  );

  it('is a recording with its time, and has clips', async () => {
    const base = await serve(rolling('both', { from: 0, to: 5 }));
    const tagged = await sendRequest(`${base}?segments=101-102&format=m4a&tags=true`);
    expect((await probeBody(tagged.body, '.m4a')).tags).toMatchObject({
      title: 'A clip',
      date: '2026-11-23T20:00:02.000Z',
    });
    // The initialization section of the source delays the samples by 1000 s; the window begins at 0.
    const clip = await sendRequest(`${base}?segments=101-104&start=1.3&end=4.7`);
    const { streams, complaints } = await inspect(clip.body, '.mp4');
    expect([clip.status, complaints, streams.map(({ durationSeconds }) => durationSeconds.toFixed(1))]).toEqual([
      ...[200, '', ['3.4', '3.4']],
    ]);
    expect(site.service?.sizes.size).toBe(0);
  });

  it('joins separate video and audio into one file', async () => {
    const base = await servePair({ from: 0, to: 5 }, { from: 1, to: 4 });
    const url = await follow(`${base}?start=-999`);
    expect(new URL(url).searchParams.get('segments')).toBe('101-103');
    const body = await expectSized(url);
    const { complaints, codecs, streams } = await inspect(body, '.mp4');
    expect([complaints, codecs]).toEqual(['', ['h264', 'aac']]);
    expect(streams.map(({ durationSeconds }) => Math.round(durationSeconds))).toEqual([6, 6]);
    await expectSamples(body, 'v', 'video', 1, 4);
    await expectSamples(body, 'a', 'audio', 1, 4);
  });
});

describe('a window of another kind', () => {
  it('needs times of day in the list, and a live list', async () => {
    const untimed = (): string => rolling('both', { from: 0, to: 3 })().replace(/#EXT-X-PROGRAM.*\n/, '');
    const base = await serve(untimed);
    expect(await segmentsOf(`${base}?start=-3`)).toBe('101-102');
    expect(await statusOf(`${base}?start=2026-11-23T20:00:00Z`)).toBe('400 /problems/bad-parameter');
    // One time suffices, in any zone, for the segments before it as well.
    const time = '#EXT-X-PROGRAM-DATE-TIME:2026-11-23T22:00:04+02:00\n#EXTINF:2.000,\nboth2';
    const timed = await serve(() => untimed().replace('#EXTINF:2.000,\nboth2', time));
    expect(await segmentsOf(`${timed}?start=2026-11-23T20:00:00Z&end=2026-11-23T20:00:04Z`)).toBe('100-101');
    for (const [delivery, isLive] of [
      ['direct', true],
      ['hls', false],
      ['dash', false],
    ] as const) {
      const service = await startService(resourceOf([trackOf('f', { delivery })], { isLive }), {});
      for (const query of ['start=-5', 'segments=1-2', 'start=2026-11-23T20:00:00Z'])
        expect(await statusOf(`${service.media('f')}?${query}`)).toBe('400 /problems/bad-parameter');
      await service.close();
    }
  });

  it('knows a list that has restarted by its segments', async () => {
    const state: RollingList = { from: 0, to: 5 };
    const base = await serve(rolling('both', state));
    expect((await sendRequest(await follow(`${base}?start=-2`))).status).toBe(200);
    Object.assign(state, { from: 0, to: 2, firstSequence: 0 });
    expect(await segmentsOf(`${base}?start=-999`)).toBe('0-1');
    expect(await statusOf(`${base}?segments=104-104`)).toBe('404 /problems/gone');
  });
});

describe('a client that leaves', () => {
  const timers = () => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;
  const stall: Handler = () => undefined;
  const loadsOf = (file: string) => site.asked.filter((path) => path === file).length;
  const windowOf = async () => `${await serve(rolling('both', { from: 0, to: 4 }))}?segments=100-103`;

  it.each<[string, () => Promise<string>, () => boolean]>([
    ['before the list', windowOf, () => site.asked.length > 0],
    [
      'while a segment stalls',
      async () => {
        handlers.set('both2.m4s', stall);
        return windowOf();
      },
      () => site.asked.includes('both2.m4s'),
    ],
    ['while it waits for segments', () => serve(eager('both', { from: 0, to: 4 })), () => loadsOf('a.list') > 4],
    [
      'while both tracks stall',
      async () => {
        for (const name of ['video1.m4s', 'audio1.m4s']) handlers.set(name, stall);
        return servePair({ from: 0, to: 4 });
      },
      () => site.asked.includes('video1.m4s') && site.asked.includes('audio1.m4s'),
    ],
    [
      'within a window',
      async () => {
        const url = await follow(`${await serve(rolling('both', { from: 0, to: 4 }))}?start=-999`);
        await sendRequest(url, { method: 'HEAD' });
        handlers.set('both2.m4s', stall);
        return url;
      },
      () => loadsOf('both2.m4s') > 1,
    ],
  ])('%s leaves no request, process, timer or socket behind', async (name, open, isReached) => {
    const before = timers();
    const url = await open();
    if (name === 'before the list') handlers.set('a.list', stall);
    const client = new AbortController();
    const answer = openResponse(url, { signal: client.signal }).then(
      ({ body }) => body.on('error', () => undefined).resume(),
      () => undefined,
    );
    await until(isReached);
    client.abort();
    await answer;
    await until(() => pending.size === 0 && site.service?.connections() === 0);
    await until(async () => (await descendants('ffmpeg')).length === 0);
    const { length } = site.asked;
    await until(() => sockets.size === 0 && timers() <= before);
    expect(site.asked.length).toBe(length);
  });
});

describe('the HLS presentation of a live stream', () => {
  const presentation = (url: string) => url.replace('/Media/', '/Hls/');

  it('rolls with its source, under names of its own, and ends with it', async () => {
    const state: RollingList = { from: 0, to: 4 };
    const base = presentation(
      await serve(rolling('both', state), {
        bitrate: 500,
        video: { codec: 'avc1.42c00a' },
        audio: { codec: 'mp4a.40.2' },
      }),
    );
    const textOf = async (name: string) => (await sendRequest(`${base}/${name}`)).body.toString();
    expect(await textOf('master.m3u8')).toMatch(/BANDWIDTH=500000,CODECS="avc1.42c00a,mp4a.40.2"\nboth\.m3u8\n$/);
    const first = await textOf('both.m3u8');
    expect(first).toMatch(
      /SEQUENCE:100\n#EXT-X-MAP:URI="both-init-[\w-]+\.mp4"\n#EXT-X-PROGRAM-DATE-TIME:2026-11-23T20:00:00/,
    );
    const init = /both-init-[\w-]+\.mp4/.exec(first)?.[0] ?? '';
    expect((await sendRequest(`${base}/${init}`)).body.equals(file('both.mp4'))).toBe(true);
    const { headers, body } = await sendRequest(`${base}/both-102.m4s`);
    expect([headers['content-type'], headers['content-disposition'], headers['cache-control']]).toEqual([
      ...['video/mp4', undefined, 'no-store'],
    ]);
    expect(body.equals(file('both2.m4s'))).toBe(true);
    for (const name of ['master.m3u8', 'both.m3u8', init, 'both-102.m4s']) {
      const head = await sendRequest(`${base}/${name}`, { method: 'HEAD' });
      const { 'transfer-encoding': _, ...expected } = (await sendRequest(`${base}/${name}`)).headers;
      expect(head.headers).toEqual({ ...expected, date: expect.any(String) });
    }
    expect(await textOf('held.m3u8')).toMatch(/\nboth-held\.m3u8\n$/);
    expect(await textOf('both-held.m3u8')).toBe(`${first}#EXT-X-ENDLIST\n`);
    Object.assign(state, { from: 3, to: 6, isEnded: true });
    const last = await textOf('both.m3u8');
    expect([last.includes('MEDIA-SEQUENCE:103\n'), last.includes(init), last.endsWith('#EXT-X-ENDLIST\n')]).toEqual([
      ...[true, true, true],
    ]);
    for (const name of ['other.m3u8', 'video.m3u8', 'both-x.m4s', 'both-7.m4s', 'both-init-unknown.mp4'])
      expect((await sendRequest(`${base}/${name}`)).status).toBe(404);
    expect(await timedPacketsOf(`${base}/master.m3u8`, 'v')).toHaveLength(60);
  });

  it('has decrypted MPEG-TS, and lists separate audio', async () => {
    const key = Buffer.alloc(16, 7);
    const encrypt = (name: string, sequence: number) => {
      const iv = Buffer.alloc(16);
      iv.writeUInt32BE(sequence, 12);
      return encryptAes128(file(name), key, iv);
    };
    for (const number of [0, 1, 2])
      handlers.set(`ts${number}.ts`, createFaultHandler({ bytes: encrypt(`ts${number}.ts`, 100 + number) }));
    handlers.set('key', createFaultHandler({ bytes: key }));
    const encrypted = () =>
      rolling('ts', { from: 0, to: 3 }, { end: 'ts' })().replace(
        '#EXTINF',
        '#EXT-X-KEY:METHOD=AES-128,URI="key"\n#EXTINF',
      );
    const url = await serve(encrypted);
    const base = presentation(url);
    expect((await sendRequest(`${base}/both-101.ts`)).body.equals(file('ts1.ts'))).toBe(true);
    expect((await sendRequest(`${base}/both.m3u8`)).body.toString()).not.toContain('KEY');
    const window = await sendRequest(await follow(`${url}?start=-4`));
    expect([window.status, (await packetsOf(window.body, 'v')).length]).toEqual([200, 40]);
    handlers.clear();
    const pair = presentation(await servePair({ from: 0, to: 3 }));
    expect((await sendRequest(`${pair}/master.m3u8`)).body.toString()).toMatch(
      /URI="audio\.m3u8"\n.*AUDIO="a"\nvideo\.m3u8\n/,
    );
    expect((await sendRequest(`${pair}/audio-101.m4s`)).body.equals(file('audio1.m4s'))).toBe(true);
  });
});

describe('a source with its own ways', () => {
  it('may have byte ranges, ignore ranges, and have several fragments in a segment', async () => {
    const parts = [file('both0.m4s'), Buffer.concat([file('both1.m4s'), file('both2.m4s')])];
    handlers.set('one.m4s', createFaultHandler({ bytes: Buffer.concat(parts) }));
    const ranged = () =>
      [
        ...['#EXTM3U', '#EXT-X-TARGETDURATION:4', '#EXT-X-MEDIA-SEQUENCE:1', '#EXT-X-MAP:URI="both.mp4"'],
        ...[`#EXT-X-BYTERANGE:${parts[0]?.length}@0`, '#EXTINF:2,', 'one.m4s'],
        ...[`#EXT-X-BYTERANGE:${parts[1]?.length}`, '#EXTINF:4,', 'one.m4s'],
      ].join('\n');
    const body = await expectSized(await follow(`${await serve(ranged)}?start=-99`));
    const { durationSeconds, complaints } = await inspect(body, '.mp4');
    expect([Math.round(durationSeconds), complaints]).toEqual([6, '']);
    await expectSamples(body, 'v', 'both', 0, 3);
    // A source that ignores ranges tells the size of a segment, or nothing of it.
    for (const [length, ranges] of [
      [true, 'bytes'],
      [false, 'none'],
    ] as const) {
      for (const number of [0, 1]) {
        const fault = { name: 'ignore-range', length } as const;
        handlers.set(`both${number}.m4s`, createFaultHandler({ bytes: file(`both${number}.m4s`), fault }));
      }
      const whole = await sendRequest(await follow(`${await serve(rolling('both', { from: 0, to: 2 }))}?start=-99`));
      expect([whole.headers['accept-ranges'], (await packetsOf(whole.body, 'v')).length]).toEqual([ranges, 40]);
    }
  });

  it('may have a gap, which is left out', async () => {
    const extra = (number: number) => (number === 1 ? ['#EXT-X-GAP'] : []);
    const base = await serve(rolling('both', { from: 0, to: 4 }, { extra }));
    const body = await expectSized(await follow(`${base}?start=-99`));
    expect(await packetsOf(body, 'v')).toHaveLength(60);
    expect(site.asked).not.toContain('both1.m4s');
  });
});
