/** What is sent of a live stream: a part of what its source holds, as a recording, and an HLS presentation that rolls. */

import {
  type MediaSection,
  type Segment,
  type SequenceRange,
  selectWindow,
  type Timeline,
  type WindowTimes,
} from '@reelay/seekable-media/timeline';
import { digestOf } from '@reelay/seekable-media/values';
import { MAX_WINDOW_SEGMENTS, type WindowSelection } from '../../core/api/index.ts';
import { tagText } from '../../core/conversions/index.ts';
import { InvalidParameter, NotFound } from '../../core/errors/index.ts';
import { capabilitiesOf, type KeyedRendition, type Track } from '../../core/state/index.ts';
import { openTrack, type SourceOpeners, type WindowFacts } from '../source/index.ts';
import { mapTracks } from './list-files.ts';
import {
  inMemory,
  type Opening,
  type PlannedOutput,
  type Representation,
  type RepresentationHead,
} from './representation.ts';

export type LiveDependencies = Pick<SourceOpeners, 'inspectWindow' | 'listSegments'>;

/** @throws InvalidParameter for what has no windows */
export function requireLive({ resource, tracks }: KeyedRendition): void {
  if (!resource.isLive || tracks.some((track) => capabilitiesOf(track).isFile))
    throw new InvalidParameter('start before now or at a time of day, and segments, apply to live HLS and DASH only.');
}

/**
 * Looks up which segments a window by times has, or what is known of a window by numbers.
 * @returns the numbers of a window by times, to redirect to; a window by numbers as a recording
 * @throws InvalidParameter, NotFound when the source does not hold it
 */
export async function readWindow(
  found: KeyedRendition,
  window: WindowSelection,
  { session }: Opening,
  { listSegments, inspectWindow }: LiveDependencies,
): Promise<Required<Pick<RepresentationHead, 'segments'>> | KeyedRendition> {
  const { resource, tracks } = found;
  const options = { signal: session.signal, client: session.client };
  if (window.kind === 'segments') {
    const range = { first: window.first, last: window.last };
    const windowed = tracks.map((track) => ({ ...track, window: { resource, ...range } }));
    const facts = await Promise.all(windowed.map((track) => inspectWindow(resource, track, options)));
    return toRecording(found, range, facts);
  }
  const lists = await Promise.all(tracks.map((track) => listSegments(resource, track, options)));
  const range = findRange(
    lists.map(({ segments }) => segments),
    window,
  );
  if (range.last - range.first >= MAX_WINDOW_SEGMENTS)
    throw new InvalidParameter(`A window has at most ${MAX_WINDOW_SEGMENTS} segments.`);
  return { segments: `${range.first}-${range.last}` };
}

/** The segments that all lists hold of a window, by the first of them. */
function findRange([list = [], ...others]: readonly (readonly Segment[])[], window: WindowTimes): SequenceRange {
  const newest = Math.min(...[list, ...others].map((each) => each.at(-1)?.sequence ?? 0));
  const held = list.filter(({ sequence }) => sequence <= newest);
  const selected = selectWindow(held, window);
  if (selected === 'untimed')
    throw new InvalidParameter('The live stream states no times of day: use seconds before now, such as start=-300.');
  if (selected === 'early') throw new NotFound('The source no longer holds the window', { reason: 'gone' });
  if (selected === 'empty') throw new InvalidParameter('The window has no media, or none yet.');
  const oldest = Math.max(...others.map((each) => each[0]?.sequence ?? 0), selected.first);
  if (oldest > selected.last)
    throw new InvalidParameter('The segments of video and audio have different numbers: select one of them alone.');
  return { first: oldest, last: selected.last };
}

/** The window as an item that is not live, so that it is sent as any recording is. */
function toRecording(
  found: KeyedRendition,
  { first, last }: SequenceRange,
  facts: readonly WindowFacts[],
): KeyedRendition {
  const { key, resource } = found;
  const [{ durationSeconds = 0, recordedAtMs } = {}] = facts;
  const window = { resource, first, last, recordedAtMs };
  const tag = recordedAtMs !== undefined && {
    tag: { ...tagText(resource), date: new Date(recordedAtMs).toISOString() },
  };
  return {
    ...found,
    key: `${key} ${first}-${last}`,
    resource: { ...resource, isLive: false, durationSeconds, ...tag },
    tracks: mapTracks(found, (track, index) => ({
      ...track,
      window,
      durationSeconds: facts[index]?.durationSeconds,
      sizeIsExact: false,
      sizeBytes: undefined,
    })),
  };
}

/** A file of the rolling HLS presentation of a live stream, whose segments are those of its source. */
export interface LivePlan extends PlannedOutput {
  readonly kind: 'live';
  readonly found: KeyedRendition;
  readonly file: LiveFile;
}

type LiveFile =
  /** `isClosed`: of what is held now, as a recording, which players can seek in that cannot in a list that rolls. */
  | { readonly kind: 'master'; readonly isClosed: boolean }
  | { readonly kind: 'playlist'; readonly track: number; readonly isClosed: boolean }
  | { readonly kind: 'init'; readonly track: number; readonly id: string }
  | { readonly kind: 'content'; readonly track: number; readonly sequence: number };

const MASTER = /^(master|held)\.m3u8$/i;
const FILE = /^(video|audio|both)(?:-(?:init-([\w-]{4,40})|(\d{1,15})|(held)))?\.(m3u8|mp4|m4s|ts|aac)$/i;
const MIME_TYPES: Readonly<Record<string, string>> = {
  m3u8: 'application/vnd.apple.mpegurl',
  mp4: 'video/mp4',
  m4s: 'video/mp4',
  ts: 'video/mp2t',
  aac: 'audio/aac',
};

/** @param found of HLS. @throws NotFound for another name */
export function planLive(found: KeyedRendition, name: string): LivePlan {
  const [, side = '', id, sequence, held, extension = 'm3u8'] = FILE.exec(name) ?? [];
  const master = MASTER.exec(name)?.[1];
  const track = sidesOf(found).indexOf(side.toLowerCase());
  const file: LiveFile | undefined = master
    ? { kind: 'master', isClosed: master.toLowerCase() === 'held' }
    : track < 0
      ? undefined
      : id !== undefined
        ? { kind: 'init', track, id }
        : sequence !== undefined
          ? { kind: 'content', track, sequence: Number(sequence) }
          : { kind: 'playlist', track, isClosed: held !== undefined };
  if (!file) throw new NotFound('No such file');
  const mimeType = MIME_TYPES[extension.toLowerCase()] ?? '';
  const answersHead = file.kind === 'init' || file.kind === 'content';
  const acceptRanges = answersHead ? 'none' : 'bytes';
  const head = { mimeType, fileExtension: `.${extension}`, isInline: true, size: undefined, acceptRanges } as const;
  return { kind: 'live', found, file, head, answersHead };
}

const sidesOf = ({ tracks }: KeyedRendition): readonly string[] =>
  tracks.length > 1 ? ['video', 'audio'] : [!tracks[0].video ? 'audio' : tracks[0].audio ? 'both' : 'video'];

/** @throws NotFound for a segment that is no longer held */
export async function openLive(
  { found, file, head }: LivePlan,
  { session, openSource }: Opening,
  { listSegments }: LiveDependencies,
): Promise<Representation> {
  if (file.kind === 'master') return inMemory(head, Buffer.from(writeMaster(found, file.isClosed ? '-held' : '')));
  const { resource, tracks } = found;
  const track = tracks[file.track] as Track;
  const list = () => listSegments(resource, track, { signal: session.signal, client: session.client });
  if (file.kind === 'playlist') {
    const held = await list();
    const shown = { ...held, isComplete: held.isComplete || file.isClosed };
    return inMemory(head, Buffer.from(writePlaylist(sidesOf(found)[file.track] ?? '', shown)));
  }
  const sequence =
    file.kind === 'content'
      ? file.sequence
      : (await list()).segments.find(({ init }) => init && idOf(init) === file.id)?.sequence;
  if (sequence === undefined) throw new NotFound('No such section', { reason: 'gone' });
  const window = { resource, first: sequence, last: sequence, part: file.kind };
  const source = await openTrack(openSource, found, { ...track, window }, session);
  if (!source.needsRemux) throw new TypeError('A segment was opened as a file');
  return { ...head, read: () => source.readAll() };
}

/** The name of an initialization section, the same with another signature. */
const idOf = ({ url, range }: MediaSection): string =>
  digestOf([URL.parse(url)?.pathname, range?.first, range?.last]).slice(0, 16);

function writeMaster(found: KeyedRendition, ending: string): string {
  const [variant, audio] = sidesOf(found);
  const bitrate = found.tracks.reduce((sum, track) => sum + (track.bitrate ?? 0), 0);
  const group = audio && [`#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="Audio",DEFAULT=YES,URI="${audio}${ending}.m3u8"`];
  const codecs = found.tracks.flatMap(({ video, audio }) => [video, audio].flatMap((side) => side?.codec ?? []));
  // Short names of codecs are no RFC 6381 strings.
  const isStated = codecs.length > 0 && codecs.every((codec) => /^\w{4}\.[\w.]+$/.test(codec));
  const attributes = [
    `BANDWIDTH=${Math.round(bitrate * 1000) || 1}`,
    ...(isStated ? [`CODECS="${codecs.join(',')}"`] : []),
    ...(audio ? ['AUDIO="a"'] : []),
  ];
  return lines(['#EXTM3U', ...(group ?? []), `#EXT-X-STREAM-INF:${attributes.join(',')}`, `${variant}${ending}.m3u8`]);
}

/** The segments that the source holds, under names of this presentation. */
function writePlaylist(side: string, { segments, isComplete, reloadSeconds, discontinuitySequence }: Timeline): string {
  let before: string | undefined;
  const entries = segments.flatMap(({ sequence, seconds, content, init, isDiscontinuity, isGap, startsAtMs }) => {
    const id = init && idOf(init);
    const map = id && id !== before ? [`#EXT-X-MAP:URI="${side}-init-${id}.mp4"`] : [];
    before = id ?? before;
    return [
      ...(isDiscontinuity ? ['#EXT-X-DISCONTINUITY'] : []),
      ...map,
      ...(startsAtMs === undefined ? [] : [`#EXT-X-PROGRAM-DATE-TIME:${new Date(startsAtMs).toISOString()}`]),
      ...(isGap ? ['#EXT-X-GAP'] : []),
      `#EXTINF:${seconds.toFixed(3)},`,
      `${side}-${sequence}.${extensionOf(content, init)}`,
    ];
  });
  return lines([
    '#EXTM3U',
    '#EXT-X-VERSION:7',
    // That of the source: it must not change as segments come and go (RFC 8216 §6.2.1).
    `#EXT-X-TARGETDURATION:${Math.max(1, reloadSeconds, ...segments.map(({ seconds }) => Math.round(seconds)))}`,
    `#EXT-X-MEDIA-SEQUENCE:${segments[0]?.sequence ?? 0}`,
    ...(discontinuitySequence ? [`#EXT-X-DISCONTINUITY-SEQUENCE:${discontinuitySequence}`] : []),
    ...entries,
    ...(isComplete ? ['#EXT-X-ENDLIST'] : []),
  ]);
}

const extensionOf = ({ url }: MediaSection, init: Segment['init']): string =>
  init ? 'm4s' : /\.aac(?:\?|$)/i.test(url) ? 'aac' : 'ts';

const lines = (text: readonly string[]): string => `${text.join('\n')}\n`;
