import { expect } from 'vitest';
import { type ReceivedResponse, sendRequest } from './request.ts';

interface SeekableOptions {
  /** Ranges to read besides those of growing size that make up the whole: first and last byte. @default none */
  readonly edges?: readonly (readonly [first: number, last: number])[];
  /** Who may keep it. @default 'public' */
  readonly cache?: 'public' | 'private' | 'no-store';
}

/**
 * Expects that an output has what a file has: its length, a strong ETag, the headers of GET with HEAD, 416 beyond its end,
 * If-Range, and the same bytes for any range.
 * @returns the whole
 */
export async function expectSeekable(
  url: string,
  { edges = [], cache = 'public' }: SeekableOptions = {},
): Promise<ReceivedResponse> {
  const whole = await sendRequest(url);
  const { status, headers, body } = whole;
  expect([status, status === 200 ? '' : body.toString()]).toEqual([200, '']);
  expect(headers).toMatchObject({
    'content-length': String(body.length),
    'accept-ranges': 'bytes',
    etag: expect.stringMatching(/^"[\w-]{22}"$/),
    'cache-control': cache === 'no-store' ? cache : `${cache}, max-age=3600, must-revalidate, stale-if-error=0`,
  });
  const head = await sendRequest(url, { method: 'HEAD' });
  expect(head.status).toBe(200);
  expect(head.headers).toEqual({ ...headers, date: expect.any(String) });

  const etag = headers.etag ?? '';
  const readRange = async (first: number, last: number) => {
    const part = await sendRequest(url, { headers: { range: `bytes=${first}-${last}`, 'if-range': etag } });
    const place = `bytes ${first}-${last}/${body.length}`;
    expect([part.status, part.headers['content-range'], part.headers.etag]).toEqual([206, place, etag]);
    expect(part.body.equals(body.subarray(first, last + 1)), place).toBe(true);
  };
  for (let first = 0, bytes = 1; first < body.length; first += bytes, bytes *= 5)
    await readRange(first, Math.min(first + bytes, body.length) - 1);
  for (const [first, last] of [...edges, ...rangesOf(body.length, 3)]) await readRange(first, last);

  const other = await sendRequest(url, { headers: { range: 'bytes=1-2', 'if-range': '"other"' } });
  expect([other.status, other.body.length]).toEqual([200, body.length]);
  const beyond = await sendRequest(url, { headers: { range: `bytes=${body.length}-` } });
  expect([beyond.status, beyond.headers['content-range']]).toEqual([416, `bytes */${body.length}`]);
  return whole;
}

/** Expects any ranges of an output to be those of the whole, which another process has sent. */
export async function expectRanges(url: string, { body, headers: { etag } }: ReceivedResponse): Promise<void> {
  for (const [first, last] of rangesOf(body.length, 40)) {
    const part = await sendRequest(url, { headers: { range: `bytes=${first}-${last}` } });
    expect([part.status, part.headers.etag]).toEqual([206, etag]);
    expect(part.body.equals(body.subarray(first, last + 1)), `${first}-${last}`).toBe(true);
  }
}

/** Ranges of a file of some size, the same in every run. */
function rangesOf(size: number, count: number): readonly (readonly [number, number])[] {
  let state = 7;
  const next = (below: number) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state % below;
  };
  return Array.from({ length: count }, () => {
    const first = next(size);
    return [first, Math.min(size - 1, first + next(100_000))] as const;
  });
}
