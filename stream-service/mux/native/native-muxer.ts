import type { Readable } from 'node:stream';
import {
  movieHeader,
  parseSampleTable,
  parseTrack,
  type TrackHeader,
  UnsupportedMp4,
} from '../../../core/media/isobmff/index.ts';
import type { FileSource, Source } from '../../source/index.ts';
import { readHeader } from './box-reader.ts';
import { ByteReader } from './byte-reader.ts';
import { demuxFragmented } from './fragmented-demuxer.ts';
import { MuxStream, type TrackInput } from './mux-stream.ts';
import { checkSamples, demuxProgressive } from './progressive-demuxer.ts';

/** A file and the track to take of it. */
export interface MuxInput {
  readonly source: Source;
  readonly kind: 'vide' | 'soun';
  /** Used when the file's header does not say; undefined: unknown. */
  readonly durationSeconds: number | undefined;
}

/**
 * Copies tracks of MP4 files, progressive or fragmented, into one fragmented MP4 while it is sent, without another
 * process. Settles when the first bytes of every source's media are in hand. The stream ends only when every sample was
 * read; it is destroyed with an error when a source fails. Destroying it ends the reading of the sources.
 *
 * @throws Unsupported when FFmpeg has to do it: the sources can be read again; and whatever reading them throws
 */
export async function muxNatively(inputs: readonly MuxInput[], signal: AbortSignal): Promise<Readable> {
  const cursors = inputs.map(({ source }) => new ByteReader(sizedFile(source)));
  const leave = () => {
    for (const cursor of cursors) cursor.destroy();
  };
  signal.addEventListener('abort', leave, { once: true });
  try {
    signal.throwIfAborted();
    const tracks = await Promise.all(
      inputs.map((input, index) => openTrack(input, cursors[index] as ByteReader, index + 1)),
    );
    return new MuxStream(movieHeader(tracks), tracks);
  } catch (error) {
    leave();
    throw error;
  } finally {
    signal.removeEventListener('abort', leave);
  }
}

function sizedFile(source: Source): FileSource & { readonly size: number } {
  if (source.kind !== 'file' || source.size === undefined) throw new UnsupportedMp4('No file of known size');
  return { ...source, size: source.size };
}

interface OpenTrack extends TrackInput {
  readonly header: TrackHeader;
  readonly durationSeconds: number;
}

async function openTrack({ kind, durationSeconds }: MuxInput, cursor: ByteReader, id: number): Promise<OpenTrack> {
  const { moov, end } = await readHeader(cursor);
  const header = parseTrack(moov, kind);
  const track = header.fragmentDefaults
    ? openFragmented(header, header.fragmentDefaults, { cursor, start: end, id, durationSeconds })
    : openProgressive(header, cursor, id);
  const upcoming = await track.next();
  if (!upcoming) throw new UnsupportedMp4('No samples');
  cursor.seek(upcoming.ranges[0]?.first ?? 0);
  await cursor.ready();
  return { cursor, header, ...track, upcoming };
}

function openProgressive(header: TrackHeader, cursor: ByteReader, id: number) {
  const table = parseSampleTable(header.sampleTable);
  const total = checkSamples(table, cursor.size) / header.timescale;
  const runs = demuxProgressive(table, id, header.timescale);
  // Edits cut samples off and put pauses in.
  const durationSeconds = header.edits.length > 0 ? (header.durationSeconds ?? total) : total;
  return { next: async () => runs.next().value ?? undefined, durationSeconds };
}

function openFragmented(
  header: TrackHeader,
  defaults: Buffer,
  {
    cursor,
    start,
    id,
    durationSeconds,
  }: { cursor: ByteReader; start: number; id: number; durationSeconds?: number | undefined },
) {
  if (parseSampleTable(header.sampleTable).count > 0)
    throw new UnsupportedMp4('Samples inside and outside of fragments');
  const { timescale, id: sourceId } = header;
  const next = demuxFragmented({ cursor, start, timescale, sourceId, defaults, id });
  return { next, durationSeconds: header.durationSeconds ?? durationSeconds ?? 0 };
}
