import type { Log } from '../../core/log/index.ts';
import type { KeyedRendition, State } from '../../core/state/index.ts';

/** Stores the exact size of a rendition unless its resource has it already. Never fails: the next stream tries again. */
export type RecordSize = (found: KeyedRendition, bytes: number) => void;

interface SizeRecorderDependencies {
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
