import { describe, expect, it } from 'vitest';
import type { KeyedRendition } from '../../../core/state/keys.ts';
import type { Resource, Track } from '../../../core/state/resource.ts';
import { planOutput, type RenditionQuery } from '../../../stream-service/outputs/plan.ts';
import { planSubtitle } from '../../../stream-service/outputs/text/plan.ts';
import { audioTrack, renditionOf, resourceOf, trackOf, videoTrack } from '../fixture.ts';

const subtitleTrack = trackOf('text', { container: 'vtt', video: null, audio: null });
const subtitle = { id: 's', formatId: 'text', language: 'en', isAutomatic: false };

function found(tracks: readonly [Track, ...Track[]], traits: Partial<Resource> = {}): KeyedRendition {
  const resource = resourceOf([...tracks, subtitleTrack], {
    durationSeconds: 60,
    subtitles: [subtitle],
    ...traits,
  });
  const ids = tracks.map(({ formatId }) => formatId) as [string] | [string, string];
  return { key: 'key', resource, rendition: renditionOf(ids), tracks };
}

const webm = { container: 'webm', video: { codec: 'vp9' }, audio: { codec: 'opus' } };
const SHAPES = {
  'MP4 of known size': found([trackOf('file', { sizeBytes: 1000, sizeIsExact: true })]),
  'MP4 of unknown size': found([trackOf('file')]),
  M4A: found([audioTrack({ sizeBytes: 1000, sizeIsExact: true })]),
  WebM: found([trackOf('file', webm)]),
  'WebM of VP8': found([trackOf('file', { ...webm, video: { codec: 'vp8' } })]),
  Opus: found([trackOf('file', { container: 'ogg', video: null, audio: { codec: 'opus' } })]),
  MP3: found([trackOf('file', { container: 'mp3', video: null, audio: { codec: 'mp3' } })]),
  TS: found([trackOf('file', { container: 'ts' })]),
  HLS: found([trackOf('file', { delivery: 'hls' })]),
  'DASH of VP8': found([trackOf('file', { delivery: 'dash', ...webm, video: { codec: 'vp8' } })]),
  'a live HLS': found([trackOf('file', { delivery: 'hls' })], { isLive: true, durationSeconds: undefined }),
  'silent MP4': found([videoTrack()]),
  'a pair of MP4': found([videoTrack({ sizeBytes: 900 }), audioTrack({ sizeBytes: 100 })]),
  'a pair of WebM': found([videoTrack(webm), audioTrack(webm)]),
  'a pair of HLS': found([videoTrack({ delivery: 'hls' }), audioTrack({ delivery: 'hls' })]),
  'a live pair': found([videoTrack({ delivery: 'hls' }), audioTrack({ delivery: 'hls' })], { isLive: true }),
} as const;

const CLIP = { startSeconds: 1, endSeconds: 3 };
const QUERIES = {
  media: { route: 'Media' },
  tags: { route: 'Media', hasTags: true },
  clip: { route: 'Media', clip: CLIP },
  text: { route: 'Media', subtitles: 'en' },
  mp3: { route: 'Media', format: 'mp3' },
  wav: { route: 'Media', format: 'wav' },
  m4a: { route: 'Media', format: 'm4a' },
  'm4a, clip': { route: 'Media', format: 'm4a', clip: CLIP },
  opus: { route: 'Media', format: 'opus' },
  combined: { route: 'Combined' },
  'combined, text': { route: 'Combined', subtitles: 'en' },
  'combined, start': { route: 'Combined', startSeconds: 2 },
  hls: { route: 'Hls', file: { name: 'master.m3u8' } },
  cover: { route: 'Cover' },
  storyboard: { route: 'Storyboard', path: 'key' },
} as const satisfies Readonly<Record<string, RenditionQuery>>;
/** `layout/mux`: muxed where the files have no layout. 400: InvalidParameter, 415: UnsupportedRendition. */
const TABLE = `
                    | media      | tags       | clip   | text         | mp3    | wav    | m4a          | m4a, clip | opus  | combined   | combined, text | combined, start | hls    | cover   | storyboard
MP4 of known size   | copy       | copy       | layout | layout/remux | encode | encode | layout/remux | layout    | 415   | copy       | layout/remux   | layout          | layout | picture | storyboard
MP4 of unknown size | copy       | copy       | layout | layout/remux | encode | encode | layout/remux | layout    | 415   | copy       | layout/remux   | layout          | layout | picture | storyboard
M4A                 | copy       | copy       | layout | 415          | encode | encode | copy         | layout    | 415   | copy       | 415            | layout          | layout | picture | 415
WebM                | copy       | copy       | 400    | 415          | encode | encode | 415          | 415       | remux | remux      | remux          | 400             | 415    | picture | 415
WebM of VP8         | copy       | copy       | 400    | 415          | encode | encode | 415          | 415       | remux | copy       | 415            | 400             | 415    | picture | 415
Opus                | copy       | copy       | 400    | 415          | encode | encode | 415          | 415       | copy  | remux      | 415            | 400             | 415    | picture | 415
MP3                 | copy       | copy       | 400    | 415          | encode | encode | 415          | 415       | 415   | remux      | 415            | 400             | 415    | picture | 415
TS                  | copy       | copy       | 400    | 415          | encode | encode | remux        | 400       | 415   | remux      | remux          | 400             | 415    | picture | 415
HLS                 | remux      | remux      | 400    | remux        | encode | encode | remux        | 400       | 415   | remux      | remux          | 400             | 415    | picture | 415
DASH of VP8         | remux      | remux      | 400    | 415          | encode | encode | 415          | 415       | remux | remux      | 415            | 400             | 415    | picture | 415
a live HLS          | remux      | remux      | 400    | 415          | encode | 400    | 400          | 400       | 400   | remux      | 415            | 400             | live   | picture | 415
silent MP4          | copy       | copy       | layout | layout/remux | copy   | copy   | copy         | layout    | copy  | copy       | layout/remux   | layout          | layout | picture | storyboard
a pair of MP4       | layout/mux | layout/mux | layout | layout/mux   | encode | encode | copy         | layout    | 415   | layout/mux | layout/mux     | layout          | layout | picture | storyboard
a pair of WebM      | mux        | mux        | 400    | mux          | encode | encode | 415          | 415       | remux | mux        | mux            | 400             | 415    | picture | 415
a pair of HLS       | mux        | mux        | 400    | mux          | encode | encode | remux        | 400       | 415   | mux        | mux            | 400             | 415    | picture | 415
a live pair         | mux        | mux        | 400    | 415          | encode | 400    | 400          | 400       | 400   | mux        | 415            | 400             | live   | picture | 415
`;

const [[, ...queries] = [], ...rows] = TABLE.trim()
  .split('\n')
  .map((line) => line.split('|').map((cell) => cell.trim()));

function decide(of: KeyedRendition, query: RenditionQuery): string {
  try {
    const plan = planOutput(of, query);
    return 'instead' in plan && plan.instead ? `${plan.kind}/${plan.instead.kind}` : plan.kind;
  } catch (error) {
    return { InvalidParameter: '400', UnsupportedRendition: '415' }[(error as Error).name] ?? String(error);
  }
}

const shapeOf = (name: string): KeyedRendition => SHAPES[name as keyof typeof SHAPES];

describe('planOutput', () => {
  it('has a decision for every shape and query', () => {
    expect(rows.map(([name]) => name)).toEqual(Object.keys(SHAPES));
    expect(queries).toEqual(Object.keys(QUERIES));
  });

  it.each(rows)('decides what is sent of %s', (name = '', ...decisions) => {
    expect(Object.values(QUERIES).map((query) => decide(shapeOf(name), query))).toEqual(decisions);
  });

  it.each<[string, RenditionQuery, object]>([
    ['MP4 of known size', QUERIES.media, { size: 1000, acceptRanges: 'bytes', mimeType: 'video/mp4' }],
    ['MP4 of unknown size', QUERIES.media, { size: undefined, acceptRanges: 'bytes' }],
    ['MP4 of known size', QUERIES.combined, { size: 1000, acceptRanges: 'none' }],
    ['M4A', QUERIES.m4a, { size: 1000, mimeType: 'audio/mp4', fileExtension: '.m4a' }],
    ['M4A', QUERIES.mp3, { size: expect.any(Number), acceptRanges: 'bytes', fileExtension: '.mp3' }],
    // A file of unknown size may turn out not to be seekable.
    ['MP4 of unknown size', QUERIES.mp3, { size: undefined, acceptRanges: undefined }],
    ['HLS', QUERIES.mp3, { size: expect.any(Number), acceptRanges: 'bytes', etag: undefined }],
    ['HLS', QUERIES.wav, { size: 60 * 192_000 + 44, acceptRanges: 'bytes' }],
    ['a live HLS', QUERIES.mp3, { size: undefined, acceptRanges: 'none' }],
    ['HLS', QUERIES.media, { size: undefined, acceptRanges: 'none', mimeType: 'video/mp4' }],
    ['a pair of MP4', QUERIES.media, { size: undefined, acceptRanges: undefined, estimatedBytes: 1000 }],
    ['a pair of MP4', QUERIES.clip, { size: undefined, clip: CLIP }],
    ['a pair of MP4', QUERIES.combined, { size: undefined, acceptRanges: 'none' }],
    ['a pair of MP4', QUERIES['combined, start'], { size: undefined, acceptRanges: 'none' }],
    ['a pair of MP4', QUERIES.hls, { mimeType: 'application/vnd.apple.mpegurl', isInline: true }],
  ])('knows of %s before it is opened (%j)', (name, query, head) => {
    expect(planOutput(shapeOf(name), query).head).toMatchObject(head);
  });

  it.each<[string, RenditionQuery, boolean]>([
    ['HLS', QUERIES.media, true],
    ['a pair of HLS', QUERIES.media, true],
    ['a pair of WebM', QUERIES.media, false],
    ['MP4 of known size', QUERIES.media, false],
    ['HLS', QUERIES.mp3, false],
  ])('says whether HEAD of %s needs its sources (%j)', (name, query, answersHead) => {
    expect(planOutput(shapeOf(name), query).answersHead).toBe(answersHead);
  });

  it('names where the bytes of Combined have ranges, unless they are a file as it is', () => {
    expect(planOutput(shapeOf('a pair of MP4'), QUERIES['combined, text']).rangedPath).toMatch(
      'Media/key?subtitles=en',
    );
    expect(planOutput(shapeOf('MP4 of known size'), QUERIES.combined).rangedPath).toBeUndefined();
  });

  it.each([
    ['subtitles in a language that it has not', { route: 'Media', subtitles: 'fr' }, 'Available: en.'],
    ['subtitles in a conversion', { route: 'Media', subtitles: 'en', format: 'mp3' }, 'combined with format'],
    [
      'a clip after the end',
      { route: 'Media', format: 'mp3', clip: { startSeconds: 99, endSeconds: 100 } },
      'after the end',
    ],
    ['another file of the presentation', { route: 'Hls', file: { name: 'other' } }, 'No such file'],
  ] as const)('refuses %s', (_, query, message) => {
    expect(() => planOutput(shapeOf('MP4 of known size'), query)).toThrow(message);
  });
});

it('planSubtitle knows the type of a subtitle file, and that its length is known once it is read', () => {
  const { resource } = shapeOf('HLS');
  const { head, answersHead } = planSubtitle({ key: 'key', resource, subtitle, track: subtitleTrack }, 'srt');
  expect(head).toMatchObject({ fileExtension: '.en.srt', size: undefined });
  expect(answersHead).toBe(false);
});
