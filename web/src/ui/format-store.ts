import { readStoredJson, type Store, store } from '../lib/index.ts';
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
  const stored = readStoredJson(storage, NAME) as FormatPreference | null | undefined;
  let current = stored?.group === 'video' || stored?.group === 'audio' ? stored : undefined;
  let ofLink: FormatPreference | undefined;
  return {
    get: () => ofLink ?? current,
    setForLink(preference) {
      ofLink = preference;
    },
    set(preference) {
      ofLink = undefined;
      // The height of video is still known when audio was selected in between.
      current = { ...current, ...preference };
      store(storage, NAME, JSON.stringify(current));
    },
  };
}
