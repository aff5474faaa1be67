import { audioFamily } from '@reelay/seekable-media/codecs';
import { type HandlerType, listTrackKinds, type TrackHeader, UnsupportedMp4 } from '@reelay/seekable-media/isobmff';
import { type ClipSource, packMoofs, parseFileTracks, selectFragments } from '@reelay/seekable-media/mp4-clip';
import { codecString } from '@reelay/seekable-media/mp4-hls';
import type { ClipTimes } from '@reelay/seekable-media/parts/skipping';
import { readMovieFragments } from '@reelay/seekable-media/reading';
import { LAY_OUT_CLIP } from '@reelay/seekable-media/tasks';
import { packSource, unpackLayout } from '@reelay/seekable-media/virtual-mp4';
import type { AudioCopy } from '../../../core/conversions/index.ts';
import { parse } from '../../../core/parsing/index.ts';
import { WHOLE } from './plan.ts';
import type { AnyLayout, LayoutReader, LayoutRequest, OpenFile } from './read-layout.ts';

/** The audio was requested as it is, and has another codec than the format. */
export class OtherCodec extends UnsupportedMp4 {}

/** Lays out some of the packets of MP4 files. */
export async function layOutPart(
  files: readonly OpenFile[],
  request: LayoutRequest,
  reader: LayoutReader,
): Promise<AnyLayout> {
  const { audioAs, extras, isFromKeyframe, times: asked = WHOLE } = request;
  const times = isFromKeyframe ? await findKeyframe(files, asked, reader) : asked;
  const single: readonly HandlerType[] = audioAs ? ['soun'] : ['vide', 'soun'];
  const kindsOf = (index: number): readonly HandlerType[] =>
    files.length === 1 ? single : [index === 0 ? 'vide' : 'soun'];
  const sources = await Promise.all(
    files.map((file, index) =>
      readClipSource(file, { times, audioAs, kinds: kindsOf(index) }, { files: files.length, signal: reader.signal }),
    ),
  );
  const options = { ...extras, container: audioAs?.container };
  const { data, ...shown } = await parse(LAY_OUT_CLIP, { sources, times, options }, reader);
  return { ...unpackLayout(data), ...shown };
}

/** Enough to find the keyframe: what follows it is not read beyond the frame at the start. */
const KEYFRAME_SEARCH_SECONDS = 1;

/** The times from the keyframe at or before the start on, by the video alone: the audio is read from there. */
async function findKeyframe([file]: readonly OpenFile[], times: ClipTimes, reader: LayoutReader): Promise<ClipTimes> {
  if (!file || !listTrackKinds(file.header.movie).includes('vide')) return times;
  const { startSeconds } = times;
  const around = { startSeconds, endSeconds: startSeconds + KEYFRAME_SEARCH_SECONDS };
  const source = await readClipSource(file, { times: around, kinds: ['vide'] }, { files: 1, signal: reader.signal });
  const input = { sources: [source], times: around, options: { isFromKeyframe: true } };
  const found = await parse(LAY_OUT_CLIP, input, reader);
  // An edit list may begin behind the first keyframe.
  return { ...times, startSeconds: Math.max(0, found.startSeconds) };
}

/** @throws OtherCodec */
function requireCodec(header: TrackHeader, { codec: wanted }: AudioCopy): void {
  const codec = codecString(header.sampleDescriptions);
  // Other object types of `mp4a` are MP3, AC-3 and so on.
  const isWanted = audioFamily(codec) === wanted && (wanted !== 'aac' || codec.startsWith('mp4a.40.'));
  if (!isWanted) throw new OtherCodec(`The audio is not ${wanted}`);
}

interface TrackSelection extends Pick<LayoutRequest, 'audioAs'> {
  readonly times: ClipTimes;
  readonly kinds: readonly HandlerType[];
}

/** A file with the fragments that the clip needs. @throws OtherCodec */
async function readClipSource(
  { reader, header }: OpenFile,
  { kinds, times, audioAs }: TrackSelection,
  reading: Parameters<typeof readMovieFragments>[2],
): Promise<ClipSource> {
  const { video, audio } = parseFileTracks(header, kinds);
  if (audioAs && audio) requireCodec(audio, audioAs);
  const { fragments: index, fileBytes } = header;
  const source = { header: packSource(header), kinds };
  if (index) {
    const entries = selectFragments(index, { video, audio }, { ...times, fileBytes });
    return { ...source, fragments: packMoofs(await readMovieFragments(reader.file, entries, reading)) };
  }
  if (video?.fragmentDefaults ?? audio?.fragmentDefaults) throw new UnsupportedMp4('Fragments without an index');
  return source;
}
