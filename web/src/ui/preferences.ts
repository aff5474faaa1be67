import type { FormatPreference } from '../renditions/index.ts';
import { createSubject, type Observable, readStored, readStoredJson, type Store, store } from '../store.ts';

const FORMAT_KEY = 'reelay.format';

/** The format that the visitor selected last, stored in this browser. */
export type FormatStore = ReturnType<typeof createFormatStore>;

export function createFormatStore(storage: Store | undefined) {
  const stored = readStoredJson(storage, FORMAT_KEY) as FormatPreference | null | undefined;
  let current = stored?.group === 'video' || stored?.group === 'audio' ? stored : undefined;
  let ofLink: FormatPreference | undefined;
  return {
    get: (): FormatPreference | undefined => ofLink ?? current,
    /** The format of the link that is open, until the visitor selects another or opens another link. */
    setForLink(preference: FormatPreference | undefined): void {
      ofLink = preference;
    },
    set(preference: FormatPreference): void {
      ofLink = undefined;
      // Keeps the height of video while audio is selected.
      current = { ...current, ...preference };
      store(storage, FORMAT_KEY, JSON.stringify(current));
    },
  };
}

/** Colour schemes to choose from; `system`: that of the device. */
export const THEMES = ['system', 'light', 'dark'] as const;
export type Theme = (typeof THEMES)[number];

/** Also read by preload.ts, before the first paint. */
const THEME_KEY = 'reelay.theme';

/** The colour scheme of the page, stored in this browser. */
export type ThemeStore = ReturnType<typeof createThemeStore>;

/** Applies the stored theme at once. */
export function createThemeStore(storage: Store | undefined) {
  const stored = readStored(storage, THEME_KEY);
  const current = createSubject<Theme>(THEMES.find((theme) => theme === stored) ?? 'system');
  applyTheme(current.get());
  return {
    current: current as Observable<Theme>,
    set(theme: Theme): void {
      current.set(theme);
      store(storage, THEME_KEY, theme === 'system' ? null : theme);
      applyTheme(theme);
    },
  };
}

/** Sets the attribute that tokens.css reads, and the theme colour of the browser's bars. */
function applyTheme(theme: Theme): void {
  if (theme === 'system') delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
  for (const meta of document.querySelectorAll<HTMLMetaElement>('meta[name=theme-color]')) {
    const { scheme } = meta.dataset;
    meta.media = theme === 'system' ? `(prefers-color-scheme: ${scheme})` : scheme === theme ? 'all' : 'not all';
  }
}
