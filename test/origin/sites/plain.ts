import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Answer, Exchange } from '../handler.ts';
import { send, sendFile } from '../respond.ts';

/** Media below paths without an extension: [media type, file]. */
const MEDIA: Readonly<Record<string, readonly [type: string, file: string]>> = {
  video: ['video/mp4', 'clip.mp4'],
  audio: ['audio/mpeg', 'tone.mp3'],
  'audio-webm': ['video/webm', 'tone.webm'],
  octets: ['application/octet-stream', 'clip.mp4'],
  'video-as-text': ['text/plain', 'clip.mp4'],
  image: ['image/jpeg', 'wide.jpg'],
  'image-as-octets': ['application/octet-stream', 'wide.jpg'],
  'image.jpg': ['image/jpeg', 'wide.jpg'],
  'image-as-video': ['video/mp4', 'wide.jpg'],
};

/** An empty archive. */
const ZIP = Buffer.from(`504b0506${'00'.repeat(18)}`, 'hex');

const OTHER: Readonly<Record<string, readonly [type: string, body: string | Buffer]>> = {
  json: ['application/json', '{"hello":"world","list":[1,2,3]}'],
  'data.json': ['application/octet-stream', '{"hello":"world"}'],
  zip: ['application/zip', ZIP],
  'archive.zip': ['application/octet-stream', ZIP],
  text: ['text/plain; charset=utf-8', 'Just some words, and no media at all.\n'],
  empty: ['application/octet-stream', ''],
  'empty-video': ['video/mp4', ''],
  'empty-page': ['text/html', ''],
  'subtitles.vtt': ['text/vtt', 'WEBVTT\n\n00:01.000 --> 00:02.500\nHello &amp; <i>welcome</i>\n'],
  'subtitles.m3u8': [
    'application/vnd.apple.mpegurl',
    [
      '#EXTM3U',
      '#EXT-X-TARGETDURATION:4',
      '#EXTINF:4,',
      'part-0.vtt',
      '#EXTINF:4,',
      'part-1.vtt',
      '#EXT-X-ENDLIST',
    ].join('\n'),
  ],
  'part-0.vtt': [
    'text/vtt',
    'WEBVTT\nX-TIMESTAMP-MAP=MPEGTS:900000,LOCAL:00:00:00.000\n\n00:01.000 --> 00:02.500\nHola\n',
  ],
  'part-1.vtt': [
    'text/vtt',
    'WEBVTT\nX-TIMESTAMP-MAP=MPEGTS:1260000,LOCAL:00:00:00.000\n\n00:01.000 --> 00:02.000\nAdiós\n',
  ],
  'subtitles.srt': ['application/x-subrip', '1\n00:00:01,000 --> 00:00:02,500\nHello\n'],
  'subtitles.ttml': [
    'application/ttml+xml',
    '<tt xmlns="http://www.w3.org/ns/ttml"><body><div><p begin="1s" end="2.5s">Bonjour<br/>à tous</p></div></body></tt>',
  ],
  'subtitles.json3': [
    'application/json',
    '{"events":[{"tStartMs":1000,"dDurationMs":1500,"segs":[{"utf8":"Hallo"}]}]}',
  ],
  noise: ['video/mp4', Buffer.alloc(64 * 1024, 'noise ')],
};

const HUGE_BYTES = 50_000_000;
const CUES = Buffer.from('00:01.000 --> 00:02.000\nAgain\n\n'.repeat(10_000));

/** Valid WebVTT of 50 MB. */
async function sendHugeSubtitles({ request, response }: Exchange): Promise<void> {
  response.writeHead(200, { 'content-type': 'text/vtt' });
  if (request.method === 'HEAD') {
    response.end();
    return;
  }
  function* content() {
    yield Buffer.from('WEBVTT\n\n');
    for (let bytes = 0; bytes < HUGE_BYTES; bytes += CUES.length) yield CUES;
  }
  // The client may leave.
  await pipeline(Readable.from(content()), response).catch(() => undefined);
}

/** `/plain/video`, `/plain/json`, …: media without an extension, and files that are no media. */
export function plain(exchange: Exchange): Answer {
  if (exchange.path === 'subtitles.huge') return sendHugeSubtitles(exchange);
  const media = MEDIA[exchange.path];
  if (media) return sendFile(exchange, media[1], { type: media[0] });
  const other = OTHER[exchange.path];
  return other ? send(exchange, ...other) : send(exchange, 'text/plain', 'Not here', 404);
}
