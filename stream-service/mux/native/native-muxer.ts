import type { Readable } from 'node:stream';
import {
  parseSampleTable,
  parseTrackHeader,
  type TrackHeader,
  UnsupportedMp4,
  writeMovieHeader,
} from '../../../core/media/isobmff/index.ts';
import {
  checkSamples,
  extendHeader,
  fragmentSamples,
  type LayoutExtras,
} from '../../../core/media/virtual-mp4/index.ts';
import type { FileSource, Source } from '../../source/index.ts';
import { readFileHeader } from './box-reader.ts';
import { ByteReader } from './byte-reader.ts';
import { demuxFragmented } from './fragmented-demuxer.ts';
import { MuxStream, type TrackInput } from './mux-stream.ts';
import type { NextFragment } from './track-fragments.ts';

/** A file and which track to take from it. */
export interface MuxInput {
  readonly source: Source;
  readonly kind: 'vide' | 'soun';
  /** Used when a fragmented file's header has no duration; undefined: unknown. */
  readonly durationSeconds: number | undefined;
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
  signal: AbortSignal,
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
      inputs.map((input, index) => openTrack(input, readers[index] as ByteReader, index + 1)),
    );
    return new MuxStream(withExtras(writeMovieHeader(tracks), tracks, extras), tracks);
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

async function openTrack({ kind, durationSeconds }: MuxInput, reader: ByteReader, id: number): Promise<OpenTrack> {
  const { moov, end } = await readFileHeader(reader);
  const header = parseTrackHeader(moov, kind);
  const demuxer = header.fragmentDefaults
    ? openFragmented(header, header.fragmentDefaults, { reader, start: end, id, durationSeconds })
    : openProgressive(header, reader, id);
  const upcoming = await demuxer.nextFragment();
  if (!upcoming) throw new UnsupportedMp4('No samples');
  reader.seek(upcoming.ranges[0]?.first ?? 0);
  await reader.ready();
  return { reader, header, ...demuxer, upcoming };
}

function openProgressive(header: TrackHeader, reader: ByteReader, id: number): Demuxer {
  const table = parseSampleTable(header.sampleTable);
  const samplesSeconds = checkSamples(table, reader.size) / header.timescale;
  const fragments = fragmentSamples(table, id, header.timescale);
  // With an edit list, the presentation is shorter or longer than its samples.
  const durationSeconds = header.edits.length > 0 ? (header.durationSeconds ?? samplesSeconds) : samplesSeconds;
  return { nextFragment: async () => fragments.next().value ?? undefined, durationSeconds };
}

interface FragmentedInput {
  readonly reader: ByteReader;
  /** Offset of the end of `moov`. */
  readonly start: number;
  readonly id: number;
  readonly durationSeconds: number | undefined;
}

function openFragmented(header: TrackHeader, defaults: Buffer, input: FragmentedInput): Demuxer {
  if (parseSampleTable(header.sampleTable).count > 0) {
    throw new UnsupportedMp4('Samples both inside and outside of fragments');
  }
  const { reader, start, id } = input;
  const { timescale, id: sourceId } = header;
  const nextFragment = demuxFragmented({ reader, start, timescale, sourceId, defaults, id });
  return { nextFragment, durationSeconds: header.durationSeconds ?? input.durationSeconds ?? 0 };
}
