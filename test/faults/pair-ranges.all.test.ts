import { describe, expect, it } from 'vitest';
import type { Fault } from '../origin/faults.ts';
import { sendRequest } from '../support/request.ts';
import type { Arming } from './media-fixture.ts';
import { ALWAYS, useServiceFixture } from './table.ts';

const fixture = useServiceFixture();

/** Where the parts of a pair of fragmented files are in the output. */
function partsOf(file: Buffer): Readonly<Record<string, number>> {
  const find = (type: string, from = 0) => file.indexOf(type, from, 'latin1') - 4;
  const middle = find('moof', file.length / 2);
  return {
    'the header': 100,
    'the first moof': find('moof') + 4,
    'a moof in the middle': middle + 30,
    'media in the middle': find('mdat', middle) + 2000,
    'the moof after that media': find('moof', middle + 8) + 10,
    'the last fragment': file.lastIndexOf('mdat', undefined, 'latin1') + 10,
    'the index at the end': find('mfra') + 10,
  };
}

/** The stream of a new item whose layout is known, and what it sends when nothing fails. */
async function startPair() {
  const right = await fixture.rightOf('Pair-long');
  const url = await fixture.there().stream('Pair-long');
  const { etag = '' } = (await sendRequest(url, { headers: { range: 'bytes=0-9' } })).headers;
  return { right, url, etag };
}

/** What a range is answered with; those of the layout alone are always there. */
const ROWS: [name: string, fault: Fault, status: number, arming?: Arming][] = [
  ['drops connections', { name: 'drop', after: 20_000, times: 6 }, 206],
  ['stalls', { name: 'stall', after: 3000, times: 1 }, 206],
  ['sends other ranges', { name: 'wrong-range', times: 2 }, 206],
  ['ignores Range', { name: 'ignore-range', length: true }, 206],
  ['truncates responses', { name: 'short-body', by: 3000, times: 3 }, 206],
  ['let its URLs expire', { name: 'status', status: 403, times: ALWAYS }, 206, { heals: true }],
  ['is gone', { name: 'status', status: 404, times: ALWAYS }, 404],
  ['refuses', { name: 'status', status: 403, times: ALWAYS }, 502],
  ['fails', { name: 'status', status: 500, times: ALWAYS }, 502],
  ['never sends the range', { name: 'wrong-range', times: ALWAYS }, 502],
];

describe('a range of a pair whose upstream', () => {
  it.each(ROWS)('%s', async (_name, fault, outcome, arming) => {
    const { right, url } = await startPair();
    for (const [part, first] of Object.entries(partsOf(right))) {
      fixture.there().site.arm(fault, arming);
      const last = Math.min(first + (outcome === 206 ? 70_000 : 100), right.length) - 1;
      const { status, headers, body } = await sendRequest(url, { headers: { range: `bytes=${first}-${last}` } });
      expect([part, status]).toEqual([part, /^the (header|index)/.test(part) ? 206 : outcome]);
      if (status !== 206) continue;
      expect(headers['content-range']).toBe(`bytes ${first}-${last}/${right.length}`);
      expect(body.equals(right.subarray(first, last + 1))).toBe(true);
    }
  });
});

// Other bytes midway: the matrix, and sources.all.test.ts.
it('a pair whose upstream has changed between two ranges has another ETag', async () => {
  const { right, url, etag } = await startPair();
  fixture.there().site.arm({ name: 'changed', from: 0, by: 'tag' });
  const { 'media in the middle': first = 0 } = partsOf(right);
  const range = `bytes=${first}-${first + 99}`;
  const conditional = await sendRequest(url, { headers: { range, 'if-range': etag } });
  expect([conditional.status, conditional.body.length]).toEqual([200, right.length]);
  const other = await sendRequest(url, { headers: { range } });
  expect(other.status).toBe(206);
  expect(other.headers.etag).not.toBe(etag);
});
