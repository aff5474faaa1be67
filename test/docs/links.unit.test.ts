import { existsSync, globSync, readFileSync } from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import { describe, expect, it } from 'vitest';
import { routes } from '../../core/api/operations.ts';

const ROOT = join(import.meta.dirname, '../..');
const documents = globSync('{*.md,docs/**/*.md,web/**/*.md,test/**/*.md}', { cwd: ROOT })
  .filter((file) => !file.includes('node_modules'))
  .sort();
const LINK = /\]\(([^)\s]+)\)/g;
const HEADING = /^#+\s+(.+)$/gm;

/** Without code blocks. */
const read = (file: string) => readFileSync(join(ROOT, file), 'utf8').replaceAll(/^```[\s\S]*?^```/gm, '');
/** The anchor that a heading gets where the repository is hosted. */
const anchorOf = (heading: string) =>
  heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
    .replaceAll(' ', '-');
const anchorsOf = (file: string) => [...read(file).matchAll(HEADING)].map(([, heading = '']) => anchorOf(heading));

describe('documents', () => {
  it('include README, CONTRIBUTING and the other expected files', () => {
    expect(documents).toEqual(
      expect.arrayContaining(['README.md', 'CONTRIBUTING.md', 'SECURITY.md', 'AGENTS.md', 'CHANGELOG.md']),
    );
  });

  it('link only to files and headings that exist', () => {
    const isBroken = (file: string, target: string) => {
      const [path = '', anchor] = target.split('#');
      const to = path === '' ? file : relative(ROOT, join(ROOT, dirname(file), path));
      return !existsSync(join(ROOT, to)) || (anchor !== undefined && !anchorsOf(to).includes(anchor));
    };
    const broken = documents.flatMap((file) =>
      [...read(file).matchAll(LINK)]
        .map(([, target = '']) => target)
        .filter((target) => !/^(?:https?:|mailto:)/.test(target) && isBroken(file, target))
        .map((target) => `${file} → ${target}`),
    );
    expect(broken).toEqual([]);
  });

  it('architecture.md names only files that exist, and every folder of code', () => {
    const text = read('docs/architecture.md');
    // A name alone is in the folder of the file before it.
    let folder = '';
    const missing = [...text.matchAll(/`((?:[\w-]+\/)*[\w-]+\.(?:ts|mjs)|(?:[\w-]+\/)+[\w-]+)`/g)]
      .map(([, name = '']) => {
        const path = name.includes('/') ? name : join(folder, name);
        folder = dirname(path);
        return path;
      })
      .filter((path) => !existsSync(join(ROOT, path)));
    expect(missing).toEqual([]);
    const ignored = readFileSync(join(ROOT, '.gitignore'), 'utf8').split(/\/?\n/);
    const parts = ['core', 'packages', 'stream-service', 'lambdas', 'infra', 'local', 'layers', 'clients'];
    const depths = ['*', ...parts.map((part) => `${part}/*`), 'core/*/*', 'stream-service/outputs/*'];
    const folders = globSync(depths, { cwd: ROOT, withFileTypes: true })
      .filter((entry) => entry.isDirectory() && !ignored.includes(entry.name) && entry.name !== 'core')
      .map(({ parentPath, name }) => relative(ROOT, join(parentPath, name)));
    expect(folders).toEqual(expect.arrayContaining(['core/http', 'stream-service/outputs/layout', 'lambdas/api']));
    const lines = text.split('\n');
    // By its path, or by its name where its parent is the subject.
    const isNamed = (path: string) =>
      text.includes(`\`${path}\``) ||
      lines.some(
        (line) =>
          line.includes(`\`${dirname(path)}`) &&
          [`\`${basename(path)}/\``, `\`${basename(path)}\``].some((name) => line.includes(name)),
      );
    expect(folders.filter((path) => !isNamed(path))).toEqual([]);
  });

  it('CHANGELOG.md has each heading of a version once', () => {
    for (const version of read('CHANGELOG.md').split(/^## /m)) {
      const headings = version.match(/^### .+$/gm) ?? [];
      expect(headings).toEqual([...new Set(headings)]);
      expect(headings).toEqual(
        headings.filter((heading) => /^### (?:Added|Changed|Fixed|Removed|Security)$/.test(heading)),
      );
    }
  });

  it('name only npm scripts and parts of them that exist', () => {
    const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
    const COMMAND = /\bnpm run ([\w:-]+)(?:(?<=dev|build) -- (?!page\b)([a-z][\w-]*))?/g;
    const named = documents.flatMap((file) => [...readFileSync(join(ROOT, file), 'utf8').matchAll(COMMAND)]);
    expect(named.filter(([, , part]) => part !== undefined).length).toBeGreaterThan(3);
    const exists = (script: string, part?: string) =>
      script in scripts && (part === undefined || scripts[script].includes(` ${part}=`));
    expect(named.filter(([, script = '', part]) => !exists(script, part)).map(([command]) => command)).toEqual([]);
  });

  it('name only paths of the API that exist', () => {
    const known = routes.map(({ path }) => path.split('/'));
    // Any segment may be the value of a path parameter. A path that ends with a slash names all below it.
    const exists = (named: readonly string[]) =>
      known.some(
        (path) =>
          (path.length === named.length || named.at(-1) === '') &&
          named.every((part, at) => part === '' || path[at]?.startsWith('{') || part === path[at]),
      );
    // Folders of the sources are in small letters.
    const PATH = /\/api\/[A-Z][\w/{}.-]*[\w/}]/g;
    const named = documents
      .filter((file) => file !== 'CHANGELOG.md')
      .flatMap((file) => [...readFileSync(join(ROOT, file), 'utf8').matchAll(PATH)].map(([path]) => path));
    expect(named.length).toBeGreaterThan(30);
    expect(named.filter((path) => !exists(path.split('/')))).toEqual([]);
  });
});
