/** Inputs as large as their readers accept, of millions of small parts: all generated. */

const MB = 2 ** 20;
const listOf = <T>(length: number, create: (index: number) => T): T[] => Array.from({ length }, (_, n) => create(n));
/** A text of so many bytes: a beginning, one part as often as it fits, and an end. */
const fill = (bytes: number, start: string, part: string, end = ''): string =>
  start + part.repeat((bytes - start.length - end.length) / part.length) + end;

const HLS_BYTES = 8 * MB - 64;
const HLS = '#EXTM3U\n#EXT-X-TARGETDURATION:4\n#EXTINF:4.5,\nnone.ts\n';
const END = '\n#EXT-X-ENDLIST\n';
const playlistOf = (count: number, segment: (index: number) => string) => HLS + listOf(count, segment).join('') + END;

/** HLS playlists. Their segments do not exist. */
export const LARGE_PLAYLISTS: Readonly<Record<string, () => string>> = {
  segments: () => playlistOf(99_990, (n) => `#EXTINF:4.${n},\nsegment-${'x'.repeat(50)}-${n}.ts\n`),
  'keys and sections': () =>
    playlistOf(
      60_000,
      (n) => `#EXT-X-KEY:METHOD=AES-128,URI="k${n}",IV=0x${n}\n#EXT-X-MAP:URI="${n}"\n#EXTINF:4,\na\n`,
    ),
  ranges: () => playlistOf(99_990, (n) => `#EXTINF:4,\n#EXT-X-BYTERANGE:10@${n}0\na\n`),
  'gaps and discontinuities': () => playlistOf(99_990, () => '#EXTINF:4,\n#EXT-X-GAP\n#EXT-X-DISCONTINUITY\na\n'),
  durations: () => fill(HLS_BYTES, HLS, '#EXTINF:4,\n', END),
  tags: () => fill(HLS_BYTES, HLS, '#EXT\n', END),
  'preload hints': () => fill(HLS_BYTES, HLS, '#EXT-X-PRELOAD-HINT:TYPE=PART,URI="p"\n', END),
  'rendition reports': () => fill(HLS_BYTES, HLS, '#EXT-X-RENDITION-REPORT:URI="r"\n', END),
  'empty lines': () => fill(HLS_BYTES, HLS, '\n', END),
  'durations of spaces': () => fill(HLS_BYTES, HLS, `#EXTINF:${' '.repeat(1000)}\n`, END),
  variants: () => fill(HLS_BYTES, '#EXTM3U\n', `#EXT-X-STREAM-INF:${'A=1,'.repeat(60)}BANDWIDTH=1\nv.m3u8\n`),
  variables: () => fill(7 * MB, '#EXTM3U\n#EXT-X-DEFINE:NAME="v",VALUE="x"\n', '#EXTINF:{$v}{$v}{$v},\n', END),
};

const CAPTION_BYTES = 5_000_000;

/** Subtitle files. */
export const LARGE_CAPTIONS: Readonly<Record<string, () => string>> = {
  'json brackets': () => '{"events":'.padEnd(CAPTION_BYTES, '['),
  'json lists': () => `{"events":${'['.repeat(2_400_000)}${']'.repeat(2_400_000)}}`,
  'json events': () => fill(CAPTION_BYTES, '{"events":[', '{},', '{}]}'),
  'json names': () => `{"events":[${listOf(200_000, (n) => `{"k${n}":1}`).join()}]}`,
  'vtt cues at once': () =>
    `WEBVTT\n\n${listOf(40_000, (n) => `00:00:00.${n % 1000} --> 99:00:00.${n % 1000}\n${'x'.repeat(80)}\n\n`).join('')}`,
  'vtt cues': () => fill(CAPTION_BYTES, 'WEBVTT\n\n', '00:01.0-->00:02.0\na\n\n'),
  'vtt lines': () => fill(CAPTION_BYTES, 'WEBVTT\n\n00:01.0-->00:02.0\n', 'a\n'),
  'vtt references': () => fill(CAPTION_BYTES, 'WEBVTT\n\n00:01.0-->00:02.0\n', '&'),
  'vtt tags': () => fill(CAPTION_BYTES, 'WEBVTT\n\n00:01.0-->00:02.0\n', '<'),
  'srt cues': () => fill(CAPTION_BYTES, '', '1\r\n00:00:01,000 --> 00:00:02,500\r\n{\\an8}\r\n\r\n'),
  'ttml elements': () => fill(CAPTION_BYTES, '<tt>', '<p begin="1s" end="2s">a</p>'),
  'ttml breaks': () => fill(CAPTION_BYTES, '<tt><p begin="1s" end="2s">', '<br/>'),
  'xml attributes': () => `<tt ${listOf(450_000, (n) => `a${n}=""`).join(' ')}>`,
  'srv1 texts': () => fill(CAPTION_BYTES, '<transcript>', '<text start="1" dur="2">a</text>'),
  'srv3 texts': () => fill(CAPTION_BYTES, '<timedtext><body>', '<p t="1" d="2">a<s>b</s></p>'),
};

type Info = Readonly<Record<string, unknown>>;

/** What an extractor makes of a page: less than the 16 MiB of an answer of yt-dlp. @param host of files, which need not exist */
export function largeItems(host: string): Readonly<Record<string, () => Info>> {
  const headers = { 'User-Agent': 'x'.repeat(100), Referer: host };
  const format = (n: number, more: Info = {}): Info => ({
    format_id: `${n}`,
    url: `${host}/none/${n}`,
    protocol: 'https',
    ext: 'mp4',
    format: 'f'.repeat(200),
    vcodec: n % 2 ? 'avc1' : 'none',
    acodec: n % 2 ? 'none' : 'mp4a.40.2',
    height: n,
    tbr: n,
    filesize: 100 + n,
    duration: 10,
    http_headers: headers,
    ...more,
  });
  const formats = (count: number) => listOf(count, (n) => format(n));
  const dash = (n: number, count: number): Info =>
    format(n, {
      protocol: 'http_dash_segments',
      url: `${host}/none/m.mpd`,
      filesize: undefined,
      fragments: listOf(count, (index) => ({ path: `segment-${index}`, duration: 4 + index / 1e5 })),
    });
  const item = (id: string, more: Info): Info => ({ id, title: '&'.repeat(500), uploader: '"'.repeat(500), ...more });
  const files = (count: number, cookies: string): Info =>
    Object.fromEntries(listOf(count, (n) => [`l${n}`, [{ ext: 'vtt', url: `${host}/none/${n}`, cookies }]]));
  const list = (id: string, count: number, ownFormats: number): Info => ({
    _type: 'playlist',
    id,
    title: 'A list',
    entries: listOf(count, (n) => item(`${id}-${n}`, { formats: formats(ownFormats) })),
  });
  return {
    fragments: () => item('1', { formats: [dash(1, 149_000), dash(2, 49_000)] }),
    'fragments of many formats': () => item('2', { formats: listOf(200, (n) => dash(n, 900)) }),
    formats: () => item('3', { formats: formats(8_000) }),
    'long formats': () =>
      item('4', { formats: listOf(300, (n) => format(n, { format_note: 'audio descr '.repeat(2_000) })) }),
    cookies: () =>
      item('5', { formats: listOf(300, (n) => format(n, { cookies: `${n}=1; ${'a=1; '.repeat(3_000)}` })) }),
    'headers and parameters': () =>
      item('6', {
        formats: listOf(300, (n) =>
          format(n, {
            url: `${host}/none/${n}?${'a&'.repeat(4_000)}`,
            http_headers: Object.fromEntries(listOf(500, (header) => [`h${header}`, 'v'])),
          }),
        ),
      }),
    'empty lists': () => item('7', { formats: formats(2), x: listOf(2_000_000, () => []) }),
    details: () =>
      item('8', {
        formats: formats(2),
        description: '<'.repeat(1_000_000),
        tags: listOf(200_000, (n) => `t${n}`),
        creators: listOf(200_000, (n) => `c${n}`),
        chapters: listOf(50_000, (start_time) => ({ start_time, title: '&'.repeat(20) })),
        thumbnails: listOf(20_000, (n) => ({ url: `${host}/none/${n}`, width: n, height: n })),
        subtitles: files(20_000, ''),
      }),
    'cookies of captions': () => item('9', { formats: formats(2), subtitles: files(200, 'a=1; '.repeat(3_000)) }),
    'a list of long items': () => list('10', 20, 300),
    'a long list': () => list('11', 200, 5),
  };
}
