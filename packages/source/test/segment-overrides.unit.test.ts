import { expect, it } from 'vitest';
import { initializationVector, keyUrl, knownKey, segmentUrl } from '../src/track.ts';

const URL = 'https://a.test/1.ts?token=old&part=2';

it.each([
  ['nothing', {}, URL, URL],
  [
    'a query',
    { segmentQuery: 'token=new&token=twice&x=%26' },
    'https://a.test/1.ts?part=2&token=new&token=twice&x=%26',
  ],
  [
    'another query for keys',
    { segmentQuery: 'token=new', keyQuery: 'key=1' },
    'https://a.test/1.ts?part=2&token=new',
    `${URL}&key=1`,
  ],
  ['a URL for keys', { keyUrl: 'https://k.test/', keyQuery: 'key=1' }, URL, 'https://k.test/'],
])('%s holds for segments and keys in place of what their URLs say', (_, overrides, segment, key = segment) => {
  expect([segmentUrl({ overrides }, URL), keyUrl({ overrides }, URL)]).toEqual([segment, key]);
});

it('leaves a URL that cannot be read as it is', () =>
  expect(segmentUrl({ overrides: { segmentQuery: 'a=1' } }, 'no URL')).toBe('no URL'));

it('takes key and initialization vector of the site before those of a playlist', () => {
  const stated = Buffer.from('stated');
  expect([knownKey({}), initializationVector({}, stated)]).toEqual([undefined, stated]);
  const overrides = { key: '0a0b', iv: '0c' };
  expect(knownKey({ overrides })?.toString('hex')).toBe('0a0b');
  expect(initializationVector({ overrides }, stated).toString('hex')).toBe('0c');
});
