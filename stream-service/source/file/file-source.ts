import { problems } from '../../../core/api/index.ts';
import { createAdaptiveParallelism, ReadAheadStream } from '../buffer/index.ts';
import {
  createChunkSizer,
  createMediaCheck,
  RangeFetch,
  RangeRefused,
  type UpstreamTarget,
  unknownEntity,
} from '../request/index.ts';
import type { FileSource } from '../source.ts';
import type { OpenRequest } from '../source-kind.ts';
import { createTrackLocator, type TrackLocator } from '../track-locator.ts';
import { createFileScheduler } from './file-scheduler.ts';

/** Bytes of an opening that wait for their reader, besides what the connection itself holds. */
const WAITING_BYTES = 64 * 1024;

/**
 * Opens a direct file by bytes that the reader wants anyway.
 * @throws Problem 404, 502
 */
export async function openFile(request: OpenRequest): Promise<FileSource> {
  const { limits, readAheadBudget } = request;
  const places = createTrackLocator({ ...request, renewals: limits.renewals, load: async () => undefined });
  const options = { ...request, places };
  const chunks = createChunkSizer(limits, places.track().chunkBytes);
  const target: UpstreamTarget = {
    async locate(signal) {
      const { track, generation } = await places.current(signal);
      return { url: track.url, track, generation };
    },
    renew: ({ generation }, isGone, signal) => places.renew(generation, isGone, signal),
    entity: unknownEntity,
    chunks,
  };

  let opening = await openFrom(options, target);
  const { size, etag, lastModified } = target.entity;
  const timer = setTimeout(close, limits.holdTimeout).unref();

  function close(): void {
    clearTimeout(timer);
    opening?.part.destroy();
    opening = undefined;
  }

  /** The opening's bytes, for whoever reads from where they begin. */
  const adopt = (first: number): RangeFetch | undefined => {
    const part = opening?.first === first ? opening.part : undefined;
    if (part) opening = undefined;
    close();
    return part;
  };

  return {
    needsRemux: false,
    size,
    isSeekable: size !== undefined,
    validator: etag ?? lastModified,
    read(first, last) {
      const connections = createAdaptiveParallelism(size === undefined ? 1 : limits.connections, options.eventLoopLoad);
      const supply = createFileScheduler({
        ...options,
        target,
        chunks,
        connections,
        first,
        last: size === undefined ? undefined : Math.min(last ?? size - 1, size - 1),
        adopted: adopt(first),
        onBytes: places.progressed,
      });
      return new ReadAheadStream({ supply, connections, aheadBytes: limits.aheadBytes, pool: readAheadBudget });
    },
    close,
  };
}

type FileOptions = OpenRequest & { readonly places: TrackLocator<undefined> };

interface Opening {
  readonly first: number;
  readonly part: RangeFetch;
}

/** What is asked for may lie beyond the end, or not be reachable: then the beginning says what there is. */
async function openFrom(options: FileOptions, target: UpstreamTarget): Promise<Opening | undefined> {
  if (options.first === 0) return openAt(0, options, target);
  try {
    const opening = await openAt(options.first, options, target);
    if (target.entity.size !== undefined) return opening;
    opening.part.destroy();
  } catch (error) {
    if (!(error instanceof Error && error.cause instanceof RangeRefused)) throw error;
  }
  target.entity = unknownEntity;
  return openAt(0, options, target);
}

async function openAt(first: number, options: FileOptions, target: UpstreamTarget): Promise<Opening> {
  const { signal, places } = options;
  signal.throwIfAborted();
  const part = new RangeFetch({
    ...options,
    target,
    wanted: { first, last: first + (target.chunks?.next() ?? 1) - 1 },
    bufferLimitBytes: WAITING_BYTES,
    onWhole: () => Number.POSITIVE_INFINITY,
    audit: createMediaCheck,
    onBytes: places.progressed,
  });
  const leave = () => part.destroy();
  signal.addEventListener('abort', leave, { once: true });
  try {
    await part.firstByte;
  } catch (error) {
    signal.throwIfAborted();
    throw error;
  } finally {
    signal.removeEventListener('abort', leave);
  }
  if (target.entity.size === 0) throw problems.fetchFailed(new Error('The source has no bytes'));
  return { first, part };
}
