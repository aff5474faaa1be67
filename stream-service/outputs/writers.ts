import { audioFamily } from '@reelay/seekable-media/codecs';
import type { AudioFileName } from '@reelay/seekable-media/mp4-clip';
import type { ClipTimes } from '@reelay/seekable-media/skipping';
import type { ConversionName } from '../../core/conversions/index.ts';
import { InvalidParameter, UnsupportedRendition } from '../../core/errors/index.ts';
import { capabilitiesOf, type KeyedRendition, type Track } from '../../core/state/index.ts';
import { isMp4File, needsRemux } from '../source/index.ts';

/** What is asked of a writer: how a refusal names it, and its class. */
const ASKS = {
  live: ['hold a live stream', InvalidParameter],
  source: ['hold the codecs of this source', UnsupportedRendition],
  languages: ['hold a choice of languages', InvalidParameter],
  text: ['hold subtitles', UnsupportedRendition],
  clip: ['be clipped', InvalidParameter],
  parts: ['leave out segments', UnsupportedRendition],
  tags: ['hold chapters', UnsupportedRendition],
} as const;

export type Ask = keyof typeof ASKS;

/** What is asked for a clip, or for what is left without some segments. */
export const partOf = ({ skipped }: Pick<ClipTimes, 'skipped'>): Ask => (skipped ? 'parts' : 'clip');

/** What an output can hold, and what it needs of its source. */
export interface Writer {
  /** For users. */
  readonly name: string;
  /** Tags: chapters among them. Parts: what is left when segments between them are cut out. */
  readonly holds: readonly Exclude<Ask, 'source' | 'clip'>[];
  /** Where it is cut: at the packets of MP4 files, at the frames that any file is encoded to, or nowhere. */
  readonly cuts: 'none' | 'packets' | 'frames';
  /** What it cannot be made of. @default whatever a source has is sent */
  readonly excludes?: { readonly name: string; has(found: KeyedRendition): boolean };
}

/** A writer that copies the packets of the audio into a file of their own. */
export interface AudioCopy extends Writer {
  readonly codec: ReturnType<typeof audioFamily>;
  readonly container: 'm4a' | AudioFileName;
  /** Of files that are sent as they are. */
  readonly extensions: RegExp;
  /** Of files in which its packets are looked up. @default FFmpeg copies them */
  readonly scanned?: RegExp;
}

const copyOf = (codecName: string, writer: Omit<AudioCopy, 'excludes'>): AudioCopy => ({
  ...writer,
  excludes: {
    name: `audio other than ${codecName}`,
    // The header of an MP4 file tells an unknown codec. Without one, most audio is AAC.
    has: ({ tracks: [track] }) =>
      track.audio?.codec === undefined ? writer.codec !== 'aac' && !isMp4File(track) : !hasCodec(track, writer),
  },
});

export const hasCodec = ({ audio }: Track, { codec }: Pick<AudioCopy, 'codec'>): boolean =>
  audio?.codec !== undefined && audioFamily(audio.codec) === codec;

export const audioCopies = {
  m4a: copyOf('AAC', {
    name: 'M4A',
    holds: ['parts', 'tags'],
    cuts: 'packets',
    codec: 'aac',
    container: 'm4a',
    extensions: /^m4a$/i,
  }),
  opus: copyOf('Opus', {
    name: 'Ogg',
    holds: ['tags'],
    cuts: 'packets',
    codec: 'opus',
    container: 'opus',
    extensions: /^(ogg|oga|opus)$/i,
  }),
  flac: copyOf('FLAC', {
    name: 'FLAC',
    holds: ['tags'],
    cuts: 'none',
    codec: 'flac',
    container: 'flac',
    extensions: /^flac$/i,
    scanned: /^(mka|mkv|webm|ogg|oga)$/i,
  }),
} satisfies { readonly [Name in ConversionName]?: AudioCopy };

const conversions: Readonly<Record<ConversionName, Writer>> = {
  mp3: { name: 'MP3', holds: ['live', 'parts', 'tags'], cuts: 'frames' },
  ...audioCopies,
  wav: {
    name: 'WAV',
    holds: ['parts'],
    cuts: 'frames',
    excludes: { name: 'a source without a known duration or ranges', has: ({ resource }) => !resource.durationSeconds },
  },
};

/** Every writer: a combination that is not declared here does not exist. A refusal suggests the first one that has it. */
export const writers = {
  ...conversions,
  mp4: { name: 'MP4', holds: ['live', 'languages', 'text', 'parts', 'tags'], cuts: 'packets' },
  /** MP4 without video. */
  audio: { name: 'Audio', holds: ['live', 'parts', 'tags'], cuts: 'packets' },
  webm: { name: 'WebM', holds: ['live'], cuts: 'none' },
  copy: { name: 'A file that is sent as it is', holds: ['live'], cuts: 'none' },
  hls: {
    name: 'An HLS playlist',
    holds: ['languages', 'tags'],
    cuts: 'none',
    // Those of further languages are left out where they are none.
    excludes: { name: 'files other than MP4', has: ({ tracks }) => !tracks.slice(0, 2).every(isMp4File) },
  },
  liveHls: {
    name: 'An HLS playlist of a live stream',
    holds: ['live'],
    cuts: 'none',
    excludes: { name: 'anything but HLS', has: ({ tracks }) => !tracks.every(isLiveList) },
  },
} satisfies Readonly<Record<string, Writer>>;

/** Codecs that WebM supports and MP4 does not. */
const WEBM_ONLY = /^(vp8|vp08|vorbis)/i;

/** The container into which FFmpeg copies a track. */
export const remuxContainer = ({ video, audio }: Pick<Track, 'video' | 'audio'>): 'webm' | 'mp4' =>
  [video?.codec, audio?.codec].some((codec) => codec !== undefined && WEBM_ONLY.test(codec)) ? 'webm' : 'mp4';

/** Players load the list every few seconds: it is not one that has to be resolved. */
const isLiveList = (track: Track): boolean =>
  !capabilitiesOf(track).isFile && !capabilitiesOf(track).isListedByResolving;

const isFile = (track: Track): boolean => !needsRemux(track);

function can({ holds, cuts, excludes }: Writer, ask: Ask, found: KeyedRendition): boolean {
  const { resource, tracks } = found;
  if (ask === 'source') return !excludes?.has(found);
  if (ask === 'clip' || ask === 'parts') {
    const isCut = cuts !== 'none' && tracks.every(cuts === 'packets' ? isMp4File : isFile);
    return isCut && !resource.isLive && (ask === 'clip' || holds.includes(ask));
  }
  return holds.includes(ask) && !(ask === 'text' && resource.isLive);
}

/**
 * Checks that a combination exists. @param asks those that are not false
 * @throws InvalidParameter or UnsupportedRendition, which says what the writer lacks, and which other one has it
 */
export function requireWritable(writer: Writer, found: KeyedRendition, asks: readonly (Ask | false)[]): void {
  const asked = asks.filter((ask) => ask !== false);
  const lacking = asked.find((ask) => !can(writer, ask, found));
  if (lacking === undefined) return;
  const other = Object.values<Writer>(writers).find((each) => asked.every((ask) => can(each, ask, found)));
  const isPart = lacking === 'clip' || lacking === 'parts';
  const recording = { ...found, resource: { ...found.resource, isLive: false } };
  const isOfLive = found.resource.isLive && (isPart || can(writer, lacking, recording));
  throw refusal(isOfLive ? { ...writer, name: 'A live stream' } : writer, lacking, other && `. Use ${other.name}`);
}

/** The error that a writer lacks something. @param ending of the sentence */
export function refusal(writer: Writer, lack: Ask, ending = '', options?: ErrorOptions): Error {
  const { name, excludes } = writer;
  const [words, Refusal] = ASKS[lack];
  // Another format of the same source has them.
  const Failure = lack === 'text' && Object.values(conversions).includes(writer) ? InvalidParameter : Refusal;
  const verb = lack === 'source' && excludes ? `be made of ${excludes.name}` : words;
  return new Failure(`${name} cannot ${verb}${ending}.`, options);
}
