import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { FIRST_LOAD } from '../../../web/first-load.ts';
import first from '../../../web/locales/en.json' with { type: 'json' };
import lazy from '../../../web/locales/lazy/en.json' with { type: 'json' };
import { LOCALES } from '../../../web/src/texts.ts';

const SOURCES = resolve(import.meta.dirname, '../../../web/src');

/** Keys composed at run time, by the template literal that composes them. */
const COMPOSED: readonly (readonly [template: string, pattern: RegExp])[] = [
  ['`version.${', /^version\.(descriptive|drc|dubbed)$/],
  ['`player.${', /^player\.(unsupported|interrupted)$/],
  ['`waiting.${', /^waiting\.[a-z-]+(\.what)?$/],
  ['`waiting.tools.${', /^waiting\.tools\.(install|check)$/],
  ['`footer.theme.${', /^footer\.theme\.(system|light|dark)$/],
  ['`failure.${', /^failure\.[a-z-]+(\.what)?$/],
  ['`list.prefer.${', /^list\.prefer\.[a-z0-9]+$/],
];

const files = readdirSync(SOURCES, { recursive: true, withFileTypes: true })
  .filter((entry) => entry.isFile() && /\.tsx?$/.test(entry.name))
  .map(({ parentPath, name }) => join(parentPath, name));
const read = (paths: readonly string[]) => paths.map((path) => readFileSync(path, 'utf8')).join('\n');
const source = read(files);

// The type of `t` already rejects keys that English lacks; texts.unit.test.ts compares the other languages with English.
describe('texts', () => {
  it('are all used', () => {
    const isUsed = (key: string) =>
      source.includes(`'${key}'`) ||
      COMPOSED.some(([template, pattern]) => source.includes(template) && pattern.test(key));
    expect(Object.keys({ ...first, ...lazy }).filter((key) => !isUsed(key))).toEqual([]);
  });

  it('of the first load are in its files', () => {
    const loadedFirst = read(files.filter((path) => FIRST_LOAD.test(path)));
    expect(Object.keys(lazy).filter((key) => loadedFirst.includes(`'${key}'`))).toEqual([]);
  });

  it('in English are hidden from speakers of every other language before the first paint', () =>
    expect(readFileSync(join(SOURCES, 'preload.ts'), 'utf8')).toContain(`/^(?:${LOCALES.join('|')})`));
});
