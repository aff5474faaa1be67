import { globSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { findCycles, importsOf, sourceFiles } from './import-graph.ts';

const ROOT = join(import.meta.dirname, '../..');
const PURE = ['packages', 'core/config', 'core/conversions', 'core/errors', 'core/log'];
const PROTOCOL = [...PURE, 'core/api', 'core/http', 'core/spending'];
const INFRASTRUCTURE = [...PROTOCOL, 'core/state', 'core/egress', 'core/parsing'];

/** What each area may import besides itself. `*`: everything. */
const ALLOWED: Readonly<Record<string, readonly string[]>> = {
  // Published by itself, and part of the page.
  clients: [],
  packages: ['layers/tools'],
  'core/config': ['packages'],
  'core/conversions': ['packages'],
  'core/errors': ['packages'],
  'core/findings': [],
  'core/log': [],
  'core/spending': [],
  'core/http': PURE,
  'core/api': [...PURE, 'core/http'],
  'core/state': PROTOCOL,
  'core/egress': PROTOCOL,
  layers: [],
  'core/parsing': [...PURE, 'core/state'],
  'core/resolve': INFRASTRUCTURE,
  lambdas: ['core', 'packages', 'package.json'],
  'stream-service': ['core', 'packages'],
  'infra/build': ['packages'],
  infra: ['core/config', 'core/api', 'core/findings', 'core/spending', 'infra/build', 'web/security-headers.json'],
  web: ['clients', 'core/conversions/formats'],
  local: ['*'],
  bench: ['*'],
  scripts: ['*'],
};

const isWithin = (path: string, folder: string) => path === folder || path.startsWith(`${folder}/`);
const areaOf = (path: string) => Object.keys(ALLOWED).find((area) => isWithin(path, area)) ?? path;

/** A folder's files are visible to the folder itself and to its subfolders; everyone else sees its index. */
const isVisible = (from: string, path: string) =>
  basename(path) === 'index.ts' ||
  isWithin(path, 'packages') ||
  dirname(path) === '.' ||
  isWithin(dirname(from), dirname(path));

/** Files that are read as data or run as programs rather than imported as modules. */
const isModule = (path: string) => /\.tsx?$/.test(path);

describe('imports between areas', () => {
  it('covers every area', () => {
    expect(new Set(sourceFiles.map(areaOf))).toEqual(new Set(Object.keys(ALLOWED)));
  });

  it('are those that the area allows', () => {
    const isAllowed = (file: string, path: string) =>
      areaOf(path) === areaOf(file) || (ALLOWED[areaOf(file)] ?? []).some((to) => to === '*' || isWithin(path, to));
    const forbidden = sourceFiles.flatMap((file) =>
      importsOf(file)
        .filter((path) => !isAllowed(file, path))
        .map((path) => `${file} → ${path}`),
    );
    expect(forbidden).toEqual([]);
  });
});

describe('packages', () => {
  it.each(globSync('packages/*', { cwd: ROOT }))(
    '%s imports nothing but its own files and its dependencies',
    (folder) => {
      const { dependencies } = JSON.parse(readFileSync(join(ROOT, folder, 'package.json'), 'utf8'));
      const isOwn = (file: string, name: string) =>
        name.startsWith('.') ? isWithin(join(dirname(file), name), `${folder}/src`) : name.startsWith('node:');
      const foreign = globSync(`${folder}/src/**/*.ts`, { cwd: ROOT }).flatMap((file) =>
        [...readFileSync(join(ROOT, file), 'utf8').matchAll(/\b(?:from |import\(|import )'([^']+)'/g)]
          .map(([, name = '']) => name)
          .filter((name) => !isOwn(file, name) && !Object.keys(dependencies).some((to) => isWithin(name, to)))
          .map((name) => `${file} → ${name}`),
      );
      expect(foreign).toEqual([]);
    },
  );

  it('seekable-media loads nothing but its own files and a hash from its main entry', () => {
    const loaded = (file: string) =>
      [
        ...readFileSync(join(ROOT, file), 'utf8').matchAll(
          /^(?:import|export) (?!type )(?:[^;'=(]* from )?'([^']+)'/gm,
        ),
      ].map(([, name = '']) => name);
    const files = new Set(['packages/seekable-media/src/index.ts']);
    const foreign = new Set<string>();
    for (const file of files)
      for (const name of loaded(file)) {
        if (name.startsWith('.')) files.add(join(dirname(file), name));
        else foreign.add(name);
      }
    expect(files.size).toBeGreaterThan(50);
    expect(foreign).toEqual(new Set(['node:crypto']));
    // Subtitles and manifests are read behind entries of their own.
    const ownEntries = ['text/subtitles.ts', 'dash.ts'].map((file) => `packages/seekable-media/src/${file}`);
    expect(ownEntries.filter((file) => files.has(file))).toEqual([]);
  });
});

describe('folder entry points', () => {
  it('are the only files of a folder that other folders import', () => {
    const bypasses = sourceFiles
      .filter((file) => !isWithin(file, 'bench'))
      .flatMap((file) =>
        importsOf(file)
          .filter((path) => isModule(path) && !isWithin(path, 'test') && !isVisible(file, path))
          .map((path) => `${file} → ${path}`),
      );
    expect(bypasses).toEqual([]);
  });

  it('name every export', () => {
    const wildcards = sourceFiles.filter(
      (file) =>
        basename(file) === 'index.ts' && /^export (?:type )?\* from/m.test(readFileSync(join(ROOT, file), 'utf8')),
    );
    expect(wildcards).toEqual([]);
  });
});

describe('kinds of sources', () => {
  it('are told apart by their capabilities, not by their names', () => {
    const comparing = sourceFiles.filter((file) => /\bdelivery [=!]== '/.test(readFileSync(join(ROOT, file), 'utf8')));
    expect(comparing).toEqual([]);
  });
});

describe('import cycles', () => {
  it('are found in a graph that has some', () => {
    const graph = new Map([
      ['a', ['b']],
      ['b', ['c']],
      ['c', ['a', 'd']],
      ['d', []],
      ['e', ['e']],
    ]);
    expect(findCycles(graph)).toEqual([['a', 'b', 'c'], ['e']]);
  });

  it('do not exist, type-only imports included', () => {
    expect(findCycles(new Map(sourceFiles.map((file) => [file, importsOf(file)])))).toEqual([]);
  });
});
