import { readStored, type Store, store } from '../lib/index.ts';
import type { FormatPreference } from '../renditions/index.ts';

const NAME = 'reelay.format';

/** The format that the visitor selected last, stored in this browser. */
export interface FormatStore {
  get(): FormatPreference | undefined;
  set(preference: FormatPreference): void;
  /** The format of the link that is open, until the visitor selects another or opens another link. */
  setForLink(preference: FormatPreference | undefined): void;
}

export function createFormatStore(storage: Store | undefined): FormatStore {
  let current = parse(readStored(storage, NAME));
  let ofLink: FormatPreference | undefined;
  return {
    get: () => ofLink ?? current,
    setForLink(preference) {
      ofLink = preference;
    },
    set(preference) {
      ofLink = undefined;
      current = preference;
      store(storage, NAME, JSON.stringify(preference));
    },
  };
}

function parse(text: string | null): FormatPreference | undefined {
  try {
    const { group, height } = JSON.parse(text ?? 'null') ?? {};
    if (group !== 'video' && group !== 'audio' && group !== 'mp3') return undefined;
    return { group, height: typeof height === 'number' && height > 0 ? height : undefined };
  } catch {
    // Storage may hold data of another version.
    return undefined;
  }
}
