import { deflateSync, gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import type { Resource } from '../../../core/state/resource.ts';
import { asProblem } from '../../support/as-problem.ts';
import { startResolver } from './start-resolver.ts';

/** Links that expand in yt-dlp, through the real yt-dlp and the real egress. */
const files = new Map<string, { readonly type: string; readonly body: Buffer; readonly encoding?: string }>();
const { origin, resolver, resources } = await startResolver({
  mounts: {
    '/hostile/': ({ path, response }) => {
      const file = files.get(path);
      if (!file) return void response.writeHead(404).end();
      const { type, body, encoding } = file;
      response.writeHead(200, { 'content-type': type, ...(encoding && { 'content-encoding': encoding }) }).end(body);
    },
  },
});

const resolveFile = async (name: string, type: string, body: string | Buffer, encoding?: string): Promise<Resource> => {
  files.set(name, { type, body: Buffer.from(body), encoding });
  const resolved = await resolver.resolve(origin.url(`/hostile/${name}`), { deadline: Date.now() + 150_000 });
  if (resolved.type !== 'Media') throw new Error('Not one item');
  return resolved.resource;
};
const resolveManifest = (name: string, body: string) => resolveFile(`${name}.mpd`, 'application/dash+xml', body);

interface ManifestOptions {
  readonly base?: string;
  readonly media?: string;
  readonly timeline?: string;
  readonly template?: string;
  readonly representations?: number;
}
const manifest = ({
  base = 'media/',
  media = '$Number$',
  timeline = '<SegmentTimeline><S t="0" d="1" r="9"/></SegmentTimeline>',
  template = '',
  representations = 1,
}: ManifestOptions) => `<?xml version="1.0"?>
  <MPD xmlns="urn:mpeg:dash:schema:mpd:2011" type="static" mediaPresentationDuration="PT1000S"><Period>
  <BaseURL>${base}</BaseURL><AdaptationSet mimeType="video/mp4" codecs="avc1.4d401e">
  <SegmentTemplate media="${media}" ${template}>${timeline}</SegmentTemplate>
  ${Array.from({ length: representations }, (_, n) => `<Representation id="v${n}" bandwidth="${n + 1}000"/>`).join('')}
  </AdaptationSet></Period></MPD>`;
const repeat = (count: number) => `<SegmentTimeline><S t="0" d="1" r="${count - 1}"/></SegmentTimeline>`;
const sizeOf = (value: unknown) => Buffer.byteLength(JSON.stringify(value));
const TOO_LARGE = {
  details: { status: 415, detail: 'This kind of link is not handled: what its source answers is too large.' },
};

describe('a DASH manifest', () => {
  it('with a long base keeps it once', async () => {
    const { tracks } = await resolveManifest(
      'base',
      manifest({ base: `${'a'.repeat(3000)}/`, timeline: repeat(20_000) }),
    );
    expect(tracks[0]?.fragments?.urls.split('\n')).toHaveLength(20_000);
    expect(tracks[0]?.fragmentBaseUrl).toMatch(/a{3000}\/$/);
    expect(sizeOf(tracks)).toBeLessThan(5_000_000);
  });

  it('keeps the representations of most bandwidth within the limit', async () => {
    const { tracks } = await resolveManifest('many', manifest({ timeline: repeat(60_000), representations: 20 }));
    expect(tracks.map(({ formatId }) => formatId)).toEqual(['v19', 'v18']);
  });

  it.each<[string, ManifestOptions]>([
    ['a base of 40,000 characters for 149,000 fragments', { base: 'a'.repeat(40_000), timeline: repeat(149_000) }],
    ['2,000,000,000 repetitions', { timeline: repeat(2_000_000_000) }],
    ['2,000,000,000 fragments by their duration', { timeline: '', template: 'duration="1" timescale="2000000"' }],
    ['a template of 8,000 characters', { media: `${'a'.repeat(8000)}$Number$`, timeline: repeat(100_000) }],
    ['a number of 100,000 digits', { media: '$Number%0100000d$', timeline: repeat(1000) }],
    [
      'a time of 4,000 digits',
      { media: '$Time$', timeline: `<SegmentTimeline><S t="${'9'.repeat(4000)}" d="1" r="99"/></SegmentTimeline>` },
    ],
    ['10,000 representations', { representations: 10_000 }],
  ])('with %s is answered with 415', async (name, options) => {
    await expect(asProblem(resolveManifest(name.replace(/\W/g, '-'), manifest(options)))).rejects.toMatchObject(
      TOO_LARGE,
    );
  });
});

describe('a compressed response', () => {
  // Twice the limit on all responses of a resolve (MAX_BODIES_BYTES of _reelay_bounds.py).
  const page = Buffer.concat([Buffer.from('<html>'), Buffer.alloc(2 ** 27, 0x20)]);
  const bomb = gzipSync(page, { level: 1 });

  it.each([
    ['gzip', bomb],
    ['gzip, gzip', gzipSync(bomb)],
    ['deflate', deflateSync(page, { level: 1 })],
  ])('that expands to 128 MB (%s) is answered with 415', async (encoding, body) => {
    const name = encoding.replace(/\W/g, '-');
    await expect(asProblem(resolveFile(name, 'text/html', body, encoding))).rejects.toMatchObject(TOO_LARGE);
  });

  it('within the limit is read', async () => {
    const page = `<title>t</title>${' '.repeat(1_000_000)}<video src="${origin.url('/files/clip.mp4')}"></video>`;
    expect(await resolveFile('small', 'text/html', gzipSync(page), 'gzip')).toMatchObject({ renditions: [{}] });
  });
});

describe('the service', () => {
  it('still resolves after all of them, in the memory it had', async () => {
    globalThis.gc?.();
    expect(await resolveManifest('last', manifest({}))).toMatchObject({ renditions: [{}] });
    expect(sizeOf([...resources.values()])).toBeLessThan(20_000_000);
  });
});
