import { audioFamily, mp4HoldsAudio, mp4HoldsVideo } from '@reelay/seekable-media/codecs';
import { getOperation, type Selection, type WindowSelection, writeSelection } from '../../core/api/index.ts';
import { conversions, type ListPlace } from '../../core/conversions/index.ts';
import { InvalidParameter, UnsupportedRendition } from '../../core/errors/index.ts';
import type { KeyedRendition, Track } from '../../core/state/index.ts';
import { isMp4File, needsRemux } from '../source/index.ts';
import { selectChapter } from './chapters.ts';
import { type ChosenAudio, chooseAllFiles, chooseAudio } from './choose-audio.ts';
import { type CopiedFormat, type CopiedName, copiedFormats, otherCodec } from './copied-formats.ts';
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
import { CANNOT_CLIP, type ClipTimes, cannotClip, type RepresentationHead } from './representation.ts';
import { type LivePlan, planLive, planWindow, requireLive, type WindowPlan } from './window/index.ts';

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
type Decision = (found: KeyedRendition, query: MediaQuery) => RenditionPlan;

/** What is sent, by what is asked (rows) and what was found (columns). For a conversion that is the audio track alone. */
const DECISIONS = {
  encoded: { pair: encode, segments: encode, mp4: encode, file: encode },
  copied: { pair: remuxAudio, segments: remuxAudio, mp4: copyAudio, file: copyAudio },
  clip: { pair: clip, segments: clip, mp4: clip, file: clip },
  subtitles: { pair: layOutPair, segments: remux, mp4: extend, file: copy },
  media: { pair: layOutPair, segments: remux, mp4: copy, file: copy },
  combinedWithSubtitles: { pair: layOutPair, segments: remux, mp4: extend, file: remuxOrCopy },
  combinedFromKeyframe: { pair: fromKeyframe, segments: fromKeyframe, mp4: fromKeyframe, file: fromKeyframe },
  combined: { pair: layOutPair, segments: remux, mp4: copy, file: remuxOrCopy },
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

/** The tracks that a plan reads. */
function tracksOf(plan: CopyPlan | LayoutPlan): readonly Track[] {
  const { alternative, dubs = [] } = plan.kind === 'layout' && plan.of === 'presentation' ? plan : {};
  return [plan, ...(alternative ? [alternative] : []), ...dubs].flatMap(({ found }) => found.tracks);
}

function planMedia(found: KeyedRendition, query: MediaRoute): RenditionPlan {
  if (query.route === 'Hls') return planHls(found, query);
  const { audio, ...rest } = query;
  if (audio === undefined) return planStream(found, rest);
  const chosen = chooseAudio(found, audio, rest.route === 'Media' && rest.format !== undefined);
  const plan = planStream(chosen.found, { ...rest, sounds: chosen.sounds });
  const rangedPath = plan.rangedPath && mediaPath(found, query);
  return { ...plan, rangedPath, version: chosen.version };
}

/** Every language of a pair, unless one is chosen, or not all of them can be presented. */
function planHls(found: KeyedRendition, { file, audio }: Extract<RenditionQuery, { route: 'Hls' }>): RenditionPlan {
  if (found.resource.isLive) {
    if (audio !== undefined) throw new UnsupportedRendition('The audio of a live presentation cannot be chosen.');
    return planLive(found, file.name);
  }
  const isAll = audio === undefined ? found.tracks.length > 1 : audio.toLowerCase() === 'all';
  const all = isAll ? chooseAllFiles(found, audio !== undefined, isMp4File) : undefined;
  if (all) return planPresentation(all.found, { ...file, audio, sounds: all.sounds }, found);
  const chosen = isAll || audio === undefined ? { found } : chooseAudio(found, audio, false);
  return planPresentation(chosen.found, { ...file, audio, sounds: chosen.sounds });
}

function planStream(found: KeyedRendition, query: MediaRequest): RenditionPlan {
  if (query.route === 'Combined') {
    const { fromKeyframeSeconds } = query;
    if (fromKeyframeSeconds !== undefined) {
      const clip = { startSeconds: fromKeyframeSeconds, endSeconds: Number.POSITIVE_INFINITY };
      const plan = decide('combinedFromKeyframe', found, { ...query, clip });
      return { ...plan, isWithoutRanges: true, head: withoutRanges(plan.head) };
    }
    const plan = decide(rowOf(query, 'combined', 'combinedWithSubtitles'), found, query);
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
  if (!query.format || !audio) return decide(rowOf(query, 'media', 'subtitles'), found, query);
  if (query.subtitles !== undefined) throw new InvalidParameter('subtitles cannot be combined with format.');
  const row = isEncoded(query.format) ? 'encoded' : 'copied';
  return { ...decide(row, { ...found, tracks: [audio] }, query), conversion: query.format };
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

const rowOf = <Row extends keyof typeof DECISIONS>(
  { clip, subtitles, hasMarks }: Pick<MediaQuery, 'clip' | 'subtitles' | 'hasMarks'>,
  plain: Row,
  withSubtitles: Row,
): Row | 'clip' => (clip ? 'clip' : subtitles === undefined && !hasMarks ? plain : withSubtitles);

const decide = (row: keyof typeof DECISIONS, found: KeyedRendition, query: MediaQuery): RenditionPlan =>
  DECISIONS[row][shapeOf(found)](found, query);

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

const MEDIA_PATH = getOperation('Media').path;

function mediaPath({ key }: KeyedRendition, { subtitles, audio, skip, mark }: Selection): string {
  const query = writeSelection('Media', { subtitles, audio, skip, mark });
  return MEDIA_PATH.replace('{key}', key) + (query.size > 0 ? `?${query}` : '');
}

/** @throws as `planExtras` for subtitles: a file that is sent as it is has no room for them */
function copy(found: KeyedRendition, query: MediaQuery) {
  if (found.tracks[0].file) return copyList(found, query);
  const { subtitles, hasMarks } = query;
  if (hasMarks) throw new UnsupportedRendition('Chapters can be written into MP4 and conversions only.');
  if (subtitles !== undefined) planExtras(found, { subtitles, isMp4: false });
  return planCopy(found);
}

/** Its header is written here, and so has room for extras. */
const copyList = (found: KeyedRendition, query: MediaQuery) =>
  planCopy(found, undefined, planExtras(found, { ...query, isMp4: true }));

function remux(found: KeyedRendition, query: MediaQuery) {
  const isMp4 = selectRemuxFormat(found.tracks[0]).container === 'mp4';
  return planRemux(found, planExtras(found, { ...query, isMp4 }));
}

/** With length and ranges where both are MP4 files. */
function layOutPair(found: KeyedRendition, query: MediaQuery) {
  const extras = planExtras(found, { ...query, isMp4: true });
  const muxed = planMux(found, extras);
  return found.resource.isLive || !found.tracks.every(isMp4File) ? muxed : planPair(found, extras, muxed);
}

function extend(found: KeyedRendition, query: MediaQuery) {
  if (found.tracks[0].file) return copyList(found, query);
  const extras = planExtras(found, { ...query, isMp4: true });
  return planExtended(found, extras, planRemux(found, extras));
}

function clip(found: KeyedRendition, query: MediaQuery) {
  return planClip(found, planClipExtras(found, query), query.clip as ClipTimes);
}

function fromKeyframe(found: KeyedRendition, query: MediaQuery) {
  return planFromKeyframe(found, planClipExtras(found, query), query.clip as ClipTimes);
}

const planClipExtras = (found: KeyedRendition, query: MediaQuery): PlannedExtras =>
  planExtras(found, { ...query, isMp4: ['pair', 'mp4'].includes(shapeOf(found)) });

/** A file whose codecs MP4 cannot hold is sent as it is. */
function remuxOrCopy(found: KeyedRendition, query: MediaQuery) {
  const [{ video, audio }] = found.tracks;
  const isHeld = (!video || mp4HoldsVideo(video.codec)) && (!audio || mp4HoldsAudio(audio.codec));
  return isHeld ? remux(found, query) : copy(found, query);
}

/** @throws UnsupportedRendition for chapters that the format has no room for */
function encode(found: KeyedRendition, { format, ...query }: MediaQuery) {
  if (query.hasMarks && format === 'wav') throw new UnsupportedRendition('WAV cannot hold chapters. Use MP3.');
  return planEncode(found, format as EncodedName, query);
}

/** The format that copies audio, which the row of the table has made certain. */
const formatOf = ({ format }: MediaQuery): CopiedFormat => copiedFormats[format as CopiedName];

const hasCodec = ({ audio }: Track, { codec }: CopiedFormat): boolean =>
  audio?.codec !== undefined && audioFamily(audio.codec) === codec;

/** The audio of a file, with length and ranges. */
function copyAudio(found: KeyedRendition, query: MediaQuery) {
  const [track] = found.tracks;
  const audioAs = formatOf(query);
  const extras = planAudioExtras(found, query);
  const type = conversions[query.format as CopiedName];
  // By its extension: an MP4 file without video may have further tracks.
  const isCopy = track.video === null && hasCodec(track, audioAs) && audioAs.extensions.test(track.container);
  if (isCopy && !query.clip && (track.file || !extras.hasTags)) return planCopy(found, type, extras);
  // Every segment would be read before the first byte is sent. A window is short.
  const isWholeList = track.file && !track.window && !query.clip;
  const alone = isWholeList && hasCodec(track, audioAs) && audioAs.container === 'm4a' && audioOfList(track);
  if (alone) return planCopy({ ...found, tracks: [alone] }, type, extras);
  if (!isMp4File(track) || isWholeList) return remuxAudio(found, query);
  const instead = query.clip ? undefined : remuxAudio(found, query);
  return planAudioAlone(found, extras, { type, audioAs, clip: query.clip, instead });
}

/** The audio from its beginning. @throws InvalidParameter for a live stream, UnsupportedRendition for another codec */
function remuxAudio(found: KeyedRendition, query: MediaQuery) {
  const extras = planAudioExtras(found, query);
  if (query.clip) throw cannotClip(query.clip, CANNOT_CLIP);
  return planRemux({ ...found, tracks: [{ ...found.tracks[0], video: null }] }, extras);
}

function planAudioExtras(found: KeyedRendition, query: MediaQuery): PlannedExtras {
  const [track] = found.tracks;
  const format = formatOf(query);
  const { container, containerName } = format;
  if (found.resource.isLive) throw new InvalidParameter(`A live stream cannot be sent as ${containerName}.`);
  // The header of an MP4 file tells an unknown codec. Without one, most audio is AAC.
  const isUnknown = track.audio?.codec === undefined && (container === 'm4a' || isMp4File(track));
  if (!isUnknown && !hasCodec(track, format)) throw new UnsupportedRendition(otherCodec(format));
  const extras = planExtras(found, { ...query, isMp4: true });
  return container === 'ogg' ? { ...extras, container, listPlace: query.listPlace } : extras;
}
