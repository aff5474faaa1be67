import { readdirSync } from 'node:fs';
import { cp, rm, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build, type Plugin } from 'esbuild';
import { PINNED_FFMPEG } from '../../packages/yt-dlp-worker/src/ffmpeg/ffmpeg-providers.ts';

interface BundleOptions {
  /** Receives `functions/<name>/index.mjs`, which exports `handler`, and `stream-service/main.mjs`. Other content is kept. */
  readonly outDir: string;
  /**
   * Function names, `stream-service`, `one-machine` and `package`: only these are rebuilt.
   * @default all but the last two
   */
  readonly only?: readonly string[];
  /** Writes a source map beside each bundle, for analysis; nothing reads it at run time. @default false */
  readonly sourceMaps?: boolean;
}

const ROOT = join(import.meta.dirname, '../..');
const source = (path: string): string => join(ROOT, path);

const FUNCTIONS_DIR = source('lambdas/entries');
/** Names of all functions, by the files of their entries. */
export const FUNCTION_NAMES: readonly string[] = readdirSync(FUNCTIONS_DIR).map((file) => basename(file, '.ts'));

/** One folder of programs and of files beside them. */
interface Bundle {
  readonly folder: string;
  /** Entry points by the names of their bundles without `.mjs`: the program, its child programs, and modules that it loads late. */
  readonly programs: Readonly<Record<string, string>>;
  /** Paths of the files and folders that are copied, by their names there. */
  readonly files?: Readonly<Record<string, string>>;
  /** Texts of further files, by their names there. */
  readonly texts?: Readonly<Record<string, string>>;
}

/** Modules behind dynamic imports, by the names of their bundles: bundles of their own, so that a cold start does not read them. */
const MCP_MESSAGES = { 'mcp-messages': source('lambdas/api/mcp-server.ts') };
const CLIENT = { client: source('local/client.ts') };
const PLUGIN = { index: source('local/plugin.ts') };
const LATE_MODULES = new Map(
  Object.entries({ ...MCP_MESSAGES, ...CLIENT, ...PLUGIN }).map(([name, path]) => [path, name]),
);

const PARSING_WORKER = { 'parsing-worker': source('core/parsing/parsing-worker.ts') };
/** The yt-dlp plugin, which yt-dlp loads from the file system beside the bundle that starts it. */
const WORKER_FILES = { plugins: source('layers/tools/plugins') };
const HEALTH_CHECK = { 'health.mjs': source('stream-service/task/health.mjs') };
const STRIP_ELF = join(import.meta.dirname, 'strip-elf.ts');
const swaggerIn = (folder: string): Record<string, string> =>
  Object.fromEntries(
    ['swagger-ui.css', 'swagger-ui-bundle.js'].map((name) => [
      join(folder, name),
      fileURLToPath(import.meta.resolve(`swagger-ui-dist/${name}`)),
    ]),
  );
/** What the construct reads beside its bundle, the function of `@cdklabs/deploy-time-build` included. */
const INFRA_FILES = {
  'infra/regions.json': source('infra/regions.json'),
  ...Object.fromEntries(
    readdirSync(source('infra/constructs/edge'))
      .filter((file) => file.endsWith('.js'))
      .map((file) => [`infra/${file}`, source(`infra/constructs/edge/${file}`)]),
  ),
  'lambda/trigger-codebuild/dist': join(
    fileURLToPath(import.meta.resolve('@cdklabs/deploy-time-build')),
    '../../lambda/trigger-codebuild/dist',
  ),
};

/** Programs and files of functions besides their entries. */
const OF_FUNCTIONS: Readonly<Record<string, Partial<Bundle>>> = {
  'get-resource': { programs: { ...PARSING_WORKER, ...MCP_MESSAGES }, files: WORKER_FILES },
  canary: { files: WORKER_FILES },
  api: { files: swaggerIn('') },
};

const FUNCTIONS = FUNCTION_NAMES.map((name): [name: string, Bundle] => {
  const { programs, files = {} } = OF_FUNCTIONS[name] ?? {};
  return [
    name,
    { folder: `functions/${name}`, programs: { index: join(FUNCTIONS_DIR, `${name}.ts`), ...programs }, files },
  ];
});

/** What runs in AWS. */
const DEPLOYED: Readonly<Record<string, Bundle>> = {
  ...Object.fromEntries(FUNCTIONS),
  'stream-service': {
    folder: 'stream-service',
    programs: { main: source('stream-service/main.ts'), ...PARSING_WORKER },
    files: {
      ...WORKER_FILES,
      ...HEALTH_CHECK,
      Dockerfile: source('stream-service/Dockerfile'),
      'strip-elf.ts': STRIP_ELF,
    },
    texts: { 'ffmpeg.txt': `${PINNED_FFMPEG}\n` },
  },
};

const BUNDLES = new Map<string, Bundle>(
  Object.entries({
    ...DEPLOYED,
    /** The whole service for the container of one machine. */
    'one-machine': {
      folder: 'one-machine/app',
      programs: {
        main: source('local/container.ts'),
        'update-tools': source('local/update-tools.ts'),
        ...PARSING_WORKER,
        ...MCP_MESSAGES,
        ...CLIENT,
      },
      files: { ...WORKER_FILES, ...HEALTH_CHECK, ...swaggerIn('swagger'), '../strip-elf.ts': STRIP_ELF },
    },
    /** The program, the library and the construct of the package `reelay`. */
    package: {
      folder: 'package',
      programs: {
        reelay: source('local/package.ts'),
        'infra/index': source('infra/package.ts'),
        ...PARSING_WORKER,
        ...MCP_MESSAGES,
        ...CLIENT,
        ...PLUGIN,
      },
      files: { ...WORKER_FILES, ...swaggerIn('swagger'), ...INFRA_FILES },
    },
  }),
);

/** CommonJS dependencies use `require` for Node's built-in modules, `__dirname` and `__filename`: ES modules define none. */
const COMMONJS_BANNER = `import { createRequire } from 'node:module'; const require = createRequire(import.meta.url); const __dirname = import.meta.dirname; const __filename = import.meta.filename;`;

const NO_CREDENTIALS = Object.fromEntries(
  ['ini', 'process', 'sso', 'web-identity'].map((kind) => [
    `@aws-sdk/credential-provider-${kind}`,
    source('infra/build/no-credentials.ts'),
  ]),
);

/**
 * Bundles everything that runs in AWS: one self-contained folder per file of `lambdas/entries`, and one for the stream
 * service. Deterministic: the same sources give the same bytes, so that an unchanged asset is not uploaded again.
 * @throws Error when a source cannot be bundled, or when `only` has an unknown name
 */
export async function bundle({
  outDir,
  only = Object.keys(DEPLOYED),
  sourceMaps = false,
}: BundleOptions): Promise<void> {
  const bundles = only.map((name) => {
    const chosen = BUNDLES.get(name);
    if (!chosen) throw new Error(`Unknown bundle: ${name}`);
    return chosen;
  });
  // Files of an earlier build would be deployed too.
  for (const { folder } of bundles) await rm(join(outDir, folder), { recursive: true, force: true });
  // One run for all: shared sources are parsed once, and each bundle still gets its own copy.
  await build({
    entryPoints: bundles.flatMap(({ folder, programs }) =>
      Object.entries(programs).map(([name, path]) => ({ in: path, out: `${folder}/${name}` })),
    ),
    outdir: outDir,
    outExtension: { '.js': '.mjs' },
    absWorkingDir: ROOT,
    bundle: true,
    platform: 'node',
    // The package runs on the Node of its user.
    target: only.includes('package') ? 'node22' : 'node24',
    format: 'esm',
    // Prefers ES modules where a package has both formats: tree shaking needs them.
    mainFields: ['module', 'main'],
    // The app that contains the construct has them: parts of one app are of one copy.
    external: ['aws-cdk-lib', 'constructs'],
    plugins: [lateModulePlugin, requiredHttpPlugin, sideEffectFreePlugin, withoutMinifierPlugin],
    alias: NO_CREDENTIALS,
    minify: true,
    // In characters. Node prints the source line of an uncaught error, which without a limit would be most of the bundle.
    lineLimit: 500,
    // Keeps function names readable in stack traces.
    keepNames: true,
    sourcemap: sourceMaps && 'external',
    sourcesContent: false,
    banner: { js: COMMONJS_BANNER },
    logLevel: 'error',
  });
  for (const { folder, files = {}, texts = {} } of bundles) {
    for (const [to, from] of Object.entries(files)) {
      // Python's bytecode cache belongs to the build machine.
      const filter = (path: string) => basename(path) !== '__pycache__';
      await cp(from, join(outDir, folder, to), { recursive: true, filter });
    }
    for (const [name, text] of Object.entries(texts)) await writeFile(join(outDir, folder, name), text);
  }
}

/** Makes dynamic imports of `LATE_MODULES` load their bundles at run time. */
const lateModulePlugin: Plugin = {
  name: 'late-module',
  setup({ onResolve }) {
    onResolve({ filter: /^\.\.?\// }, ({ path, resolveDir, kind }) => {
      const name = kind === 'dynamic-import' ? LATE_MODULES.get(join(resolveDir, path)) : undefined;
      return name === undefined ? undefined : { path: `./${name}.mjs`, external: true };
    });
  },
};

/**
 * Requires `node:http`. An import of it reads all of its properties, and with `WebSocket` the whole of `fetch` is loaded: a third of
 * what a small function takes to start.
 */
const requiredHttpPlugin: Plugin = {
  name: 'required-http',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^(node:)?http$/ }, ({ kind }) =>
      kind === 'import-statement' ? { path: 'http', namespace: 'required' } : undefined,
    );
    onLoad({ filter: /^/, namespace: 'required' }, () => ({ contents: "module.exports = require('node:http')" }));
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

/** Leaves esbuild, which is no single file, out of the construct: the sources of the edge functions are minified in the package. */
const withoutMinifierPlugin: Plugin = {
  name: 'without-minifier',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^esbuild$/ }, ({ path }) => ({ path, namespace: 'without-minifier' }));
    onLoad({ filter: /./, namespace: 'without-minifier' }, () => ({
      contents: 'export const transformSync = (code) => ({ code });',
    }));
  },
};
