import { pipeline, Readable, Transform } from 'node:stream';
import type { FileType } from '@reelay/seekable-media/codecs';
import { extendHeader } from '@reelay/seekable-media/virtual-mp4';
import { entityTag } from '../../../core/http/index.ts';
import type { KeyedRendition } from '../../../core/state/index.ts';
import { generatedStream, openTrack } from '../../source/index.ts';
import { type ExtrasDependencies, loadExtras, type PlannedExtras, refuseLargeText } from '../extras.ts';
import type { Opening, PlannedOutput, RecordSize, Representation } from '../representation.ts';

/** A file, sent as it is. */
export interface CopyPlan extends PlannedOutput {
  readonly kind: 'copy';
  readonly found: KeyedRendition;
  /** What the header of a list of segments has besides. */
  readonly extras: PlannedExtras;
}

/** @param type of the answer. @default that of the rendition */
export function planCopy(
  found: KeyedRendition,
  { mimeType, fileExtension }: FileType = found.rendition,
  extras: PlannedExtras = {},
): CopyPlan {
  const [{ sizeIsExact, sizeBytes }] = found.tracks;
  const size = sizeIsExact ? sizeBytes : undefined;
  const head = { mimeType, fileExtension, size, acceptRanges: 'bytes' } as const;
  return { kind: 'copy', found, extras, head, answersHead: false };
}

export interface CopyDependencies extends ExtrasDependencies {
  /** Receives a size that resolving did not find. */
  readonly recordSize: RecordSize;
}

/** @throws UnsupportedRendition when the subtitles are too large */
export async function openCopy(
  { found, extras: planned, head: { mimeType, fileExtension, size: expected } }: CopyPlan,
  opening: Opening,
  dependencies: CopyDependencies,
): Promise<Representation> {
  const { session, range, openSource } = opening;
  const source = await openTrack(openSource, found, found.tracks[0], session, { range });
  if (source.needsRemux) throw new Error('A direct track was opened as segments');
  const { size, validator, header } = source;
  if (header && size !== undefined && Object.keys(planned).length > 0) {
    const extras = await loadExtras(found.resource, planned, opening, dependencies);
    const own = withExtras(header, extras, found.resource.durationSeconds);
    const bytes = own.length + size - header.length;
    const etag = entityTag([found.key, bytes, validator, extras.id]);
    const read = (first: number, last = bytes - 1) =>
      followedBy(own.subarray(first, last + 1), () =>
        last < own.length
          ? undefined
          : source.read(Math.max(first, own.length) - own.length + header.length, last - own.length + header.length),
      );
    return { mimeType, fileExtension, size: bytes, etag, acceptRanges: 'bytes', read };
  }
  // Only one side of a pair or a list is sent, and what is live ends anywhere.
  const isOneSide = found.rendition.formatIds.length > 1 || found.tracks[0].file?.isAudioAlone;
  const isWhole = !isOneSide && !found.resource.isLive;
  const record = (bytes: number) => {
    if (isWhole && bytes > 0) dependencies.recordSize(found, bytes);
  };
  if (size !== undefined && size !== expected) record(size);
  return {
    mimeType,
    fileExtension,
    size,
    // Another size or another validator of the source is another entity.
    etag: size === undefined ? undefined : entityTag([found.key, size, validator]),
    acceptRanges: size === undefined ? 'none' : 'bytes',
    read(first, last) {
      const body = source.read(first, last);
      return size === undefined && first === 0 ? counted(body, record) : body;
    },
  };
}

/** @throws UnsupportedRendition when the subtitles are too large */
function withExtras(
  header: Buffer,
  extras: Parameters<typeof extendHeader>[1],
  seconds = Number.POSITIVE_INFINITY,
): Buffer {
  try {
    return extendHeader(header, extras, seconds) ?? header;
  } catch (error) {
    refuseLargeText(error);
    throw error;
  }
}

/** Some bytes, and what is read behind them. */
function followedBy(own: Buffer, readRest: () => Readable | undefined): Readable {
  if (own.length === 0) return readRest() ?? Readable.from([]);
  const rest = readRest();
  rest?.on('error', () => undefined);
  async function* parts() {
    // Its reader owns it.
    yield Buffer.from(own);
    if (rest) yield* rest;
  }
  return generatedStream(parts(), () => rest?.destroy());
}

/** The same bytes. @param onEnd receives their number once all have been read */
function counted(body: Readable, onEnd: (bytes: number) => void): Readable {
  let bytes = 0;
  const counter = new Transform({
    transform(chunk: Buffer, _, done) {
      bytes += chunk.length;
      done(null, chunk);
    },
    flush(done) {
      onEnd(bytes);
      done();
    },
  });
  // Its error destroys the counter, whose reader handles it.
  return pipeline(body, counter, () => undefined);
}
