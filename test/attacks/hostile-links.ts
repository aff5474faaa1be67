import { brotliCompressSync, constants } from 'node:zlib';
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

const mpd = (period: string, root = '', prolog = '') =>
  `<?xml version="1.0"?>${prolog}<MPD xmlns="urn:mpeg:dash:schema:mpd:2011" xmlns:xlink="http://www.w3.org/1999/xlink"
  type="static" mediaPresentationDuration="PT1000S" ${root}>${period}</MPD>`;
const adaptation = (content: string) =>
  `<AdaptationSet mimeType="video/mp4" codecs="avc1.4d401e">${content}<Representation id="v" bandwidth="1000"/></AdaptationSet>`;
/** A period of one representation of a timeline. */
const period = (entry: string, more = '', duration = '') =>
  `<Period ${duration}>${more}${adaptation(`<SegmentTemplate media="$Number$"><SegmentTimeline>${entry}</SegmentTimeline></SegmentTemplate>`)}</Period>`;
const ONCE = '<S t="0" d="1"/>';
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
/** Answers of GetResource to what cannot be delivered, to what something may be made of, and to files that are probed. */
const REFUSED = [404, 415, 502];
const ANY = [200, ...REFUSED];
const UNREADABLE = [404, 415];
const PROBED = [200, 404];

type Row = readonly [statuses: readonly number[], body: () => string | Buffer, headers?: HostileLink['headers']];

/** @param rows by the path of the link */
const links = (type: string, rows: Readonly<Record<string, Row>>): HostileLink[] =>
  Object.entries(rows).map(([name, [statuses, body, headers = {}]]) => ({ name, type, statuses, body, headers }));

export const HOSTILE_LINKS: readonly HostileLink[] = [
  // Security review, finding 2: playlists. Large ones are in large-inputs.ts.
  ...links(HLS, {
    'long-line.m3u8': [[415], () => `#EXTM3U\n#EXTINF:4,\n${'a'.repeat(4_000_000)}`],
    'variables.m3u8': [
      UNREADABLE,
      () => `#EXTM3U\n#EXT-X-DEFINE:NAME="v",VALUE="${'x'.repeat(8000)}"\n${'#EXTINF:{$v},\n'.repeat(1100)}a`,
    ],
    'undefined-variable.m3u8': [UNREADABLE, () => '#EXTM3U\n#EXTINF:4,\n{$none}/a'],
    'variants.m3u8': [
      ANY,
      () =>
        `#EXTM3U\n${Array.from({ length: 2_000 }, (_, n) => `#EXT-X-STREAM-INF:BANDWIDTH=${n + 1}\nv${n}.m3u8\n`).join('')}`,
    ],
    'itself.m3u8': [[200, 404, 415], () => '#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1\nitself.m3u8\n'],
    'negative.m3u8': [
      UNREADABLE,
      () =>
        '#EXTM3U\n#EXT-X-TARGETDURATION:-1\n#EXT-X-MEDIA-SEQUENCE:99999999999999999999\n#EXTINF:-4,\n#EXT-X-BYTERANGE:-1@-1\na\n',
    ],
  }),
  // Finding 1: manifests. More shapes are in test/core/resolve/hostile-links.all.test.ts.
  ...links(DASH, {
    'repeat-open.mpd': [
      ANY,
      () => mpd(period('<S t="0" d="1" r="-1"/>'), 'availabilityStartTime="1970-01-01T00:00:00Z"'),
    ],
    'periods.mpd': [[200, 404, 415], () => mpd(period(ONCE, '', 'duration="PT1S"').repeat(20_000))],
    'segment-urls.mpd': [
      [415, 502],
      () =>
        mpd(
          `<Period>${adaptation(`<SegmentList>${'<SegmentURL media="a"/>'.repeat(300_000)}</SegmentList>`)}</Period>`,
        ),
    ],
    'xlink.mpd': [
      UNREADABLE,
      () => mpd('<Period xlink:href="http://169.254.169.254/latest/meta-data/" xlink:actuate="onLoad"/>'),
    ],
    'entities.mpd': [REFUSED, () => mpd(period(ONCE, '<BaseURL>&e9;</BaseURL>'), '', LAUGHS)],
    'external-entity.mpd': [REFUSED, () => mpd(period(ONCE, '<BaseURL>&e;&h;</BaseURL>'), '', EXTERNAL)],
    'depth.mpd': [REFUSED, () => mpd(nested('<Period>', '</Period>', 100_000))],
  }),
  // Pages and feeds, which yt-dlp reads in a process of its own.
  ...links(HTML, {
    links: [
      REFUSED,
      () => `<title>t</title>${'<link rel="alternate" type="application/rss+xml" href="/x">'.repeat(20_000)}`,
    ],
    videos: [
      ANY,
      () => `<title>t</title>${Array.from({ length: 5_000 }, (_, n) => `<video src="/v${n}.mp4"></video>`).join('')}`,
    ],
    unclosed: [REFUSED, () => '<video '.repeat(1_500)],
    attributes: [REFUSED, () => `<meta ${'property=\'og:video" '.repeat(20_000)}`],
    depth: [REFUSED, () => nested('<div>', '</div>', 50_000)],
    'json-ld': [REFUSED, () => `<script type="application/ld+json">${nested('[', ']', 50_000)}</script>`],
    'long-title': [[200], () => `<title>${'t'.repeat(300_000)}</title><video src="/files/clip.mp4"></video>`],
    refresh: [REFUSED, () => '<meta http-equiv="refresh" content="0; url=refresh">'],
    frames: [REFUSED, () => '<iframe src="http://127.0.0.1:1/a"></iframe>'.repeat(2_000)],
  }),
  ...links(RSS, {
    'items.rss': [
      ANY,
      () =>
        rss(
          Array.from(
            { length: 5_000 },
            (_, n) =>
              `<item><title>${n}</title><enclosure url="http://none.example/${n}.mp3" type="audio/mpeg"/></item>`,
          ).join(''),
        ),
    ],
    'entities.rss': [ANY, () => rss('<item><title>&e9;</title><link>http://none.example/</link></item>', LAUGHS)],
    'external-entity.rss': [
      ANY,
      () => rss('<item><title>&e;&h;</title><link>http://none.example/</link></item>', EXTERNAL),
    ],
    'depth.rss': [REFUSED, () => rss(nested('<item>', '</item>', 100_000))],
  }),
  ...links('application/smil+xml', {
    smil: [REFUSED, () => `<smil>${nested('<switch>', '</switch>', 100_000)}</smil>`],
  }),
  // Compressed (finding 8). As gzip and deflate: test/core/resolve/hostile-links.all.test.ts.
  ...links(HTML, {
    brotli: [
      UNREADABLE,
      () => brotliCompressSync(Buffer.alloc(2 ** 27, 0x20), { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } }),
      { 'content-encoding': 'br' },
    ],
  }),
  // Files, which are probed in a process of its own (findings 7 and 9).
  ...links(MP4, {
    'size-zero.mp4': [PROBED, () => file(declared(0, 'moov', movie('vide').subarray(8)))],
    'size-one.mp4': [[404], () => file(declared(1, 'moov', u64(1)))],
    'size-huge.mp4': [[404], () => file(declared(1, 'moov', u64(2n ** 63n)))],
    'size-small.mp4': [[404], () => file(declared(7, 'moov'))],
    'depth.mp4': [[404], () => file(nestedBoxes('moov', 5000))],
    'tracks.mp4': [PROBED, () => file(box('moov', ...Array.from({ length: 20_000 }, () => box('trak'))))],
    'sample-count.mp4': [PROBED, () => patched('stsz', 12, 0xffff_ffff)],
    'chunk-count.mp4': [PROBED, () => patched('stco', 8, 0xffff_ffff)],
    'time-runs.mp4': [PROBED, () => patched('stts', 12, 0xffff_ffff)],
    'edits.mp4': [PROBED, () => patched('elst', 8, 0xffff_ffff)],
    'fragments.mp4': [
      PROBED,
      () => file(movie('vide'), ...Array.from({ length: 20_000 }, () => fullBox('moof', 0, 0))),
    ],
  }),
  ...links('audio/mpeg', {
    'tag.mp3': [PROBED, () => Buffer.from('ID3\x04\0\0\x7f\x7f\x7f\x7f', 'latin1')],
  }),
  ...links('video/x-matroska', {
    'elements.mkv': [
      PROBED,
      () => Buffer.concat([Buffer.from('1a45dfa301ffffffffffffff', 'hex'), Buffer.alloc(100_000, 0x42)]),
    ],
  }),
  ...links('audio/ogg', {
    'pages.ogg': [PROBED, () => Buffer.alloc(200_000, 'OggS\0\x02')],
  }),
  ...links('audio/wav', {
    'chunks.wav': [
      PROBED,
      () => Buffer.concat([Buffer.from('RIFF\xff\xff\xff\xffWAVE', 'latin1'), Buffer.alloc(100_000, 'JUNK\0\0\0\0')]),
    ],
  }),
  ...links('audio/flac', {
    'empty-metadata.flac': [
      PROBED,
      () => Buffer.concat([Buffer.from('fLaC'), Buffer.alloc(200_000, Buffer.from([1, 0, 0, 0]))]),
    ],
  }),
  // Heads.
  ...links(HTML, {
    'header-value': [REFUSED, () => '', { 'x-large': 'x'.repeat(1_000_000) }],
    headers: [REFUSED, () => '', Object.fromEntries(Array.from({ length: 5000 }, (_, n) => [`x-${n}`, '1']))],
    cookies: [ANY, () => '<video src="/files/clip.mp4"></video>', { 'set-cookie': `${'c'.repeat(60_000)}=1` }],
  }),
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
