import { type FileType, fileType, isQuickTime } from '@reelay/seekable-media/codecs';
import { isWhole } from '@reelay/seekable-media/parts/skipping';
import { streamPath, type WindowSelection } from '../../core/api/index.ts';
import { type AudioCopy, type ConversionName, conversions } from '../../core/conversions/index.ts';
import { capabilitiesOf, findRendition, type KeyedRendition, type Track } from '../../core/state/index.ts';
import { isHeldByMp4, isMp4File, needsRemux } from '../source/index.ts';
import { chooseAllFiles, chooseAudio, selectChapter, variantsOf } from './choose-content.ts';
import { type CopyPlan, planCopy } from './copy.ts';
import { type EncodedName, type EncodePlan, isEncoded, planEncode } from './encode/index.ts';
import type { PlannedExtras } from './extras.ts';
import {
  isLadder,
  type LayoutPlan,
  nameClip,
  type PresentedHeight,
  planFile,
  planPresentation,
} from './layout/index.ts';
import { audioOfList, type ListFiles, mayBeFile, mayBeMp4, type WantedLists, withFiles } from './list-files.ts';
import { type LivePlan, planLive, requireLive } from './live.ts';
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
import type { PlannedOutput, RenditionQuery, RepresentationHead } from './representation.ts';
import { selectSubtitle } from './text.ts';

/** Plan by kind. Each kind has a file, or a folder with `plan.ts` and `open.ts`. */
export type RenditionPlan = CopyPlan | LivePlan | LayoutPlan | EncodePlan | MuxPlan | PicturePlan;

/** What is requested of a rendition. What is sent is planned once its window and its lists have been read, if there are any. */
export interface SelectedOutput extends PlannedOutput {
  readonly kind: 'selected';
  /** With the tracks that are sent; of an HLS presentation, as it was found. */
  readonly found: KeyedRendition;
  /** With the clip of a chapter. */
  readonly query: RenditionQuery;
  /** A part of what the source of a live stream holds: by its numbers it is sent, by times its numbers are looked up first. */
  readonly window?: WindowSelection | undefined;
  readonly lists: WantedLists | undefined;
}

/** What decides about a file. */
type Selected = Pick<SelectedOutput, 'found' | 'query' | 'conversion'>;

/** Shape of the source: a pair, a segment list, one MP4 file, or a file of another container. */
type Shape = 'pair' | 'segments' | 'mp4' | 'file';
type Decision = (found: KeyedRendition, written: Written) => RenditionPlan;

/** What writes it, and what it has besides its tracks. */
interface Written extends RenditionQuery {
  readonly outputFormat: OutputFormat;
  readonly extras: PlannedExtras;
  /** The rendition with its lists as lists, which are read from their beginning. */
  readonly source: KeyedRendition;
}

/** Rows: requested output. Columns: shape of the source. Conversions see only the audio track. */
const DECISIONS = {
  encoded: { pair: encode, segments: encode, mp4: encode, file: encode },
  copied: { pair: remuxAudio, segments: remuxAudio, mp4: copyAudio, file: copyAudio },
  clip: { pair: clip, segments: clip, mp4: clip, file: clip },
  extended: { pair: layOutPair, segments: remux, mp4: extend, file: remuxOrCopy },
  media: { pair: layOutPair, segments: remux, mp4: copyAsMp4, file: remuxOrCopy },
} satisfies Readonly<Record<string, Readonly<Record<Shape, Decision>>>>;

/**
 * Plans what is sent of a rendition. Where a window or lists have to be read first, tracks, part and format are selected, and
 * `planOutput` follows. Every key works on every endpoint.
 * @throws InvalidParameter, UnsupportedRendition or NotFound for what does not exist, whatever the lists are; what `planOutput` throws
 */
export function prepareOutput(found: KeyedRendition, query: RenditionQuery): RenditionPlan | SelectedOutput {
  const isHls = query.route === 'Hls';
  if (query.route === 'Cover') return planPicture(found);
  if (isHls && found.resource.isLive) {
    requireWritable(outputFormats.liveHls, found, ['source', query.audio !== undefined && 'languages']);
    return planLive(found, query.file ?? '');
  }
  const selected = (isHls ? selectPresentation : selectFile)(found, query);
  return selected.window || selected.lists ? selected : planOutput(selected);
}

function selectPresentation(found: KeyedRendition, query: RenditionQuery): SelectedOutput {
  const heights = chooseHeights(found, query);
  const { head, found: own, playlist } = planPresentation(heights, query, mayBeMp4());
  const tracksOf = (streams: readonly { readonly found: KeyedRendition }[]) =>
    streams.map((stream) => stream.found.tracks[0]);
  const tracks = tracksOf(playlist?.streams ?? [{ found: own }]);
  const [, ...sounds] = heights[0]?.found.tracks ?? [];
  // Where the list of the first language makes no file, the next one that does is the first.
  const isFirstSound = tracks.length === 1 && tracks[0] === sounds[0];
  const lists = {
    own: isFirstSound ? [sounds] : tracks.map((track) => [track]),
    further: tracksOf(playlist?.rungs ?? []),
    isNeeded: true,
  };
  const hasLists = [...tracks, ...lists.further].some(mayBeFile);
  return { kind: 'selected', found, query, lists: hasLists ? lists : undefined, head, answersHead: false };
}

function selectFile(found: KeyedRendition, { audio, window, chapter, ...asked }: RenditionQuery): SelectedOutput {
  const { format, fromKeyframeSeconds, subtitles, skip, mark } = asked;
  const alone = format ? outputFormats[format] : found.tracks[0].video ? undefined : outputFormats.audio;
  if (audio !== undefined && isEvery(audio) && alone) requireWritable(alone, found, ['languages']);
  const chosen = audio === undefined ? found : chooseAudio(found, audio, alone !== undefined);
  if (window) requireLive(chosen);
  const part = chapter === undefined ? undefined : selectChapter(found.resource, chapter);
  const isFromKeyframe = fromKeyframeSeconds !== undefined;
  const query = {
    ...asked,
    ...(part && { clip: { ...asked.clip, ...part.clip }, listPlace: part.listPlace }),
    ...(isFromKeyframe && { clip: { startSeconds: fromKeyframeSeconds, endSeconds: Number.POSITIVE_INFINITY } }),
  };
  const sound = format && chosen.tracks.find((track) => track.audio);
  const isWithoutRanges = asked.route === 'Combined';
  const hasRangesElsewhere = isWithoutRanges && !isFromKeyframe;
  const selected = {
    found: sound ? { ...chosen, tracks: [sound] as const } : chosen,
    query,
    conversion: sound && format,
    isWithoutRanges,
  };
  // A window is sent as a recording, whose length is not known yet.
  const recording = { ...selected.found, resource: { ...chosen.resource, isLive: false } };
  const checked = window ? { ...selected, found: recording, query: { ...query, clip: undefined } } : selected;
  const candidates = candidatesOf(checked);
  requireFormat(checked, (track) => isMp4File(track) || candidates.includes(track));
  return {
    kind: 'selected',
    ...selected,
    window,
    lists: listsOf(selected),
    partTitle: part?.title,
    version: chosen.version,
    rangedPath: hasRangesElsewhere ? streamPath('Media', found.key, { subtitles, audio, skip, mark }) : undefined,
    head: headOf(checked),
    answersHead: false,
  };
}

/** A selected window, once it is known as a recording. */
export const selectRecording = (selected: SelectedOutput, found: KeyedRendition): SelectedOutput => ({
  ...selected,
  found,
  window: undefined,
  lists: listsOf({ ...selected, found }),
});

/** The lists that may be read as MP4 files, and files of Matroska where they are not sent as they are. */
function candidatesOf({ found: { resource, tracks }, query: { clip } }: Selected): readonly Track[] {
  const isMade = tracks.length > 1 || clip !== undefined;
  return resource.isLive ? [] : tracks.filter((track) => mayBeFile(track) && (isMade || !capabilitiesOf(track).isFile));
}

/** Those candidates of which it has to be known whether they are files, because another output follows from it. */
function listsOf(selected: Selected): WantedLists | undefined {
  const { found, query, conversion } = selected;
  const [track] = found.tracks;
  const candidates = candidatesOf(selected);
  const isWanted = !conversion
    ? found.tracks.every((each) => isMp4File(each) || candidates.includes(each))
    : isEncoded(conversion)
      ? !capabilitiesOf(track).isFile
      : // Other copies of the audio of a list are made from its beginning.
        query.clip || track.window || (conversion === 'm4a' && hasCodec(track, { codec: 'aac' }));
  const lists = { own: candidates.map((each) => [each]), further: [], isNeeded: query.clip !== undefined };
  return isWanted && candidates.length > 0 ? lists : undefined;
}

/** What is known of a file before its lists are. */
function headOf({ found, query, conversion, isWithoutRanges }: Selected & Pick<PlannedOutput, 'isWithoutRanges'>) {
  const [{ video }] = found.tracks;
  const { clip } = query;
  const acceptRanges = isWithoutRanges ? ('none' as const) : undefined;
  // The length of what is encoded is that of its duration.
  if (conversion && isEncoded(conversion)) return { ...planEncode(found, conversion, query).head, acceptRanges };
  const type = conversion ? conversions[conversion] : fileType(video ? 'mp4' : 'm4a', video !== null);
  return {
    mimeType: type.mimeType,
    fileExtension: type.fileExtension,
    size: undefined,
    acceptRanges,
    clip: clip && !isWhole(clip) ? nameClip(clip, found.resource.durationSeconds) : undefined,
  };
}

/**
 * Decides what is sent.
 * @param files what is known of the lists
 * @throws InvalidParameter or UnsupportedRendition when lists make no files and nothing else can be sent; NotFound for a file that
 *   no presentation has
 */
export function planOutput(selected: SelectedOutput, files: ListFiles = new Map()): RenditionPlan {
  const { found: source, query, conversion, partTitle, version, isWithoutRanges } = selected;
  if (query.route === 'Hls') return planPresentation(chooseHeights(source, query, files), query, mayBeMp4(files));
  const found = withFiles(source, files);
  const { row, shape, ...written } = requireFormat({ found, query, conversion }, isMp4File);
  const plan: RenditionPlan = DECISIONS[row][shape](found, { ...query, ...written, source });
  // Of one file, Media sends what the source has.
  const isAsIs = plan.kind === 'copy' || (row === 'media' && shape === 'mp4');
  const rangedPath = isAsIs ? undefined : selected.rangedPath;
  const head = isWithoutRanges ? withoutRanges(plan.head) : plan.head;
  return { ...plan, conversion, partTitle, version, isWithoutRanges, rangedPath, head };
}

/**
 * In front of the names of files: the id of a rendition of another height. All files of a ladder are beside each other, because the key of
 * their addresses may be signed.
 */
const OTHER_HEIGHT = /^([\w-]{11})\./;

/** The rendition, and for what lists them all, those of other heights that have the language, too. */
function chooseHeights(found: KeyedRendition, query: RenditionQuery, files?: ListFiles): readonly PresentedHeight[] {
  const { file = '', audio } = query;
  if (!isLadder(file)) {
    const [prefix, id = ''] = OTHER_HEIGHT.exec(file) ?? [];
    const other = findRendition(found.resource, id);
    return [{ found: choosePresented(other ?? found, audio, files), prefix: other && prefix }];
  }
  const heights = variantsOf(found).flatMap((each) => {
    const prefix = each === found ? undefined : `${each.rendition.id}.`;
    try {
      return [{ found: choosePresented(each, audio, files), prefix }];
    } catch {
      return [];
    }
  });
  return heights.length > 0 ? heights : [{ found: choosePresented(found, audio, files) }];
}

/** Every language of a pair, unless one is chosen, or not all of them can be presented. */
function choosePresented(found: KeyedRendition, audio: string | undefined, files: ListFiles = new Map()) {
  const isAll = audio === undefined ? found.tracks.length > 1 : isEvery(audio);
  const all = isAll ? chooseAllFiles(found, audio !== undefined, files) : undefined;
  const chosen = all ?? (isAll || audio === undefined ? found : chooseAudio(found, audio, false));
  requireWritable(outputFormats.hls, chosen, ['source', 'languages'], mayBeMp4(files));
  return withFiles(chosen, files);
}

const isEvery = (audio: string): boolean => audio.toLowerCase() === 'all';

/**
 * What writes a file, and from what.
 * @param isMp4 whether a track is an MP4 file, or may be one
 * @throws InvalidParameter or UnsupportedRendition for what the output lacks
 */
function requireFormat({ found, query, conversion }: Selected, isMp4: (track: Track) => boolean) {
  const { clip, subtitles, hasMarks, route } = query;
  const shape = shapeOf(found, isMp4);
  const outputFormat = conversion ? outputFormats[conversion] : outputFormatOf(found.tracks, shape, route);
  const asks = [
    found.resource.isLive && 'live',
    'source',
    subtitles !== undefined && 'text',
    clip !== undefined && partOf(clip),
    hasMarks === true && 'tags',
  ] as const;
  requireWritable(outputFormat, found, asks, isMp4);
  const row: keyof typeof DECISIONS = !conversion ? rowOf(query) : isEncoded(conversion) ? 'encoded' : 'copied';
  return { row, shape, outputFormat, extras: planExtras(found, query, outputFormat) };
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
function outputFormatOf([track]: KeyedRendition['tracks'], shape: Shape, route: RenditionQuery['route']): OutputFormat {
  // A file whose codecs MP4 cannot hold is sent as it is.
  if (shape === 'file' && !(route === 'Combined' && isHeldByMp4(track))) return outputFormats.copy;
  if (shape === 'segments' && remuxContainer(track) === 'webm') return outputFormats.webm;
  return track.video ? outputFormats.mp4 : outputFormats.audio;
}

function shapeOf({ tracks: [track, second] }: KeyedRendition, isMp4: (track: Track) => boolean): Shape {
  if (second) return 'pair';
  if (isMp4(track)) return 'mp4';
  return needsRemux(track) ? 'segments' : 'file';
}

/** The same head where ranges are ignored. @param rangedPath where they are not */
export const withoutRanges = <Head extends RepresentationHead>(head: Head, rangedPath?: string): Head => ({
  ...head,
  etag: undefined,
  acceptRanges: 'none',
  contentLocation: head.acceptRanges === 'bytes' ? rangedPath : undefined,
});

/** The header of a segment list is generated, so extras fit. */
function copy(found: KeyedRendition, { extras }: Pick<Written, 'extras'>, type?: FileType) {
  const isExtended = found.tracks[0].file && Object.keys(extras).length > 0;
  return isExtended ? planFile(found, extras, { of: 'list' }) : planCopy(found, type);
}

function remux(found: KeyedRendition, { extras }: Written) {
  return planMux(found, extras);
}

/** With length and ranges where both are MP4 files. */
function layOutPair(found: KeyedRendition, { extras, source }: Written) {
  const isLaidOut = !found.resource.isLive && found.tracks.every(isMp4File);
  return isLaidOut ? planFile(found, extras, { of: 'pair', instead: planMux(found, extras) }) : planMux(source, extras);
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
function copyAudio(found: KeyedRendition, { format, clip, outputFormat, extras, source }: Written) {
  const [track] = found.tracks;
  const audioAs = outputFormat as AudioCopy;
  const type = conversions[format as ConversionName];
  const isKnown = hasCodec(track, audioAs);
  // Also checks the extension: an MP4 file without video may contain further tracks.
  const isCopy = track.video === null && isKnown && audioAs.extensions.test(track.container);
  if (isCopy && !clip && (track.file || !extras.hasTags)) return copy(found, { extras }, type);
  // Every segment would be read before the first byte is sent. A window is short.
  const isWholeList = track.file && !track.window && !clip;
  const alone = isWholeList && isKnown && audioAs.container === 'm4a' && audioOfList(track);
  if (alone) return copy({ ...found, tracks: [alone] }, { extras }, type);
  if (isWholeList) return remuxAudio(source, { extras });
  const instead = remuxAudio(found, { extras });
  if (!isMp4File(track)) return instead;
  return planFile(found, extras, { of: 'part', audioAs, times: clip, instead: clip ? undefined : instead });
}

/** The audio from its beginning. */
function remuxAudio(found: KeyedRendition, { extras }: Pick<Written, 'extras'>) {
  return planMux({ ...found, tracks: [{ ...found.tracks[0], video: null }] }, extras);
}
