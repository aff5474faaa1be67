import { existsSync, globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

const ROOT = join(import.meta.dirname, '../..');
const text = readFileSync(join(ROOT, 'SECURITY.md'), 'utf8');
const [defended = ''] = text.split('## What is defended\n')[1]?.split(/^## /m) ?? [];
const [, ...sections] = defended.split(/^### /m);

describe('SECURITY.md', () => {
  it('has a section for each boundary', () => expect(sections.length).toBeGreaterThan(8));

  it.each(sections.map((section) => [section.split('\n', 1)[0] ?? '', section]))(
    'names tests that exist for the boundary: %s',
    (_, section) => {
      const files = [...section.matchAll(/`(test\/[^`]+)`/g)].map(([, file = '']) => file);
      expect(files).not.toEqual([]);
      expect(files.filter((file) => !file.endsWith('.test.ts') || !existsSync(join(ROOT, file)))).toEqual([]);
    },
  );
});

it('test/attacks/README.md names tests that exist for each finding', () => {
  const rows = readFileSync(join(ROOT, 'test/attacks/README.md'), 'utf8').matchAll(/^- .+?: (`.*)$/gm);
  const named = [...rows].flatMap(([, tests = '']) =>
    [...tests.matchAll(/`([\w-]+\/[\w/-]+)`/g)].map(([, name = '']) => name),
  );
  expect(named.length).toBeGreaterThan(50);
  // Packages have tests beside them.
  const isTest = (name: string) =>
    globSync([`test/${name}{/*,.*,-*}`, `packages/${name.replace('/', '/test/')}{/*,.*,-*}`], { cwd: ROOT }).some(
      (file) => file.endsWith('.test.ts'),
    );
  expect(named.filter((name) => !isTest(name))).toEqual([]);
});
