import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type HlsPlaylist,
  PlaylistError,
  readHlsPlaylist,
  scanHlsPlaylist,
  unpackHlsPlaylist,
} from '../src/hls/index.ts';
import { hasDiscontinuity, type RelativeSection } from '../src/timeline.ts';

const url = 'https://cdn.example/a/index.m3u8';
const MAX_SEGMENTS = 50;

/** As if it had been read in another process. */
const readAt = (text: string, maxSegments: number, base = url): HlsPlaylist =>
  unpackHlsPlaylist(structuredClone(readHlsPlaylist(text, maxSegments)), base);

/** undefined: rejected by PlaylistError, the only error that is allowed. */
const attempt = <T>(read: () => T): T | undefined => {
  try {
    return read();
  } catch (error) {
    if (error instanceof PlaylistError) return undefined;
    throw error;
  }
};
const parse = (text: string, maxSegments = MAX_SEGMENTS): HlsPlaylist | undefined =>
  attempt(() => readAt(text, maxSegments));

const REAL = [
  '#EXTM3U',
  '#EXT-X-VERSION:7',
  '#EXT-X-TARGETDURATION:4',
  '#EXT-X-MEDIA-SEQUENCE:17',
  '#EXT-X-DEFINE:NAME="host",VALUE="b.example"',
  '#EXT-X-KEY:METHOD=AES-128,URI="k?a=1,2",IV=0x0102',
  '#EXT-X-MAP:URI="init.mp4",BYTERANGE="100@0"',
  '#EXTINF:4.004,title',
  '#EXT-X-BYTERANGE:100@100',
  's.mp4',
  '#EXT-X-PROGRAM-DATE-TIME:2026-01-01T00:00:00Z',
  '#EXT-X-DISCONTINUITY',
  '#EXTINF:4,',
  'https://{$host}/s2.mp4?x=1',
  '#EXT-X-GAP',
  '#EXTINF:4,',
  'gap.mp4',
  '#EXT-X-STREAM-INF:BANDWIDTH=100,CODECS="avc1,mp4a"',
  '#EXT-X-ENDLIST',
];
const fragment = fc.oneof(
  fc.constantFrom(...REAL),
  fc.constantFrom(
    '#EXT',
    '#EXT-X-PART:URI="p"',
    '#EXT-X-PRELOAD-HINT:TYPE=PART,URI="p"',
    '#EXT-X-KEY:METHOD=NONE',
    '\ufeff',
  ),
  fc.string({ unit: 'binary', maxLength: 60 }),
  fc
    .tuple(fc.constantFrom(...REAL), fc.nat(80), fc.string({ maxLength: 8 }))
    .map(([line, at, inserted]) => line.slice(0, at) + inserted + line.slice(at)),
);
const playlists = fc
  .tuple(fc.array(fragment, { maxLength: 120 }), fc.constantFrom('\n', '\r\n', '\r', '\n\n'))
  .map(([lines, separator]) => ['#EXTM3U', ...lines].join(separator));

describe('readHlsPlaylist on arbitrary playlists', () => {
  it('throws nothing but PlaylistError, and lists no more than the limit and the lines allow', () =>
    fc.assert(
      fc.property(playlists, (text) => {
        const found = parse(text);
        if (found?.kind === 'master') expect(URL.canParse(found.bestUrl)).toBe(true);
        if (found?.kind !== 'media') return;
        const segments = [...found.segments];
        expect(segments.length).toBeLessThanOrEqual(Math.min(MAX_SEGMENTS, text.split('\n').length));
        for (const [index, { sequence, seconds, content, init, isGap }] of segments.entries()) {
          expect(sequence).toBe((segments[0]?.sequence ?? 0) + index);
          expect(seconds).toBeGreaterThanOrEqual(0);
          expect(seconds).toBeLessThan(1e7);
          if (!isGap) expect(URL.canParse(content.url)).toBe(true);
          for (const section of [content, init])
            if (section?.range) expect(section.range.last).toBeGreaterThanOrEqual(section.range.first);
          for (const section of [content, init]) expect(section?.cipher?.iv.length ?? 16).toBe(16);
        }
      }),
      { numRuns: 300 },
    ));

  it('throws nothing but PlaylistError for arbitrary text', () =>
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => void parse(text)),
      { numRuns: 300 },
    ));

  it('ignores tags that the service does not use', () =>
    fc.assert(
      fc.property(fc.string({ maxLength: 100 }), (noise) => {
        const unused = noise.replace(/[\r\n]/g, ' ');
        const lines = ['#EXTM3U', '#EXTINF:4,', `#EXT-X-DATERANGE:${unused}`, `#${unused.replace(/^EXT/, '')}`, 'a'];
        const found = parse(lines.join('\n'));
        expect(found?.kind === 'media' && [...found.segments].map(({ content }) => content.url)).toEqual([
          'https://cdn.example/a/a',
        ]);
      }),
    ));
});

describe('scanHlsPlaylist on arbitrary playlists', () => {
  it('throws nothing but PlaylistError, and copies nothing longer than a URI', () =>
    fc.assert(
      fc.property(playlists, (text) => {
        const facts = attempt(() => scanHlsPlaylist(text));
        for (const uri of [facts?.segment, facts?.initialization, facts?.key])
          expect((uri ?? '').length).toBeLessThanOrEqual(8192);
      }),
      { numRuns: 300 },
    ));
});

describe('hostile playlists', () => {
  const repeated = (line: string, count: number) =>
    `#EXTM3U\n#EXTINF:4,\na\n${`${line}\n`.repeat(count)}#EXT-X-ENDLIST`;

  it.each<[string, string]>([
    ['preload hints', '#EXT-X-PRELOAD-HINT:TYPE=PART,URI="p"'],
    ['parts', '#EXT-X-PART:DURATION=1,URI="p"'],
    ['rendition reports', '#EXT-X-RENDITION-REPORT:URI="r"'],
    ['date ranges', '#EXT-X-DATERANGE:ID="a",START-DATE="2026-01-01T00:00:00Z"'],
    ['tags without a name', '#EXT'],
    ['comments', '#'],
  ])('takes one segment of 200,000 %s', (_, line) => {
    const found = parse(repeated(line, 200_000));
    expect(found?.kind === 'media' && [...found.segments].length).toBe(1);
  });

  it('rejects too many lines', () =>
    expect(() => readHlsPlaylist(`#EXTM3U\n${'#EXT\n'.repeat(1_000_001)}`, 50)).toThrow(PlaylistError));

  it('does not substitute variables in the values of variables', () => {
    const definitions = Array.from(
      { length: 17 },
      (_, n) => `#EXT-X-DEFINE:NAME="v${n + 1}",VALUE="{$v${n}}{$v${n}}"\n`,
    );
    const text = `#EXTM3U\n#EXT-X-DEFINE:NAME="v0",VALUE="x"\n${definitions.join('')}#EXTINF:1,\n{$v17}`;
    const found = parse(text);
    expect(found?.kind === 'media' && [...found.segments][0]?.content.url).toBe(
      'https://cdn.example/a/{$v16}{$v16}'.replaceAll('{', '%7B').replaceAll('}', '%7D'),
    );
  });

  it('shares a long base among 99,000 segments and initialization sections', () => {
    const base = `https://cdn.example/${'a'.repeat(8000)}/index.m3u8`;
    const text = `#EXTM3U\n${'#EXT-X-MAP:URI="i"\n#EXTINF:1,\ns\n#EXT-X-MAP:URI="j"\n'.repeat(99_000)}#EXT-X-ENDLIST`;
    const found = readAt(text, 100_000, base);
    const segments = found.kind === 'media' ? [...found.segments] : [];
    // Only references are held: the base is one string, and resolved URLs are made on use.
    expect(new Set(segments.map(({ content }) => (content as RelativeSection).base))).toEqual(new Set([base]));
    expect(
      segments.every(({ content }) => !Object.values(content).some((part) => String(part).length > base.length)),
    ).toBe(true);
    expect(segments[0]?.content.url).toHaveLength(base.length - 'index.m3u8'.length + 1);
    expect(hasDiscontinuity(segments)).toBe(false);
  });
});
