import { globSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { EXAMPLES, PACKAGES, readExample } from './package-examples.ts';

describe('an example of a package', () => {
  it('is run, whichever it is', () => {
    const paths = EXAMPLES.map(({ name, file }) => join(name, file));
    expect(paths.toSorted()).toEqual(globSync('*/example*.ts', { cwd: PACKAGES }).toSorted());
  });

  it.each(EXAMPLES)('is that of the README: $file of $name', async (example) => {
    const readme = await readFile(join(PACKAGES, example.name, 'README.md'), 'utf8');
    expect(readme).toContain(`\`\`\`ts\n${await readExample(example)}\`\`\``);
  });

  it.each(EXAMPLES)('that of $name $does', ({ name, file, check }) => check(join(PACKAGES, name, file)));
});
