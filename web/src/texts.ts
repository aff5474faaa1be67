import type en from '../locales/en.json';
import type lazy from '../locales/lazy/en.json';

/** Keys of all texts: `error.notFound.title`. */
export type TextKey = keyof typeof en | keyof typeof lazy;

/** Numbers are formatted in the locale; `count` selects the plural form. */
type Values = Readonly<Record<string, string | number>>;

export interface Texts {
  readonly locale: Locale;
  readonly direction: 'ltr' | 'rtl';
  /** The text of a key with its `{placeholders}` filled in. */
  t(key: TextKey, values?: Values): string;
  /** Loads the texts of lazily loaded components, once. @throws TypeError when the file cannot be fetched */
  loadLazy(): Promise<void>;
  /** Whether `loadLazy` was called. */
  readonly isLazyWanted: boolean;
}

/** One text, or one per plural category (`Intl.PluralRules`). */
export type Text = string | Readonly<Partial<Record<Intl.LDMLPluralRule, string>>>;

/** Native names. */
export const LOCALE_NAMES = {
  en: 'English',
  de: 'Deutsch',
  fr: 'Français',
  es: 'Español',
  pt: 'Português',
  ja: '日本語',
  zh: '简体中文',
  ar: 'العربية',
} as const;
export type Locale = keyof typeof LOCALE_NAMES;
export const LOCALES = Object.keys(LOCALE_NAMES) as readonly Locale[];

type TextFile = Readonly<Record<string, Text>>;
/** Texts of what every page shows first, and of lazily loaded components. */
const FILES = import.meta.glob<{ readonly default: TextFile }>('../locales/**/*.json');

/** @param folder of the languages */
async function loadFile(folder: '' | 'lazy/', locale: Locale): Promise<TextFile> {
  const file = await FILES[`../locales/${folder}${locale}.json`]?.();
  if (!file) throw new TypeError(`No texts of ${locale}`);
  return file.default;
}

/** The supported locales of `navigator.languages`, the stored one first, English last. */
export function wantedLocales(wanted: readonly string[], remembered?: string | null): Locale[] {
  const languages = [remembered ?? '', ...wanted, 'en'].map((tag) => tag.toLowerCase().split(/[-_]/, 1)[0]);
  return [...new Set(languages.flatMap((language) => LOCALES.find((locale) => locale === language) ?? []))];
}

/** Loads the texts of one locale. @throws TypeError when the file cannot be fetched */
export async function loadTexts(locale: Locale): Promise<Texts> {
  return createTexts(locale, await loadFile('', locale), () => loadFile('lazy/', locale));
}

/** Loads the first available locale. @throws TypeError when none can be fetched */
export async function loadFirstTexts([first, ...others]: readonly Locale[], load = loadTexts): Promise<Texts> {
  try {
    return await load(first ?? 'en');
  } catch (error) {
    // Offline or after a deployment, only cached locales are available.
    if (others.length === 0) throw error;
    return loadFirstTexts(others, load);
  }
}

/** @param texts by key */
export function createTexts(
  locale: Locale,
  texts: TextFile,
  loadMore: () => Promise<TextFile> = async () => ({}),
): Texts {
  let all = texts;
  let loading: Promise<void> | undefined;
  const plurals = new Intl.PluralRules(locale);
  const numbers = new Intl.NumberFormat(locale);
  return {
    locale,
    direction: locale === 'ar' ? 'rtl' : 'ltr',
    t(key, values = {}) {
      const text = all[key];
      const form = typeof text === 'object' ? pluralForm(text, plurals, values.count) : text;
      return (form ?? key).replace(/\{(\w+)\}/g, (hole, name: string) => {
        const value = values[name];
        return typeof value === 'number' ? numbers.format(value) : (value ?? hole);
      });
    },
    loadLazy() {
      loading ??= loadMore().then(
        (more) => {
          all = { ...all, ...more };
        },
        (error) => {
          loading = undefined;
          throw error;
        },
      );
      return loading;
    },
    get isLazyWanted() {
      return loading !== undefined;
    },
  };
}

const pluralForm = (
  forms: Exclude<Text, string>,
  plurals: Intl.PluralRules,
  count: string | number | undefined,
): string | undefined => forms[plurals.select(Number(count ?? 0))] ?? forms.other;
