import { readStored, type Store, store } from '../lib/index.ts';
import { type FormatPreference, SEGMENT_CATEGORIES } from '../renditions/index.ts';

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
      // The height of video is still known when audio was selected in between.
      current = { ...current, ...preference };
      store(storage, NAME, JSON.stringify(current));
    },
  };
}

function parse(text: string | null): FormatPreference | undefined {
  try {
    const stored = JSON.parse(text ?? 'null') ?? {};
    const { group, audioGroup, height, bitrateKbps, container, language, subtitles, hasTags, skip } = stored;
    if (!GROUPS.includes(group)) return undefined;
    return {
      group,
      audioGroup: GROUPS.includes(audioGroup) && audioGroup !== 'video' ? audioGroup : undefined,
      height: asFigure(height),
      bitrateKbps: asFigure(bitrateKbps),
      container: asWord(container),
      language: asWord(language),
      subtitles: asWord(subtitles),
      hasTags: hasTags === false ? false : undefined,
      isMarked: stored.isMarked === true || undefined,
      skip: Array.isArray(skip) ? SEGMENT_CATEGORIES.filter((name) => skip.includes(name)) : undefined,
    };
  } catch {
    // Storage may hold data of another version.
    return undefined;
  }
}

const GROUPS: readonly unknown[] = ['video', 'audio', 'mp3'];
const asFigure = (value: unknown) => (typeof value === 'number' && value > 0 ? value : undefined);
const asWord = (value: unknown) => (typeof value === 'string' ? value : undefined);
