import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import { box, fullBox, u32, u64 } from '@reelay/seekable-media/isobmff';
import { movie } from '../../packages/seekable-media/test/seeds.ts';
import type { OriginHandler } from '../origin/handler.ts';

/** A link whose source is hostile, and how it may be answered. All of them are generated. */
interface HostileLink {
  /** The path of the link below its mount. */
  readonly name: string;
  readonly type: string;
  /** The response body, or a function that answers by itself. */
  readonly body: () => string | Buffer;
  readonly headers?: Readonly<Record<string, string>>;
  /** Answers of GetResource that are right. */
  readonly statuses: readonly number[];
}

const HLS = 'application/vnd.apple.mpegurl';
const DASH = 'application/dash+xml';
const HTML = 'text/html';
const RSS = 'application/rss+xml';
const MP4 = 'video/mp4';

const playlist = (line: string, count: number) => `#EXTM3U\n#EXTINF:4,\n/files/clip.mp4\n${`${line}\n`.repeat(count)}`;
const mpd = (period: string, root = '', prolog = '') =>
  `<?xml version="1.0"?>${prolog}<MPD xmlns="urn:mpeg:dash:schema:mpd:2011" xmlns:xlink="http://www.w3.org/1999/xlink"
  type="static" mediaPresentationDuration="PT1000S" ${root}>${period}</MPD>`;
const adaptation = (content: string, representation = '<Representation id="v" bandwidth="1000"/>') =>
  `<AdaptationSet mimeType="video/mp4" codecs="avc1.4d401e">${content}${representation}</AdaptationSet>`;
const timeline = (media: string, entry: string) =>
  `<SegmentTemplate media="${media}"><SegmentTimeline>${entry}</SegmentTimeline></SegmentTemplate>`;
const rss = (items: string, prolog = '') =>
  `<?xml version="1.0"?>${prolog}<rss version="2.0"><channel><title>t</title>${items}</channel></rss>`;
/** Ten entities, each ten times the one before (CWE-776). */
const LAUGHS = `<!DOCTYPE x [<!ENTITY e0 "${'x'.repeat(100)}">${Array.from(
  { length: 9 },
  (_, n) => `<!ENTITY e${n + 1} "${`&e${n};`.repeat(10)}">`,
).join('')}]>`;
/** Entities of files and of other hosts (CWE-611). */
const EXTERNAL = '<!DOCTYPE x [<!ENTITY e SYSTEM "file:///etc/passwd"><!ENTITY h SYSTEM "http://169.254.169.254/">]>';
const nested = (open: string, close: string, depth: number) => open.repeat(depth) + close.repeat(depth);
const file = (...boxes: readonly Buffer[]) => Buffer.concat([box('ftyp', Buffer.from('isom\0\0\x02\0isom')), ...boxes]);
/** A box whose header says any size. */
const declared = (size: number, type: string, ...content: readonly Buffer[]) =>
  Buffer.concat([u32(size), Buffer.from(type, 'latin1'), ...content]);
const nestedBoxes = (type: string, depth: number) => {
  let inner = box(type);
  for (let level = 1; level < depth; level += 1) inner = box(type, inner);
  return inner;
};
/** A movie with one of its tables, found by its type, changed. */
const patched = (type: string, offset: number, value: number) => {
  const bytes = Buffer.from(movie('vide'));
  bytes.writeUInt32BE(value, bytes.indexOf(type, 0, 'latin1') + offset);
  return file(bytes, box('mdat', Buffer.alloc(4000)));
};
const gzipBomb = () => gzipSync(Buffer.concat([Buffer.from('<html>'), Buffer.alloc(2 ** 27, 0x20)]), { level: 1 });

export const HOSTILE_LINKS: readonly HostileLink[] = [
  // Security review, finding 2: playlists.
  {
    name: 'preload-hints.m3u8',
    type: HLS,
    body: () => playlist('#EXT-X-PRELOAD-HINT:TYPE=PART,URI="p"', 60_000),
    statuses: [404],
  },
  {
    name: 'rendition-reports.m3u8',
    type: HLS,
    body: () => playlist('#EXT-X-RENDITION-REPORT:URI="r"', 60_000),
    statuses: [404],
  },
  { name: 'million-tags.m3u8', type: HLS, body: () => playlist('#EXT', 1_000_100), statuses: [404, 415] },
  { name: 'long-line.m3u8', type: HLS, body: () => `#EXTM3U\n#EXTINF:4,\n${'a'.repeat(4_000_000)}`, statuses: [415] },
  {
    name: 'variables.m3u8',
    type: HLS,
    body: () => `#EXTM3U\n#EXT-X-DEFINE:NAME="v",VALUE="${'x'.repeat(8000)}"\n${'#EXTINF:{$v},\n'.repeat(1100)}a`,
    statuses: [404, 415],
  },
  { name: 'undefined-variable.m3u8', type: HLS, body: () => '#EXTM3U\n#EXTINF:4,\n{$none}/a', statuses: [404, 415] },
  {
    name: 'variants.m3u8',
    type: HLS,
    body: () =>
      `#EXTM3U\n${Array.from({ length: 2_000 }, (_, n) => `#EXT-X-STREAM-INF:BANDWIDTH=${n + 1}\nv${n}.m3u8\n`).join('')}`,
    statuses: [200, 404, 415, 502],
  },
  {
    name: 'itself.m3u8',
    type: HLS,
    body: () => '#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1\nitself.m3u8\n',
    statuses: [200, 404, 415],
  },
  {
    name: 'negative.m3u8',
    type: HLS,
    body: () =>
      '#EXTM3U\n#EXT-X-TARGETDURATION:-1\n#EXT-X-MEDIA-SEQUENCE:99999999999999999999\n#EXTINF:-4,\n#EXT-X-BYTERANGE:-1@-1\na\n',
    statuses: [404, 415],
  },

  // Finding 1: manifests. More shapes are in test/core/resolve/hostile-links.all.test.ts.
  {
    name: 'repeat.mpd',
    type: DASH,
    body: () => mpd(`<Period>${adaptation(timeline('$Number$', '<S t="0" d="1" r="2147483648"/>'))}</Period>`),
    statuses: [415],
  },
  {
    name: 'repeat-open.mpd',
    type: DASH,
    body: () =>
      mpd(
        `<Period>${adaptation(timeline('$Number$', '<S t="0" d="1" r="-1"/>'))}</Period>`,
        'availabilityStartTime="1970-01-01T00:00:00Z"',
      ),
    statuses: [200, 404, 415, 502],
  },
  {
    name: 'number-width.mpd',
    type: DASH,
    body: () => mpd(`<Period>${adaptation(timeline('$Number%09999d$', '<S t="0" d="1" r="9999"/>'))}</Period>`),
    statuses: [415],
  },
  {
    name: 'base-urls.mpd',
    type: DASH,
    body: () =>
      mpd(
        `<BaseURL>http://b.example/${'a/'.repeat(2000)}</BaseURL><Period><BaseURL>${'b/'.repeat(2000)}</BaseURL>${adaptation(`<BaseURL>${'c/'.repeat(2000)}</BaseURL>${timeline('$Number$', '<S t="0" d="1" r="9999"/>')}`)}</Period>`,
      ),
    statuses: [404, 415],
  },
  {
    name: 'periods.mpd',
    type: DASH,
    body: () =>
      mpd(`<Period duration="PT1S">${adaptation(timeline('$Number$', '<S t="0" d="1"/>'))}</Period>`.repeat(20_000)),
    statuses: [200, 404, 415],
  },
  {
    name: 'segment-urls.mpd',
    type: DASH,
    body: () =>
      mpd(`<Period>${adaptation(`<SegmentList>${'<SegmentURL media="a"/>'.repeat(300_000)}</SegmentList>`)}</Period>`),
    statuses: [415, 502],
  },
  {
    name: 'xlink.mpd',
    type: DASH,
    body: () => mpd('<Period xlink:href="http://169.254.169.254/latest/meta-data/" xlink:actuate="onLoad"/>'),
    statuses: [404, 415],
  },
  {
    name: 'entities.mpd',
    type: DASH,
    body: () =>
      mpd(
        `<Period><BaseURL>&e9;</BaseURL>${adaptation(timeline('$Number$', '<S t="0" d="1"/>'))}</Period>`,
        '',
        LAUGHS,
      ),
    statuses: [404, 415, 502],
  },
  {
    name: 'external-entity.mpd',
    type: DASH,
    body: () =>
      mpd(
        `<Period><BaseURL>&e;&h;</BaseURL>${adaptation(timeline('$Number$', '<S t="0" d="1"/>'))}</Period>`,
        '',
        EXTERNAL,
      ),
    statuses: [404, 415, 502],
  },
  {
    name: 'depth.mpd',
    type: DASH,
    body: () => mpd(nested('<Period>', '</Period>', 100_000)),
    statuses: [404, 415, 502],
  },

  // Pages and feeds, which yt-dlp reads in a process of its own.
  {
    name: 'links',
    type: HTML,
    body: () => `<title>t</title>${'<link rel="alternate" type="application/rss+xml" href="/x">'.repeat(20_000)}`,
    statuses: [404, 415, 502],
  },
  {
    name: 'videos',
    type: HTML,
    body: () =>
      `<title>t</title>${Array.from({ length: 5_000 }, (_, n) => `<video src="/v${n}.mp4"></video>`).join('')}`,
    statuses: [200, 404, 415, 502],
  },
  { name: 'unclosed', type: HTML, body: () => '<video '.repeat(1_500), statuses: [404, 415, 502] },
  {
    name: 'attributes',
    type: HTML,
    body: () => `<meta ${'property=\'og:video" '.repeat(20_000)}`,
    statuses: [404, 415, 502],
  },
  { name: 'depth', type: HTML, body: () => nested('<div>', '</div>', 50_000), statuses: [404, 415, 502] },
  {
    name: 'json-ld',
    type: HTML,
    body: () => `<script type="application/ld+json">${nested('[', ']', 50_000)}</script>`,
    statuses: [404, 415, 502],
  },
  {
    name: 'long-title',
    type: HTML,
    body: () => `<title>${'t'.repeat(300_000)}</title><video src="/files/clip.mp4"></video>`,
    statuses: [200],
  },
  {
    name: 'refresh',
    type: HTML,
    body: () => '<meta http-equiv="refresh" content="0; url=refresh">',
    statuses: [404, 415, 502],
  },
  {
    name: 'frames',
    type: HTML,
    body: () => '<iframe src="http://127.0.0.1:1/a"></iframe>'.repeat(2_000),
    statuses: [404, 415, 502],
  },
  {
    name: 'items.rss',
    type: RSS,
    body: () =>
      rss(
        Array.from(
          { length: 5_000 },
          (_, n) => `<item><title>${n}</title><enclosure url="http://none.example/${n}.mp3" type="audio/mpeg"/></item>`,
        ).join(''),
      ),
    statuses: [200, 404, 415, 502],
  },
  {
    name: 'entities.rss',
    type: RSS,
    body: () => rss('<item><title>&e9;</title><link>http://none.example/</link></item>', LAUGHS),
    statuses: [200, 404, 415, 502],
  },
  {
    name: 'external-entity.rss',
    type: RSS,
    body: () => rss('<item><title>&e;&h;</title><link>http://none.example/</link></item>', EXTERNAL),
    statuses: [200, 404, 415, 502],
  },
  { name: 'depth.rss', type: RSS, body: () => rss(nested('<item>', '</item>', 100_000)), statuses: [404, 415, 502] },
  {
    name: 'smil',
    type: 'application/smil+xml',
    body: () => `<smil>${nested('<switch>', '</switch>', 100_000)}</smil>`,
    statuses: [404, 415, 502],
  },

  // Compressed more than once (finding 8).
  {
    name: 'gzip-twice',
    type: HTML,
    body: () => gzipSync(gzipBomb()),
    headers: { 'content-encoding': 'gzip, gzip' },
    statuses: [415],
  },
  {
    name: 'brotli',
    type: HTML,
    body: () => brotliCompressSync(Buffer.alloc(2 ** 27, 0x20), { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } }),
    headers: { 'content-encoding': 'br' },
    statuses: [404, 415],
  },

  // Files, which are probed in a process of its own (findings 7 and 9).
  {
    name: 'size-zero.mp4',
    type: MP4,
    body: () => file(declared(0, 'moov', movie('vide').subarray(8))),
    statuses: [200, 404],
  },
  { name: 'size-one.mp4', type: MP4, body: () => file(declared(1, 'moov', u64(1))), statuses: [404] },
  { name: 'size-huge.mp4', type: MP4, body: () => file(declared(1, 'moov', u64(2n ** 63n))), statuses: [404] },
  { name: 'size-small.mp4', type: MP4, body: () => file(declared(7, 'moov')), statuses: [404] },
  { name: 'depth.mp4', type: MP4, body: () => file(nestedBoxes('moov', 5000)), statuses: [404] },
  {
    name: 'tracks.mp4',
    type: MP4,
    body: () => file(box('moov', ...Array.from({ length: 20_000 }, () => box('trak')))),
    statuses: [200, 404],
  },
  { name: 'sample-count.mp4', type: MP4, body: () => patched('stsz', 12, 0xffff_ffff), statuses: [200, 404] },
  { name: 'chunk-count.mp4', type: MP4, body: () => patched('stco', 8, 0xffff_ffff), statuses: [200, 404] },
  { name: 'time-runs.mp4', type: MP4, body: () => patched('stts', 12, 0xffff_ffff), statuses: [200, 404] },
  { name: 'edits.mp4', type: MP4, body: () => patched('elst', 8, 0xffff_ffff), statuses: [200, 404] },
  {
    name: 'fragments.mp4',
    type: MP4,
    body: () => file(movie('vide'), ...Array.from({ length: 20_000 }, () => fullBox('moof', 0, 0))),
    statuses: [200, 404],
  },
  {
    name: 'tag.mp3',
    type: 'audio/mpeg',
    body: () => Buffer.from('ID3\x04\0\0\x7f\x7f\x7f\x7f', 'latin1'),
    statuses: [200, 404],
  },
  {
    name: 'elements.mkv',
    type: 'video/x-matroska',
    body: () => Buffer.concat([Buffer.from('1a45dfa301ffffffffffffff', 'hex'), Buffer.alloc(100_000, 0x42)]),
    statuses: [200, 404],
  },
  { name: 'pages.ogg', type: 'audio/ogg', body: () => Buffer.alloc(200_000, 'OggS\0\x02'), statuses: [200, 404] },
  {
    name: 'chunks.wav',
    type: 'audio/wav',
    body: () =>
      Buffer.concat([Buffer.from('RIFF\xff\xff\xff\xffWAVE', 'latin1'), Buffer.alloc(100_000, 'JUNK\0\0\0\0')]),
    statuses: [200, 404],
  },
  {
    name: 'empty-metadata.flac',
    type: 'audio/flac',
    body: () => Buffer.concat([Buffer.from('fLaC'), Buffer.alloc(200_000, Buffer.from([1, 0, 0, 0]))]),
    statuses: [200, 404],
  },

  // Heads.
  {
    name: 'header-value',
    type: HTML,
    body: () => '',
    headers: { 'x-large': 'x'.repeat(1_000_000) },
    statuses: [404, 415, 502],
  },
  {
    name: 'headers',
    type: HTML,
    body: () => '',
    headers: Object.fromEntries(Array.from({ length: 5000 }, (_, n) => [`x-${n}`, '1'])),
    statuses: [404, 415, 502],
  },
  {
    name: 'cookies',
    type: HTML,
    body: () => '<video src="/files/clip.mp4"></video>',
    headers: { 'set-cookie': `${'c'.repeat(60_000)}=1` },
    statuses: [200, 404, 415, 502],
  },
];

/** Makes the bodies of the links, and serves them below a mount. */
export function serveHostileLinks(): OriginHandler {
  const bodies = new Map(HOSTILE_LINKS.map(({ name, body }) => [name, body()]));
  return ({ path, response }) => {
    const link = HOSTILE_LINKS.find(({ name }) => name === path);
    const body = bodies.get(path);
    if (!link || body === undefined) return void response.writeHead(404).end();
    response.writeHead(200, { 'content-type': link.type, 'content-length': Buffer.byteLength(body), ...link.headers });
    response.end(body);
  };
}
