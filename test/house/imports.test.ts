import { globSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { describe, expect, it } from 'vitest';

const ROOT = join(import.meta.dirname, '../..');
const IMPORT = /(?:\bfrom\s+|\bimport\s+|\bimport\(\s*|new URL\(\s*)['"](\.[^'"]+)['"]/g;

/** What each room may import, besides itself. `*`: everything. */
const RULES: Readonly<Record<string, readonly string[]>> = {
  'layers/contract': [],
  'layers/settings': [],
  'layers/state': ['layers/contract'],
  'layers/egress': ['layers/contract'],
  'layers/tools': ['layers/contract'],
  'layers/extraction': ['layers/contract', 'layers/state', 'layers/egress', 'layers/tools'],
  lambdas: ['layers', 'package.json'],
  'stream-service': ['layers'],
  infra: [],
  web: [],
  local: ['*'],
  bench: ['*'],
  test: ['*'],
};

const roomOf = (path: string) =>
  Object.keys(RULES).find((room) => path === room || path.startsWith(`${room}/`)) ?? path.split('/')[0] ?? path;

const files = globSync('{layers,lambdas,stream-service,infra,web,local,bench}/**/*.{ts,tsx,mjs}', { cwd: ROOT });

const importsOf = (file: string) =>
  [...readFileSync(join(ROOT, file), 'utf8').matchAll(IMPORT)].map(([, path = '']) =>
    normalize(join(dirname(file), path)),
  );

describe('who may import whom', () => {
  it('sees the files of every room', () => expect(files.length).toBeGreaterThan(20));

  it.each(files)('%s stays within its rule', (file) => {
    const room = roomOf(file);
    const allowed = RULES[room];
    expect(allowed, `${file} is in no room that the design knows`).toBeDefined();
    const strangers = importsOf(file).filter(
      (path) => roomOf(path) !== room && !allowed?.some((to) => to === '*' || path === to || path.startsWith(`${to}/`)),
    );
    expect(strangers).toEqual([]);
  });

  it('rooms of layers are entered through their index', () => {
    const inside = files.flatMap((file) =>
      importsOf(file)
        .filter((path) => path.startsWith('layers/') && roomOf(path) !== roomOf(file) && !path.endsWith('/index.ts'))
        .map((path) => `${file} → ${path}`),
    );
    expect(inside).toEqual([]);
  });
});
