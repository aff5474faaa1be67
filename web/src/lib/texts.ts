import type en from '../../locales/en.json';

/** Every text there is, by where it stands: `error.notFound.title`. */
export type TextKey = keyof typeof en;

export const LOCALES = ['en', 'de', 'fr', 'es', 'pt', 'ja', 'ar'] as const;
export type Locale = (typeof LOCALES)[number];

/** Numbers are written as the language does; `count` also chooses the plural. */
export type Values = Readonly<Record<string, string | number>>;

export interface Texts {
  readonly locale: Locale;
  readonly direction: 'ltr' | 'rtl';
  /** The text of a key with its `{values}` filled in. */
  t(key: TextKey, values?: Values): string;
}

/** What a language calls itself. */
export const LOCALE_NAMES: Readonly<Record<Locale, string>> = {
  en: 'English',
  de: 'Deutsch',
  fr: 'Français',
  es: 'Español',
  pt: 'Português',
  ja: '日本語',
  ar: 'العربية',
};

/** The first of the wanted languages (`navigator.languages`) that there is; a remembered one before them. */
export function chooseLocale(_wanted: readonly string[], _remembered?: string | null): Locale {
  return 'en';
}

/** The texts of one language; no other is loaded. */
export async function loadTexts(locale: Locale): Promise<Texts> {
  throw new Error(locale);
}
