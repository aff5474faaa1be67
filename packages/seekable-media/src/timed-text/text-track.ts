import { box, DATA_INFORMATION, fullBox, type TrackHeader, u32 } from '../isobmff/index.ts';
import type { Span } from '../skipping/index.ts';
import type { Cue } from '../subtitles/index.ts';
import { packLanguage } from './language.ts';
import { type TextSample, textSamples } from './text-samples.ts';

/** Subtitles to embed. */
export interface TimedText {
  /** In the order of their starts. */
  readonly cues: readonly Cue[];
  /** BCP 47. */
  readonly language: string;
}

/** The text of some parts of a presentation that follow each other. @param parts in order */
export function clipText({ cues, language }: TimedText, parts: readonly Span[]): TimedText {
  let outputMs = 0;
  const clipped = parts.map(({ startSeconds, endSeconds }) => {
    const [startMs, lastMs] = [Math.round(startSeconds * TIMESCALE), Math.round(endSeconds * TIMESCALE)];
    const shift = outputMs - startMs;
    outputMs = lastMs + shift;
    return cues
      .filter((cue) => cue.endMs > startMs && cue.startMs < lastMs)
      .map((cue) => ({
        ...cue,
        startMs: Math.max(cue.startMs, startMs) + shift,
        endMs: Math.min(cue.endMs, lastMs) + shift,
      }));
  });
  return { language, cues: clipped.flat() };
}

/** A text track of an output, whose samples are part of the layout. */
export interface TextTrack {
  /** Chapters, to which the tracks of video and audio refer. @default subtitles */
  readonly isChapters?: true;
  readonly header: TrackHeader;
  readonly durationSeconds: number;
  /** At most one per second. */
  readonly chunks: readonly TextChunk[];
}

/** Samples that follow each other in the output. */
export interface TextChunk {
  readonly startSeconds: number;
  readonly samples: readonly TextSample[];
  readonly bytes: Buffer;
}

/** Units per second. */
const TIMESCALE = 1000;
const CHUNK_MS = 1000;
/** The unity matrix, in 16.16 and 2.30 fixed point. */
export const MATRIX = u32(0x1_0000, 0, 0, 0, 0x1_0000, 0, 0, 0, 0x4000_0000);

/**
 * Subtitles as a track of `tx3g` samples (3GPP TS 26.245); undefined when nothing is shown.
 * @param endSeconds of the presentation
 * @throws TextTooLarge
 */
export function timedText({ cues, language }: TimedText, endSeconds: number): TextTrack | undefined {
  const samples = textSamples(cues, Math.floor(endSeconds * TIMESCALE));
  const last = samples.at(-1);
  if (!last) return undefined;
  return {
    header: textHeader(
      { handler: 'sbtl', name: 'Subtitles', language },
      [fullBox('nmhd', 0, 0), DATA_INFORMATION],
      sampleEntry(),
    ),
    durationSeconds: (last.startMs + last.durationMs) / TIMESCALE,
    chunks: cutChunks(samples),
  };
}

function cutChunks(samples: readonly TextSample[]): TextChunk[] {
  const groups: TextSample[][] = [];
  for (const sample of samples) {
    const group = groups.at(-1);
    if (group?.[0] && sample.startMs - group[0].startMs < CHUNK_MS) group.push(sample);
    else groups.push([sample]);
  }
  return groups.map((group) => ({
    startSeconds: (group[0]?.startMs ?? 0) / TIMESCALE,
    samples: group,
    bytes: Buffer.concat(group.map(({ bytes }) => bytes)),
  }));
}

/**
 * Children of `stbl` but `stsd`; the last one is `chunkOffsets`.
 * @param offsets of the chunks in the output; without them there is room for them
 */
export function textTables({ chunks }: TextTrack, offsets: readonly number[] = []): readonly Buffer[] {
  const samples = chunks.flatMap((chunk) => chunk.samples);
  const runs = chunks.flatMap((chunk, index) =>
    chunks[index - 1]?.samples.length === chunk.samples.length ? [] : [index + 1, chunk.samples.length, 1],
  );
  return [
    fullBox('stts', 0, 0, u32(samples.length), integers(samples.flatMap(({ durationMs }) => [1, durationMs]))),
    fullBox('stsz', 0, 0, u32(0, samples.length), integers(samples.map(({ bytes }) => bytes.length))),
    fullBox('stsc', 0, 0, u32(runs.length / 3), integers(runs)),
    chunkOffsets(chunks.length, offsets),
  ];
}

/** `co64` for as many chunks. */
export function chunkOffsets(count: number, offsets: readonly number[]): Buffer {
  const places = Buffer.alloc(count * 8);
  for (const [index, offset] of offsets.entries()) places.writeUIntBE(offset, index * 8 + 2, 6);
  return fullBox('co64', 0, 0, u32(count), places);
}

/** 32-bit integers, big-endian. Not as arguments: there may be too many. */
function integers(values: readonly number[]): Buffer {
  const bytes = Buffer.alloc(values.length * 4);
  for (const [index, value] of values.entries()) bytes.writeUInt32BE(value, index * 4);
  return bytes;
}

interface TextMedia {
  /** Four characters. */
  readonly handler: string;
  readonly name: string;
  /** BCP 47. */
  readonly language: string;
}

/** The header of a text track with one sample description. */
export function textHeader(
  { handler, name, language }: TextMedia,
  mediaInformation: readonly Buffer[],
  sampleEntry: Buffer,
): TrackHeader {
  const languageField = Buffer.alloc(4);
  languageField.writeUInt16BE(packLanguage(language));
  return {
    id: 0,
    movieTimescale: TIMESCALE,
    timescale: TIMESCALE,
    durationSeconds: undefined,
    // Reserved, layer, alternate group and volume, then width and height: players choose the size.
    presentation: Buffer.concat([Buffer.alloc(16), MATRIX, Buffer.alloc(8)]),
    language: languageField,
    edits: [],
    media: [
      fullBox(
        'hdlr',
        0,
        0,
        u32(0),
        Buffer.from(handler, 'latin1'),
        Buffer.alloc(12),
        Buffer.from(`${name}\0`, 'latin1'),
      ),
      fullBox('elng', 0, 0, Buffer.from(`${language}\0`, 'latin1')),
    ],
    mediaInformation,
    sampleDescriptions: fullBox('stsd', 0, 0, u32(1), sampleEntry),
    sampleTable: Buffer.alloc(0),
    fragmentDefaults: undefined,
  };
}

/** `tx3g` (§5.16): white text without background, centred at the bottom. */
function sampleEntry(): Buffer {
  const reserved = Buffer.from([0, 0, 0, 0, 0, 0, 0, 1]);
  const [centre, bottom] = [1, 0xff];
  const background = [0, 0, 0, 0];
  const textBox = [0, 0, 0, 0, 0, 0, 0, 0];
  // Characters 0 to 0, font 1, no face, size 16, white.
  const style = [0, 0, 0, 0, 0, 1, 0, 16, 0xff, 0xff, 0xff, 0xff];
  const font = Buffer.from('Arial', 'latin1');
  const fonts = box('ftab', Buffer.from([0, 1, 0, 1, font.length]), font);
  const fields = Buffer.from([0, 0, 0, 0, centre, bottom, ...background, ...textBox, ...style]);
  return box('tx3g', reserved, fields, fonts);
}
