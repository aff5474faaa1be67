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
  // Types alone, see below: nothing of the service comes into a browser.
  web: ['layers/contract'],
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

  it.each(files.filter((file) => file.startsWith('web/')))('%s takes types alone from the layers', (file) => {
    const statements = readFileSync(join(ROOT, file), 'utf8').match(/^(?:im|ex)port\b[^;]*\/layers\/[^;]*;/gm) ?? [];
    expect(statements.filter((statement) => !/^(?:im|ex)port type\b/.test(statement))).toEqual([]);
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
