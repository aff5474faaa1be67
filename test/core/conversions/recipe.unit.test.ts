import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { encodedFormats } from '../../../stream-service/outputs/encode/formats.ts';

const ROOT = join(import.meta.dirname, '../../..');
const recipe =
  /### … a format of the audio\n([\s\S]*?)\n### /.exec(readFileSync(join(ROOT, 'CONTRIBUTING.md'), 'utf8'))?.[1] ?? '';
const stepsOf = (text: string) => text.split(/^(?=\d\. )/m).filter((step) => /^\d\. /.test(step));

describe('the recipe of a format in CONTRIBUTING.md', () => {
  const files = stepsOf(recipe)
    .slice(0, 5)
    .map((step) => /`((?:core|stream-service|web)\/[^`]+\.ts)`/.exec(step)?.[1] ?? '');

  it('names five files', () => expect(new Set(files.filter(Boolean)).size).toBe(5));

  it.each(Object.keys(encodedFormats))('is that of %s', (name) => {
    const own = files.map((file) => file.replace('flac', name));
    expect(own.filter((file) => !existsSync(join(ROOT, file)))).toEqual([]);
    const lines = own
      .filter((file) => /registry|formats/.test(file))
      .map((file) => readFileSync(join(ROOT, file), 'utf8'));
    for (const text of lines) expect(text).toContain(`import { ${name} } from './${name}.ts'`);
  });
});
