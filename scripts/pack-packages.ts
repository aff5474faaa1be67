import { globSync } from 'node:fs';
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';
import packageFile from '../package.json' with { type: 'json' };
import { packTarball, runCommand } from './command-line.ts';
import { repositoryFields } from './release.ts';

const ROOT = resolve(import.meta.dirname, '..');
const { workspaces, engines } = packageFile;
const NOT_PACKED = new Set(['node_modules', 'test', '__pycache__']);

/** A package of the workspace: parts of its `package.json`. */
interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly exports: Readonly<Record<string, string>>;
}

/**
 * Writes each package of the workspace as a tarball. It has JavaScript and declarations in place of TypeScript, which Node does not run below
 * `node_modules`; `exports` name them.
 * @param target is emptied
 * @returns the tarballs, by the names of the packages
 */
export async function packPackages(target = join(ROOT, 'dist/packages')): Promise<ReadonlyMap<string, string>> {
  const work = await mkdtemp(join(ROOT, 'node_modules/.reelay-packages-'));
  try {
    await compile(work);
    await rm(target, { recursive: true, force: true });
    await mkdir(target, { recursive: true });
    const fields = { engines, ...(await repositoryFields(ROOT)) };
    const packed = globSync(workspaces, { cwd: ROOT }).map(async (folder) => {
      const [source, staged] = [join(ROOT, folder), join(work, folder)];
      const isPacked = (path: string) => !NOT_PACKED.has(basename(path)) && !path.endsWith('.ts');
      await cp(source, staged, { recursive: true, filter: isPacked });
      await cp(join(ROOT, 'LICENSE'), join(staged, 'LICENSE'));
      const manifest: Manifest = JSON.parse(await readFile(join(source, 'package.json'), 'utf8'));
      const exports = Object.entries(manifest.exports).map(([name, file]) => [name, file.replace(/\.ts$/, '.js')]);
      const written = { ...manifest, ...fields, exports: Object.fromEntries(exports) };
      await writeFile(join(staged, 'package.json'), `${JSON.stringify(written, null, 2)}\n`);
      return [manifest.name, await packTarball(staged, target)] as const;
    });
    return new Map(await Promise.all(packed));
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

/** Compiles the sources of all packages, which import each other. */
async function compile(outDir: string): Promise<void> {
  const emitting = { noEmit: false, declaration: true, rewriteRelativeImportExtensions: true };
  const project = {
    extends: join(ROOT, 'tsconfig.json'),
    compilerOptions: { ...emitting, rootDir: ROOT, outDir },
    include: workspaces.flatMap((folder) => [join(ROOT, folder, '*.ts'), join(ROOT, folder, 'src/**/*.ts')]),
    exclude: [join(ROOT, 'packages/*/example*.ts')],
  };
  await writeFile(join(outDir, 'tsconfig.json'), JSON.stringify(project));
  await runCommand(process.execPath, [join(ROOT, 'node_modules/typescript/bin/tsc'), '-p', outDir]);
}

if (import.meta.main) for (const file of (await packPackages()).values()) console.log(file);
