import type { Readable } from 'node:stream';
import {
  indexMovie,
  parseSampleTable,
  parseTrackHeader,
  type TrackHeader,
  UnsupportedMp4,
  writeMovieHeader,
} from '../../../../core/media/isobmff/index.ts';
import { extendHeader, fragmentSamples, type LayoutExtras } from '../../../../core/media/virtual-mp4/index.ts';
import { CHECK_SAMPLES, type ParsingOptions } from '../../../../core/parsing/index.ts';
import type { FileSource, Source } from '../../../source/index.ts';
import { readFileHeader } from './box-reader.ts';
import { ByteReader } from './byte-reader.ts';
import { demuxFragmented } from './fragmented-demuxer.ts';
import { MuxStream, type TrackInput } from './mux-stream.ts';
import { parseMp4 } from './parse-mp4.ts';
import type { NextFragment } from './track-fragments.ts';

/** A file and which track to take from it. */
export interface MuxInput {
  readonly source: Source;
  readonly kind: 'vide' | 'soun';
  /** Used when a fragmented file's header has no duration; undefined: unknown. */
  readonly durationSeconds: number | undefined;
}

/** For whom tracks are muxed, and until when. */
export interface MuxReader {
  /** The client whose share of parsing is used. @default the service itself */
  readonly client?: string;
  readonly signal: AbortSignal;
}

/**
 * Copies tracks of MP4 files, progressive or fragmented, into one fragmented MP4 while it is sent, in this process.
 * Settles when the first media bytes of every source are available. The stream ends only when every sample was read;
 * it is destroyed with an error when a source fails. Destroying it ends the reading of the sources.
 *
 * @throws UnsupportedMp4 when FFmpeg has to mux instead (the sources can be read again), and whatever reading throws
 */
export async function muxNatively(
  inputs: readonly MuxInput[],
  { client, signal }: MuxReader,
  extras: LayoutExtras = {},
): Promise<Readable> {
  const readers = inputs.map(({ source }) => new ByteReader(requireSizedFile(source)));
  const destroyAll = () => {
    for (const reader of readers) reader.destroy();
  };
  signal.addEventListener('abort', destroyAll, { once: true });
  try {
    signal.throwIfAborted();
    const tracks = await Promise.all(
      inputs.map((input, index) =>
        openTrack(input, { reader: readers[index] as ByteReader, id: index + 1, parsing: { client, signal } }),
      ),
    );
    const header = withExtras(writeMovieHeader(tracks), tracks, extras);
    // Without their headers, which are slices of the `moov`.
    return new MuxStream(
      header,
      tracks.map(({ reader, nextFragment, upcoming }) => ({ reader, nextFragment, upcoming })),
    );
  } catch (error) {
    destroyAll();
    throw error;
  } finally {
    signal.removeEventListener('abort', destroyAll);
  }
}

function withExtras(header: Buffer, tracks: readonly Demuxer[], extras: LayoutExtras): Buffer {
  if (!extras.tags && !extras.text) return header;
  // 0: unknown.
  const seconds = Math.max(...tracks.map(({ durationSeconds }) => durationSeconds)) || Number.POSITIVE_INFINITY;
  return extendHeader(header, extras, seconds) ?? header;
}

function requireSizedFile(source: Source): FileSource & { readonly size: number } {
  if (source.needsRemux || source.size === undefined) throw new UnsupportedMp4('Not a file of known size');
  return { ...source, size: source.size };
}

interface Demuxer {
  readonly nextFragment: NextFragment;
  /** 0: unknown. */
  readonly durationSeconds: number;
}

interface OpenTrack extends TrackInput, Demuxer {
  readonly header: TrackHeader;
}

interface TrackOutput {
  readonly reader: ByteReader;
  readonly id: number;
  readonly parsing: ParsingOptions;
}

async function openTrack({ kind, durationSeconds }: MuxInput, output: TrackOutput): Promise<OpenTrack> {
  const { reader } = output;
  const { moov, end } = await readFileHeader(reader);
  const header = parseTrackHeader(indexMovie(moov), kind);
  const demuxer = header.fragmentDefaults
    ? openFragmented(header, header.fragmentDefaults, { ...output, start: end, durationSeconds })
    : await openProgressive(header, output);
  const upcoming = await demuxer.nextFragment();
  if (!upcoming) throw new UnsupportedMp4('No samples');
  reader.seek(upcoming.ranges[0]?.first ?? 0);
  await reader.ready();
  return { reader, header, ...demuxer, upcoming };
}

async function openProgressive(header: TrackHeader, { reader, id, parsing }: TrackOutput): Promise<Demuxer> {
  const { sampleTable, timescale } = header;
  const samplesSeconds = (await parseMp4(CHECK_SAMPLES, { sampleTable, fileBytes: reader.size }, parsing)) / timescale;
  const fragments = fragmentSamples(parseSampleTable(sampleTable), id, timescale);
  // With an edit list, the presentation is shorter or longer than its samples.
  const durationSeconds = header.edits.length > 0 ? (header.durationSeconds ?? samplesSeconds) : samplesSeconds;
  return { nextFragment: async () => fragments.next().value ?? undefined, durationSeconds };
}

interface FragmentedInput extends TrackOutput {
  /** Offset of the end of `moov`. */
  readonly start: number;
  readonly durationSeconds: number | undefined;
}

function openFragmented(header: TrackHeader, defaults: Buffer, input: FragmentedInput): Demuxer {
  if (parseSampleTable(header.sampleTable).count > 0) {
    throw new UnsupportedMp4('Samples both inside and outside of fragments');
  }
  const { timescale, id: sourceId } = header;
  // A copy: a slice would keep the `moov` in memory until the end of the stream.
  const own = Buffer.alloc(defaults.length, defaults);
  const nextFragment = demuxFragmented({ ...input, timescale, sourceId, defaults: own });
  return { nextFragment, durationSeconds: header.durationSeconds ?? input.durationSeconds ?? 0 };
}
