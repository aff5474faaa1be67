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
      // The height of video is still known when audio was selected in between.
      current = { ...current, ...preference };
      store(storage, NAME, JSON.stringify(current));
    },
  };
}

function parse(text: string | null): FormatPreference | undefined {
  try {
    const { group, height, bitrateKbps, convertTo } = JSON.parse(text ?? 'null') ?? {};
    if (group !== 'video' && group !== 'audio' && group !== 'mp3') return undefined;
    return {
      group,
      height: isFigure(height) ? height : undefined,
      bitrateKbps: isFigure(bitrateKbps) ? bitrateKbps : undefined,
      convertTo: typeof convertTo === 'string' ? convertTo : undefined,
    };
  } catch {
    // Storage may hold data of another version.
    return undefined;
  }
}

const isFigure = (value: unknown): value is number => typeof value === 'number' && value > 0;
