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

/** The stream of a new item, and what it sends when nothing fails. */
async function startPair(isKnown = true) {
  const right = await fixture.rightOf('Pair-long');
  const url = await fixture.there().stream('Pair-long');
  const etag = isKnown ? (await sendRequest(url, { headers: { range: 'bytes=0-9' } })).headers.etag : undefined;
  return { right, url, etag };
}

const FAULTS: [name: string, fault: Fault, arming?: Arming][] = [
  ['drops connections', { name: 'drop', after: 20_000, times: 6 }],
  ['stalls', { name: 'stall', after: 3000, times: 1 }],
  ['sends other ranges', { name: 'wrong-range', times: 2 }],
  ['ignores Range', { name: 'ignore-range', length: true }],
  ['truncates responses', { name: 'short-body', by: 3000, times: 3 }],
  ['let its URLs expire', { name: 'status', status: 403, times: ALWAYS }, { heals: true }],
];

describe('a range of a pair whose upstream', () => {
  it.each(FAULTS)('%s is complete in every part', async (_name, fault, arming) => {
    const { right, url } = await startPair();
    for (const first of Object.values(partsOf(right))) {
      fixture.there().site.arm(fault, arming);
      const last = Math.min(first + 70_000, right.length) - 1;
      const { status, headers, body } = await sendRequest(url, { headers: { range: `bytes=${first}-${last}` } });
      expect([status, headers['content-range']]).toEqual([206, `bytes ${first}-${last}/${right.length}`]);
      expect(body.equals(right.subarray(first, last + 1))).toBe(true);
    }
  });

  it.each([
    ['is gone', { name: 'status', status: 404, times: ALWAYS }, 404],
    ['refuses', { name: 'status', status: 403, times: ALWAYS }, 502],
    ['fails', { name: 'status', status: 500, times: ALWAYS }, 502],
    ['never sends the range', { name: 'wrong-range', times: ALWAYS }, 502],
  ] as [string, Fault, number][])('%s is answered by a problem', async (_name, fault, expected) => {
    const { right, url } = await startPair();
    const { 'the header': header = 0, 'the index at the end': end = 0, ...media } = partsOf(right);
    fixture.there().site.arm(fault);
    for (const first of Object.values(media)) {
      expect((await sendRequest(url, { headers: { range: `bytes=${first}-${first + 99}` } })).status).toBe(expected);
    }
    // The layout has these bytes.
    for (const first of [header, end]) {
      const { body } = await sendRequest(url, { headers: { range: `bytes=${first}-${first + 9}` } });
      expect(body.equals(right.subarray(first, first + 10))).toBe(true);
    }
  });
});

describe('a pair whose upstream has changed', () => {
  it('between two ranges has another ETag', async () => {
    const { right, url, etag } = await startPair();
    fixture.there().site.arm({ name: 'changed', from: 0, by: 'tag' });
    const { 'media in the middle': first = 0 } = partsOf(right);
    const range = `bytes=${first}-${first + 99}`;
    const conditional = await sendRequest(url, { headers: { range, 'if-range': etag ?? '' } });
    expect([conditional.status, conditional.body.length]).toEqual([200, right.length]);
    const other = await sendRequest(url, { headers: { range } });
    expect(other.status).toBe(206);
    expect(other.headers.etag).not.toBe(etag);
  });

  it('behind an expired URL never continues under the old ETag', async () => {
    const { right, url, etag } = await startPair();
    fixture.there().site.arm({ name: 'status', status: 403, times: ALWAYS }, { heals: true, again: 'other files' });
    const { 'media in the middle': first = 0 } = partsOf(right);
    const answer = await sendRequest(url, { headers: { range: `bytes=${first}-${first + 99}` } }).catch(
      () => undefined,
    );
    if (answer?.status === 206) expect(answer.headers.etag).not.toBe(etag);
  });

  it('within the layout while it is read has no layout of two entities', async () => {
    const { url, right } = await startPair(false);
    fixture.there().site.arm({ name: 'changed', from: 1, by: 'tag' });
    const answer = await sendRequest(url).catch(() => undefined);
    if (answer?.status === 200) expect(answer.body.equals(right)).toBe(true);
  });
});
