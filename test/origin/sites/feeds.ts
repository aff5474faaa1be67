import type { Answer, Exchange } from '../handler.ts';
import { send } from '../respond.ts';

/** Builds a feed; `base` is the URL of the origin. */
type Feed = (base: string) => readonly [type: string, body: string];

const item = (name: string, url: string, type: string) =>
  `<item><title>${name}</title><guid>${name}</guid><link>${url}</link>
  <enclosure url="${url}" type="${type}" length="1"/><itunes:duration>6</itunes:duration></item>`;
const rss = (name: string, items: string): readonly [string, string] => [
  'application/rss+xml',
  `<?xml version="1.0" encoding="UTF-8"?>
  <rss version="2.0" xmlns:itunes="http://www.itunes.com/dtds/podcast-1.0.dtd"><channel>
  <title>${name}</title><description>About sound.</description><itunes:author>Ada Example</itunes:author>
  ${items}</channel></rss>`,
];

const FEEDS: Readonly<Record<string, Feed>> = {
  'podcast.xml': (base) =>
    rss(
      'A podcast',
      ['mp3', 'm4a', 'ogg']
        .map((ext, at) => item(`Episode ${at + 1}`, `${base}/files/tone.${ext}`, 'audio/mpeg'))
        .join(''),
    ),
  'one.xml': (base) => rss('A short podcast', item('The only one', `${base}/files/tone.mp3`, 'audio/mpeg')),
  'empty.xml': () => rss('An empty podcast', ''),
  'half-dead.xml': (base) =>
    rss(
      'Half a podcast',
      item('Alive', `${base}/files/tone.mp3`, 'audio/mpeg') +
        item('Gone', `${base}/files/nowhere.mp3`, 'audio/mpeg') +
        item('Protected', `${base}/hls/drm.m3u8`, 'application/vnd.apple.mpegurl') +
        item('Alive too', `${base}/files/clip.mp4`, 'video/mp4'),
    ),
  'dead.xml': (base) => rss('A dead podcast', item('Gone', `${base}/files/nowhere.mp3`, 'audio/mpeg')),
  'list.xspf': (base) => [
    'application/xspf+xml',
    `<?xml version="1.0" encoding="UTF-8"?><playlist version="1" xmlns="http://xspf.org/ns/0/"><title>A list</title>
    <trackList>${['tone.mp3', 'tone.flac']
      .map((file) => `<track><location>${base}/files/${file}</location><title>${file}</title></track>`)
      .join('')}</trackList></playlist>`,
  ],
};

/** `/feeds/podcast.xml`, `/feeds/list.xspf`, … */
export function feeds(exchange: Exchange): Answer {
  const feed = FEEDS[exchange.path]?.(exchange.url.origin);
  return feed ? send(exchange, ...feed) : send(exchange, 'text/plain', 'Not here', 404);
}
