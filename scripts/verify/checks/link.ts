import assert from 'node:assert/strict';
import {
  type Check,
  type CheckGroup,
  expectHeader,
  expectProblem,
  expectStatus,
  jsonOf,
  NotApplicable,
} from '../check.ts';
import type { Client, Response } from '../client.ts';
import { expectSuccess } from './instance.ts';

interface Rendition {
  readonly key: string;
  readonly urlType: 'Media' | 'Combined';
  readonly fileSizeBytes?: number | null;
  readonly convertTo?: string | null;
}

interface Item {
  readonly video?: { readonly renditions?: readonly Rendition[] | null };
  readonly audio?: { readonly renditions?: readonly Rendition[] | null };
}

/** Bytes of a stream that a check reads. */
const SAMPLE_BYTES = 64 * 1024;
const PATHS = { details: '/api/Fetch/GetDetails', get: '/api/Get', resource: '/api/Fetch/GetResource' } as const;

/** Resolves a link of the operator and streams parts of it: some 30 requests and 2 MB. */
export function linkChecks(link: string): CheckGroup {
  const query = `?url=${encodeURIComponent(link)}`;
  let resolved: readonly Rendition[] | undefined;

  const renditions = async (client: Client): Promise<readonly Rendition[]> => {
    resolved ??= renditionsOf(await client.request(PATHS.resource + query), link);
    return resolved;
  };

  /** The stream of the smallest rendition of a kind. @throws NotApplicable when the link has none */
  async function streamOf(client: Client, name: string, isWanted: (rendition: Rendition) => boolean): Promise<string> {
    const size = ({ fileSizeBytes }: Rendition) => fileSizeBytes ?? Infinity;
    const [found] = (await renditions(client)).filter(isWanted).sort((one, other) => size(one) - size(other));
    if (!found) throw new NotApplicable(`The link has no ${name}`);
    return pathOf(found);
  }

  const fileOf = (client: Client) =>
    streamOf(client, 'file', ({ urlType, convertTo }) => urlType === 'Media' && !convertTo);
  const conversionOf = (client: Client) => streamOf(client, 'conversion', ({ convertTo }) => convertTo === 'mp3');

  const checks: readonly Check[] = [
    {
      title: 'resolves the link into renditions with URL-safe keys',
      async run(client) {
        const all = await renditions(client);
        assert.ok(all.length > 0, 'No renditions');
        // Those of a private instance are signed.
        for (const { key } of all) assert.match(key, /^[A-Za-z0-9_-]{1,64}(\.[A-Za-z0-9_.-]+)?$/);
        return `${all.length} renditions`;
      },
    },
    {
      title: 'has details of the link',
      async run(client) {
        const response = await client.request(PATHS.details + query);
        if (response.status === 415) throw new NotApplicable(String(Object(jsonOf(response, link)).detail));
        expectSuccess(response, PATHS.details, link);
      },
    },
    {
      title: 'redirects a one-shot link to a stream',
      async run(client) {
        const response = await client.request(PATHS.get + query);
        if (response.status === 415) throw new NotApplicable(String(Object(jsonOf(response, link)).detail));
        expectStatus(response, 302, PATHS.get);
        expectHeader(response, 'location', /^\/api\/Stream\/(Media|Combined)\/[\w-]+/, PATHS.get);
      },
    },
    { title: 'streams a file by exact ranges', run: async (client) => expectRanges(client, await fileOf(client)) },
    {
      title: 'streams the MP3 conversion by exact ranges',
      async run(client) {
        const path = await conversionOf(client);
        await expectRanges(client, path);
        const { headers, body } = await client.request(path, { headers: { range: 'bytes=0-9' } });
        assert.equal(headers['content-type'], 'audio/mpeg', 'content-type');
        assert.equal(body.toString('latin1', 0, 3), 'ID3', 'first bytes');
      },
    },
    {
      title: 'muxes video and audio while sending them',
      async run(client) {
        const path = await streamOf(client, 'pair of video and audio', ({ urlType }) => urlType === 'Combined');
        const { status, body } = await client.request(path, { maxBytes: SAMPLE_BYTES });
        assert.equal(status, 200, 'status');
        assert.ok(body.length > 0, 'No bytes');
        assert.equal(body.toString('latin1', 4, 8), 'ftyp', 'type of the first box');
      },
    },
    {
      title: 'answers 404 for a key with one more character, and 403 for a signed one',
      async run(client) {
        const [path = ''] = (await fileOf(client)).split('?');
        const response = await client.request(`${path}A`, { isAnonymous: true });
        expectProblem(response, path.includes('.') ? 403 : 404, `${path}A`);
      },
    },
  ];
  return { name: link, checks };
}

/** The renditions of the first item that has any. */
function renditionsOf(response: Response, link: string): readonly Rendition[] {
  const { mediaItems } = expectSuccess(response, PATHS.resource, link) as { mediaItems: readonly Item[] | null };
  const all = (mediaItems ?? []).map(({ video, audio }) => [
    ...(video?.renditions ?? []),
    ...(audio?.renditions ?? []),
  ]);
  return all.find(({ length }) => length > 0) ?? [];
}

const pathOf = ({ urlType, key, convertTo }: Rendition): string =>
  `/api/Stream/${urlType}/${key}${convertTo ? `?format=${convertTo}` : ''}`;

/** The links of one site. Of each the beginning of the first rendition is read: two requests and 64 KB. */
export function siteChecks(site: string, links: readonly string[]): CheckGroup {
  const checks = links.map(
    (link): Check => ({
      title: link,
      async run(client) {
        const response = await client.request(`${PATHS.resource}?url=${encodeURIComponent(link)}`);
        if (response.status !== 200) throw failureOf(response);
        const [best] = renditionsOf(response, link);
        assert.ok(best, 'No renditions');
        const headers = { range: `bytes=0-${SAMPLE_BYTES - 1}` };
        const stream = await client.request(pathOf(best), { headers, maxBytes: SAMPLE_BYTES });
        if (stream.status !== 200 && stream.status !== 206) throw failureOf(stream);
        assert.ok(stream.body.length > 0, 'The stream is empty');
      },
    }),
  );
  return { name: site, checks };
}

/** Such as `415 bot-check`. */
function failureOf(response: Response): Error {
  const { type, title } = Object(jsonOf(response, `${response.status}`)) as { type?: unknown; title?: unknown };
  return new Error(`${response.status} ${String(type ?? title).replace(/^.*\//, '')}`);
}

/** HEAD, ranges, 416 and If-Range of a stream agree with each other. @throws NotApplicable without a length */
async function expectRanges(client: Client, path: string): Promise<string> {
  const head = await client.request(path, { method: 'HEAD' });
  expectStatus(head, 200, `HEAD ${path}`);
  assert.equal(head.body.length, 0, 'bytes in the body of HEAD');
  const size = Number(head.headers['content-length'] ?? Number.NaN);
  if (Number.isNaN(size)) throw new NotApplicable('Its length is not known in advance');
  expectHeader(head, 'accept-ranges', 'bytes', `HEAD ${path}`);
  expectHeader(head, 'etag', /^"[^"]+"$/, `HEAD ${path}`);

  const last = Math.min(SAMPLE_BYTES, size) - 1;
  const start = await rangeOf(client, path, size, 0, last);
  const middle = Math.floor(last / 2);
  const part = await rangeOf(client, path, size, middle, last);
  assert.ok(part.body.equals(start.body.subarray(middle)), 'Two ranges disagree about the same bytes');
  await rangeOf(client, path, size, Math.max(0, size - 100), size - 1);
  assert.equal(start.headers.etag, head.headers.etag, 'ETag of GET and HEAD');

  const beyond = await client.request(path, { headers: { range: `bytes=${size}-` } });
  expectProblem(beyond, 416, 'A range beyond the end');
  expectHeader(beyond, 'content-range', `bytes */${size}`, 'A range beyond the end');
  const range = { range: 'bytes=0-9', 'if-range': '"another"' };
  const changed = await client.request(path, { headers: range, maxBytes: SAMPLE_BYTES });
  expectStatus(changed, 200, 'If-Range with another ETag');
  return `${size} bytes`;
}

async function rangeOf(client: Client, path: string, size: number, first: number, last: number): Promise<Response> {
  const response = await client.request(path, { headers: { range: `bytes=${first}-${last}` } });
  const subject = `bytes ${first}-${last}`;
  expectStatus(response, 206, subject);
  expectHeader(response, 'content-range', `bytes ${first}-${last}/${size}`, subject);
  assert.equal(response.body.length, last - first + 1, `${subject}: bytes received`);
  return response;
}
