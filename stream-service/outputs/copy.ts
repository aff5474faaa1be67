import { pipeline, type Readable, Transform } from 'node:stream';
import type { FileType } from '@reelay/seekable-media/codecs';
import { nameOf } from '@reelay/source/names';
import type { KeyedRendition } from '../../core/state/index.ts';
import { openTrack, versionOf } from '../source/index.ts';
import type { Opening, PlannedOutput, RecordSize, Representation } from './representation.ts';

/** A file, sent as it is. */
export interface CopyPlan extends PlannedOutput {
  readonly kind: 'copy';
  readonly found: KeyedRendition;
}

/** @param type of the answer. @default that of the rendition */
export function planCopy(found: KeyedRendition, { mimeType, fileExtension }: FileType = found.rendition): CopyPlan {
  const [{ sizeIsExact, sizeBytes }] = found.tracks;
  const size = sizeIsExact ? sizeBytes : undefined;
  const head = { mimeType, fileExtension, size, acceptRanges: 'bytes' } as const;
  return { kind: 'copy', found, head, answersHead: false };
}

export interface CopyDependencies {
  /** Receives a size that resolving did not find. */
  readonly recordSize: RecordSize;
}

/** Opens a file, which is sent with the ETag of its size and its validator. */
export async function openCopy(
  { found, head: { mimeType, fileExtension, size: expected } }: CopyPlan,
  { session, range, openSource }: Opening,
  { recordSize }: CopyDependencies,
): Promise<Representation> {
  const source = await openTrack(openSource, found, found.tracks[0], session, { range });
  if (source.needsRemux) throw new Error('A direct track was opened as segments');
  const { size } = source;
  const version = versionOf(found.resource, found.tracks[0], source);
  // Only one side of a pair or a list is sent, and what is live ends anywhere.
  const isOneSide = found.rendition.formatIds.length > 1 || found.tracks[0].file?.isAudioAlone;
  const isWhole = !isOneSide && !found.resource.isLive;
  const record = (bytes: number) => {
    if (isWhole && bytes > 0) recordSize(found, bytes);
  };
  if (size !== undefined && size !== expected) record(size);
  return {
    mimeType,
    fileExtension,
    size,
    // Another size or another validator of the source is another entity.
    etag: size === undefined ? undefined : `"${nameOf([version], 'copy', found.key)}"`,
    acceptRanges: size === undefined ? 'none' : 'bytes',
    read(first, last) {
      const body = source.read(first, last);
      return size === undefined && first === 0 ? counted(body, record) : body;
    },
  };
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
