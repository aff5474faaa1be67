import { expect, it } from 'vitest';
import { createFaultHandler, type Fault } from '../../origin/faults.ts';
import { MiB, startFileUpstream } from './file-source-fixture.ts';
import {
  KEY,
  KEY_LINE,
  listed,
  parts,
  playlist,
  same,
  segments,
  useSegmentedSite,
  whole,
} from './segmented-fixture.ts';
import { encryptAes128, limitsFor, readAll, statusOf } from './upstream.ts';

const status = (code: number, times = 99): Fault => ({ name: 'status', status: code, times });
type Outcome = 'whole' | 'broken 502' | number;
const PLACES = ['file', 'playlist', 'key', 'first segment', 'later segment'] as const;
type Place = (typeof PLACES)[number];

const FAULTS: readonly (readonly [string, Fault | undefined, Outcome, Partial<Record<Place, Outcome>>?])[] = [
  ['behaves', undefined, 'whole'],
  ['drops once', { name: 'drop', after: 300_000, times: 1 }, 'whole'],
  ['drops in every answer for a while', { name: 'drop', after: 100_001, times: 12 }, 'whole'],
  ['drops early', { name: 'drop', after: 5, times: 2 }, 'whole'],
  ['drops before the first byte', { name: 'drop', after: 0, times: 3 }, 'whole'],
  ['drops every answer at once', { name: 'drop', after: 0, times: 99 }, 502],
  ['forbids HEAD, open ends and large ranges', { name: 'strict', largest: MiB }, 'whole'],
  ['ignores Range', { name: 'ignore-range', length: true }, 'whole'],
  ['ignores Range and drops', { name: 'ignore-range', length: true, dropAfter: 200_000, times: 2 }, 'whole'],
  ['ignores Range and says no length', { name: 'ignore-range', length: false }, 'whole'],
  ['ignores Range, says no length and drops', { name: 'ignore-range', length: false, dropAfter: 200_000 }, 'whole'],
  ['tells its end by the end of the connection', { name: 'unframed', after: 0, times: 0 }, 'whole'],
  ['ends the connection early twice', { name: 'unframed', after: 4, times: 2 }, 'whole'],
  ['ends every connection early', { name: 'unframed', after: 4, times: 99 }, 502, { file: 'broken 502' }],
  ['resets connections', { name: 'reset', times: 3 }, 'whole'],
  ['resets every connection', { name: 'reset', times: 99 }, 502],
  ['starts slowly', { name: 'slow-start', milliseconds: 20 }, 'whole'],
  ['throttles each connection', { name: 'throttle', bytesPerSecond: 4 * MiB }, 'whole'],
  ['never says a length', { name: 'chunked' }, 'whole'],
  ['says gzip', { name: 'encoded' }, 415, { playlist: 502, key: 502 }],
  ['is out of order for a moment', status(503, 2), 'whole'],
  ['answers 429 with Retry-After', { name: 'status', status: 429, times: 2, retryAfter: '1' }, 'whole'],
  ['is too busy', { name: 'status', status: 429, times: 99, retryAfter: 'Fri, 21 Nov 2036 00:00:00 GMT' }, 502],
  ['is gone', status(404), 404],
  ['has removed it', status(410), 404],
  ['refuses', status(403), 502],
  ['wants a login', status(401), 502],
  ['wants payment', status(402), 502],
  ['is out of order', status(500), 502],
  ['answers something odd', status(299), 502],
  ['redirects to an invalid host', { name: 'redirect', location: 'http://[' }, 502],
  ['redirects to no host', { name: 'redirect', location: 'http://' }, 502],
  ['redirects to 15,000 characters', { name: 'redirect', location: `/${'a'.repeat(15_000)}` }, 502],
  ['redirects to a script', { name: 'redirect', location: 'javascript:alert(1)' }, 404],
];
/** A stall is noticed after a second, whatever stalls. */
const STALLS: typeof FAULTS = [['stalls before the first byte', { name: 'stall', after: 0, times: 2 }, 'whole']];
/** Lists are requested without ranges. */
const FAULTS_OF_RANGES: typeof FAULTS = [
  ['stalls', { name: 'stall', after: 300_000, times: 2 }, 'whole'],
  ['stalls in every answer', { name: 'stall', after: 0, times: 99 }, 502],
  ['has another size midway', { name: 'wrong-total', from: 1 }, 'broken 502'],
  ['sends less than it said', { name: 'short-body', by: 1000, times: 3 }, 'whole'],
  ['sends more than it said', { name: 'long-body', by: 1000 }, 'whole'],
  ['answers another range at first', { name: 'wrong-range', times: 2 }, 'whole'],
  ['never answers with the right range', { name: 'wrong-range', times: 99 }, 502],
  ['forgets Content-Range at first', { name: 'no-range-header', times: 2 }, 'whole'],
  ['never sends Content-Range', { name: 'no-range-header', times: 99 }, 502],
];
const FAULTS_OF_KEYS: typeof FAULTS = [
  ['is too short', { name: 'short-body', by: 4, times: 99 }, 502],
  ['is too long', { name: 'long-body', by: 4 }, 502],
];

const site = useSegmentedSite();
const { fault: serveFile, openWith, whole: wholeFile } = await startFileUpstream();

async function outcomeOf(place: Place, fault: Fault | undefined) {
  const options = {
    refresh: same,
    limits: fault && 'times' in fault && fault.times === 99 ? { stallTimeoutMs: 50 } : limitsFor(fault),
  };
  if (place === 'file') {
    const { seen } = serveFile(fault);
    const outcome = await openWith(options).then(
      (source) => readAll(source.read(0)),
      (error) => statusOf(Promise.reject(error)),
    );
    return { outcome: outcome === wholeFile ? 'whole' : outcome, seen };
  }
  const faulty = (bytes: Buffer) => createFaultHandler({ bytes, ...(fault && { fault }), etag: null });
  const list = Buffer.from(playlist([KEY_LINE, ...listed()]));
  const coded = segments.map((bytes) => encryptAes128(bytes, KEY));
  const at = place === 'first segment' ? 0 : 2;
  const handler = faulty(place === 'playlist' ? list : place === 'key' ? KEY : (coded[at] ?? list));
  site.serve({
    '/index.m3u8': place === 'playlist' ? handler : list,
    '/key': place === 'key' ? handler : KEY,
    ...parts(coded.map((bytes, index) => (place.endsWith('segment') && index === at ? handler : bytes))),
  });
  const outcome = await site.open(options).then(
    (source) => readAll(source.readAll()),
    (error) => statusOf(Promise.reject(error)),
  );
  return { outcome: outcome === whole ? 'whole' : outcome, seen: handler.seen };
}

const FAULTS_OF_SEGMENTS: typeof FAULTS = [
  ['ends the connection between two blocks', { name: 'unframed', after: 160_000, times: 2 }, 'whole'],
];
const MORE: Partial<Record<Place, typeof FAULTS>> = {
  file: [...STALLS, ...FAULTS_OF_RANGES],
  key: FAULTS_OF_KEYS,
  'first segment': FAULTS_OF_SEGMENTS,
  'later segment': [...STALLS, ...FAULTS_OF_SEGMENTS],
};
const ROWS = PLACES.flatMap((place) =>
  [...FAULTS, ...(MORE[place] ?? [])].map(([what, fault, outcome, exceptions]) => {
    const wanted = exceptions?.[place] ?? outcome;
    return {
      place,
      what,
      fault,
      wanted: place === 'later segment' && wanted !== 'whole' ? `broken ${wanted}` : wanted,
    };
  }),
);

it.each(ROWS)('a $place whose upstream $what', async ({ place, fault, wanted }) => {
  const { outcome, seen } = await outcomeOf(place, fault);
  expect(outcome).toBe(wanted);
  expect(new Set(seen.map(({ method }) => method))).toEqual(new Set(['GET']));
  if (place === 'file') expect(seen.filter(({ range }) => range?.endsWith('-'))).toEqual([]);
});
