import { cp, readdir, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { sideEffectFreePlugin } from './side-effect-free-plugin.ts';

export interface BundleOptions {
  /** Gets `functions/<name>/index.mjs`, which exports `handler`, and `stream-service/main.mjs`. The rest of it is left alone. */
  readonly outDir: string;
  /** Names of functions, and `stream-service`: nothing else is made, or touched. @default all */
  readonly only?: readonly string[];
  /** Puts a source map beside each program, for whoever asks what is in it. @default false: nothing that runs reads it */
  readonly sourceMaps?: boolean;
}

const ROOT = join(import.meta.dirname, '../..');
const ENTRIES_DIR = join(ROOT, 'lambdas', 'entries');
const SWAGGER_DIR = dirname(fileURLToPath(import.meta.resolve('swagger-ui-dist/package.json')));

/** What yt-dlp loads as a plugin: read from the file system beside the bundle that starts it. */
const WORKER_FILES = { plugins: join(ROOT, 'layers', 'tools', 'worker', 'plugins') };

/** Files and folders beside a bundle, by their names there. */
const EXTRA_FILES: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'functions/get-resource': WORKER_FILES,
  'functions/canary': WORKER_FILES,
  'functions/get-api-description': {
    'swagger-ui.css': join(SWAGGER_DIR, 'swagger-ui.css'),
    'swagger-ui-bundle.js': join(SWAGGER_DIR, 'swagger-ui-bundle.js'),
  },
  'stream-service': {
    ...WORKER_FILES,
    'health.mjs': join(ROOT, 'stream-service', 'task', 'health.mjs'),
    Dockerfile: join(ROOT, 'stream-service', 'Dockerfile'),
  },
};

/** Programs that one in the same folder starts, by their names there, without `.mjs`. */
const EXTRA_PROGRAMS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'functions/get-resource': { 'probe-worker': join(ROOT, 'core', 'resolve', 'probe', 'probe-worker.ts') },
};

/** Packages of CommonJS ask for Node's modules by `require`, which a module does not have. */
const REQUIRE_BANNER = `import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);`;

/** What runs in AWS: where it begins, and what becomes of it, without `.mjs`. */
interface Program {
  readonly entry: string;
  readonly folder: string;
  readonly file: string;
}

const STREAM_SERVICE: Program = {
  entry: join(ROOT, 'stream-service', 'main.ts'),
  folder: 'stream-service',
  file: 'main',
};

/**
 * Makes what runs in AWS: one folder for each file of `lambdas/entries`, and one for the stream service, each with all it
 * needs. The same sources give the same bytes.
 * @throws Error when a source cannot be bundled, or nothing has a name of `only`
 */
export async function bundle({ outDir, only, sourceMaps = false }: BundleOptions): Promise<void> {
  const programs = await findPrograms();
  const chosen = (only ?? [...programs.keys()]).map((name) => {
    const program = programs.get(name);
    if (!program) throw new Error(`There is no ${name} to bundle`);
    return program;
  });
  // What an earlier bundle left would be deployed too.
  for (const { folder } of chosen) await rm(join(outDir, folder), { recursive: true, force: true });
  await compile(chosen, outDir, sourceMaps);
  for (const { folder } of chosen) await copySideFiles(folder, outDir);
}

/** By name. */
async function findPrograms(): Promise<Map<string, Program>> {
  const files = (await readdir(ENTRIES_DIR)).filter((file) => file.endsWith('.ts')).sort();
  const functions = files.map((file): [string, Program] => {
    const name = basename(file, '.ts');
    return [name, { entry: join(ENTRIES_DIR, file), folder: `functions/${name}`, file: 'index' }];
  });
  return new Map([...functions, ['stream-service', STREAM_SERVICE]]);
}

/** All at once: what they share is read once, and each still gets its own copy. */
async function compile(programs: readonly Program[], outDir: string, sourceMaps: boolean): Promise<void> {
  await build({
    entryPoints: programs.flatMap(({ entry, folder, file }) =>
      Object.entries({ [file]: entry, ...EXTRA_PROGRAMS[folder] }).map(([name, path]) => ({
        in: path,
        out: `${folder}/${name}`,
      })),
    ),
    outdir: outDir,
    outExtension: { '.js': '.mjs' },
    absWorkingDir: ROOT,
    bundle: true,
    platform: 'node',
    target: 'node24',
    format: 'esm',
    // Of packages that have both: what a function does not use falls away from modules alone.
    mainFields: ['module', 'main'],
    plugins: [sideEffectFreePlugin],
    minify: true,
    // Characters. Node shows the whole line that an error was thrown in, which would be most of the program.
    lineLimit: 500,
    // Of functions: what stack traces are read by.
    keepNames: true,
    sourcemap: sourceMaps && 'external',
    sourcesContent: false,
    banner: { js: REQUIRE_BANNER },
    logLevel: 'error',
  });
}

async function copySideFiles(folder: string, outDir: string): Promise<void> {
  for (const [to, from] of Object.entries(EXTRA_FILES[folder] ?? {})) {
    // What Python has compiled here is of this machine.
    const filter = (path: string) => basename(path) !== '__pycache__';
    await cp(from, join(outDir, folder, to), { recursive: true, filter });
  }
}
