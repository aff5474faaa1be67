import { createSubject, type Observable, readStored, type Store, store } from '../lib/index.ts';
import { DEFAULT_PATTERN, MAX_PATTERN_CHARACTERS } from '../renditions/index.ts';

const NAME = 'reelay.fileNames';

/** The pattern of file names, stored in this browser. */
export interface FileNameStore {
  readonly pattern: Observable<string>;
  /** A blank pattern restores the default. */
  set(pattern: string): void;
}

export function createFileNameStore(storage: Store | undefined): FileNameStore {
  const pattern = createSubject(usable(readStored(storage, NAME)));
  return {
    pattern,
    set(text) {
      const next = usable(text);
      pattern.set(next);
      store(storage, NAME, next === DEFAULT_PATTERN ? null : next);
    },
  };
}

const usable = (text: string | null): string =>
  text?.trim() ? text.slice(0, MAX_PATTERN_CHARACTERS) : DEFAULT_PATTERN;
