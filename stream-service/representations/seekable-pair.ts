import type { Log } from '../../core/log/index.ts';
import type { KeyedRendition, State } from '../../core/state/index.ts';
import { COMBINED } from '../mux/index.ts';
import type { RepresentationHead, RepresentationOpener } from '../representation.ts';
import type { KnownLayout, Layouts } from '../virtual-mp4/index.ts';
import { type CombinedDependencies, combined, isMp4File } from './combined.ts';
import { refuseLargeText } from './embedded-text.ts';
import { laidOut } from './laid-out.ts';
import type { NamedExtras } from './with-extras.ts';

export interface SeekablePairDependencies extends CombinedDependencies {
  readonly layouts: Layouts;
  readonly recordSize: RecordSize;
}

/**
 * A video and an audio track as one file with length and ranges, where its layout follows from the headers of both; else
 * muxed from the beginning.
 */
export function seekablePair(
  found: KeyedRendition,
  dependencies: SeekablePairDependencies,
  extras: NamedExtras = { id: '' },
): RepresentationOpener {
  const muxed = combined(found, dependencies, extras);
  const { key, tracks, resource } = found;
  if (tracks.length !== 2 || resource.isLive || !tracks.every(isMp4File)) return muxed;
  return laidOut({
    ...dependencies,
    found,
    cache: dependencies.layouts,
    request: { id: key + extras.id, sources: [0, 1], extras },
    unknown: () => ({ ...muxed.describe(), acceptRanges: undefined }),
    headOf,
    onLayout: ({ size }) => {
      if (extras.id === '') dependencies.recordSize(found, size);
    },
    otherwise(reason) {
      refuseLargeText(reason);
      return muxed;
    },
  });
}

function headOf({ layout, etag }: KnownLayout): RepresentationHead {
  const { mimeType, fileExtension } = COMBINED;
  return { mimeType, fileExtension, size: layout.size, acceptRanges: 'bytes', etag };
}

/** Stores the exact size of a rendition unless its resource has it already. Never fails: the next stream tries again. */
export type RecordSize = (found: KeyedRendition, bytes: number) => void;

export interface SizeRecorderDependencies {
  readonly state: Pick<State, 'putExactSize'>;
  readonly log: Log;
}

export function createSizeRecorder({ state, log }: SizeRecorderDependencies): RecordSize {
  /** Keys whose size is being stored: a player requests several ranges at once. */
  const pending = new Set<string>();

  return ({ key, resource, rendition }, bytes) => {
    if (resource.exactSizes?.[rendition.id] === bytes || pending.has(key)) return;
    pending.add(key);
    state
      .putExactSize(resource, rendition.id, bytes)
      .catch((error) => log.warn('Storing the size of a rendition failed', { resource: resource.id, error }))
      .finally(() => pending.delete(key));
  };
}
