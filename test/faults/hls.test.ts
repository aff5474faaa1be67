import { describe, expect, it } from 'vitest';
import type { Fault } from '../origin/faults.ts';
import type { Item } from './media-fixture.ts';
import type { Outcome } from './outcome.ts';
import { ALWAYS, useServiceFixture } from './table.ts';

const fixture = useServiceFixture();

const LIST = /m3u8$/;
const FIRST = /\/0\.ts$/;
const LATER = /\/100\.ts$/;
const KEY = /key\.bin$/;
const status = (status: number): Fault => ({ name: 'status', status, times: ALWAYS });
const redirect = (location: string): Fault => ({ name: 'redirect', location });

const ROWS: [name: string, fault: Fault, befallen: RegExp, item: Item, outcome: Outcome][] = [
  ['a playlist that is gone', status(404), LIST, 'HLS-short', '404'],
  ['a playlist that is refused', status(403), LIST, 'HLS-short', '502'],
  ['a playlist that is failing with 500', status(500), LIST, 'HLS-short', '502'],
  ['a playlist that is truncated twice', { name: 'drop', after: 50, times: 2 }, LIST, 'HLS-short', 'right'],
  ['a playlist that is always truncated', { name: 'drop', after: 0, times: ALWAYS }, LIST, 'HLS-short', '502'],
  ['a first segment that is gone', status(404), FIRST, 'HLS-short', '404'],
  ['a first segment that is failing with 500', status(500), FIRST, 'HLS-short', '502'],
  ['a later segment that is gone', status(404), LATER, 'HLS-long', 'broken'],
  ['a later segment that is failing with 500', status(500), LATER, 'HLS-long', 'broken'],
  ['a later segment that is silent', { name: 'stall', after: 0, times: ALWAYS }, LATER, 'HLS-long', 'broken'],
  [
    'a later segment that is truncated repeatedly',
    { name: 'drop', after: 20_000, times: 9 },
    LATER,
    'HLS-long',
    'right',
  ],
  ['segments delimited by connection close', { name: 'unframed', after: 0, times: 0 }, /ts$/, 'HLS-short', 'right'],
  ['a segment whose connection ends early', { name: 'unframed', after: 20_000, times: 2 }, FIRST, 'HLS-short', 'right'],
  [
    'a later segment whose connection always ends early',
    { name: 'unframed', after: 20_000, times: ALWAYS },
    LATER,
    'HLS-long',
    'broken',
  ],
  ['a key whose connection ends early', { name: 'unframed', after: 4, times: 2 }, KEY, 'HLS-encrypted', 'right'],
  ['a later segment without a byte', { name: 'drop', after: 0, times: ALWAYS }, LATER, 'HLS-long', 'broken'],
  [
    'a key that is available on the third attempt',
    { name: 'status', status: 503, times: 2 },
    KEY,
    'HLS-encrypted',
    'right',
  ],
  ['a key that is missing', status(404), KEY, 'HLS-encrypted', '404'],
  ['a key that is refused', status(403), KEY, 'HLS-encrypted', '502'],
  ['a key that is truncated', { name: 'short-body', by: 4, times: ALWAYS }, KEY, 'HLS-encrypted', '502'],
  ['a first segment that redirects to an invalid host', redirect('http://['), FIRST, 'HLS-short', '502'],
  ['a first segment that redirects to no host', redirect('http://'), FIRST, 'HLS-short', '502'],
  ['a later segment that redirects to an invalid host', redirect('http://['), LATER, 'HLS-long', 'broken'],
  ['a key that redirects to an invalid host', redirect('http://['), KEY, 'HLS-encrypted', '502'],
  ['a key that redirects to no host', redirect('http://'), KEY, 'HLS-encrypted', '502'],
  ['a key that is too long', { name: 'long-body', by: 4 }, KEY, 'HLS-encrypted', '502'],
];

describe('HLS faults', () => {
  it.each(ROWS)('%s', async (_, fault, only, item, outcome) => {
    expect(await fixture.fromTheStart(item, { fault, arming: { only } })).toBe(outcome);
  });
});
