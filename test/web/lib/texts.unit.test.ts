import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { FIRST_LOAD } from '../../../web/first-load.ts';
import {
  createTexts,
  LOCALES,
  loadFirstTexts,
  loadTexts,
  type Text,
  type TextKey,
  wantedLocales,
} from '../../../web/src/texts.ts';

const WEB = resolve(import.meta.dirname, '../../../web');
const FOLDER = join(WEB, 'locales');
const SOURCES = join(WEB, 'src');
const readFile = (name: string) => JSON.parse(readFileSync(join(FOLDER, name), 'utf8')) as Record<string, Text>;
/** The texts of a language, those of lazily loaded components last. */
const read = (locale: string) => ({ ...readFile(`${locale}.json`), ...readFile(`lazy/${locale}.json`) });
const english = read('en');
const others = LOCALES.filter((locale) => locale !== 'en');

const formsOf = (text: Text | undefined): string[] => (typeof text === 'string' ? [text] : Object.values(text ?? {}));
/** The placeholders of a text, over all its forms. */
const valuesOf = (text: Text | undefined): string[] =>
  [...new Set(formsOf(text).flatMap((form) => form.match(/\{\w+\}/g) ?? []))].sort();

describe('locale files', () => {
  it('exist for exactly the supported languages', () => {
    for (const folder of [FOLDER, join(FOLDER, 'lazy')]) {
      const files = readdirSync(folder).filter((name) => name.endsWith('.json'));
      expect(files.sort()).toEqual(LOCALES.map((locale) => `${locale}.json`).sort());
    }
  });

  it.each(others)(
    '%s has the English keys in their order, with the same placeholders and plurals, translated',
    (locale) => {
      const texts = read(locale);
      expect(Object.keys(texts)).toEqual(Object.keys(english));
      const formOf = (text: Text | undefined) => [typeof text, valuesOf(text)];
      for (const [key, text] of Object.entries(english)) expect(formOf(texts[key]), key).toEqual(formOf(text));
      const same = Object.entries(english).filter(([key, text]) => JSON.stringify(texts[key]) === JSON.stringify(text));
      expect(same.length / Object.keys(english).length).toBeLessThan(0.1);
    },
  );

  it('has plural forms in English wherever a word follows a number', () => {
    const counted = Object.entries(english).filter(([, text]) =>
      formsOf(text).some((form) => /\{count\} \w{3}/.test(form)),
    );
    expect(counted.filter(([, text]) => typeof text === 'string')).toEqual([]);
    expect(counted.length).toBeGreaterThan(0);
  });

  it.each(LOCALES)('%s has every plural category and no empty text', (locale) => {
    const { pluralCategories } = new Intl.PluralRules(locale).resolvedOptions();
    for (const [key, text] of Object.entries(read(locale))) {
      if (typeof text !== 'string') expect(Object.keys(text).sort(), key).toEqual([...pluralCategories].sort());
      for (const form of formsOf(text)) expect(form.trim(), key).toBe(form === '' ? 'a text' : form);
    }
  });

  it.each(LOCALES)('%s loads with its direction', async (locale) => {
    const texts = await loadTexts(locale);
    expect(texts).toMatchObject({ locale, direction: locale === 'ar' ? 'rtl' : 'ltr' });
    expect(texts.t('app.name')).toBe('Reelay');
    expect(texts.t('list.all')).toBe('list.all');
    await texts.loadLazy();
    expect(texts.t('list.all')).toBe(read(locale)['list.all']);
    expect(texts.t('app.name')).toBe('Reelay');
  });

  it('of lazily loaded components are requested once, and again after a failure', async () => {
    const answers = [Promise.reject(new TypeError('Failed to fetch')), Promise.resolve({ 'list.all': 'All' })];
    const texts = createTexts('en', {}, () => answers.shift() ?? Promise.reject(new Error('A third request')));
    expect(texts.isLazyWanted).toBe(false);
    await expect(texts.loadLazy()).rejects.toThrow('Failed to fetch');
    await texts.loadLazy();
    await texts.loadLazy();
    expect([texts.isLazyWanted, texts.t('list.all')]).toEqual([true, 'All']);
  });
});

describe('t', () => {
  const key = 'list.count' as TextKey;
  const texts = (locale: 'en' | 'de' | 'ar', text: Text) => createTexts(locale, { [key]: text });

  it('fills in values and formats numbers', () => {
    expect(texts('de', '{name}: {size} {unknown}').t(key, { name: '{size}', size: 1234.5 })).toBe(
      '{size}: 1.234,5 {unknown}',
    );
  });

  it.each([
    [0, 'other 0'],
    [1, 'one 1'],
    [2, 'other 2'],
  ])('for %i has its plural form', (count, text) => {
    expect(texts('en', { one: 'one {count}', other: 'other {count}' }).t(key, { count })).toBe(text);
  });

  it('falls back to the form `other`', () => {
    expect(texts('ar', { other: 'other' }).t(key, { count: 2 })).toBe('other');
  });

  it('returns the key of a missing text', () => {
    expect(createTexts('en', {}).t(key)).toBe('list.count');
  });
});

describe('locale selection', () => {
  it.each([
    [['de-AT', 'en'], null, ['de', 'en']],
    [['nl', 'pt-BR', 'en'], null, ['pt', 'en']],
    [['nl', 'sv'], null, ['en']],
    [[], null, ['en']],
    [['ko', 'JA'], null, ['ja', 'en']],
    [['zh-Hans-CN', 'en'], null, ['zh', 'en']],
    [['de', 'fr'], 'ar', ['ar', 'de', 'fr', 'en']],
    [['de'], 'nonsense', ['de', 'en']],
    [['ar_EG'], undefined, ['ar', 'en']],
  ])('of %j with %j remembered is the first available one of %j', (wanted, remembered, locales) => {
    expect(wantedLocales(wanted, remembered)).toEqual(locales);
  });

  it('falls back when a locale fails to load', async () => {
    const load = async (locale: string) => {
      if (locale !== 'fr') throw new TypeError('Failed to fetch');
      return createTexts('fr', {});
    };
    expect((await loadFirstTexts(['ar', 'fr', 'en'], load)).locale).toBe('fr');
    await expect(loadFirstTexts(['ar', 'en'], load)).rejects.toThrow('Failed to fetch');
  });
});

/** Keys composed at run time, by the template literal that composes them. */
const COMPOSED: readonly (readonly [template: string, pattern: RegExp])[] = [
  ['`version.${', /^version\.(descriptive|drc|dubbed)$/],
  ['`player.${', /^player\.(unsupported|interrupted)$/],
  ['`choices.${', /^choices\.(video|audio)$/],
  ['`waiting.${', /^waiting\.[a-z-]+(\.what)?$/],
  ['`waiting.tools.${', /^waiting\.tools\.(install|check)$/],
  ['`footer.theme.${', /^footer\.theme\.(system|light|dark)$/],
  ['`failure.${', /^failure\.[a-z-]+(\.what)?$/],
  ['`list.prefer.${', /^list\.prefer\.[a-z0-9]+$/],
];

const files = readdirSync(SOURCES, { recursive: true, withFileTypes: true })
  .filter((entry) => entry.isFile() && /\.tsx?$/.test(entry.name))
  .map(({ parentPath, name }) => join(parentPath, name));
const sourceOf = (paths: readonly string[]) => paths.map((path) => readFileSync(path, 'utf8')).join('\n');
const source = sourceOf(files);

// The type of `t` already rejects keys that English lacks.
describe('texts', () => {
  it('are all used', () => {
    const isUsed = (key: string) =>
      source.includes(`'${key}'`) ||
      COMPOSED.some(([template, pattern]) => source.includes(template) && pattern.test(key));
    expect(Object.keys(english).filter((key) => !isUsed(key))).toEqual([]);
  });

  it('of the first load are in its files', () => {
    const loadedFirst = sourceOf(files.filter((path) => FIRST_LOAD.test(path)));
    expect(Object.keys(readFile('lazy/en.json')).filter((key) => loadedFirst.includes(`'${key}'`))).toEqual([]);
  });

  it('in English are hidden from speakers of every other language before the first paint', () =>
    expect(readFileSync(join(SOURCES, 'preload.ts'), 'utf8')).toContain(`/^(?:${LOCALES.join('|')})`));
});
