import { audioFamily } from '@reelay/seekable-media/codecs';
import type { ClipTimes } from '@reelay/seekable-media/parts/skipping';
import { type AudioCopy, conversions, type OutputFeatures } from '../../core/conversions/index.ts';
import { InvalidParameter, UnsupportedRendition } from '../../core/errors/index.ts';
import { capabilitiesOf, type KeyedRendition, type Track } from '../../core/state/index.ts';
import { isMp4File, needsRemux } from '../source/index.ts';

/** Features that a request may need: the wording of the refusal, and its class. */
const ASKS = {
  live: ['hold a live stream', InvalidParameter],
  source: ['hold the codecs of this source', UnsupportedRendition],
  languages: ['hold a choice of languages', InvalidParameter],
  text: ['hold subtitles', UnsupportedRendition],
  clip: ['be clipped', InvalidParameter],
  parts: ['leave out segments', UnsupportedRendition],
  tags: ['hold chapters', UnsupportedRendition],
} as const;

type Ask = keyof typeof ASKS;

/** `parts` when segments are skipped, else `clip`. */
export const partOf = ({ skipped }: Pick<ClipTimes, 'skipped'>): Ask => (skipped ? 'parts' : 'clip');

/** Whether a track is an MP4 file, or counts as one until it is known whether its list makes one. */
type IsMp4 = (track: Track) => boolean;

/** An output, with what it cannot be made of. */
export interface OutputFormat extends OutputFeatures {
  /** @default whatever a source has is sent */
  readonly excludes?: { readonly name: string; has(found: KeyedRendition, isMp4: IsMp4): boolean };
}

/** The codec decides what a copy can be made of. */
const exclusionOf = (format: OutputFormat | AudioCopy): OutputFormat['excludes'] =>
  'codec' in format
    ? {
        name: `audio other than ${format.codecName}`,
        // The header of an MP4 file tells an unknown codec. Without one, most audio is AAC.
        has: ({ tracks: [track] }, isMp4) =>
          track.audio?.codec === undefined ? format.codec !== 'aac' && !isMp4(track) : !hasCodec(track, format),
      }
    : format.excludes;

export const hasCodec = ({ audio }: Track, { codec }: Pick<AudioCopy, 'codec'>): boolean =>
  audio?.codec !== undefined && audioFamily(audio.codec) === codec;

/** Every output: a combination that is not declared here does not exist. A refusal suggests the first one that has it. */
export const outputFormats = {
  ...conversions,
  wav: {
    ...conversions.wav,
    excludes: { name: 'a source without a known duration or ranges', has: ({ resource }) => !resource.durationSeconds },
  },
  mp4: { name: 'MP4', holds: ['live', 'languages', 'text', 'parts', 'tags'], cuts: 'packets' },
  /** MP4 without video. */
  audio: { name: 'Audio', holds: ['live', 'parts', 'tags'], cuts: 'packets' },
  webm: { name: 'WebM', holds: ['live'], cuts: 'none' },
  copy: { name: 'A file that is sent as it is', holds: ['live'], cuts: 'none' },
  hls: {
    name: 'An HLS playlist',
    holds: ['languages', 'tags'],
    cuts: 'none',
    // Only the first two tracks must be MP4: other languages are optional.
    excludes: { name: 'files other than MP4', has: ({ tracks }, isMp4) => !tracks.slice(0, 2).every(isMp4) },
  },
  liveHls: {
    name: 'An HLS playlist of a live stream',
    holds: ['live'],
    cuts: 'none',
    excludes: { name: 'anything but HLS', has: ({ tracks }) => !tracks.every(isLiveList) },
  },
} satisfies Readonly<Record<string, OutputFormat>>;

/** Codecs that WebM supports and MP4 does not. */
const WEBM_ONLY = /^(vp8|vp08|vorbis)/i;

/** The container into which FFmpeg copies a track. */
export const remuxContainer = ({ video, audio }: Pick<Track, 'video' | 'audio'>): 'webm' | 'mp4' =>
  [video?.codec, audio?.codec].some((codec) => codec !== undefined && WEBM_ONLY.test(codec)) ? 'webm' : 'mp4';

/** Live DASH is excluded: players reload a list every few seconds, and each reload would be a resolve. */
const isLiveList = (track: Track): boolean =>
  !capabilitiesOf(track).isFile && !capabilitiesOf(track).isListedByResolving;

function isPossible(format: OutputFormat, ask: Ask, found: KeyedRendition, isMp4: IsMp4): boolean {
  const { holds, cuts } = format;
  const { resource, tracks } = found;
  if (ask === 'source') return !exclusionOf(format)?.has(found, isMp4);
  if (ask === 'clip' || ask === 'parts') {
    const isCuttable = (track: Track) => isMp4(track) || (cuts === 'frames' && !needsRemux(track));
    const isCut = cuts !== 'none' && tracks.every(isCuttable);
    return isCut && !resource.isLive && (ask === 'clip' || holds.includes(ask));
  }
  return holds.includes(ask) && !(ask === 'text' && resource.isLive);
}

/**
 * Checks that a combination exists. @param asks those that are not false
 * @throws InvalidParameter or UnsupportedRendition, which says what the format lacks, and which other one has it
 */
export function requireWritable(
  format: OutputFormat,
  found: KeyedRendition,
  asks: readonly (Ask | false)[],
  isMp4: IsMp4 = isMp4File,
): void {
  const can = (each: OutputFormat, ask: Ask, of = found) => isPossible(each, ask, of, isMp4);

  const asked = asks.filter((ask) => ask !== false);
  const lacking = asked.find((ask) => !can(format, ask));
  if (lacking === undefined) return;
  const other = Object.values<OutputFormat>(outputFormats).find((each) => asked.every((ask) => can(each, ask)));
  const isPart = lacking === 'clip' || lacking === 'parts';
  const recording = { ...found, resource: { ...found.resource, isLive: false } };
  const isOfLive = found.resource.isLive && (isPart || can(format, lacking, recording));
  throw refusal(isOfLive ? { ...format, name: 'A live stream' } : format, lacking, other && `. Use ${other.name}`);
}

/** The error that a format lacks something. @param ending of the sentence */
export function refusal(format: OutputFormat, lack: Ask, ending = '', options?: ErrorOptions): Error {
  const { name } = format;
  const excludes = exclusionOf(format);
  const [words, Refusal] = ASKS[lack];
  // Another format of the same source has them.
  const Failure = lack === 'text' && 'fileExtension' in format ? InvalidParameter : Refusal;
  const verb = lack === 'source' && excludes ? `be made of ${excludes.name}` : words;
  return new Failure(`${name} cannot ${verb}${ending}.`, options);
}
