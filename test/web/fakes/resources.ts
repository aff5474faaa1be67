import type {
  MediaDetails,
  MediaInformation,
  MediaRendition,
  ResourceInformation,
  SkipSegments,
  StreamReference,
} from '../../../clients/reelay-client/src/api-types.ts';
import { createApi } from '../../../web/src/api/api.ts';
import type { Choice } from '../../../web/src/renditions/choice.ts';

const MB = 1_000_000;
const cover = (name: string) => `/covers/${name}.svg`;

/** A file of video, as far as nothing else is given. */
export const renditionOf = (given: Partial<MediaRendition> = {}): MediaRendition => ({
  key: 'K',
  label: '1080p',
  description: null,
  fileExtension: '.mp4',
  mimeType: 'video/mp4',
  urlType: 'Media',
  fileSizeBytes: null,
  height: null,
  bitrate: null,
  convertTo: null,
  ...given,
});

/** A file of sound, as far as nothing else is given. */
export const soundOf = (given: Partial<MediaRendition> = {}): MediaRendition =>
  renditionOf({ label: '129 kbps', fileExtension: '.m4a', mimeType: 'audio/mp4', ...given });

/** The listed conversion, as far as nothing else is given. */
export const mp3Of = (given: Partial<MediaRendition> = {}): MediaRendition =>
  soundOf({
    label: '192 kbps',
    fileExtension: '.mp3',
    mimeType: 'audio/mpeg',
    bitrate: 192,
    convertTo: 'mp3',
    ...given,
  });

/** The page reads renditions only: the three named ones are left out. */
const NAMED = ['best', 'medium', 'worst'].flatMap((name) =>
  ['Description', 'Key', 'FileExtension', 'MimeType'].map((field) => [`${name}Quality${field}`, null]),
);
export const referenceOf = (...renditions: MediaRendition[]): StreamReference => ({
  ...Object.fromEntries(NAMED),
  urlType: renditions[0]?.urlType ?? 'Media',
  renditions,
});

/** An item without renditions, as far as nothing else is given. */
export const itemOf = (given: Partial<MediaInformation> = {}): MediaInformation => ({
  requestedUrl: 'https://a.example/',
  title: 'Title',
  author: 'Author',
  coverUrl: null,
  ...given,
});

/** An item with these renditions. */
export const mediaOf = (video: readonly MediaRendition[], audio: readonly MediaRendition[] = []): MediaInformation =>
  itemOf({
    ...(video.length > 0 && { video: referenceOf(...video) }),
    ...(audio.length > 0 && { audio: referenceOf(...audio) }),
  });

const { base, streamUrl } = createApi('https://r.example');
/** Path and query of the stream of a choice. */
export const pathOf = (choice: Choice): string => streamUrl(choice.rendition, choice).replace(base, '');

const rendition = (key: string, label: string, fileExtension: string, more: Partial<MediaRendition>) =>
  renditionOf({
    key,
    label,
    fileExtension,
    mimeType: fileExtension === '.webm' ? 'video/webm' : 'video/mp4',
    ...more,
  });

const muxed = (height: number, label: string, size: number, codec: string) =>
  rendition(`mux-${height}-${codec}`, label, '.mp4', {
    description: `${height} - ${label} (${codec}) + 140 - audio only (medium)`,
    urlType: 'Combined',
    fileSizeBytes: size,
    height,
  });

const VIDEO = [
  muxed(2160, '2160p (4K)', 1834 * MB, 'vp9'),
  muxed(1440, '1440p', 812 * MB, 'vp9'),
  muxed(1080, '1080p', 301.4 * MB, 'avc1'),
  muxed(1080, '1080p', 244 * MB, 'av01'),
  muxed(720, '720p', 142 * MB, 'avc1'),
  rendition('whole-360', '360p', '.mp4', { description: '18 - 640x360 (avc1)', fileSizeBytes: 48.2 * MB, height: 360 }),
  muxed(240, '240p', 22 * MB, 'avc1'),
];

const AUDIO = [
  rendition('opus', '160 kbps', '.webm', { mimeType: 'audio/webm', fileSizeBytes: 12.1 * MB, description: 'opus' }),
  rendition('aac', '129 kbps', '.m4a', { mimeType: 'audio/mp4', fileSizeBytes: 9.8 * MB, bitrate: 129 }),
  rendition('low', '48 kbps', '.m4a', { mimeType: 'audio/mp4', fileSizeBytes: 3.7 * MB, bitrate: 48 }),
];

const MP3 = rendition('aac', '192 kbps', '.mp3', {
  mimeType: 'audio/mpeg',
  fileSizeBytes: 14.6 * MB,
  bitrate: 192,
  convertTo: 'mp3',
});

const item = (title: string | null, author: string | null, more: Partial<MediaInformation> = {}) =>
  itemOf({
    requestedUrl: 'https://video.example/watch/coast',
    coverUrl: cover('coast'),
    title,
    author,
    video: referenceOf(...VIDEO),
    audio: referenceOf(...AUDIO, MP3),
    ...more,
  });

const media = (one: MediaInformation): ResourceInformation => ({
  type: 'Media',
  title: one.title,
  author: one.author,
  coverUrl: one.coverUrl,
  mediaItems: [one],
});

const song = item('Étude for a Slow Machine', 'Ada Example', {
  requestedUrl: 'https://music.example/etude',
  coverUrl: cover('etude'),
  video: undefined,
});
const unresolved = itemOf({
  requestedUrl: 'https://video.example/watch/part-5',
  title: 'Part five, not looked up yet',
  author: null,
});

const LONG_TITLE =
  'The Complete and Unabridged History of the Lighthouse Keepers of the Northern Coast, Told by Themselves, with ' +
  'Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamtengesellschaft and Everything Else';

const LIST: ResourceInformation = {
  type: 'PlayList',
  title: 'Northern Coast, All Parts',
  author: 'Quiet Journeys',
  coverUrl: cover('list'),
  mediaItems: [
    ...['One: The Harbour', 'Two: Along the Cliffs', 'Three: The Lighthouse', `Four: ${LONG_TITLE}`].map((part, n) =>
      item(`Part ${part}`, 'Quiet Journeys', {
        requestedUrl: `https://video.example/watch/part-${n}`,
        coverUrl: cover(`part-${n}`),
      }),
    ),
    unresolved,
  ],
};

const FEED: ResourceInformation = {
  ...LIST,
  title: 'Every Episode of the Coast',
  mediaItems: Array.from({ length: 197 }, (_, index) =>
    item(`Episode ${index + 1}`, index % 2 ? 'Quiet Journeys' : 'Ada Example', {
      requestedUrl: `https://video.example/watch/episode-${index}`,
      coverUrl: cover(`episode-${index % 7}`),
      ...(index > 190 && { video: undefined, audio: undefined }),
    }),
  ),
};

/** `X-Playlist` by the last segment of the link's path. */
export const PLAYLIST_COUNTS: Readonly<Record<string, string>> = {
  feed: 'listed=197, total=500, cut, next=200, unavailable=(2 17 42)',
  counted: 'listed=12, total=40, cut, next=14, unavailable=(2 5)',
};

const VERSION = { language: 'de', isOriginal: false, isDubbed: false, isDescriptive: false, isDrc: false };

/** The details of every item. */
export const DETAILS: MediaDetails = {
  type: 'Media',
  title: 'A Walk Along the Northern Coast in Late Winter',
  author: 'Quiet Journeys',
  coverUrl: null,
  durationSeconds: 3723.4,
  isLive: false,
  availableInSeconds: null,
  description: `We walk from the harbour to the lighthouse.\n\n${'The wind comes from the north-west. '.repeat(20)}`,
  uploadDate: '2026-02-14',
  tags: ['coast'],
  chapters: [
    { title: 'The harbour', startSeconds: 0, endSeconds: 2 },
    { title: 'Along the cliffs, with a view of the islands and of the old lighthouse', startSeconds: 2, endSeconds: 4 },
    { title: 'المنارة', startSeconds: 4, endSeconds: null },
  ],
  thumbnails: [],
  audio: [
    ...AUDIO.map((rendition) => ({ ...rendition, ...VERSION, language: 'en', isOriginal: true })),
    { ...rendition('dub', '129 kbps German (dubbed)', '.m4a', { bitrate: 129 }), ...VERSION, isDubbed: true },
  ],
  subtitles: [
    { key: 'subtitle-en', language: 'en', name: null, isAutomatic: false },
    { key: 'subtitle-pt', language: 'pt-BR', name: null, isAutomatic: true },
  ],
  segmentsKey: 'segments',
  unavailable: [],
};

/** What GetDetails tells of every list. */
export const LIST_DETAILS: MediaDetails = {
  ...DETAILS,
  type: 'PlayList',
  unavailable: [
    { number: 2, url: 'https://video.example/watch/lost', title: 'The lost episode', reason: 'private' },
    { number: 5, url: 'https://video.example/watch/untitled', title: null, reason: 'gone' },
  ],
};

/** Of every item. */
export const SEGMENTS: SkipSegments = {
  segments: [
    { category: 'intro', startSeconds: 0, endSeconds: 20 },
    { category: 'sponsor', startSeconds: 60, endSeconds: 120 },
    { category: 'selfpromo', startSeconds: 90, endSeconds: 150.4 },
    { category: 'interaction', startSeconds: 3000, endSeconds: 3013 },
  ],
};

/** Resources by the last segment of the link's path. */
export const RESOURCES: Readonly<Record<string, ResourceInformation>> = {
  video: media(item('A Walk Along the Northern Coast in Late Winter', 'Quiet Journeys')),
  long: media(item(LONG_TITLE, 'The Society of Friends of Very Long Names and Descriptions')),
  audio: media(song),
  plain: media(item(null, null, { coverUrl: null, video: referenceOf(...VIDEO.slice(5, 6)), audio: referenceOf(MP3) })),
  japanese: media(item('冬の終わりの北の海岸を歩く：灯台守たちの静かな一日と、その記憶について', '静かな旅')),
  arabic: media(item('نزهة على الساحل الشمالي في أواخر الشتاء', 'رحلات هادئة')),
  list: LIST,
  feed: FEED,
  counted: { ...FEED, title: 'The rest of the coast', mediaItems: FEED.mediaItems.slice(-12) },
  'long-list': { ...LIST, title: LONG_TITLE },
};

export interface Refusal {
  readonly type: string;
  readonly status: number;
  readonly title: string;
  readonly retryAfter: number | undefined;
}

const refusal = (type: string, status = 415, retryAfter?: number): Refusal => ({
  type: `/problems/${type}`,
  status,
  title: 'Not shown',
  retryAfter,
});

/** Error responses by the last segment of the link's path. */
export const REFUSALS: Readonly<Record<string, Refusal>> = {
  'not-found': refusal('not-found', 404),
  protected: refusal('drm'),
  login: refusal('login'),
  region: refusal('region'),
  refused: refusal('refused'),
  unhandled: refusal('unsupported'),
  failed: refusal('site-error', 502),
  'too-many': refusal('too-many', 429, 20),
  maintenance: refusal('maintenance', 503, 5),
};
