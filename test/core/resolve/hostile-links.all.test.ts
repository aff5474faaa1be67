import { deflateSync, gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import type { Resource } from '../../../core/state/resource.ts';
import { asProblem } from '../../support/as-problem.ts';
import { startResolver } from './start-resolver.ts';

/** Links that expand in yt-dlp, through the real yt-dlp and the real egress. */
const files = new Map<string, { readonly type: string; readonly body: Buffer; readonly encoding?: string }>();
const { origin, resources, single } = await startResolver({
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
  return single(`/hostile/${name}`);
};
const resolveManifest = (name: string, body: string) =>
  resolveFile(`${name.replace(/\W/g, '-')}.mpd`, 'application/dash+xml', body);

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

/** @param ago seconds since its start @param traits of its template, its period and its root */
const dynamic = (ago: number, { template = '', timeline = '', period = '', depth = 'PT3000S' } = {}) => {
  const start = new Date(Date.now() - ago * 1000).toISOString();
  return `<?xml version="1.0"?>
  <MPD xmlns="urn:mpeg:dash:schema:mpd:2011" type="dynamic" availabilityStartTime="${start}" timeShiftBufferDepth="${depth}">
  <Period ${period}><AdaptationSet mimeType="video/mp4" codecs="avc1.4d401e">
  <SegmentTemplate initialization="init" media="s$Number$" ${template}>${timeline}</SegmentTemplate>
  <Representation id="v" bandwidth="1000"/></AdaptationSet></Period></MPD>`;
};
/** The segments of a manifest without its initialization segment, and the seconds of each. */
const listOf = async (name: string, body: string) => {
  const { tracks, isLive } = await resolveManifest(name, body);
  const { urls, durations } = tracks[0]?.fragments ?? { urls: '', durations: [] };
  return { isLive, urls: urls.split('\n').slice(1), seconds: (durations.at(-1) ?? 0) / 1e6 };
};

describe('a live DASH manifest', () => {
  // Half a segment away from the next one.
  it('without a timeline lists the segments of its window that are complete', async () => {
    const template = 'duration="1000000" timescale="1000" startNumber="7"';
    expect(await listOf('number', dynamic(20_500, { template }))).toEqual({
      isLive: true,
      seconds: 1000,
      // A window has at least four.
      urls: ['s24', 's25'],
    });
    expect((await listOf('begun', dynamic(20_500, { template, period: 'start="PT18000S"' }))).urls).toEqual(['s7']);
    expect((await listOf('whole', dynamic(4500, { template, depth: 'PT9999999H' }))).urls).toEqual(['s7', 's8', 's9']);
  });

  it('with an entry that repeats until now lists it as often', async () => {
    const timeline = '<SegmentTimeline><S t="0" d="2000"/><S d="1000" r="-1"/></SegmentTimeline>';
    const { urls, seconds } = await listOf('repeat', dynamic(6500, { timeline }));
    expect([urls, seconds]).toEqual([['s1', 's2', 's3', 's4'], 1000]);
    const gap = '<SegmentTimeline><S t="0" d="1000" r="-1"/><S t="3000" d="1000"/></SegmentTimeline>';
    expect((await listOf('gap', dynamic(9500, { timeline: gap }))).urls).toEqual(['s1', 's2', 's3', 's4']);
  });

  it('of years lists its last hours', async () => {
    const template = 'duration="1"';
    const { urls } = await listOf('years', dynamic(9e8, { template, depth: 'P9000D' }));
    expect(urls).toHaveLength(7200);
    const { urls: all } = await listOf('ever', dynamic(9e8, { template, depth: '' }));
    expect(all).toHaveLength(7200);
  });

  it.each<[string, string]>([
    ['that has not begun', dynamic(-5000, { template: 'duration="2"' })],
    ['that has ended long ago', dynamic(90_000, { template: 'duration="2"', period: 'duration="PT10S"' })],
    ['with a negative duration', dynamic(5000, { template: 'duration="-2"' })],
    ['with long numbers', dynamic(5000, { template: `duration="2" presentationTimeOffset="${'9'.repeat(30)}"` })],
    [
      'with billions of segments',
      dynamic(9e8, { timeline: '<SegmentTimeline><S t="0" d="1" r="-1"/></SegmentTimeline>' }),
    ],
  ])('%s is refused', async (name, body) => {
    await expect(asProblem(resolveManifest(name, body))).rejects.toMatchObject({
      details: { status: expect.toSatisfy((status: number) => status === 404 || status === 415) },
    });
  });
});

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
    ['2,000,000,000 fragments by their duration', { timeline: '', template: 'duration="1" timescale="2000000"' }],
    ['a template of 8,000 characters', { media: `${'a'.repeat(8000)}$Number$`, timeline: repeat(100_000) }],
    ['a number of 100,000 digits', { media: '$Number%0100000d$', timeline: repeat(1000) }],
    [
      'a time of 4,000 digits',
      { media: '$Time$', timeline: `<SegmentTimeline><S t="${'9'.repeat(4000)}" d="1" r="99"/></SegmentTimeline>` },
    ],
    ['10,000 representations', { representations: 10_000 }],
  ])('with %s is answered with 415', async (name, options) => {
    await expect(asProblem(resolveManifest(name, manifest(options)))).rejects.toMatchObject(TOO_LARGE);
  });
});

describe('a DASH manifest of two periods', () => {
  const periods = (longest: ManifestOptions, other: ManifestOptions) => {
    const timeline = '<SegmentTimeline><S t="0" d="9999999"/></SegmentTimeline>';
    const added = /<Period.*<\/Period>/s.exec(manifest({ ...longest, timeline }))?.[0] ?? '';
    return manifest(other).replace('</MPD>', `${added}</MPD>`);
  };

  it.each<[string, string]>([
    ['one of which is that of 1,000 representations', periods({ representations: 1000 }, { timeline: repeat(10_000) })],
    ['with a long base', periods({}, { base: `${'a'.repeat(3000)}/`, timeline: repeat(9000) })],
  ])('%s is answered with 415', async (name, body) => {
    await expect(asProblem(resolveManifest(name, body))).rejects.toMatchObject(TOO_LARGE);
  });
});

describe('a compressed response', () => {
  // Twice the limit on all responses of a resolve (MAX_BODIES_BYTES of _reelay_bounds.py).
  const page = Buffer.concat([Buffer.from('<html>'), Buffer.alloc(2 ** 27, 0x20)]);
  const bomb = gzipSync(page, { level: 1 });

  it.each([
    ['gzip', bomb],
    ['deflate', deflateSync(page, { level: 1 })],
  ])('that expands to 128 MB (%s) is answered with 415', async (encoding, body) => {
    await expect(asProblem(resolveFile(encoding, 'text/html', body, encoding))).rejects.toMatchObject(TOO_LARGE);
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
