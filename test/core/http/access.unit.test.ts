import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { createAccessControl } from '../../../core/http/access-secrets.ts';
import { limitedBy, linkSignerFor, NO_ACCESS_KEY, signerFor } from '../../../core/http/client.ts';

const hashOf = (key: string) => createHash('sha256').update(key).digest('hex');
const KEY = 'a-key-of-sufficient-length';
const OTHER = 'another-key-of-good-length';
const HASH = hashOf(KEY);
const MEDIA_KEY = 'AbCdEfGhIjKlMnOpQrStUvWxYz-_01234';
const NOW = Date.UTC(2026, 10, 22, 12, 30);
const HOUR_MS = 3_600_000;
const access = createAccessControl([HASH, hashOf(OTHER)], () => NOW);

describe('createAccessControl', () => {
  it.each([
    [`Bearer ${KEY}`, undefined, HASH],
    [`bearer  ${KEY} `, undefined, HASH],
    [undefined, OTHER, hashOf(OTHER)],
    // A proxy in front may use Basic for itself.
    ['Basic dXNlcjpwYXNz', KEY, HASH],
    [`Bearer ${KEY}x`, undefined, undefined],
    [`Bearer ${KEY.slice(1)}`, undefined, undefined],
    [`Bearer${KEY}`, undefined, undefined],
    [`Bearer ${KEY} ${OTHER}`, undefined, undefined],
    [`Bearer ${HASH}`, undefined, undefined],
    ['Bearer', undefined, undefined],
    ['', '', undefined],
    [undefined, ` ${KEY}\t`, HASH],
    [undefined, `${KEY},${OTHER}`, undefined],
    [undefined, undefined, undefined],
    [undefined, undefined, HASH, `theme=dark; reelay-access-key=${KEY}; x=y`],
    [undefined, undefined, undefined, `not-reelay-access-key=${KEY}`],
  ])(
    'identifies Authorization %j and X-Api-Key %j as %j, with the cookies %j',
    (authorization, apiKey, hash, cookie?: string) =>
      expect(access.identify({ authorization, apiKey, cookie })).toBe(hash),
  );

  it('verifies the keys that it has signed', () => {
    const signed = signerFor(HASH, NOW)(MEDIA_KEY);
    expect(signed).toMatch(/^[\w-]{33}\.[0-9a-f]{12}\.\d{10}\.[\w-]{22}$/);
    expect(access.verify(signed)).toEqual({ key: MEDIA_KEY, hash: HASH });
    expect(access.verify(MEDIA_KEY)).toBeUndefined();
  });

  it('signs for a day, and the same for an hour', () => {
    const signed = signerFor(HASH, NOW)(MEDIA_KEY);
    expect(signerFor(HASH, NOW + HOUR_MS / 4)(MEDIA_KEY)).toBe(signed);
    const at = (milliseconds: number) => createAccessControl([HASH], () => NOW + milliseconds).verify(signed);
    expect(at(24 * HOUR_MS)).toMatchObject({ key: MEDIA_KEY });
    // Clocks of hosts may differ by a minute.
    expect(at(24.5 * HOUR_MS + 59_000)).toMatchObject({ key: MEDIA_KEY });
    expect(at(24.5 * HOUR_MS + 60_000)).toMatchObject({ key: MEDIA_KEY });
    expect(at(24.5 * HOUR_MS + 61_000)).toEqual({ refused: 'expired' });
    // A host whose clock is behind signs links that are not expired for others.
    expect(at(-HOUR_MS)).toMatchObject({ key: MEDIA_KEY });
  });

  it('refuses links that were changed, signed by others, or by a removed key', () => {
    const [key, id, expiry, signature] = signerFor(HASH, NOW)(MEDIA_KEY).split('.');
    const invalid = { refused: 'invalid' };
    expect(access.verify(`${key?.replace('A', 'B')}.${id}.${expiry}.${signature}`)).toEqual(invalid);
    expect(access.verify(`${key}.${id}.${Number(expiry) + 1}.${signature}`)).toEqual(invalid);
    expect(access.verify(`${key}.${id}.${expiry}.${signature?.replace(/^./, (c) => (c === 'A' ? 'B' : 'A'))}`)).toEqual(
      invalid,
    );
    expect(access.verify(`${key}.${hashOf(OTHER).slice(0, 12)}.${expiry}.${signature}`)).toEqual(invalid);
    expect(access.verify(signerFor(hashOf('a-key-of-someone-else'), NOW)(MEDIA_KEY))).toEqual(invalid);
    expect(createAccessControl([hashOf(OTHER)], () => NOW).verify(`${key}.${id}.${expiry}.${signature}`)).toEqual(
      invalid,
    );
    // A forged one does not learn that it has expired.
    expect(access.verify(`${key}.${id}.1.${signature}`)).toEqual(invalid);
    for (const text of ['.', '...', `${key}.`, `${key}.${id}.${expiry}.`, `${key}.${id}.-1.${signature}`, 'a.b.c.d.e'])
      expect(access.verify(text)).toEqual(invalid);
  });

  it.each([HASH.slice(0, 12), HASH.slice(0, 40), HASH.slice(0, -1) + (HASH.endsWith('0') ? '1' : '0')])(
    'takes a hash for another that begins alike: %s',
    (hash) => expect(createAccessControl([hash]).identify({ authorization: undefined, apiKey: KEY })).toBeUndefined(),
  );

  it('refuses everything without keys', () =>
    expect(createAccessControl([]).identify({ authorization: `Bearer ${KEY}`, apiKey: KEY })).toBeUndefined());
});

describe('linkSignerFor', () => {
  const LINK = 'https://site.example/?a=b';

  it('signs the URLs of feeds for a year, each for its link', () => {
    const parameter = linkSignerFor(HASH, NOW)?.(LINK) ?? '';
    const at = (days: number) => createAccessControl([HASH], () => NOW + days * 24 * HOUR_MS);
    expect(at(366).verifyLink(LINK, parameter)).toMatchObject({ hash: HASH });
    expect(at(368).verifyLink(LINK, parameter)).toEqual({ refused: 'expired' });
    expect(at(0).verifyLink(`${LINK}c`, parameter)).toEqual({ refused: 'invalid' });
    expect(at(0).verifyLink('', '')).toEqual({ refused: 'invalid' });
  });

  it('signs nothing for an open instance', () => expect(linkSignerFor(undefined)).toBeUndefined());
});

describe('signerFor', () => {
  it.each([undefined, NO_ACCESS_KEY, '', 'x'.repeat(64)])('leaves keys as they are for the header %j', (header) =>
    expect(signerFor(header)(MEDIA_KEY)).toBe(MEDIA_KEY),
  );
});

describe('limitedBy', () => {
  it('names the key, whatever the address, or the client of an open instance', () => {
    expect(limitedBy('192.0.2.1', HASH)).toBe(`key ${HASH.slice(0, 12)}`);
    expect(limitedBy('2001:db8::1', HASH)).toBe(limitedBy('192.0.2.1', HASH));
    expect(limitedBy('192.0.2.1', HASH.slice(0, 12))).toBe(limitedBy('192.0.2.1', HASH));
    expect(limitedBy('192.0.2.1', NO_ACCESS_KEY)).toBe('192.0.2.1');
    expect(limitedBy('192.0.2.1', undefined)).toBe('192.0.2.1');
  });
});
