import { pipeline, type Readable, Transform } from 'node:stream';
import { entityTag } from '../../../core/http/index.ts';
import { openTrack } from '../../source/index.ts';
import type { Opening, RecordSize, Representation } from '../representation.ts';
import type { CopyPlan } from './plan.ts';

export interface CopyDependencies {
  /** Receives a size that resolving did not find. */
  readonly recordSize: RecordSize;
}

/** @throws what `OpenSource` throws */
export async function openCopy(
  { found, head: { mimeType, fileExtension, size: expected } }: CopyPlan,
  { session, range, openSource }: Opening,
  { recordSize }: CopyDependencies,
): Promise<Representation> {
  const source = await openTrack(openSource, found, found.tracks[0], session, { range });
  if (source.needsRemux) throw new Error('A direct track was opened as segments');
  const { size, validator, sizeNow } = source;
  // Of a pair only one side is sent, and what is live ends anywhere.
  const isWhole = found.rendition.formatIds.length === 1 && !found.resource.isLive;
  const record = (bytes: number) => {
    if (isWhole && bytes > 0) recordSize(found, bytes);
  };
  if (size !== undefined && size !== expected) record(size);
  return {
    ...{ mimeType, fileExtension, size, sizeNow },
    // Another size or another validator of the source is another entity; what grows stays the same.
    etag: size === undefined && !sizeNow ? undefined : entityTag([found.key, sizeNow ? 0 : size, validator]),
    acceptRanges: size === undefined && !sizeNow ? 'none' : 'bytes',
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
