import { globSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';

const ROOT = join(import.meta.dirname, '../..');
const IMPORT = /(?:\bfrom\s+|\bimport\s+|\bimport\(\s*|new URL\(\s*)['"]((?:\.|@reelay\/)[^'"]+)['"]/g;

/** Every source file of the project, tests aside, relative to the repository. */
export const sourceFiles: readonly string[] = globSync(
  '{clients,core,layers,lambdas,stream-service,infra,web,local,bench,scripts,packages/*/src}/**/*.{ts,tsx,mjs}',
  { cwd: ROOT },
)
  .filter((file) => !file.endsWith('.d.ts'))
  .sort();

/** The files that `file` imports, relative to the repository. Type-only and dynamic imports count too. */
export const importsOf = (file: string): readonly string[] =>
  [...readFileSync(join(ROOT, file), 'utf8').matchAll(IMPORT)].map(([, path = '']) =>
    path.startsWith('@') ? inPackage(path) : normalize(join(dirname(file), path)),
  );

/** The packages of the workspace by their names. */
const PACKAGES = new Map(
  globSync('{packages,layers}/*/package.json', { cwd: ROOT }).map((file) => {
    const { name, exports } = JSON.parse(readFileSync(join(ROOT, file), 'utf8'));
    return [name, { folder: dirname(file), exports }];
  }),
);

/** The file of a package that an import names: `@reelay/guarded-fetch/errors`. */
function inPackage(path: string): string {
  const [scope, name, ...rest] = path.split('/');
  const { folder = '', exports } = PACKAGES.get(`${scope}/${name}`) ?? {};
  const entry = ['.', ...rest].join('/');
  return join(folder, (exports[entry] ?? exports['./*']).replace('*', rest.join('/')));
}

/** Groups of files that import each other, directly or through others (Tarjan's strongly connected components). */
export function findCycles(graph: ReadonlyMap<string, readonly string[]>): string[][] {
  const indexOf = new Map<string, number>();
  const lowest = new Map<string, number>();
  const stack: string[] = [];
  const cycles: string[][] = [];

  const visit = (file: string): void => {
    indexOf.set(file, indexOf.size);
    lowest.set(file, indexOf.get(file) ?? 0);
    stack.push(file);
    for (const next of graph.get(file) ?? []) {
      if (!graph.has(next)) continue;
      if (!indexOf.has(next)) visit(next);
      if (stack.includes(next)) lowest.set(file, Math.min(lowest.get(file) ?? 0, lowest.get(next) ?? 0));
    }
    if (lowest.get(file) !== indexOf.get(file)) return;
    const group = stack.splice(stack.indexOf(file));
    if (group.length > 1 || graph.get(file)?.includes(file)) cycles.push(group.sort());
  };

  for (const file of graph.keys()) if (!indexOf.has(file)) visit(file);
  return cycles;
}
