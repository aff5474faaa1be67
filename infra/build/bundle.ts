import { cp, mkdir, readdir, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build, type Plugin } from 'esbuild';

export interface BundleOptions {
  /** Receives `functions/<name>/index.mjs`, which exports `handler`, and `stream-service/main.mjs`. Other content is kept. */
  readonly outDir: string;
  /**
   * Function names, `stream-service` and `one-machine`: only these are rebuilt.
   * @default all but `one-machine`
   */
  readonly only?: readonly string[];
  /** Writes a source map beside each bundle, for analysis; nothing reads it at run time. @default false */
  readonly sourceMaps?: boolean;
}

const ROOT = join(import.meta.dirname, '../..');
const ENTRIES_DIR = join(ROOT, 'lambdas', 'entries');
const SWAGGER_DIR = dirname(fileURLToPath(import.meta.resolve('swagger-ui-dist/package.json')));

/** The yt-dlp plugin, which yt-dlp loads from the file system beside the bundle that starts it. */
const WORKER_FILES = { plugins: join(ROOT, 'layers', 'tools', 'plugins') };

/** Files and folders copied beside a bundle: bundle folder → target name → source path. */
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
    'strip-elf.ts': join(import.meta.dirname, 'strip-elf.ts'),
  },
  'one-machine/app': {
    ...WORKER_FILES,
    'health.mjs': join(ROOT, 'stream-service', 'task', 'health.mjs'),
    'swagger/swagger-ui.css': join(SWAGGER_DIR, 'swagger-ui.css'),
    'swagger/swagger-ui-bundle.js': join(SWAGGER_DIR, 'swagger-ui-bundle.js'),
    '../strip-elf.ts': join(import.meta.dirname, 'strip-elf.ts'),
  },
};

/** Empty folders of a bundle: an image takes them with their owner set, without running a command. */
const EMPTY_FOLDERS: Readonly<Record<string, readonly string[]>> = {
  'stream-service': ['scratch'],
  'one-machine/app': ['../data'],
};

const PARSING_WORKER = { 'parsing-worker': join(ROOT, 'core', 'parsing', 'parsing-worker.ts') };

/** Modules that are loaded late, whose bundles a cold start does not read: path → name of the bundle beside the one that loads it. */
const LATE_MODULES = new Map([[join(ROOT, 'lambdas', 'api', 'mcp', 'serve.ts'), 'mcp-messages']]);
const MCP_MESSAGES = Object.fromEntries([...LATE_MODULES].map(([path, name]) => [name, path]));

/** Further entry points, which a bundle starts as child programs or loads late: bundle folder → name without `.mjs` → source path. */
const EXTRA_PROGRAMS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'functions/get-resource': { ...PARSING_WORKER, ...MCP_MESSAGES },
  'stream-service': PARSING_WORKER,
  'one-machine/app': { ...PARSING_WORKER, ...MCP_MESSAGES, 'update-tools': join(ROOT, 'local', 'update-tools.ts') },
};

/** CommonJS dependencies use `require` for Node's built-in modules, and `__dirname`: ES modules define neither. */
const COMMONJS_BANNER = `import { createRequire } from 'node:module'; const require = createRequire(import.meta.url); const __dirname = import.meta.dirname;`;

/** One program. `file` is the name of its bundle without `.mjs`. */
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

/** The whole service for the container of one machine. Bundled by name only. */
const ONE_MACHINE: Program = {
  entry: join(ROOT, 'local', 'container.ts'),
  folder: 'one-machine/app',
  file: 'main',
};

/**
 * Bundles everything that runs in AWS: one self-contained folder per file of `lambdas/entries`, and one for the stream
 * service. Deterministic: the same sources give the same bytes, so that an unchanged asset is not uploaded again.
 * @throws Error when a source cannot be bundled, or when `only` has an unknown name
 */
export async function bundle({ outDir, only, sourceMaps = false }: BundleOptions): Promise<void> {
  const programs = await findPrograms();
  const chosen = (only ?? [...programs.keys()].filter((name) => name !== 'one-machine')).map((name) => {
    const program = programs.get(name);
    if (!program) throw new Error(`Unknown bundle: ${name}`);
    return program;
  });
  // Files of an earlier build would be deployed too.
  for (const { folder } of chosen) await rm(join(outDir, folder), { recursive: true, force: true });
  await compile(chosen, outDir, sourceMaps);
  for (const { folder } of chosen) await copySideFiles(folder, outDir);
}

/** Every program by name. */
async function findPrograms(): Promise<Map<string, Program>> {
  const files = (await readdir(ENTRIES_DIR)).filter((file) => file.endsWith('.ts')).sort();
  const functions = files.map((file): [string, Program] => {
    const name = basename(file, '.ts');
    return [name, { entry: join(ENTRIES_DIR, file), folder: `functions/${name}`, file: 'index' }];
  });
  return new Map([...functions, ['stream-service', STREAM_SERVICE], ['one-machine', ONE_MACHINE]]);
}

/** One esbuild run for all: shared sources are parsed once, and each bundle still gets its own copy. */
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
    // Prefers ES modules where a package has both formats: tree shaking needs them.
    mainFields: ['module', 'main'],
    plugins: [lateModulePlugin, sideEffectFreePlugin],
    minify: true,
    // Characters. Node prints the whole source line of an uncaught error, which would be most of a minified bundle.
    lineLimit: 500,
    // Keeps function names readable in stack traces.
    keepNames: true,
    sourcemap: sourceMaps && 'external',
    sourcesContent: false,
    banner: { js: COMMONJS_BANNER },
    logLevel: 'error',
  });
}

async function copySideFiles(folder: string, outDir: string): Promise<void> {
  for (const [to, from] of Object.entries(EXTRA_FILES[folder] ?? {})) {
    // Python's bytecode cache belongs to the build machine.
    const filter = (path: string) => basename(path) !== '__pycache__';
    await cp(from, join(outDir, folder, to), { recursive: true, filter });
  }
  for (const name of EMPTY_FOLDERS[folder] ?? []) await mkdir(join(outDir, folder, name), { recursive: true });
}

/** Leaves imports of late modules to run time. */
const lateModulePlugin: Plugin = {
  name: 'late-module',
  setup({ onResolve }) {
    onResolve({ filter: /^\.\.?\// }, ({ path, resolveDir, kind }) => {
      const name = kind === 'dynamic-import' ? LATE_MODULES.get(join(resolveDir, path)) : undefined;
      return name === undefined ? undefined : { path: `./${name}.mjs`, external: true };
    });
  },
};

/** Marks resolutions that this plugin started itself, so that it does not handle them again. */
const RESOLVED_BY_PLUGIN = Symbol('resolved-by-plugin');

/**
 * Declares every module of this repository, entry points aside, free of side effects on import (`sideEffects: false`).
 * esbuild can then drop unused modules of an index file together with the packages only they import, which halves the
 * size and cold start of the small functions.
 */
const sideEffectFreePlugin: Plugin = {
  name: 'side-effect-free',
  setup({ onResolve, resolve }) {
    onResolve(
      { filter: /^(?:\.\.?|@reelay)\// },
      async ({ path, importer, resolveDir, kind, with: attributes, pluginData }) => {
        const isEntry = kind === 'entry-point';
        if (pluginData === RESOLVED_BY_PLUGIN || isEntry || importer.includes('node_modules')) return undefined;
        const options = { importer, resolveDir, kind, with: attributes, pluginData: RESOLVED_BY_PLUGIN };
        return { ...(await resolve(path, options)), sideEffects: false };
      },
    );
  },
};
