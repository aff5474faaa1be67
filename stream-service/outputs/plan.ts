import { mp4HoldsAudio, mp4HoldsVideo } from '@reelay/seekable-media/codecs';
import { operationsById, type Selection, type WindowSelection, writeSelection } from '../../core/api/index.ts';
import { type ConversionName, conversions, type ListPlace } from '../../core/conversions/index.ts';
import type { KeyedRendition, Track } from '../../core/state/index.ts';
import { isMp4File, needsRemux } from '../source/index.ts';
import { selectChapter } from './chapters.ts';
import { type ChosenAudio, chooseAllFiles, chooseAudio } from './choose-audio.ts';
import { type CopyPlan, planCopy } from './copy/index.ts';
import { type EncodedName, type EncodePlan, isEncoded, planEncode } from './encode/index.ts';
import { type PlannedExtras, planExtras } from './extras.ts';
import {
  type LayoutPlan,
  type PresentationFile,
  planAudioAlone,
  planClip,
  planExtended,
  planFromKeyframe,
  planPair,
  planPresentation,
} from './layout/index.ts';
import { audioOfList, hasLists, type ListFiles, type ListPlan, unknownLists, withFiles } from './list-files.ts';
import { type MuxPlan, planMux, selectRemuxFormat } from './mux/index.ts';
import { type PicturePlan, planPicture } from './picture/index.ts';
import { planRemux, type RemuxPlan } from './remux/index.ts';
import type { ClipTimes, RepresentationHead } from './representation.ts';
import { type LivePlan, planLive, planWindow, requireLive, type WindowPlan } from './window/index.ts';
import { type AudioCopy, hasCodec, partOf, requireWritable, type Writer, writers } from './writers.ts';

/** What is sent for a rendition: every folder of this one has a kind, with `plan.ts` and `open.ts`. */
export type RenditionPlan =
  | CopyPlan
  | LivePlan
  | WindowPlan<MediaRequest>
  | ListPlan<RenditionQuery>
  | LayoutPlan
  | EncodePlan
  | RemuxPlan
  | MuxPlan
  | PicturePlan;

/** What is asked of a rendition: an endpoint and its parameters. */
export type RenditionQuery =
  | MediaRequest
  | ({ readonly route: 'Hls'; readonly file: PresentationFile } & Pick<Selection, 'audio'>)
  | { readonly route: 'Cover' };

type MediaRequest = { readonly route: 'Media' | 'Combined' } & MediaQuery;

/** What is selected, and what has been found out about it. */
export interface MediaQuery extends Selection {
  /** The list that it is sent as a part of. */
  readonly listPlace?: ListPlace;
  /** The names of audio that is not that of the rendition, once it has been chosen. */
  readonly sounds?: ChosenAudio['sounds'];
  /** What is marked is among the chapters of the resource, which are to be part of the file. */
  readonly hasMarks?: boolean;
}

/** What was found: two tracks, segments, an MP4 file, or a file of another container. */
type Shape = 'pair' | 'segments' | 'mp4' | 'file';
type Decision = (found: KeyedRendition, written: Written) => RenditionPlan;

/** What writes it, and what it has besides its tracks. */
interface Written extends MediaQuery {
  readonly writer: Writer;
  readonly extras: PlannedExtras;
}

/** What is sent, by what is asked (rows) and what was found (columns). For a conversion that is the audio track alone. */
const DECISIONS = {
  encoded: { pair: encode, segments: encode, mp4: encode, file: encode },
  copied: { pair: remuxAudio, segments: remuxAudio, mp4: copyAudio, file: copyAudio },
  clip: { pair: clip, segments: clip, mp4: clip, file: clip },
  extended: { pair: layOutPair, segments: remux, mp4: extend, file: remuxOrCopy },
  media: { pair: layOutPair, segments: remux, mp4: copy, file: remuxOrCopy },
} satisfies Readonly<Record<string, Readonly<Record<Shape, Decision>>>>;

/**
 * Decides what is sent for a rendition: every key works on every endpoint.
 * @throws InvalidParameter when it cannot be clipped, or has no such chapter, subtitles or audio; UnsupportedRendition; NotFound
 * for a file that no presentation has
 * @param files what is known of lists of segments
 */
export function planOutput(found: KeyedRendition, query: RenditionQuery, files: ListFiles = new Map()): RenditionPlan {
  if (query.route === 'Cover') return planPicture(found);
  if (!hasLists(found, isPart(found, query))) return planMedia(found, query);
  const plan = planMedia(withFiles(found, files), query);
  // For all else, lists are read from a segment on.
  if (plan.kind !== 'copy' && plan.kind !== 'layout') return planMedia(found, query);
  const lists = unknownLists(tracksOf(plan));
  if (lists.length === 0) return plan;
  const { conversion, partTitle, version, isWithoutRanges, rangedPath, head } = plan;
  const planned = { conversion, partTitle, version, isWithoutRanges, rangedPath, answersHead: false };
  return {
    kind: 'list',
    found,
    query,
    lists,
    files,
    ...planned,
    head: { ...head, size: undefined, acceptRanges: isWithoutRanges ? 'none' : undefined },
  };
}

type MediaRoute = Exclude<RenditionQuery, { route: 'Cover' }>;

/** Whether something is made of a file, or of two, instead of sending it as it is. */
const isPart = ({ tracks }: KeyedRendition, query: MediaRoute): boolean =>
  tracks.length > 1 ||
  query.route === 'Hls' ||
  [query.clip, query.chapter, query.fromKeyframeSeconds].some((part) => part !== undefined);

/** The tracks that have one clock with those that a plan reads: all files of a presentation have the same. */
const tracksOf = (plan: CopyPlan | LayoutPlan): readonly Track[] =>
  plan.kind === 'layout' && plan.of === 'presentation'
    ? [...plan.presented, ...(plan.alternative?.presented ?? [])]
    : plan.found.tracks;

function planMedia(found: KeyedRendition, query: MediaRoute): RenditionPlan {
  if (query.route === 'Hls') return planHls(found, query);
  const { audio, ...rest } = query;
  if (audio === undefined) return planStream(found, rest);
  const format = rest.route === 'Media' ? rest.format : undefined;
  const alone = format ? writers[format] : found.tracks[0].video ? undefined : writers.audio;
  if (alone && isEvery(audio)) requireWritable(alone, found, ['languages']);
  const chosen = chooseAudio(found, audio, alone !== undefined);
  const plan = planStream(chosen.found, { ...rest, sounds: chosen.sounds });
  const rangedPath = plan.rangedPath && mediaPath(found, query);
  return { ...plan, rangedPath, version: chosen.version };
}

/** Every language of a pair, unless one is chosen, or not all of them can be presented. */
function planHls(found: KeyedRendition, { file, audio }: Extract<RenditionQuery, { route: 'Hls' }>): RenditionPlan {
  if (found.resource.isLive) {
    requireWritable(writers.liveHls, found, ['source', audio !== undefined && 'languages']);
    return planLive(found, file.name);
  }
  const isAll = audio === undefined ? found.tracks.length > 1 : isEvery(audio);
  const all = isAll ? chooseAllFiles(found, audio !== undefined, isMp4File) : undefined;
  const one: ChosenAudio = isAll || audio === undefined ? { found } : chooseAudio(found, audio, false);
  const chosen = all ?? one;
  requireWritable(writers.hls, chosen.found, ['source', 'languages']);
  return planPresentation(chosen.found, { ...file, audio, sounds: chosen.sounds }, all && found);
}

const isEvery = (audio: string): boolean => audio.toLowerCase() === 'all';

function planStream(found: KeyedRendition, query: MediaRequest): RenditionPlan {
  if (query.route === 'Combined') {
    const { fromKeyframeSeconds } = query;
    if (fromKeyframeSeconds !== undefined) {
      const clip = { startSeconds: fromKeyframeSeconds, endSeconds: Number.POSITIVE_INFINITY };
      const plan = decide(found, { ...query, clip });
      return { ...plan, isWithoutRanges: true, head: withoutRanges(plan.head) };
    }
    const plan = decide(found, query);
    const rangedPath = plan.kind === 'copy' ? undefined : mediaPath(found, query);
    return { ...plan, isWithoutRanges: true, rangedPath, head: withoutRanges(plan.head) };
  }
  if (query.window) return planPart(found, query, query.window);
  if (query.chapter !== undefined) {
    const { title, clip, listPlace } = selectChapter(found.resource, query.chapter);
    const part = { clip: { ...query.clip, ...clip }, listPlace, chapter: undefined };
    return { ...planMedia(found, { ...query, ...part }), partTitle: title };
  }
  const audio = found.tracks.find((track) => track.audio);
  const { format } = query;
  if (!format || !audio) return decide(found, query);
  return { ...decide({ ...found, tracks: [audio] }, query, format), conversion: format };
}

function planPart(
  found: KeyedRendition,
  { window: _, ...query }: MediaRequest,
  window: WindowSelection,
): RenditionPlan {
  requireLive(found);
  const { clip: _clip, ...rest } = query;
  const recording = { ...found, resource: { ...found.resource, isLive: false } };
  return planWindow({ found, window, query }, planOutput(recording, rest).head);
}

/** @throws InvalidParameter or UnsupportedRendition for what the writer lacks */
function decide(found: KeyedRendition, query: MediaRequest, format?: ConversionName): RenditionPlan {
  const { clip, subtitles, hasMarks } = query;
  const writer = format ? writers[format] : writerOf(found, query.route);
  const plain = subtitles !== undefined || hasMarks ? 'extended' : 'media';
  const row = !format ? (clip ? 'clip' : plain) : isEncoded(format) ? 'encoded' : 'copied';
  requireWritable(writer, found, [
    found.resource.isLive && 'live',
    'source',
    subtitles !== undefined && 'text',
    clip !== undefined && partOf(clip),
    hasMarks === true && 'tags',
  ]);
  return DECISIONS[row][shapeOf(found)](found, { ...query, writer, extras: planExtras(found, query, writer) });
}

/** What writes a rendition without another format. */
function writerOf(found: KeyedRendition, route: MediaRequest['route']): Writer {
  const shape = shapeOf(found);
  const [track] = found.tracks;
  // A file whose codecs MP4 cannot hold is sent as it is.
  if (shape === 'file' && !(route === 'Combined' && isHeldByMp4(track))) return writers.copy;
  if (shape === 'segments' && selectRemuxFormat(track).container === 'webm') return writers.webm;
  return track.video ? writers.mp4 : writers.audio;
}

const isHeldByMp4 = ({ video, audio }: Track): boolean =>
  (!video || mp4HoldsVideo(video.codec)) && (!audio || mp4HoldsAudio(audio.codec));

function shapeOf({ tracks: [track, second] }: KeyedRendition): Shape {
  if (second) return 'pair';
  if (needsRemux(track)) return 'segments';
  return isMp4File(track) ? 'mp4' : 'file';
}

/** The same head where ranges are ignored. @param rangedPath where they are not */
export const withoutRanges = <Head extends RepresentationHead>(head: Head, rangedPath?: string): Head => ({
  ...head,
  etag: undefined,
  acceptRanges: 'none',
  contentLocation: head.acceptRanges === 'bytes' ? rangedPath : undefined,
});

const MEDIA_PATH = operationsById.Media.path;

function mediaPath({ key }: KeyedRendition, { subtitles, audio, skip, mark }: Selection): string {
  const query = writeSelection('Media', { subtitles, audio, skip, mark });
  return MEDIA_PATH.replace('{key}', key) + (query.size > 0 ? `?${query}` : '');
}

function copy(found: KeyedRendition, { extras }: Pick<Written, 'extras'>) {
  // The header of a list is written here, and so has room for extras.
  return found.tracks[0].file ? planCopy(found, undefined, extras) : planCopy(found);
}

function remux(found: KeyedRendition, { extras }: Written) {
  return planRemux(found, extras);
}

/** With length and ranges where both are MP4 files. */
function layOutPair(found: KeyedRendition, { extras }: Written) {
  const muxed = planMux(found, extras);
  return found.resource.isLive || !found.tracks.every(isMp4File) ? muxed : planPair(found, extras, muxed);
}

function extend(found: KeyedRendition, { extras }: Written) {
  return found.tracks[0].file
    ? planCopy(found, undefined, extras)
    : planExtended(found, extras, planRemux(found, extras));
}

function clip(found: KeyedRendition, { extras, clip, fromKeyframeSeconds }: Written) {
  return (fromKeyframeSeconds === undefined ? planClip : planFromKeyframe)(found, extras, clip as ClipTimes);
}

function remuxOrCopy(found: KeyedRendition, written: Written) {
  return (written.writer === writers.copy ? copy : remux)(found, written);
}

function encode(found: KeyedRendition, query: Written) {
  return planEncode(found, query.format as EncodedName, query);
}

/** The audio of a file, with length and ranges. */
function copyAudio(found: KeyedRendition, { format, clip, writer, extras }: Written) {
  const [track] = found.tracks;
  const audioAs = writer as AudioCopy;
  const type = conversions[format as ConversionName];
  const isKnown = hasCodec(track, audioAs);
  // By its extension: an MP4 file without video may have further tracks.
  const isCopy = track.video === null && isKnown && audioAs.extensions.test(track.container);
  if (isCopy && !clip && (track.file || !extras.hasTags)) return planCopy(found, type, extras);
  // Every segment would be read before the first byte is sent. A window is short.
  const isWholeList = track.file && !track.window && !clip;
  const alone = isWholeList && isKnown && audioAs.container === 'm4a' && audioOfList(track);
  if (alone) return planCopy({ ...found, tracks: [alone] }, type, extras);
  const fromStart = remuxAudio(found, { extras });
  const isScanned = !track.file && audioAs.scanned?.test(track.container);
  if (isScanned) return planAudioAlone(found, extras, { type, audioAs, isScanned, instead: fromStart });
  if (!isMp4File(track) || isWholeList) return fromStart;
  return planAudioAlone(found, extras, { type, audioAs, clip, instead: clip ? undefined : fromStart });
}

/** The audio from its beginning. */
function remuxAudio(found: KeyedRendition, { extras }: Pick<Written, 'extras'>) {
  return planRemux({ ...found, tracks: [{ ...found.tracks[0], video: null }] }, extras);
}
