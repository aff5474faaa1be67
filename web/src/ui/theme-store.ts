import { createSubject, type Observable, readStored, type Store, store } from '../lib/index.ts';

/** Colour schemes to choose from; `system`: that of the device. */
export const THEMES = ['system', 'light', 'dark'] as const;
export type Theme = (typeof THEMES)[number];

/** Also read by early.ts, before the first paint. */
const NAME = 'reelay.theme';

/** The colour scheme of the page, stored in this browser. */
export interface ThemeStore {
  readonly current: Observable<Theme>;
  set(theme: Theme): void;
}

/** Applies the stored theme at once. */
export function createThemeStore(storage: Store | undefined): ThemeStore {
  const stored = readStored(storage, NAME);
  const current = createSubject(THEMES.find((theme) => theme === stored) ?? 'system');
  apply(current.get());
  return {
    current,
    set(theme) {
      current.set(theme);
      store(storage, NAME, theme === 'system' ? null : theme);
      apply(theme);
    },
  };
}

/** See tokens.css for the attribute. The colour of the browser's own bars follows. */
function apply(theme: Theme): void {
  if (theme === 'system') delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
  for (const meta of document.querySelectorAll<HTMLMetaElement>('meta[name=theme-color]')) {
    const { scheme } = meta.dataset;
    meta.media = theme === 'system' ? `(prefers-color-scheme: ${scheme})` : scheme === theme ? 'all' : 'not all';
  }
}
