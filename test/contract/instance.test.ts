import { describe, expect, it } from 'vitest';
import type { MediaRendition } from '../../clients/reelay-client/src/api-types.ts';
import { sendRequest } from '../support/request.ts';
import { pathOf } from './stream-helpers.ts';
import { ANY_INSTANCE, useTarget, verified } from './target.ts';

// What only an instance of `npm run verify` has: the built page, access keys, and links of which nothing is known.

/** Bytes of a stream that are compared. */
const SAMPLE_BYTES = 64 * 1024;

const target = useTarget();

describe.runIf(verified)('page', ANY_INSTANCE, () => {
  it('has a content security policy', async () => {
    const { status, headers } = await target.get('/');
    expect(status).toBe(200);
    expect(headers).toMatchObject({
      'content-type': expect.stringMatching(/^text\/html/),
      'content-security-policy': expect.stringMatching(/default-src 'none'/),
      'x-content-type-options': 'nosniff',
    });
  });

  it('has a script that is cached forever', async () => {
    const [, script] = /<script[^>]* src="\.?(\/[^"]+)"/.exec((await target.get('/')).body.toString()) ?? [];
    const { status, headers } = await target.get(script ?? expect.fail('It was deployed without the built page'));
    expect(status).toBe(200);
    expect(headers).toMatchObject({
      'content-type': expect.stringMatching(/javascript/),
      'cache-control': expect.stringMatching(/immutable/),
    });
  });
});

describe.runIf(verified?.accessKey)('access to a private instance', ANY_INSTANCE, () => {
  it.each(['/api/App/requests', '/api/Fetch/GetResource?url=https://nowhere.invalid/', '/api/Get'])(
    'of %s is refused with 401 without an access key, and with another one',
    async (path) => {
      for (const authorization of [undefined, 'Bearer not-a-key-of-this-instance']) {
        const answer = await sendRequest(target.baseUrl + path, { headers: authorization ? { authorization } : {} });
        expect(answer.status).toBe(401);
        expect(answer.headers['www-authenticate']).toMatch(/\S/);
        expect(JSON.parse(answer.body.toString())).toMatchObject({ status: 401, title: 'Unauthorized' });
      }
    },
  );
});

describe.each(verified?.links ?? [])('link %s', ANY_INSTANCE, (link) => {
  const query = `?url=${encodeURIComponent(link)}`;
  let resolved: readonly MediaRendition[] | undefined;

  /** The renditions of the first item that has any. */
  async function renditions(): Promise<readonly MediaRendition[]> {
    const { status, resource } = await target.resolve(link);
    expect(status).toBe(200);
    const sides = resource.mediaItems.map(({ video, audio }) =>
      [video, audio].flatMap((side) => side?.renditions ?? []),
    );
    resolved = sides.find(({ length }) => length > 0) ?? expect.fail('No renditions');
    return resolved;
  }

  /** The stream of the smallest rendition of a kind; undefined when the link has none. */
  async function streamOf(isWanted: (rendition: MediaRendition) => boolean): Promise<string | undefined> {
    const size = ({ fileSizeBytes }: MediaRendition) => fileSizeBytes ?? Number.POSITIVE_INFINITY;
    const [found] = (resolved ?? (await renditions())).filter(isWanted).sort((one, other) => size(one) - size(other));
    return found && pathOf(found);
  }
  const fileOf = () => streamOf(({ urlType, convertTo }) => urlType === 'Media' && !convertTo);
  const isMp3 = ({ convertTo }: MediaRendition) => convertTo === 'mp3';

  it('is resolved into renditions with URL-safe keys', async () => {
    // Those of a private instance are signed.
    for (const { key } of await renditions()) expect(key).toMatch(/^[A-Za-z0-9_-]{1,64}(\.[A-Za-z0-9_.-]+)?$/);
  });

  it.for([
    ['/api/Fetch/GetDetails', 200, undefined],
    ['/api/Fetch/GetPlayback', 200, undefined],
    ['/api/Get', 302, /^\/api\/Stream\/(Media|Combined)\/[\w-]+/],
  ] as const)('is answered by %s with %d, or is a list', async ([path, expected, location], { skip }) => {
    const answer = await target.get(path + query);
    skip(answer.status === 415, String(Object(JSON.parse(answer.body.toString() || '{}')).detail));
    expect(answer.status).toBe(expected);
    if (location) expect(answer.headers.location).toMatch(location);
    else target.api.expectAnswer('GET', path, answer);
  });

  it.for([
    ['a file', fileOf, /./],
    ['the MP3 conversion', () => streamOf(isMp3), /^audio\/mpeg$/],
  ] as const)('streams %s by exact ranges', async ([name, find, type], { skip }) => {
    const path = await find();
    if (path === undefined) return skip(`The link has no such stream: ${name}`);
    const range = (value: string, more = {}) =>
      target.get(path, { headers: { range: `bytes=${value}`, ...more }, maxBytes: SAMPLE_BYTES });
    const { status, headers } = await target.get(path, { method: 'HEAD' });
    expect(status).toBe(200);
    expect(headers['content-type']).toMatch(type);
    const size = Number(headers['content-length'] ?? skip('Its length is not known in advance'));
    expect(headers).toMatchObject({ 'accept-ranges': 'bytes', etag: expect.stringMatching(/^"[^"]+"$/) });

    const expectPart = async (first: number, last: number) => {
      const part = await range(`${first}-${last}`);
      expect(part.status).toBe(206);
      expect(part.headers['content-range']).toBe(`bytes ${first}-${last}/${size}`);
      expect(part.headers.etag).toBe(headers.etag);
      expect(part.body).toHaveLength(last - first + 1);
      return part.body;
    };
    const last = Math.min(SAMPLE_BYTES, size) - 1;
    const middle = Math.floor(last / 2);
    const start = await expectPart(0, last);
    expect((await expectPart(middle, last)).equals(start.subarray(middle)), 'two ranges of the same bytes').toBe(true);
    await expectPart(Math.max(0, size - 100), size - 1);

    const beyond = await range(`${size}-`);
    expect([beyond.status, beyond.headers['content-range']]).toEqual([416, `bytes */${size}`]);
    expect((await range('0-9', { 'if-range': '"another"' })).status).toBe(200);
  });

  it('is muxed while it is sent', async ({ skip }) => {
    const path = await streamOf(({ urlType }) => urlType === 'Combined');
    if (path === undefined) return skip('The link has no pair of video and audio');
    const { status, body } = await target.get(path, { maxBytes: SAMPLE_BYTES });
    expect([status, body.toString('latin1', 4, 8)]).toEqual([200, 'ftyp']);
  });

  it('has no stream for a key with one more character: 404, or 403 where keys are signed', async ({ skip }) => {
    const [path] = (await fileOf())?.split('?') ?? [];
    if (path === undefined) return skip('The link has no file');
    const answer = await sendRequest(`${target.baseUrl}${path}A`);
    const status = path.includes('.') ? 403 : 404;
    expect(answer.status).toBe(status);
    expect(JSON.parse(answer.body.toString())).toMatchObject({ status, title: expect.stringMatching(/\S/) });
  });
});
