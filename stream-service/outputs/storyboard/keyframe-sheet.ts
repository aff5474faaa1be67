import { buffer } from 'node:stream/consumers';
import {
  type KeyframeLimits,
  type Keyframes,
  packFragments,
  selectKeyframeFragments,
} from '../../../core/media/mp4-clip/index.ts';
import { packSource } from '../../../core/media/virtual-mp4/index.ts';
import { FIND_KEYFRAMES, type ParsingOptions, parse } from '../../../core/parsing/index.ts';
import { MAX_ATTACHMENT_BYTES, type Resource, type Track } from '../../../core/state/index.ts';
import { FfmpegFailed, type FfmpegInputServer, runFfmpeg } from '../../ffmpeg/index.ts';
import { memorySource, type OpenSource } from '../../source/index.ts';
import { type OpenFile, readHeaders, readMovieFragments } from '../layout/index.ts';
import type { Storyboard } from './storyboard-file.ts';

/** Of a resource. */
const MAX_PICTURES = 100;
const COLUMNS = 10;
/** Pixels of the longer side of a picture. */
const SIDE = 160;
/** Bytes of all keyframes: those of 100 pictures at 360p have about 2 MB. */
const MAX_BYTES = 16 * 1024 * 1024;
/** Reads of the file at a time. */
const PARALLELISM = 4;
/** Of JPEG (2 is best, 31 worst), until the sheet fits into the table. */
const QUALITIES = [5, 12, 31];
/** The places of the pictures, which are stored before the sheet. */
const MAX_PLACES_BYTES = 4 * 1024;

/** The video whose keyframes are read, and how it is opened. */
export interface KeyframeVideo {
  readonly resource: Resource;
  readonly track: Track;
  readonly openSource: OpenSource;
}

/**
 * Reads the keyframes of an MP4 file: its header, and at most 100 frames of 16 MB in all.
 * @throws UnsupportedMp4 when they are not known from its headers, and what opening and reading throws
 */
export function readKeyframes(
  { resource, track, openSource }: KeyframeVideo,
  { client = '', signal }: ParsingOptions & { readonly signal: AbortSignal },
): Promise<Keyframes & { readonly file: Buffer }> {
  const open = (_: number, shared: AbortSignal) => openSource(resource, track, { client, signal: shared });
  return readHeaders([0], open, { client, signal }, async ([opened], reader) => {
    if (!opened) throw new TypeError('No file');
    const limits = { durationSeconds: resource.durationSeconds ?? 0, maxCount: MAX_PICTURES, maxBytes: MAX_BYTES };
    const input = { source: await readClipSource(opened, limits, reader.signal), limits };
    const found = await parse(FIND_KEYFRAMES, input, reader);
    const parts: Buffer[] = [];
    let next = 0;
    const work = async () => {
      for (let index = next++; index < found.frames.length; index = next++) {
        const { span, header } = found.frames[index] as Keyframes['frames'][number];
        const frame = await buffer(opened.file.read(span.first, span.first + span.bytes - 1));
        parts[index] = Buffer.concat([header, frame]);
      }
    };
    await Promise.all(Array.from({ length: PARALLELISM }, work));
    return { ...found, file: Buffer.concat([found.header, ...parts]) };
  });
}

/** A file with the fragments that the keyframes are in. */
async function readClipSource({ file, header }: OpenFile, limits: KeyframeLimits, signal: AbortSignal) {
  const { fragments: index, fileBytes } = header;
  const source = { header: packSource(header), kinds: ['vide'] as const };
  if (!index) return source;
  const entries = selectKeyframeFragments(index, fileBytes, limits);
  return { ...source, fragments: packFragments(await readMovieFragments(file, entries, { files: 1, signal })) };
}

export interface SheetOptions {
  /** FFmpeg. */
  readonly path: string;
  readonly inputServer: FfmpegInputServer;
  readonly signal: AbortSignal;
}

/** A storyboard of one sheet, and its JPEG. @throws FfmpegFailed when the frames cannot be decoded, or do not fit */
export async function drawSheet(
  { width, height, frames, file }: Awaited<ReturnType<typeof readKeyframes>>,
  durationSeconds: number,
  options: SheetOptions,
): Promise<{ readonly storyboard: Storyboard; readonly jpeg: Buffer }> {
  const columns = Math.min(COLUMNS, frames.length);
  const scale = SIDE / Math.max(width, height);
  // Chroma is halved in both directions.
  const even = (side: number) => Math.max(2, 2 * Math.round((side * scale) / 2));
  const grid = { width: even(width), height: even(height), columns, rows: Math.ceil(frames.length / columns) };
  const starts = frames.map(({ seconds }, index) => (index === 0 ? 0 : Math.round(seconds * 1000) / 1000));
  for (const quality of QUALITIES) {
    const jpeg = await encode(file, grid, quality, options);
    if (jpeg.length === 0) break;
    if (jpeg.length <= MAX_ATTACHMENT_BYTES - MAX_PLACES_BYTES)
      return { storyboard: { ...grid, starts, endSeconds: durationSeconds }, jpeg };
  }
  throw new FfmpegFailed('No sheet of the keyframes');
}

async function encode(
  file: Buffer,
  { width, height, columns, rows }: Omit<Storyboard, 'starts' | 'endSeconds'>,
  quality: number,
  { path, inputServer, signal }: SheetOptions,
): Promise<Buffer> {
  const input = inputServer.serve(memorySource(file));
  // A frame that cannot be decoded is replaced by the one before it, so that all others keep their places.
  const filters = [
    'fps=1:start_time=0:eof_action=pass',
    `scale=${width}:${height}`,
    'setsar=1',
    `tile=${columns}x${rows}`,
  ];
  try {
    const output = runFfmpeg({
      path,
      args: [
        ...[...input.args, '-format_whitelist', 'mov', '-f', 'mov', '-flags', 'low_delay'],
        ...['-i', input.url, '-map', '0:v:0', '-vf', [...filters, 'format=yuvj420p'].join(','), '-frames:v', '1'],
        ...['-map_metadata', '-1', '-c:v', 'mjpeg', '-q:v', String(quality), '-flags', '+bitexact', '-f', 'mjpeg'],
      ],
      inputs: [input],
      signal: AbortSignal.any([signal, input.failed]),
    });
    return await buffer(output);
  } finally {
    input.close();
  }
}
