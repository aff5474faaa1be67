import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { SECONDS } from '../recipes.ts';
import { STRICT_CHUNK } from './watch-rules.ts';

/** Issues a URL for a file under a rule. */
export type Address = (rule: string, file: string, formatId: string) => string;

export interface MediaRequest {
  readonly kind: string;
  readonly id: string;
  readonly origin: string;
  readonly mediaDir: string;
  readonly address: Address;
  /** Epoch seconds from which the files are served. */
  readonly availableAt: number | undefined;
}

type Info = Record<string, unknown>;

/** Files as format fields of yt-dlp. */
const FORMATS: Readonly<Record<string, Info & { file: string; vcodec: string }>> = {
  'h264-1080': {
    file: 'ladder/h264-1080.mp4',
    height: 1080,
    width: 1920,
    fps: 25,
    vcodec: 'avc1.42c028',
    acodec: 'none',
  },
  'h264-720': { file: 'ladder/h264-720.mp4', height: 720, width: 1280, fps: 25, vcodec: 'avc1.42c01f', acodec: 'none' },
  'h264-360': { file: 'ladder/h264-360.mp4', height: 360, width: 640, fps: 25, vcodec: 'avc1.42c01e', acodec: 'none' },
  'vp9-360': { file: 'ladder/vp9-360.webm', height: 360, width: 640, fps: 25, vcodec: 'vp9', acodec: 'none' },
  'av1-180': { file: 'ladder/av1-180.mp4', height: 180, width: 320, fps: 25, vcodec: 'av01.0.00M.08', acodec: 'none' },
  'aac-128': { file: 'ladder/aac-128.m4a', vcodec: 'none', acodec: 'mp4a.40.2', asr: 48000, language: 'en' },
  'aac-48': { file: 'ladder/aac-48.m4a', vcodec: 'none', acodec: 'mp4a.40.2', asr: 48000, language: 'en' },
  'opus-96': { file: 'ladder/opus-96.webm', vcodec: 'none', acodec: 'opus', asr: 48000, language: 'en' },
  'mp3-256': { file: 'ladder/mp3-256.mp3', vcodec: 'none', acodec: 'mp3', asr: 48000 },
  'both-720': { file: 'ladder/both-720.mp4', height: 720, width: 1280, vcodec: 'avc1.42c01f', acodec: 'mp4a.40.2' },
  'both-360': { file: 'ladder/both-360.mp4', height: 360, width: 640, vcodec: 'avc1.42c01e', acodec: 'mp4a.40.2' },
  clip: { file: 'clip.mp4', height: 180, width: 320, vcodec: 'avc1.42c00d', acodec: 'mp4a.40.2' },
  'long-video': { file: 'long-video.mp4', height: 90, width: 160, fps: 10, vcodec: 'avc1.42c00a', acodec: 'none' },
  'long-audio': { file: 'long-audio.m4a', vcodec: 'none', acodec: 'mp4a.40.2', asr: 48000 },
  'low-video': {
    file: 'long-video.mp4',
    height: 90,
    width: 160,
    fps: 10,
    vcodec: 'avc1.42c00a',
    acodec: 'none',
    preference: -1,
  },
  'low-audio': { file: 'long-audio.m4a', vcodec: 'none', acodec: 'mp4a.40.2', asr: 48000, preference: -1 },
};

/** A dub of a higher bitrate than the original. */
const LANGUAGES: Readonly<Record<string, Info>> = {
  'aac-48': { language: 'en', language_preference: 10 },
  'aac-128': { language: 'de', language_preference: -1 },
};

interface Kind {
  readonly formats: readonly string[];
  readonly rule?: 'open' | 'strict' | 'first-minute';
  readonly seconds?: number;
  /** The site reports neither size nor bitrate. */
  readonly unsized?: boolean;
  /** Changed fields of the item. */
  readonly info?: Info;
  /** Changed fields of each format. */
  readonly format?: Info;
}

/** Metadata besides title and author. */
const DETAILS: Info = {
  description: '  First line\n<script>alert(1)</script>\nLast line  ',
  upload_date: '20260301',
  tags: ['music', 'music', 'live'],
  chapters: [
    { start_time: 0, end_time: 1.5, title: 'Intro' },
    { start_time: 1.5, end_time: 2, title: 'End' },
  ],
};

/** One file of each kind; the addresses are those of `/plain/`. */
const subtitlesOf = (origin: string): Info => {
  const file = (path: string, ext: string, more: Info = {}) => ({ url: `${origin}/plain/${path}`, ext, ...more });
  return {
    language: 'de',
    subtitles: {
      en: [file('subtitles.srt', 'srt'), file('subtitles.vtt', 'vtt', { name: 'English' })],
      fr: [file('subtitles.ttml', 'ttml')],
      it: [file('text', 'vtt')],
      pt: [file('subtitles.gone', 'vtt')],
      ja: [file('subtitles.huge', 'vtt')],
      live_chat: [file('json', 'json')],
      es: [file('subtitles.m3u8', 'vtt', { protocol: 'm3u8_native' })],
      'x/../y': [file('subtitles.vtt', 'vtt')],
    },
    automatic_captions: { en: [file('subtitles.json3', 'json3')], de: [file('subtitles.json3', 'json3')] },
  };
};

const SEPARATE = ['av1-180', 'vp9-360', 'h264-360', 'h264-720', 'aac-48', 'opus-96', 'aac-128'];

/** The formats of `/site/{kind}/{id}`. */
const KINDS: Readonly<Record<string, Kind>> = {
  /** Separate tracks; headers per format, a cookie, bounded ranges, URLs that expire. */
  watch: { formats: SEPARATE, rule: 'strict' },
  /** The same without rules. */
  open: { formats: SEPARATE },
  'slow-once': { formats: ['both-360'] },
  unsized: { formats: SEPARATE, unsized: true },
  'opus-only': { formats: ['h264-360', 'opus-96'] },
  'mp3-only': { formats: ['h264-360', 'mp3-256'] },
  dubbed: { formats: ['h264-360', 'aac-48', 'aac-128'] },
  combined: { formats: ['both-360', 'both-720'] },
  /** One file up to 360p, above it separate tracks alone. */
  tall: { formats: ['both-360', 'h264-1080', 'aac-128'], rule: 'strict' },
  mixed: { formats: ['both-360', 'h264-720', 'aac-128'] },
  silent: { formats: ['h264-360', 'h264-720'] },
  music: {
    formats: ['aac-48', 'opus-96', 'aac-128'],
    info: { uploader: 'Ada Example', artists: ['Ada Example', 'Ben Sample'], track: 'Etude' },
  },
  'mp3-best': { formats: ['aac-128', 'mp3-256'] },
  long: { formats: ['long-video', 'long-audio'], seconds: SECONDS.long },
  'long-strict': { formats: ['long-video', 'long-audio'], seconds: SECONDS.long, rule: 'strict' },
  /** Files that end with 403 after a minute: in each resolve, in the first one, or (the sound) in later ones. */
  limited: { formats: ['long-video', 'long-audio'], seconds: SECONDS.long, rule: 'first-minute' },
  'limited-once': { formats: ['long-video', 'long-audio'], seconds: SECONDS.long },
  'limited-later': { formats: ['long-video', 'long-audio'], seconds: SECONDS.long },
  /** The better files end with 403 after a minute. */
  'limited-best': { formats: ['low-video', 'low-audio', 'long-video', 'long-audio'], seconds: SECONDS.long },
  'partly-drm': { formats: ['both-360'] },
  'all-drm': { formats: ['both-360', 'both-720'], format: { has_drm: true } },
  upcoming: { formats: [], info: { live_status: 'is_upcoming' } },
  nothing: { formats: [] },
  odd: { formats: ['both-360'] },
  'only-odd': { formats: [] },
  'only-sabr': { formats: [] },
  embedded: { formats: ['both-360'] },
  detailed: { formats: ['both-360'], info: DETAILS },
  /** The same of a small file. */
  'small-detailed': { formats: ['clip'], seconds: SECONDS.clip, info: DETAILS },
  live: { formats: [], info: { is_live: true } },
  'hls-referer': { formats: [], seconds: SECONDS.clip },
};

/** The info of an item; undefined for an unknown kind. */
export async function describeMedia(request: MediaRequest): Promise<Info | undefined> {
  const kind = KINDS[request.kind];
  if (!kind) return undefined;
  const formats = await Promise.all(kind.formats.map((formatId) => describeFormat(request, kind, formatId)));
  const known = [...formats.filter((format) => format !== undefined), ...furtherFormats(request)];
  const item = { ...describeItem(request, kind), formats: known };
  if (request.kind !== 'embedded') return item;
  return {
    _type: 'playlist',
    id: request.id,
    title: 'Two on one page',
    entries: ['first', 'second'].map((part) => ({ ...item, id: `${request.id}-${part}`, title: `The ${part}` })),
  };
}

function describeItem({ id, origin, kind }: MediaRequest, { seconds = SECONDS.ladder, info }: Kind): Info {
  return {
    id,
    title: `Größe “${id}”: eins/zwei`,
    uploader: 'Ärtist Example',
    duration: kind === 'live' ? undefined : seconds,
    thumbnails: [
      { url: `${origin}/files/square.jpg`, width: 640, height: 640, preference: -1 },
      { url: `${origin}/files/wide.jpg`, width: 1280, height: 720, preference: 1 },
    ],
    ...info,
    ...(kind.endsWith('detailed') && subtitlesOf(origin)),
  };
}

/** A format; undefined when FFmpeg lacked the encoder for its file. */
async function describeFormat(
  { address, kind, mediaDir, origin, availableAt }: MediaRequest,
  { rule = 'open', seconds = SECONDS.ladder, unsized, format }: Kind,
  formatId: string,
): Promise<Info | undefined> {
  const { file, ...traits } = FORMATS[formatId] ?? { file: '', vcodec: 'none' };
  const found = await stat(join(mediaDir, file)).catch(() => undefined);
  if (!found) return undefined;
  const bitrate = Math.round((found.size * 8) / seconds / 1000);
  return {
    format_id: formatId,
    format_note: 'test',
    url: address(rule, file, formatId),
    ext: file.split('.').at(-1),
    protocol: 'http',
    available_at: availableAt,
    ...traits,
    ...(unsized ? {} : { filesize: found.size, [traits.vcodec === 'none' ? 'abr' : 'tbr']: bitrate }),
    ...(rule === 'open' || rule === 'first-minute'
      ? {}
      : { http_headers: { Referer: `${origin}/`, 'X-Format': formatId } }),
    ...(rule === 'strict' ? { downloader_options: { http_chunk_size: STRICT_CHUNK } } : {}),
    ...format,
    ...(kind === 'dubbed' && LANGUAGES[formatId]),
  };
}

/** Formats of other deliveries, supported or not. */
function furtherFormats({ kind, origin, address }: MediaRequest): Info[] {
  const odd = [
    {
      format_id: 'storyboard',
      url: `${origin}/files/wide.jpg`,
      ext: 'mhtml',
      protocol: 'mhtml',
      vcodec: 'none',
      acodec: 'none',
    },
    { format_id: 'rtmp', url: 'rtmp://127.0.0.1/live/x', ext: 'flv', protocol: 'rtmp', height: 1080 },
  ];
  const muxed = { vcodec: 'avc1.42c00d', acodec: 'mp4a.40.2', ext: 'mp4', protocol: 'm3u8_native', height: 180 };
  switch (kind) {
    case 'odd':
    case 'only-odd':
      return odd;
    case 'only-sabr':
      return odd.map((format, index) => (index === 0 ? format : { ...format, url: `${origin}/x`, protocol: 'sabr' }));
    case 'partly-drm':
      return [
        {
          format_id: 'locked',
          url: address('open', 'ladder/both-720.mp4', 'locked'),
          ext: 'mp4',
          height: 720,
          has_drm: true,
        },
      ];
    case 'live':
      return [{ ...muxed, format_id: 'live', url: `${origin}/live/index.m3u8`, height: 90 }];
    case 'hls-referer':
      return [
        {
          ...muxed,
          format_id: 'guarded',
          url: `${origin}/site-media/referer/hls/ts/index.m3u8`,
          http_headers: { Referer: `${origin}/` },
        },
      ];
    default:
      return [];
  }
}
