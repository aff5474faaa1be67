import type { TrackFile } from '@reelay/source/track';
import { describe, expect, it } from 'vitest';
import type { WindowSelection } from '../../../core/api/index.ts';
import type { KeyedRendition } from '../../../core/state/keys.ts';
import type { Rendition, Resource, Track } from '../../../core/state/resource.ts';
import type { PresentationPlan } from '../../../stream-service/outputs/layout/presentation.ts';
import { type ListFiles, mapTracks } from '../../../stream-service/outputs/list-files.ts';
import {
  planOutput,
  prepareOutput,
  type RenditionPlan,
  type SelectedOutput,
  selectRecording,
} from '../../../stream-service/outputs/plan.ts';
import type { RenditionQuery } from '../../../stream-service/outputs/representation.ts';
import { planSubtitle } from '../../../stream-service/outputs/text.ts';
import { audioTrack, renditionOf, resourceOf, trackOf, videoTrack } from '../fixture.ts';
import { type Dub, itemOf } from './languages/fixture.ts';

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

/** What is found of a request, and what turns out about its lists. */
interface Found extends KeyedRendition {
  /** @default they make no files */
  readonly files?: ListFiles;
  readonly window?: WindowSelection;
}

const WINDOW = { kind: 'segments', first: 1, last: 9 } as const;

const single = (traits: Partial<Track> = {}, of?: Partial<Resource>) => found([trackOf('file', traits)], of);
const pair = (traits: Partial<Track> = {}, of?: Partial<Resource>) =>
  found([videoTrack(traits), audioTrack(traits)], of);
const filesOf = ({ resource: { tracks } }: KeyedRendition, file?: TrackFile) =>
  new Map(tracks.map(({ formatId }) => [formatId, file] as const));
const asFiles = (of: Found): Found => ({ ...of, files: filesOf(of, { isAudioSized: true }) });

const LIVE = { isLive: true, durationSeconds: undefined };
const EXACT = { sizeBytes: 1000, sizeIsExact: true };
const hls = { delivery: 'hls' } as const;
const webm = { container: 'webm', video: { codec: 'vp9' }, audio: { codec: 'opus' } };
const vp8 = { ...webm, video: { codec: 'vp8' } };
const heard = (codec: string) => ({ container: codec, video: null, audio: { codec } });
/** A pair of fragmented files is a pair as any other: only its headers, which are read later, tell them apart. */
const SHAPES = {
  'MP4 of known size': single(EXACT),
  'MP4 of unknown size': single(),
  M4A: found([audioTrack(EXACT)]),
  WebM: single(webm),
  'WebM of VP8': single(vp8),
  Opus: single({ ...heard('opus'), container: 'ogg' }),
  MP3: single(heard('mp3')),
  TS: single({ container: 'ts' }),
  HLS: single(hls),
  'DASH of VP8': single({ delivery: 'dash', ...vp8 }),
  'a live HLS': single(hls, LIVE),
  'silent MP4': found([videoTrack()]),
  'a pair of MP4': found([videoTrack({ sizeBytes: 900 }), audioTrack({ sizeBytes: 100 })]),
  'a pair of WebM': pair(webm),
  'a pair of HLS': pair(hls),
  'a live pair': pair(hls, { isLive: true }),
  'HLS that is a file': asFiles(single(hls)),
  'DASH that is a file': asFiles(single({ delivery: 'dash' })),
  'HLS of audio that is a file': asFiles(found([audioTrack(hls)])),
  'a pair of HLS that are files': asFiles(pair(hls)),
  'WebM with cues': asFiles(single(webm)),
  'a pair of WebM with cues': asFiles(pair(webm)),
  'a window of a live HLS': { ...single(hls, LIVE), window: WINDOW },
  'such a window that is a file': asFiles({ ...single(hls, LIVE), window: WINDOW }),
} as const satisfies Readonly<Record<string, Found>>;

const CLIP = { startSeconds: 1, endSeconds: 3 };
const QUERIES = {
  media: { route: 'Media' },
  tags: { route: 'Media', hasTags: true },
  clip: { route: 'Media', clip: CLIP },
  text: { route: 'Media', subtitles: 'en' },
  mp3: { route: 'Media', format: 'mp3' },
  'mp3, clip': { route: 'Media', format: 'mp3', clip: CLIP },
  wav: { route: 'Media', format: 'wav' },
  m4a: { route: 'Media', format: 'm4a' },
  'm4a, clip': { route: 'Media', format: 'm4a', clip: CLIP },
  opus: { route: 'Media', format: 'opus' },
  combined: { route: 'Combined' },
  'combined, text': { route: 'Combined', subtitles: 'en' },
  'combined, start': { route: 'Combined', fromKeyframeSeconds: 2 },
  hls: { route: 'Hls', file: 'master.m3u8' },
  cover: { route: 'Cover' },
} as const satisfies Readonly<Record<string, RenditionQuery>>;
/** Of shapes, some of which are the same. `layout/mux`: muxed where the files have no layout. 400: InvalidParameter, 415: UnsupportedRendition. */
const TABLE = `
                                            | media      | tags       | clip   | text         | mp3    | mp3, clip | wav    | m4a          | m4a, clip | opus  | combined   | combined, text | combined, start | hls    | cover
MP4 of known size, MP4 of unknown size      | copy       | copy       | layout | layout/remux | encode | encode    | encode | layout/remux | layout    | 415   | copy       | layout/remux   | layout          | layout | picture
M4A                                         | copy       | copy       | layout | 415          | encode | encode    | encode | copy         | layout    | 415   | copy       | 415            | layout          | layout | picture
WebM                                        | copy       | copy       | 400    | 415          | encode | encode    | encode | 415          | 415       | remux | remux      | remux          | 400             | 415    | picture
WebM of VP8                                 | copy       | copy       | 400    | 415          | encode | encode    | encode | 415          | 415       | remux | copy       | 415            | 400             | 415    | picture
Opus                                        | copy       | copy       | 400    | 415          | encode | encode    | encode | 415          | 415       | copy  | remux      | 415            | 400             | 415    | picture
MP3                                         | copy       | copy       | 400    | 415          | encode | encode    | encode | 415          | 415       | 415   | remux      | 415            | 400             | 415    | picture
TS                                          | copy       | copy       | 400    | 415          | encode | encode    | encode | remux        | 400       | 415   | remux      | remux          | 400             | 415    | picture
HLS                                         | remux      | remux      | 400    | remux        | encode | 400       | encode | remux        | 400       | 415   | remux      | remux          | 400             | 415    | picture
DASH of VP8                                 | remux      | remux      | 400    | 415          | encode | 400       | encode | 415          | 415       | remux | remux      | 415            | 400             | 415    | picture
a live HLS                                  | remux      | remux      | 400    | 415          | encode | 400       | 400    | 400          | 400       | 400   | remux      | 415            | 400             | live   | picture
silent MP4                                  | copy       | copy       | layout | layout/remux | copy   | layout    | copy   | copy         | layout    | copy  | copy       | layout/remux   | layout          | layout | picture
a pair of MP4, a pair of HLS that are files | layout/mux | layout/mux | layout | layout/mux   | encode | encode    | encode | copy         | layout    | 415   | layout/mux | layout/mux     | layout          | layout | picture
a pair of WebM                              | mux        | mux        | 400    | mux          | encode | encode    | encode | 415          | 415       | remux | mux        | mux            | 400             | 415    | picture
a pair of HLS                               | mux        | mux        | 400    | mux          | encode | 400       | encode | remux        | 400       | 415   | mux        | mux            | 400             | 415    | picture
a live pair                                 | mux        | mux        | 400    | 415          | encode | 400       | 400    | 400          | 400       | 400   | mux        | 415            | 400             | live   | picture
HLS that is a file, DASH that is a file     | copy       | layout     | layout | layout       | encode | encode    | encode | copy         | layout    | 415   | copy       | layout         | layout          | layout | picture
HLS of audio that is a file                 | copy       | layout     | layout | 415          | encode | encode    | encode | copy         | layout    | 415   | copy       | 415            | layout          | layout | picture
WebM with cues                              | copy       | copy       | layout | 415          | encode | encode    | encode | 415          | 415       | remux | remux      | remux          | layout          | layout | picture
a pair of WebM with cues                    | layout/mux | layout/mux | layout | layout/mux   | encode | encode    | encode | 415          | 415       | remux | layout/mux | layout/mux     | layout          | layout | picture
a window of a live HLS                      | remux      | remux      | 400    | remux        | encode | 400       | 415    | remux        | 400       | 415   | remux      | remux          | 400             | live   | picture
such a window that is a file                | copy       | layout     | layout | layout       | encode | encode    | 415    | layout/remux | layout    | 415   | copy       | layout         | layout          | live   | picture
`;

const cellsOf = (table: string): readonly (readonly string[])[] =>
  table
    .trim()
    .split('\n')
    .map((line) => line.split('|').map((cell) => cell.trim()));
const [[, ...queries] = [], ...groups] = cellsOf(TABLE);
const rows = groups.flatMap(([names = '', ...cells]) => names.split(', ').map((name) => [name, ...cells]));

/** The part of a live stream that a request is for, once it has been read. */
function recordingOf(selected: SelectedOutput): SelectedOutput {
  const { resource } = selected.found;
  const window = { resource, first: 1, last: 9, recordedAtMs: undefined };
  return selectRecording(selected, {
    ...selected.found,
    resource: { ...resource, isLive: false, durationSeconds: 60 },
    tracks: mapTracks(selected.found, (track) => ({ ...track, window, durationSeconds: 60 })),
  });
}

/** @param files what turns out about lists that have to be read first. By default they make none. */
function planOf({ files, window, ...of }: Found, query: RenditionQuery, known = files ?? filesOf(of)): RenditionPlan {
  const prepared = prepareOutput(of, { ...query, window });
  if (prepared.kind !== 'selected') return prepared;
  const selected = prepared.window ? recordingOf(prepared) : prepared;
  return planOutput(selected, selected.lists && known);
}

const STATUSES: Readonly<Record<string, string>> = { InvalidParameter: '400', UnsupportedRendition: '415' };

function refusalOf(plan: () => unknown): string {
  try {
    plan();
    return 'planned';
  } catch (error) {
    const { name, message } = error as Error;
    return `${STATUSES[name] ?? name} ${message}`;
  }
}

/** `remux`: one track is muxed. */
const kindOf = ({ kind, found: { tracks } }: RenditionPlan): string =>
  kind === 'mux' && tracks.length === 1 ? 'remux' : kind;

function decide(of: Found, query: RenditionQuery): string {
  try {
    const plan = planOf(of, query);
    return 'instead' in plan && plan.instead ? `${plan.kind}/${kindOf(plan.instead)}` : kindOf(plan);
  } catch (error) {
    return STATUSES[(error as Error).name] ?? String(error);
  }
}

const shapeOf = (name: string): Found => SHAPES[name as keyof typeof SHAPES];

describe('an output', () => {
  it('has a decision for every shape and query', () => {
    expect(rows.map(([name]) => name).toSorted()).toEqual(Object.keys(SHAPES).toSorted());
    expect(queries).toEqual(Object.keys(QUERIES));
  });

  it.each(rows)('decides what is sent of %s', (name = '', ...decisions) => {
    expect(Object.values(QUERIES).map((query) => decide(shapeOf(name), query))).toEqual(decisions);
  });

  const SKIP = { ...CLIP, skipped: [{ startSeconds: 1.5, endSeconds: 2 }] };
  it.each<[string, RenditionQuery, string]>([
    ['HLS', { ...QUERIES.wav, hasMarks: true }, '415 WAV cannot hold chapters. Use MP3.'],
    ['WebM', { ...QUERIES.media, hasMarks: true }, '415 A file that is sent as it is cannot hold chapters. Use MP3.'],
    ['WebM', QUERIES.clip, '400 A file that is sent as it is cannot be clipped. Use MP3.'],
    ['WebM', { ...QUERIES.media, clip: SKIP }, '415 A file that is sent as it is cannot leave out segments. Use MP3.'],
    ['Opus', { ...QUERIES.opus, clip: SKIP }, '415 Ogg cannot leave out segments. Use MP3.'],
    ['WebM', QUERIES.text, '415 A file that is sent as it is cannot hold subtitles. Use MP4.'],
    ['DASH of VP8', QUERIES.text, '415 WebM cannot hold subtitles. Use MP4.'],
    ['M4A', QUERIES.text, '415 Audio cannot hold subtitles. Use MP4.'],
    ['M4A', { ...QUERIES.m4a, subtitles: 'en' }, '400 M4A cannot hold subtitles. Use MP4.'],
    ['WebM', QUERIES.m4a, '415 M4A cannot be made of audio other than AAC. Use MP3.'],
    ['M4A', QUERIES.opus, '415 Ogg cannot be made of audio other than Opus. Use MP3.'],
    ['HLS', QUERIES['m4a, clip'], '400 M4A cannot be clipped.'],
    ['HLS', QUERIES.clip, '400 MP4 cannot be clipped.'],
    ['HLS', { ...QUERIES.mp3, clip: SKIP }, '415 MP3 cannot leave out segments.'],
    ['a live HLS', QUERIES.m4a, '400 M4A cannot hold a live stream. Use MP3.'],
    ['a live HLS', { ...QUERIES.mp3, clip: CLIP }, '400 A live stream cannot be clipped.'],
    ['a live HLS', QUERIES.text, '415 A live stream cannot hold subtitles.'],
    [
      'a live HLS',
      { ...QUERIES.hls, audio: 'de' },
      '400 An HLS playlist of a live stream cannot hold a choice of languages. Use MP4.',
    ],
    ['WebM', QUERIES.hls, '415 An HLS playlist cannot be made of files other than MP4. Use MP4.'],
    ['M4A', { ...QUERIES.media, audio: 'all' }, '400 Audio cannot hold a choice of languages. Use MP4.'],
    ['MP4 of known size', { ...QUERIES.mp3, audio: 'all' }, '400 MP3 cannot hold a choice of languages. Use MP4.'],
    ['MP4 of known size', { ...QUERIES.mp3, subtitles: 'en' }, '400 MP3 cannot hold subtitles. Use MP4.'],
  ])('says what does not exist of %s, and what does: %j', (name, query, refusal) => {
    expect(refusalOf(() => planOf(shapeOf(name), query))).toBe(refusal);
  });

  it.each<[string, RenditionQuery, object]>([
    ['MP4 of known size', QUERIES.media, { size: 1000, acceptRanges: 'bytes', mimeType: 'video/mp4' }],
    ['MP4 of unknown size', QUERIES.media, { size: undefined, acceptRanges: 'bytes' }],
    ['MP4 of known size', QUERIES.combined, { size: 1000, acceptRanges: 'none' }],
    ['M4A', QUERIES.m4a, { size: 1000, mimeType: 'audio/mp4', fileExtension: '.m4a' }],
    ['M4A', QUERIES.mp3, { size: expect.any(Number), acceptRanges: 'bytes', fileExtension: '.mp3' }],
    // A file of unknown size may turn out not to be seekable.
    ['MP4 of unknown size', QUERIES.mp3, { size: undefined, acceptRanges: undefined }],
    ['HLS', QUERIES.mp3, { size: expect.any(Number), acceptRanges: 'none', etag: undefined }],
    ['HLS', QUERIES.wav, { size: 60 * 192_000 + 44, acceptRanges: 'none' }],
    ['a live HLS', QUERIES.mp3, { size: undefined, acceptRanges: 'none' }],
    ['HLS', QUERIES.media, { size: undefined, acceptRanges: 'none', mimeType: 'video/mp4' }],
    ['a pair of MP4', QUERIES.media, { size: undefined, acceptRanges: undefined, estimatedBytes: 1000 }],
    ['a pair of MP4', QUERIES.clip, { size: undefined, clip: CLIP }],
    ['a pair of MP4', QUERIES.combined, { size: undefined, acceptRanges: 'none' }],
    ['a pair of MP4', QUERIES['combined, start'], { size: undefined, acceptRanges: 'none' }],
    ['a pair of MP4', QUERIES.hls, { mimeType: 'application/vnd.apple.mpegurl', isInline: true }],
  ])('knows of %s before it is opened (%j)', (name, query, head) => {
    expect(planOf(shapeOf(name), query).head).toMatchObject(head);
  });

  it.each<[string, RenditionQuery, boolean]>([
    ['HLS', QUERIES.media, true],
    ['a pair of HLS', QUERIES.media, true],
    ['a pair of WebM', QUERIES.media, false],
    ['MP4 of known size', QUERIES.media, false],
    ['HLS', QUERIES.mp3, false],
  ])('says whether HEAD of %s needs its sources (%j)', (name, query, answersHead) => {
    expect(planOf(shapeOf(name), query).answersHead).toBe(answersHead);
  });

  it.each<[string, RenditionQuery, string]>([
    ['HLS', QUERIES.media, 'file'],
    ['HLS', QUERIES.clip, 'file, or nothing'],
    ['HLS', QUERIES.m4a, 'file'],
    ['HLS', QUERIES.hls, 'file, or nothing'],
    ['a pair of HLS', QUERIES.media, 'video audio'],
    ['a pair of HLS', { ...QUERIES.hls, file: 'audio.m3u8' }, 'audio, or nothing'],
    ['a pair of WebM', QUERIES.media, 'video audio'],
    ['WebM', QUERIES.media, 'nothing'],
    ['WebM', QUERIES.clip, 'file, or nothing'],
    ['WebM', QUERIES['mp3, clip'], 'nothing'],
  ])('says which lists of %s have to be read first (%j): %s', (name, query, expected) => {
    const prepared = prepareOutput(shapeOf(name), query);
    const { own, isNeeded } = (prepared.kind === 'selected' && prepared.lists) || { own: [] };
    const ids = own.map(([track]) => track?.formatId).join(' ') || 'nothing';
    expect(isNeeded ? `${ids}, or nothing` : ids).toBe(expected);
  });

  it.each<[string, RenditionQuery, string | RegExp]>([
    ['HLS', { ...QUERIES.media, subtitles: 'fr' }, /^400 No subtitles .* Available: en\.$/],
    ['HLS', { ...QUERIES.media, audio: 'fr' }, '400 No audio in fr'],
    ['HLS', { ...QUERIES.media, chapter: 1 }, '400 The item has no chapters.'],
    [
      'HLS',
      { ...QUERIES.mp3, clip: { startSeconds: 99, endSeconds: 100 } },
      /^400 Nothing of the media is in the clip\.$/,
    ],
    ['a pair of HLS', { ...QUERIES.hls, file: 'audio-2.m3u8' }, 'NotFound No such file'],
    ['MP4 of known size', { ...QUERIES.hls, file: 'other' }, 'NotFound No such file'],
    ['a live HLS', { ...QUERIES.wav, window: WINDOW }, '415 WAV cannot be made of a source without'],
    ['MP4 of known size', { ...QUERIES.media, window: WINDOW }, '400 start before now'],
  ])('refuses before anything is read what %s does not have: %j', (name, query, refusal) => {
    expect(refusalOf(() => prepareOutput(shapeOf(name), query))).toMatch(refusal);
  });

  it('names where the bytes of Combined have ranges, unless they are a file as it is', () => {
    expect(planOf(shapeOf('a pair of MP4'), QUERIES['combined, text']).rangedPath).toMatch('Media/key?subtitles=en');
    expect(planOf(shapeOf('MP4 of known size'), QUERIES.combined).rangedPath).toBeUndefined();
  });
});

it('planSubtitle knows the type of a subtitle file, and that its length is known once it is read', () => {
  const { resource } = shapeOf('HLS');
  const { head, answersHead } = planSubtitle({ key: 'key', resource, subtitle, track: subtitleTrack }, 'srt');
  expect(head).toMatchObject({ fileExtension: '.en.srt', size: undefined });
  expect(answersHead).toBe(false);
});

const DUBS: readonly Dub[] = [
  { language: 'en', rendition: { versions: ['original'] } },
  { language: 'de', rendition: { versions: ['dubbed'] } },
  { language: 'fr', track: { container: 'webm', audio: { codec: 'opus' } } },
  { language: 'xx', track: { container: 'ogg', audio: { codec: 'vorbis' } } },
];
const findIn = (resource: Resource, index: number): KeyedRendition => {
  const rendition = resource.renditions[index] as Rendition;
  const tracks = rendition.formatIds.map((id) => resource.tracks.find(({ formatId }) => formatId === id));
  return { key: 'key', resource, rendition, tracks: tracks as [Track] };
};
const webmVideo = videoTrack({ container: 'webm', video: { codec: 'vp8' } });
const SPOKEN = {
  'a pair': findIn(itemOf(DUBS), 0),
  'a pair in two languages': findIn(itemOf(DUBS.slice(0, 2)), 0),
  'a pair in one language': findIn(itemOf(DUBS.slice(0, 1)), 0),
  'video alone': findIn(itemOf(DUBS.slice(0, 2)), 1),
  'MP4 with audio': findIn(itemOf(DUBS.slice(1, 2), trackOf('both', { language: 'en' })), 1),
  'segments with audio': findIn(itemOf(DUBS.slice(1, 2), trackOf('both', { ...hls, language: 'en' })), 1),
  'audio alone': findIn(itemOf(DUBS), 2),
  'silent video': found([videoTrack()]),
  VP8: findIn(itemOf(DUBS.slice(0, 2), webmVideo), 1),
  'a live pair': findIn(itemOf(DUBS.slice(0, 2), videoTrack(hls), { isLive: true }), 0),
} as const;
const CHOICES = {
  original: { route: 'Media', audio: 'original' },
  de: { route: 'Media', audio: 'de' },
  fr: { route: 'Media', audio: 'fr' },
  xx: { route: 'Media', audio: 'xx' },
  all: { route: 'Media', audio: 'all' },
  'mp3, de': { route: 'Media', audio: 'de', format: 'mp3' },
  'mp3, all': { route: 'Media', audio: 'all', format: 'mp3' },
  'clip, de': { route: 'Media', audio: 'de', clip: CLIP },
  'clip, all': { route: 'Media', audio: 'all', clip: CLIP },
  'combined, all': { route: 'Combined', audio: 'all' },
  hls: { route: 'Hls', file: 'master.m3u8' },
  'hls, de': { route: 'Hls', file: 'master.m3u8', audio: 'de' },
} as const satisfies Readonly<Record<string, RenditionQuery>>;
/** As `TABLE`, with the format ids of what is sent. */
const AUDIO_TABLE = `
                        | original                | de                  | fr             | xx  | all                     | mp3, de   | mp3, all | clip, de        | clip, all       | combined, all           | hls             | hls, de
a pair                  | layout/mux video en     | layout/mux video de | mux video fr   | 415 | mux video en de fr      | encode de | 400      | layout video de | 400             | mux video en de fr      | layout video en de | layout video de
a pair in two languages | layout/mux video en     | layout/mux video de | 400            | 400 | layout/mux video en de  | encode de | 400      | layout video de | layout video en de | layout/mux video en de | layout video en de | layout video de
a pair in one language  | layout/mux video en     | 400                 | 400            | 400 | layout/mux video en     | 400       | 400      | 400             | layout video en | layout/mux video en     | layout video en | 400
video alone             | layout/mux video en     | layout/mux video de | 400            | 400 | layout/mux video en de  | encode de | 400      | layout video de | layout video en de | layout/mux video en de | layout video    | layout video de
MP4 with audio          | copy both               | layout/mux both de  | 400            | 400 | layout/mux both both de | encode de | 400      | layout both de  | layout both both de | layout/mux both both de | layout both    | layout both de
segments with audio     | remux both              | mux both de         | 400            | 400 | mux both both de        | encode de | 400      | 400             | 400             | mux both both de        | 415             | 415
audio alone             | copy en                 | copy de             | copy fr        | copy xx | 400                 | encode de | 400      | layout de       | 400             | 400                     | layout en       | layout de
silent video            | 400                     | 400                 | 400            | 400 | 400                     | 400       | 400      | 400             | 400             | 400                     | layout video    | 400
VP8                     | 415                     | 415                 | 400            | 400 | 415                     | encode de | 400      | 415             | 415             | 415                     | 415             | 415
a live pair             | mux video en            | mux video de        | 400            | 400 | mux video en de         | encode de | 400      | 400             | 400             | mux video en de         | 415             | 415
`;
const [[, ...choices] = [], ...spoken] = cellsOf(AUDIO_TABLE);

describe('an output with another language', () => {
  it('has a decision for every item and choice', () => {
    expect(spoken.map(([name]) => name)).toEqual(Object.keys(SPOKEN));
    expect(choices).toEqual(Object.keys(CHOICES));
  });

  it.each(spoken)('decides what is sent of %s', (name = '', ...decisions) => {
    const of = SPOKEN[name as keyof typeof SPOKEN];
    const decided = Object.values(CHOICES).map((query) => {
      const decision = decide(of, query);
      if (/^4/.test(decision)) return decision;
      const plan = planOf(of, query) as Pick<PresentationPlan, 'found' | 'playlist'>;
      const tracks = (plan.playlist?.streams ?? [plan]).flatMap((each) => each.found.tracks);
      return [decision, ...tracks.map(({ formatId }) => formatId)].join(' ');
    });
    expect(decided).toEqual(decisions);
  });

  it('has other ids, and so other ETags, for other audio alone', () => {
    const ids = ['en', 'original', 'de', 'all'].map((audio) => {
      const plan = planOf(SPOKEN['a pair in two languages'], { route: 'Media', audio });
      return 'id' in plan ? plan.id : '';
    });
    expect([ids[0], new Set(ids).size]).toEqual([ids[1], 3]);
    const { rangedPath, version } = planOf(SPOKEN['a pair'], { route: 'Combined', audio: 'DE' });
    expect([rangedPath, version]).toEqual(['/api/Stream/Media/key?audio=DE', 'German']);
  });

  it('numbers the languages of a presentation in the same way while the list of one fails', () => {
    const lists = ['en', 'de', 'fr'].map((language): Dub => ({ language, track: hls }));
    const of = findIn(itemOf(lists, videoTrack(hls)), 0);
    const known = new Map(of.resource.tracks.map(({ formatId }) => [formatId, {}] as const));
    const plan = (file: string, files: ListFiles) => planOf(of, { route: 'Hls', file }, files) as PresentationPlan;
    const without = (language: string) => new Map([...known, [language, undefined] as const]);
    const failing = without('de');
    const paths = [known, failing, without('en')].map((files) =>
      plan('master.m3u8', files).playlist?.streams.map(
        ({ path, found: { tracks } }) => `${path} ${tracks[0].formatId}`,
      ),
    );
    expect(paths).toEqual([
      ['video video', 'audio en', 'audio-2 de', 'audio-3 fr'],
      ['video video', 'audio en', 'audio-3 fr'],
      ['video video', 'audio de', 'audio-3 fr'],
    ]);
    expect(plan('video.mp4', failing).id).toBe(plan('video.mp4', known).id);
    expect(() => plan('audio-2.m3u8', failing)).toThrow('No such file');
  });

  it('has sixteen languages at most', () => {
    const many = [...'abcdefghijklmnopqrst'].map((letter): Dub => ({ language: `q${letter}` }));
    const { found: sent } = planOf(findIn(itemOf(many), 0), { route: 'Media', audio: 'all' }) as {
      readonly found: KeyedRendition;
    };
    expect(sent.tracks.map(({ formatId }) => formatId)).toEqual([
      'video',
      ...many.slice(0, 16).map(({ language }) => language),
    ]);
  });
});
