import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { readSettings } from '../../../core/config/settings.ts';

const KEY = 'a-key-of-sufficient-length';
const OTHER = 'QW5vdGhlcg+/key._~==';
const hashOf = (key: string) => createHash('sha256').update(key).digest('hex');
const hashed = (key: string) => ({ id: hashOf(key).slice(0, 12), hash: hashOf(key) });

describe('ACCESS_KEYS', () => {
  it('is off by default', () => expect(readSettings({})).toMatchObject({ accessKeys: [], accessKeysFile: [] }));

  it('keeps the hashes of the keys alone', () => {
    const settings = readSettings({ ACCESS_KEYS: ` ${KEY}, ${OTHER} ` });
    expect(settings.accessKeys).toEqual([hashed(KEY), hashed(OTHER)]);
    expect(JSON.stringify(settings)).not.toContain(KEY);
  });

  it.each([
    ['', /ACCESS_KEYS is empty: remove it for an open instance/],
    ['  ', /ACCESS_KEYS is empty/],
    [',', /key 1 has 0 characters; it must have at least 16/],
    [`${KEY},`, /key 2 has 0 characters/],
    ['fifteen-letters', /key 1 has 15 characters; it must have at least 16/],
    ['x'.repeat(257), /key 1 has 257 characters; it may have at most 256/],
    [`${KEY},${OTHER},${KEY}`, /key 3 occurs twice/],
    ['a key of sufficient length', /key 1 has characters besides/],
    ['schlüssel-mit-umlaut', /key 1 has characters besides/],
  ])('refuses %j without showing it', (text, message) => {
    const read = () => readSettings({ ACCESS_KEYS: text });
    expect(read).toThrow(message);
    if (text.length > 2) expect(read).not.toThrow(text);
  });
});
