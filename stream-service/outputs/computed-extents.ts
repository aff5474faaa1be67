import { buffer } from 'node:stream/consumers';
import { createCache, createSingleFlight } from '@reelay/concurrency';
import { FillingBuffer } from '@reelay/seekable-media/reading';
import { createByteStore, type FileSource } from '@reelay/source';
import { type Name, nameOf } from '@reelay/source/names';
import { memoryShares } from '../../core/config/index.ts';
import { UpstreamError } from '../../core/errors/index.ts';

/** Extents of files that were computed, or read, recently, in the store of all streams. */
export interface ComputedExtents {
  get(name: Name, bytes: number, reading?: Reading): ComputedExtent;
  /** All bytes of an extent that is there, which must not be changed. */
  complete(name: Name): Buffer | undefined;
  /**
   * All bytes of an extent, which must not be changed. Those who want it at the same time share one filling, each until its signal
   * aborts; it is aborted when the last one has left. Where the filling of another caller fails, the caller fills by its own `advance`.
   * @param file as which it is shared. @default one stream alone has it
   * @throws what `advance` throws, what `file` throws, and the signal's reason
   */
  whole(name: Name, bytes: number, advance: AdvanceExtent, signal?: AbortSignal, file?: SharedFile): Promise<Buffer>;
  evict(names: Iterable<Name>): void;
  /**
   * @param name of a file, in the version that its sources state
   * @param open returns a source of the stream
   */
  share(name: Name, open: (source: number) => Promise<SampledFile>): SharedFile;
}

type SampledFile = Pick<FileSource, 'read' | 'fragments'>;

/**
 * A file whose extents are shared, for one stream. A source may give another version the validator of the one before: a stream has what
 * different streams have read only if its source still has some of the bytes of each.
 */
export interface SharedFile {
  /** Begins the names of its extents: another name once a source has changed. */
  readonly name: Name;
  /** What this stream reads. */
  readonly reading: Reading;
  /** Keeps some of what was read of a source: of its media, which comes behind its header. @param first offset in the source */
  note(source: number, first: number, bytes: Buffer): void;
  /**
   * To be called before bytes of an extent are sent, or added.
   * @param isAdded this stream adds some
   * @throws UpstreamError when those of another stream are of another version, and what reading the sources throws
   */
  use(extent: Pick<ComputedExtent, 'reading'>, isAdded?: boolean): Promise<void>;
}

/** What a stream has read. */
export interface Reading {
  /** Bytes, by source. */
  readonly samples: Map<number, { readonly first: number; readonly bytes: Buffer }>;
  /** Another one of the same version. */
  same?: Reading;
}

/** Adds bytes to an extent, some at least. */
export type AdvanceExtent = (extent: ComputedExtent, signal: AbortSignal) => Promise<void>;

const SAMPLE_BYTES = 2048;
const MAX_CHANGES = 1000;

export function createComputedExtents(store = createByteStore(memoryShares().segmentBytes)): ComputedExtents {
  const get = (name: Name, bytes: number, reading?: Reading) =>
    store.get<ComputedExtent>(name) ?? store.set(name, new ComputedExtent(bytes, reading));
  const fillings = createSingleFlight<ComputedExtent, Name>();
  /** The present names of files whose sources have changed. */
  const changes = createCache<Name, Name>({ maxEntries: MAX_CHANGES });
  return {
    get,
    complete: (name) => store.get<ComputedExtent>(name)?.complete,
    async whole(name, bytes, advance, signal, file) {
      for (;;) {
        let isOwn = false;
        const fill = async (shared: AbortSignal) => {
          isOwn = true;
          const extent = get(name, bytes, file?.reading);
          await extent.whole(async () => {
            await file?.use(extent, true);
            await advance(extent, shared);
          });
          return extent;
        };
        try {
          const extent = await fillings(name, fill, signal);
          isOwn = true;
          await file?.use(extent);
          return await extent.whole(() => Promise.reject(new RangeError('An extent is not complete')));
        } catch (error) {
          if (isOwn || signal?.aborted) throw error;
        }
      }
    },
    evict(names) {
      for (const name of names) store.delete(name);
    },
    share(file, open) {
      const name = changes.get(file) ?? file;
      const reading: Reading = { samples: new Map() };
      /** Of other streams. */
      const used = new Set<Reading>();
      const compare = async ({ samples }: Reading) => {
        for (const [source, { first, bytes }] of samples) {
          const { read, fragments } = await open(source);
          // A list of segments compares them itself.
          if (fragments || (await buffer(read(first, first + bytes.length - 1))).equals(bytes)) continue;
          changes.set(file, nameOf([name], 'changed'));
          throw new UpstreamError('The source file has changed');
        }
      };
      return {
        name,
        reading,
        note(source, first, bytes) {
          const { samples } = latestOf(reading);
          const sample = bytes.subarray(0, SAMPLE_BYTES);
          if (sample.length >= (samples.get(source)?.bytes.length ?? 1))
            samples.set(source, { first, bytes: Buffer.from(sample) });
        },
        async use(extent, isAdded = false) {
          if (extent.reading) used.add(extent.reading);
          if (isAdded) used.add(reading);
          const [, ...others] = new Set([reading, ...used].map(latestOf));
          if (others.length === 0 || (others.length === 1 && !used.has(reading))) return;
          for (const other of others) {
            await compare(other);
            join(latestOf(other), latestOf(reading));
          }
        },
      };
    },
  };
}

/** Notes that two readings are of one version, which a concurrent stream may have noted before. */
function join(other: Reading, one: Reading): void {
  if (other === one) return;
  for (const [source, sample] of other.samples) if (!one.samples.has(source)) one.samples.set(source, sample);
  other.samples.clear();
  other.same = one;
}

/** The reading that represents all those of its version. */
function latestOf(reading: Reading): Reading {
  if (!reading.same) return reading;
  reading.same = latestOf(reading.same);
  return reading.same;
}

/** Bytes of a file, and the stream that has begun them. */
export class ComputedExtent extends FillingBuffer {
  readonly reading: Reading | undefined;

  constructor(bytes: number, reading?: Reading) {
    super(bytes);
    this.reading = reading;
  }
}
