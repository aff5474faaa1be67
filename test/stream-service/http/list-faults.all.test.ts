import { gzipSync } from 'node:zlib';
import { beforeEach, describe, expect, it } from 'vitest';
import { createFaultHandler, type Fault, type FaultHandler } from '../../origin/faults.ts';
import { packetsOf } from '../../support/media-tools.ts';
import { openResponse } from '../../support/request.ts';
import { tableOf, trackOf } from '../fixture.ts';
import { useFolderSite } from '../folder-site.ts';
import { ID3, KEY, KEY_LINE, LISTS, PNG } from '../source/segmented-fixture.ts';
import { bytesOf, encryptAes128 } from '../source/upstream.ts';

const MAP_LINE = '#EXT-X-MAP:URI="init"';
const COUNT = 5;
const PICTURES = 200;
/** Index of the faulty segment. */
const FAULTY = 2;

/** What a list has, by path. */
interface Site {
  readonly segments: readonly (Buffer | FaultHandler)[];
  /** The lines before the first segment, and before each segment. */
  readonly head?: readonly string[];
  readonly lineOf?: (index: number) => readonly string[];
  readonly files?: Readonly<Record<string, Buffer | FaultHandler>>;
  readonly list?: (text: Buffer) => Buffer | FaultHandler;
}

const site = useFolderSite(LISTS);
const segmentsOf = (kind: string) => Array.from({ length: COUNT }, (_, index) => site.read(`${kind}${index}.ts`));
const headOf = (kind: string) => (kind === 'fmp4' ? [MAP_LINE] : []);
const good = (kind: string): Site => ({ segments: segmentsOf(kind) });
type Change = (bytes: Buffer) => Buffer | FaultHandler;
const changed = (kind: string, index: number, change: Change): Site => ({
  segments: segmentsOf(kind).map((bytes, each) => (each === index ? change(bytes) : bytes)),
});
const replaced = (kind: string, fault: Fault): Site =>
  changed(kind, FAULTY, (bytes) => createFaultHandler({ bytes, fault }));

/** Serves a list, and nothing else. */
function serveList(
  kind: string,
  { segments, head = headOf(kind), lineOf = () => [], files = {}, list = (text) => text }: Site,
): readonly FaultHandler[] {
  const lines = segments.flatMap((_, index) => [...lineOf(index), '#EXTINF:4.000,', `${index}.ts`]);
  const text = [
    '#EXTM3U',
    '#EXT-X-TARGETDURATION:4',
    '#EXT-X-PLAYLIST-TYPE:VOD',
    ...head,
    ...lines,
    '#EXT-X-ENDLIST',
  ].join('\n');
  const served = {
    none: missing,
    init: site.read('init.mp4'),
    key: KEY,
    ...Object.fromEntries(segments.map((each, index) => [`${index}.ts`, each])),
    'index.m3u8': list(Buffer.from(text)),
    ...files,
  };
  const handlers = Object.entries(served).map(
    ([path, file]) => [path, Buffer.isBuffer(file) ? createFaultHandler({ bytes: file }) : file] as const,
  );
  for (const [path, handler] of handlers) site.handlers.set(path, handler);
  return handlers.map(([, handler]) => handler);
}

const attachments = new Map<string, Buffer>();
beforeEach(() => attachments.clear());
/** The status of a refusal, a body that breaks off, or all media, with or without a length. */
type Outcome = number | 'broken' | 'whole file' | 'whole' | 'less';

async function outcomeOf(kind: string, list: Site, query = ''): Promise<Outcome> {
  const handlers = serveList(kind, list);
  const limits = { maxAttempts: 2, maxRenewals: 1 };
  const options = { state: tableOf(attachments), limits };
  const service = await site.serve([trackOf('f', site.listOf('index'))], { durationSeconds: 20 }, options);
  const { status, body, headers } = await openResponse(service.media('f') + query);
  const sent = await body.arrayBuffer().then(Buffer.from, () => undefined);
  const all = handlers.flatMap(({ seen }) => seen);
  await expect.poll(() => all.filter(({ state }) => state === 'open')).toEqual([]);
  await service.close();
  if (status !== 200) return status;
  if (!Buffer.isBuffer(sent)) return 'broken';
  if ((await packetsOf(sent, 'v')).length !== PICTURES) return 'less';
  return headers['content-length'] === String(sent.length) ? 'whole file' : 'whole';
}

const zipped = (bytes: Buffer): FaultHandler =>
  Object.assign(
    (_: Parameters<FaultHandler>[0], response: Parameters<FaultHandler>[1]) =>
      void response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync(bytes)),
    { seen: [], renew: () => undefined },
  );
const missing = createFaultHandler({ bytes: KEY, fault: { name: 'status', status: 404, times: 99 } });
const encrypted = (kind: string): Site => ({
  segments: segmentsOf(kind).map((bytes) => encryptAes128(bytes, KEY)),
  head: [...headOf(kind), KEY_LINE],
});

/** Every tenth packet of MPEG-TS is missing; the media of an MP4 goes on to the end. */
function withoutEnd(bytes: Buffer): Buffer {
  const media = bytes.indexOf('mdat');
  if (bytes[0] !== 0x47) return Buffer.concat([bytes.subarray(0, media - 4), Buffer.alloc(4), bytes.subarray(media)]);
  const packets = Array.from({ length: bytes.length / 188 }, (_, index) =>
    bytes.subarray(188 * index, 188 * (index + 1)),
  );
  return Buffer.concat(packets.filter((_, index) => index % 10 !== 9));
}
/** The runs of MP4 describe half of their samples, and MPEG-TS ends after half of its packets. */
function withHalf(bytes: Buffer): Buffer {
  if (bytes[0] === 0x47) return bytes.subarray(0, 188 * Math.floor(bytes.length / 376));
  const halved = Buffer.from(bytes);
  for (let at = bytes.indexOf('trun'); at >= 0; at = bytes.indexOf('trun', at + 4))
    halved.writeUInt32BE(bytes.readUInt32BE(at + 8) >> 1, at + 8);
  return halved;
}
/** The samples of MP4 last half as long. */
function withHalfTime(bytes: Buffer): Buffer {
  if (bytes[0] === 0x47) return withHalf(bytes);
  const halved = Buffer.from(bytes);
  for (let at = bytes.indexOf('tfhd'); at >= 0; at = bytes.indexOf('tfhd', at + 4))
    halved.writeUInt32BE(bytes.readUInt32BE(at + 12) >> 1, at + 12);
  return halved;
}
/** The packets of the second half have no sync bytes, and the boxes no types. */
const damaged = (bytes: Buffer): Buffer => {
  const from = bytes[0] === 0x47 ? Math.ceil(bytes.length / 2 / 188) * 188 : 0;
  return Buffer.concat([bytes.subarray(0, from), Buffer.alloc(bytes.length - from)]);
};
const empty = () => Buffer.alloc(0);
const withZeros = (bytes: Buffer): Buffer => Buffer.concat([bytes, Buffer.alloc(1_000_000)]);
const unsized = (kind: string, index: number, change: (bytes: Buffer) => Buffer): Site =>
  changed(kind, index, (bytes) => createFaultHandler({ bytes: change(bytes), fault: { name: 'chunked' } }));
const behind = (head: Buffer, kind: string): Site => ({
  segments: segmentsOf(kind).map((bytes) => Buffer.concat([head, bytes])),
});
const ranged = (kind: string, range: string): Site => ({
  segments: segmentsOf(kind),
  lineOf: (index) => (index === FAULTY ? [`#EXT-X-BYTERANGE:${range}`] : []),
});
const always = { times: 99 };

/** What a client gets of a list of MPEG-TS and of one of fragmented MP4 that are not known yet. */
const ROWS: readonly (readonly [string, (kind: string) => Site, ts: Outcome, fmp4: Outcome])[] = [
  ['without faults', good, 'whole file', 'whole file'],
  ['encrypted', encrypted, 'whole file', 'whole file'],
  ['compressed although not asked for', (kind) => ({ ...good(kind), list: zipped }), 'whole file', 'whole file'],
  ['with a segment that ends early', (kind) => replaced(kind, { name: 'short-body', by: 20_000, ...always }), 502, 502],
  [
    'with a segment whose connection ends early',
    (kind) => replaced(kind, { name: 'unframed', after: 1880, ...always }),
    502,
    502,
  ],
  [
    'with a segment of which another range is sent',
    (kind) => replaced(kind, { name: 'wrong-range', ...always }),
    'whole',
    'whole',
  ],
  ['with a segment that fails', (kind) => replaced(kind, { name: 'status', status: 500, ...always }), 502, 502],
  ['with a segment that is gone', (kind) => replaced(kind, { name: 'status', status: 404, ...always }), 404, 404],
  [
    'with a segment that redirects to the machine',
    (kind) => replaced(kind, { name: 'redirect', location: 'http://127.0.0.1:9/' }),
    404,
    404,
  ],
  ['with a damaged segment', (kind) => changed(kind, FAULTY, damaged), 'broken', 502],
  ['with compressed segments', (kind) => ({ segments: segmentsOf(kind).map(zipped) }), 415, 415],
  ['with an empty segment', (kind) => changed(kind, FAULTY, empty), 502, 502],
  ['with an empty first segment', (kind) => changed(kind, 0, empty), 502, 502],
  ['with a key of 15 bytes', (kind) => ({ ...encrypted(kind), files: { key: KEY.subarray(1) } }), 502, 502],
  ['with a wrong key', (kind) => ({ ...encrypted(kind), files: { key: bytesOf(16, 77) } }), 502, 502],
  ['without its key', (kind) => ({ ...encrypted(kind), files: { key: missing } }), 404, 404],
  ['with a range beyond the end of its file', (kind) => ranged(kind, '1000@90000000'), 502, 502],
  ['with a range over the end of its file', (kind) => ranged(kind, '90000000@0'), 502, 502],
  ['without its initialization section', (kind) => ({ ...good(kind), head: ['#EXT-X-MAP:URI="none"'] }), 404, 404],
  ['that names no initialization section', (kind) => ({ ...good(kind), head: [] }), 'whole file', 502],
  [
    'with packets that are missing, or media without an end',
    (kind) => changed(kind, FAULTY, withoutEnd),
    'broken',
    'broken',
  ],
  ['with such a segment of unknown size', (kind) => unsized(kind, FAULTY, withoutEnd), 'broken', 'broken'],
  ['with zeros behind a segment of unknown size', (kind) => unsized(kind, FAULTY, withZeros), 'broken', 'broken'],
  ['with half of the samples of a segment', (kind) => changed(kind, FAULTY, withHalf), 'broken', 'broken'],
  ['with half of those of one of unknown size', (kind) => unsized(kind, FAULTY, withHalf), 'broken', 'broken'],
  ['with samples for half of the time of one', (kind) => changed(kind, FAULTY, withHalfTime), 'broken', 'broken'],
  ['with those of one of unknown size', (kind) => unsized(kind, FAULTY, withHalfTime), 'broken', 'broken'],
  ['with segments behind ID3', (kind) => behind(ID3, kind), 'whole', 502],
  ['with segments behind pictures', (kind) => behind(PNG, kind), 'whole', 502],
];

describe('a list', () => {
  it.each(
    ROWS.flatMap(([what, site, ts, fmp4]) => [['ts', what, ts, site] as const, ['fmp4', what, fmp4, site] as const]),
  )('of %s %s: %s', async (kind, _, outcome, site) => {
    expect(await outcomeOf(kind, site(kind))).toBe(outcome);
  });

  it.each(['?format=mp3', '?format=m4a', '?format=wav', '?start=2&end=18'])(
    'with half of the samples of a segment is no complete %s, either',
    async (query) => {
      for (const kind of ['ts', 'fmp4'])
        for (const site of [changed, unsized].flatMap((as) =>
          [withHalf, withHalfTime].map((by) => as(kind, FAULTY, by)),
        ))
          expect(['broken', 502]).toContain(await outcomeOf(kind, site, query));
    },
  );

  it('of fmp4 may end with media without an end', async () => {
    expect(await outcomeOf('fmp4', changed('fmp4', COUNT - 1, withoutEnd))).toBe('whole file');
  });

  it.each(['ts', 'fmp4'])('of %s that is known breaks off where it fails', async (kind) => {
    for (const [what, site] of ROWS.slice(3, 14)) {
      attachments.clear();
      expect(await outcomeOf(kind, good(kind))).toBe('whole file');
      expect([what, await outcomeOf(kind, site(kind))]).toEqual([what, 'broken']);
    }
  });
});
