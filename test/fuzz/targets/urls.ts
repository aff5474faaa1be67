import { dashTimeline, unpackDashSegments } from '@reelay/seekable-media/dash';
import { PlaylistError, readHlsPlaylist, unpackHlsPlaylist } from '@reelay/seekable-media/hls';
import type { MediaSection, Segment } from '@reelay/seekable-media/timeline';
import { EgressRefused, UpstreamError } from '../../../core/errors/index.ts';
import { parseExtraction } from '../../../core/parsing/extraction.ts';
import { readEntries } from '../../../core/resolve/playlist.ts';
import { selectRenditions } from '../../../core/resolve/renditions/select-renditions.ts';
import { assembleResource } from '../../../core/resolve/save-item.ts';
import { identify } from '../../../core/resolve/yt-dlp/metadata.ts';
import { readTracks } from '../../../core/resolve/yt-dlp/tracks.ts';
import { headersForHop, redirectTarget } from '../../../packages/guarded-fetch/src/guarded-client.ts';
import { check, type FuzzTargets, header } from './target.ts';

const NOW = 1_790_000_000;
const BASES = ['http://media.lan/a/b.m3u8?c=1', 'https://cdn.example/a/index.m3u8', 'https://[2001:db8::1]:8443/'];
const baseFor = (input: Buffer) => BASES[input.length % BASES.length] ?? '';

const isWeb = (url: string) => /^https?:$/.test(URL.parse(url)?.protocol ?? '');
const isFetchable = ({ url, cipher }: MediaSection) => URL.canParse(url) && (!cipher || URL.canParse(cipher.keyUrl));

/** A reference in each place of a playlist that has one. */
const playlistsWith = (uri: string) => [
  `#EXTM3U\n#EXTINF:4,\n${uri}\n`,
  `#EXTM3U\n#EXT-X-KEY:METHOD=AES-128,URI="${uri}"\n#EXTINF:4,\na.ts\n`,
  `#EXTM3U\n#EXT-X-MAP:URI="${uri}"\n#EXTINF:4,\na.m4s\n`,
  `#EXTM3U\n#EXT-X-DEFINE:NAME="u",VALUE="${uri}"\n#EXTINF:4,\n{$u}\n`,
  `#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1\n${uri}\n`,
];

/** What an extractor returns for a page, a manifest or a feed with this reference in each place that has one. */
const itemWith = (url: string) => ({
  id: '1',
  extractor_key: 'Site',
  title: 'T',
  webpage_url: url,
  thumbnail: url,
  thumbnails: [{ url }],
  entries: [
    { _type: 'url', url },
    { _type: 'url_transparent', url: 'https://a.example/', webpage_url: url, thumbnail: url },
    { id: '2', webpage_url: url, formats: [{ url }] },
  ],
  formats: [
    { format_id: 'f', url: 'https://cdn.example/a.mp4', protocol: 'https', ext: 'mp4', vcodec: 'avc1', acodec: 'mp4a' },
    { format_id: 'u', url, ext: 'mp4', vcodec: 'avc1', acodec: 'mp4a', http_headers: { Referer: url } },
    ...[
      { fragment_base_url: url, fragments: [{ path: 'a' }] },
      { fragment_base_url: 'https://cdn.example/b/', fragments: [{ path: url }, { url }] },
    ].map((more, index) => ({
      format_id: `d${index}`,
      url: 'https://cdn.example/m.mpd',
      protocol: 'http_dash_segments',
      ext: 'mp4',
      vcodec: 'avc1',
      acodec: 'none',
      height: 100 + index,
      ...more,
    })),
  ],
  subtitles: { en: [{ ext: 'vtt', url }] },
});

/** References that a source chooses. */
export const urls: FuzzTargets = {
  redirect: {
    run(input) {
      const from = new URL(baseFor(input));
      const next = redirectTarget(from, header(input));
      check(isWeb(next.href) && !next.username && !next.password && !next.hash, 'Not a URL to request');
      check(/^[\x21-\x7e]*$/.test(next.pathname + next.search + next.host), 'Not a request target');
      check(next.href.length <= 8192 && new URL(next.href).href === next.href, 'Too long, or not in WHATWG form');
      const sent = headersForHop(from, next, { headers: { Cookie: 'a=1', Authorization: 'b' } });
      const isSame = next.origin === from.origin || next.origin === `https://${from.hostname}`;
      check(isSame || !(sent.cookie || sent.authorization), 'Credentials for another host');
    },
    errors: [EgressRefused, UpstreamError],
    maxSteps: { fixed: 20_000, perByte: 500 },
  },
  'playlist-urls': {
    run(input) {
      for (const text of playlistsWith(header(input))) {
        const playlist = readPlaylist(text, baseFor(input));
        if (playlist?.kind === 'master') check(URL.canParse(playlist.bestUrl), 'Invalid URL of a variant');
        if (playlist?.kind !== 'media') continue;
        for (const { content, init, isGap } of playlist.segments as Iterable<Segment>)
          check(isGap || [content, init ?? content].every(isFetchable), 'Invalid URL of a segment');
      }
    },
    maxSteps: { fixed: 500_000, perByte: 5000 },
  },
  'extracted-urls': {
    run(input) {
      const json = JSON.stringify({ ok: true, info: itemWith(header(input)) });
      const { info } = parseExtraction(Buffer.from(json));
      const origin = { url: 'https://media.example/', ...identify(info) };
      for (const { entry } of readEntries(info, origin.url))
        check(isWeb(entry.url) && (!entry.coverUrl || isWeb(entry.coverUrl)), 'An entry without a URL to request');
      const resource = assembleResource(info, selectRenditions(readTracks(info, NOW)), {
        origin,
        egress: 'direct',
        now: NOW,
      });
      check(resource.coverUrl === null || isWeb(resource.coverUrl), 'A cover without a URL to request');
      for (const { url, fragments, fragmentBaseUrl } of resource.tracks) {
        check(isWeb(url), 'A track without a URL to request');
        const { segments } = dashTimeline(fragments ? [...unpackDashSegments(fragments)] : [], {
          isLive: false,
          ...(fragmentBaseUrl && { baseUrl: fragmentBaseUrl }),
        });
        check(
          [...segments].every(({ content, init }) => isWeb(content.url) && (!init || isWeb(init.url))),
          'Invalid fragment',
        );
      }
    },
    maxSteps: { fixed: 500_000, perByte: 20_000 },
  },
};

function readPlaylist(text: string, base: string) {
  try {
    return unpackHlsPlaylist(readHlsPlaylist(text, 10), base);
  } catch (error) {
    if (error instanceof PlaylistError) return undefined;
    throw error;
  }
}
