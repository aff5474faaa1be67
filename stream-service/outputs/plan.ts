import { type FileType, isQuickTime } from '@reelay/seekable-media/codecs';
import { type Selection, streamPath, type WindowSelection } from '../../core/api/index.ts';
import { type AudioCopy, type ConversionName, conversions } from '../../core/conversions/index.ts';
import { capabilitiesOf, type KeyedRendition, type Track } from '../../core/state/index.ts';
import { isHeldByMp4, isMp4File, needsRemux } from '../source/index.ts';
import { chooseAllFiles, chooseAudio, selectChapter, variantsOf } from './choose-content.ts';
import { type CopyPlan, planCopy } from './copy.ts';
import { type EncodedName, type EncodePlan, isEncoded, planEncode } from './encode/index.ts';
import type { PlannedExtras } from './extras.ts';
import { isLadder, type LayoutPlan, planFile, planPresentation } from './layout/index.ts';
import { audioOfList, hasLists, type ListFiles, type ListPlan, unknownLists, withFiles } from './list-files.ts';
import { type MuxPlan, planMux } from './mux/index.ts';
import {
  hasCodec,
  type OutputFormat,
  outputFormats,
  partOf,
  remuxContainer,
  requireWritable,
} from './output-formats.ts';
import { type PicturePlan, planPicture } from './picture.ts';
import type { RenditionQuery, RepresentationHead } from './representation.ts';
import { selectSubtitle } from './text.ts';
import { type LivePlan, planLive, planWindow, requireLive, type WindowPlan } from './window/index.ts';

/** Plan by kind. Each kind has a file, or a folder with `plan.ts` and `open.ts`. */
export type RenditionPlan =
  | CopyPlan
  | LivePlan
  | WindowPlan
  | ListPlan
  | LayoutPlan
  | EncodePlan
  | MuxPlan
  | PicturePlan;

/** What was found: two tracks, segments, an MP4 file, or a file of another container. */
type Shape = 'pair' | 'segments' | 'mp4' | 'file';
type Decision = (found: KeyedRendition, written: Written) => RenditionPlan;

/** What writes it, and what it has besides its tracks. */
interface Written extends RenditionQuery {
  readonly outputFormat: OutputFormat;
  readonly extras: PlannedExtras;
}

/** What is sent, by what is asked (rows) and what was found (columns). For a conversion that is the audio track alone. */
const DECISIONS = {
  encoded: { pair: encode, segments: encode, mp4: encode, file: encode },
  copied: { pair: remuxAudio, segments: remuxAudio, mp4: copyAudio, file: copyAudio },
  clip: { pair: clip, segments: clip, mp4: clip, file: clip },
  extended: { pair: layOutPair, segments: remux, mp4: extend, file: remuxOrCopy },
  media: { pair: layOutPair, segments: remux, mp4: copyAsMp4, file: remuxOrCopy },
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
  // For all else, lists are read from their beginning.
  if (plan.kind !== 'copy' && plan.kind !== 'layout' && !isOfList(plan)) return planMedia(found, query);
  const [own, further] = tracksOf(plan);
  const tracks = [...own, ...further];
  if (unknownLists(tracks).length === 0) return plan;
  const { conversion, partTitle, version, isWithoutRanges, rangedPath, head } = plan;
  const planned = { conversion, partTitle, version, isWithoutRanges, rangedPath, answersHead: false };
  return {
    kind: 'list',
    found,
    query,
    lists: unknownLists(own),
    further: unknownLists(further),
    files,
    // Whether nothing is sent of lists that make no files.
    isNeeded: !attempt(() => planMedia(found, query)),
    ...planned,
    // The length of a conversion is that of its duration.
    head: { ...head, size: conversion && head.size, acceptRanges: isWithoutRanges ? 'none' : undefined },
  };
}

/** Undefined: it cannot be planned. */
function attempt<Plan>(plan: () => Plan): Plan | undefined {
  try {
    return plan();
  } catch {
    return undefined;
  }
}

/** Files are encoded as they are. */
const isOfList = (plan: RenditionPlan): plan is EncodePlan =>
  plan.kind === 'encode' && !capabilitiesOf(plan.found.tracks[0]).isFile;

/** Whether something is made of a file, or of two, instead of sending it as it is. */
const isPart = ({ tracks }: KeyedRendition, query: RenditionQuery): boolean =>
  tracks.length > 1 ||
  query.route === 'Hls' ||
  [query.clip, query.chapter, query.fromKeyframeSeconds].some((part) => part !== undefined);

/** The tracks that a plan reads, and those of further heights. All files of a presentation have one clock. */
const tracksOf = (plan: CopyPlan | LayoutPlan | EncodePlan): readonly [readonly Track[], readonly Track[]] => {
  const listed = plan.kind === 'layout' && plan.of === 'presentation' ? plan.playlist : undefined;
  const tracks = (streams: readonly { readonly found: KeyedRendition }[]) =>
    streams.flatMap(({ found }) => found.tracks);
  return listed ? [tracks(listed.streams), tracks(listed.rungs)] : [plan.found.tracks, []];
};

function planMedia(found: KeyedRendition, query: RenditionQuery): RenditionPlan {
  if (query.route === 'Hls') return planHls(found, query);
  const { audio, ...rest } = query;
  if (audio === undefined) return planStream(found, rest);
  const format = rest.route === 'Media' ? rest.format : undefined;
  const alone = format ? outputFormats[format] : found.tracks[0].video ? undefined : outputFormats.audio;
  if (alone && isEvery(audio)) requireWritable(alone, found, ['languages']);
  const chosen = chooseAudio(found, audio, alone !== undefined);
  const plan = planStream(chosen, rest);
  return { ...plan, rangedPath: plan.rangedPath && mediaPath(found, query), version: chosen.version };
}

/** A file of the presentation, or what lists those of every height. */
function planHls(found: KeyedRendition, { file = '', ...selection }: RenditionQuery): RenditionPlan {
  const { audio } = selection;
  if (found.resource.isLive) {
    requireWritable(outputFormats.liveHls, found, ['source', audio !== undefined && 'languages']);
    return planLive(found, file);
  }
  if (!isLadder(file)) return planPresentation([{ found: chooseHls(found, audio) }], file, selection);
  const heights = variantsOf(found).flatMap((each) => {
    const folder = each === found ? undefined : `../${each.key}/`;
    return attempt(() => ({ found: chooseHls(each, audio), folder })) ?? [];
  });
  return planPresentation(heights.length > 0 ? heights : [{ found: chooseHls(found, audio) }], file, selection);
}

/** Every language of a pair, unless one is chosen, or not all of them can be presented. */
function chooseHls(found: KeyedRendition, audio: string | undefined): KeyedRendition {
  const isAll = audio === undefined ? found.tracks.length > 1 : isEvery(audio);
  const all = isAll ? chooseAllFiles(found, audio !== undefined) : undefined;
  const chosen = all ?? (isAll || audio === undefined ? found : chooseAudio(found, audio, false));
  requireWritable(outputFormats.hls, chosen, ['source', 'languages']);
  return chosen;
}

const isEvery = (audio: string): boolean => audio.toLowerCase() === 'all';

function planStream(found: KeyedRendition, query: RenditionQuery): RenditionPlan {
  if (query.route === 'Combined') {
    const { fromKeyframeSeconds } = query;
    if (fromKeyframeSeconds !== undefined) {
      const clip = { startSeconds: fromKeyframeSeconds, endSeconds: Number.POSITIVE_INFINITY };
      const plan = decide(found, { ...query, clip });
      return { ...plan, isWithoutRanges: true, head: withoutRanges(plan.head) };
    }
    const plan = decide(found, query);
    // Of one file, Media sends what the source has.
    const isAsIs = plan.kind === 'copy' || (rowOf(query) === 'media' && shapeOf(found) === 'mp4');
    const rangedPath = isAsIs ? undefined : mediaPath(found, query);
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
  { window: _, ...query }: RenditionQuery,
  window: WindowSelection,
): RenditionPlan {
  requireLive(found);
  const { clip: _clip, ...rest } = query;
  const recording = { ...found, resource: { ...found.resource, isLive: false } };
  return planWindow({ found, window, query }, planOutput(recording, rest).head);
}

/** @throws InvalidParameter or UnsupportedRendition for what the output lacks */
function decide(found: KeyedRendition, query: RenditionQuery, format?: ConversionName): RenditionPlan {
  const { clip, subtitles, hasMarks } = query;
  const outputFormat = format ? outputFormats[format] : outputFormatOf(found, query.route);
  const row = !format ? rowOf(query) : isEncoded(format) ? 'encoded' : 'copied';
  requireWritable(outputFormat, found, [
    found.resource.isLive && 'live',
    'source',
    subtitles !== undefined && 'text',
    clip !== undefined && partOf(clip),
    hasMarks === true && 'tags',
  ]);
  return DECISIONS[row][shapeOf(found)](found, {
    ...query,
    outputFormat,
    extras: planExtras(found, query, outputFormat),
  });
}

/** The row of what keeps its format. */
const rowOf = ({ clip, subtitles, hasMarks }: RenditionQuery) =>
  clip ? 'clip' : subtitles !== undefined || hasMarks ? 'extended' : 'media';

/** @throws InvalidParameter without subtitles in the language */
function planExtras(
  { resource }: KeyedRendition,
  { hasTags, listPlace, clip, subtitles }: RenditionQuery,
  { holds, container }: OutputFormat & Partial<AudioCopy>,
): PlannedExtras {
  const named = container && container !== 'm4a' && { container, listPlace };
  const tags = hasTags && holds.includes('tags') && { hasTags, listPlace, clip };
  return { ...named, ...tags, ...(subtitles !== undefined && { subtitle: selectSubtitle(resource, subtitles) }) };
}

/** What writes a rendition without another format. */
function outputFormatOf(found: KeyedRendition, route: RenditionQuery['route']): OutputFormat {
  const shape = shapeOf(found);
  const [track] = found.tracks;
  // A file whose codecs MP4 cannot hold is sent as it is.
  if (shape === 'file' && !(route === 'Combined' && isHeldByMp4(track))) return outputFormats.copy;
  if (shape === 'segments' && remuxContainer(track) === 'webm') return outputFormats.webm;
  return track.video ? outputFormats.mp4 : outputFormats.audio;
}

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

const mediaPath = ({ key }: KeyedRendition, { subtitles, audio, skip, mark }: Selection): string =>
  streamPath('Media', key, { subtitles, audio, skip, mark });

/** The header of a list is written here, and so has room for extras. */
function copy(found: KeyedRendition, { extras }: Pick<Written, 'extras'>, type?: FileType) {
  const isExtended = found.tracks[0].file && Object.keys(extras).length > 0;
  return isExtended ? planFile(found, extras, { of: 'list' }) : planCopy(found, type);
}

function remux(found: KeyedRendition, { extras }: Written) {
  return planMux(found, extras);
}

/** With length and ranges where both are MP4 files. */
function layOutPair(found: KeyedRendition, { extras }: Written) {
  const instead = planMux(found, extras);
  const isLaidOut = !found.resource.isLive && found.tracks.every(isMp4File);
  return isLaidOut ? planFile(found, extras, { of: 'pair', instead }) : instead;
}

function extend(found: KeyedRendition, { extras }: Written) {
  return found.tracks[0].file
    ? copy(found, { extras })
    : planFile(found, extras, { of: 'part', instead: planMux(found, extras) });
}

/** QuickTime stays as it is, but for what is to be MP4. */
function copyAsMp4(found: KeyedRendition, written: Written) {
  const isOther = written.route === 'Combined' && isQuickTime(found.tracks[0].container);
  return (isOther ? extend : copy)(found, written);
}

function clip(found: KeyedRendition, { extras, clip: times, fromKeyframeSeconds }: Written) {
  return planFile(found, extras, { of: 'part', times, isFromKeyframe: fromKeyframeSeconds !== undefined });
}

function remuxOrCopy(found: KeyedRendition, written: Written) {
  return (written.outputFormat === outputFormats.copy ? copy : remux)(found, written);
}

function encode(found: KeyedRendition, query: Written) {
  return planEncode(found, query.format as EncodedName, query);
}

/** The audio of a file, with length and ranges. */
function copyAudio(found: KeyedRendition, { format, clip, outputFormat, extras }: Written) {
  const [track] = found.tracks;
  const audioAs = outputFormat as AudioCopy;
  const type = conversions[format as ConversionName];
  const isKnown = hasCodec(track, audioAs);
  // By its extension: an MP4 file without video may have further tracks.
  const isCopy = track.video === null && isKnown && audioAs.extensions.test(track.container);
  if (isCopy && !clip && (track.file || !extras.hasTags)) return copy(found, { extras }, type);
  // Every segment would be read before the first byte is sent. A window is short.
  const isWholeList = track.file && !track.window && !clip;
  const alone = isWholeList && isKnown && audioAs.container === 'm4a' && audioOfList(track);
  if (alone) return copy({ ...found, tracks: [alone] }, { extras }, type);
  const instead = remuxAudio(found, { extras });
  if (!track.file && audioAs.scanned?.test(track.container))
    return planFile(found, extras, { of: 'scan', audioAs, instead });
  if (!isMp4File(track) || isWholeList) return instead;
  return planFile(found, extras, { of: 'part', audioAs, times: clip, instead: clip ? undefined : instead });
}

/** The audio from its beginning. */
function remuxAudio(found: KeyedRendition, { extras }: Pick<Written, 'extras'>) {
  return planMux({ ...found, tracks: [{ ...found.tracks[0], video: null }] }, extras);
}
