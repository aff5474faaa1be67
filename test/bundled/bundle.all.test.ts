import { readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { isBuiltin } from 'node:module';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { bundle } from '../../infra/build/bundle.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const ROOT = join(import.meta.dirname, '../..');

const dist = await temporaryFolder();
await bundle({ outDir: dist, sourceMaps: true });

const ENTRIES = (await readdir(join(ROOT, 'lambdas/entries'))).map((file) => file.replace(/\.ts$/, ''));
const PROGRAMS = [
  ...ENTRIES.map((name) => `functions/${name}/index.mjs`),
  'functions/get-resource/mcp-messages.mjs',
  'functions/get-resource/parsing-worker.mjs',
  'stream-service/main.mjs',
  'stream-service/parsing-worker.mjs',
];

/** Packages whose sources a bundle contains. */
async function packagesOf(program: string): Promise<string[]> {
  const { sources }: { sources: string[] } = JSON.parse(await readFile(join(dist, `${program}.map`), 'utf8'));
  const names = sources.flatMap((source) => /.*node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(source)?.[1] ?? []);
  return [...new Set(names)].sort();
}

/** Packages that build, check and deploy, none of which belongs in a bundle. */
const TOOLING =
  /^(aws-cdk|aws-cdk-lib|cdk-nag|constructs|esbuild|typescript|vitest|vite|@biomejs\/.*|@types\/.*|axe-core|playwright-core|dynalite|level.*|preact|swagger-ui-dist)$/;

describe.each(PROGRAMS)('%s', (program) => {
  it('contains no build or deployment tooling', async () => {
    const packages = await packagesOf(program);
    expect(packages).not.toEqual([]);
    expect(packages.filter((name) => TOOLING.test(name))).toEqual([]);
  });

  it('imports only modules of Node, and none that loads its fetch client', async () => {
    const text = await readFile(join(dist, program), 'utf8');
    const imported = [...text.matchAll(/\bfrom\s?"([@\w][\w./:@-]+)"/g)].map(([, name = '']) => name);
    expect(imported.filter((name) => !isBuiltin(name) || /^(node:)?http$/.test(name))).toEqual([]);
  });
});

// Minified bytes: a cold start reads and compiles all of them.
describe('contents', () => {
  it.each([
    ['api', 500_000],
    ['get-resource', 2_000_000],
    // Its callers wait for a task.
    ['wake', 500_000],
    ['cost-guard', 550_000],
    ['origin-secret', 350_000],
    ['access-keys', 400_000],
    ['canary', 1_100_000],
  ])('%s has less than %d bytes', async (name, most) => {
    const { size } = await stat(join(dist, 'functions', name, 'index.mjs'));
    expect(size).toBeLessThan(most);
    expect(size).toBeGreaterThan(10_000);
  });

  it.each([
    ['api', ['undici', 'mediabunny', 'openpgp', '@aws-sdk/client-lambda', '@aws-sdk/client-s3']],
    ['get-resource', ['openpgp', 'yauzl', 'typebox', 'mediabunny', '@aws-sdk/client-s3', '@aws-sdk/client-ecs']],
    ['canary', ['openpgp', 'yauzl', 'mediabunny', '@aws-sdk/client-dynamodb']],
  ])('%s excludes %j', async (name, strangers) => {
    const packages = await packagesOf(`functions/${name}/index.mjs`);
    expect(packages.filter((each) => strangers.includes(each))).toEqual([]);
  });
});

describe('folder', () => {
  it.each([
    ['functions/get-resource', ['index.mjs', 'mcp-messages.mjs', 'parsing-worker.mjs', 'plugins']],
    ['functions/canary', ['index.mjs', 'plugins']],
    ['functions/api', ['index.mjs', 'swagger-ui-bundle.js', 'swagger-ui.css']],
    [
      'stream-service',
      ['Dockerfile', 'ffmpeg.txt', 'health.mjs', 'main.mjs', 'parsing-worker.mjs', 'plugins', 'strip-elf.ts'],
    ],
  ])('%s contains only files that its program or the build of its image reads', async (folder, files) => {
    const beside = await readdir(join(dist, folder));
    expect(beside.filter((file) => !file.endsWith('.map')).sort()).toEqual(files);
  });

  it('contains the yt-dlp plugin without bytecode caches', async () => {
    const files = await readdir(join(dist, 'functions/get-resource/plugins'), { recursive: true });
    expect(files.some((file) => file.endsWith('.py'))).toBe(true);
    expect(files.filter((file) => file.includes('__pycache__'))).toEqual([]);
  });
});

describe('bundle of a selection', () => {
  const made = async (only?: readonly string[]) => {
    const outDir = await temporaryFolder();
    await bundle({ outDir, ...(only && { only }) });
    return outDir;
  };

  it('contains the selected programs only, and is reproducible', async () => {
    const [first, second] = [await made(['origin-secret']), await made(['origin-secret'])];
    expect((await readdir(first, { recursive: true })).sort()).toEqual([
      'functions',
      'functions/origin-secret',
      'functions/origin-secret/index.mjs',
    ]);
    const file = 'functions/origin-secret/index.mjs';
    expect((await readFile(join(first, file))).equals(await readFile(join(second, file)))).toBe(true);
  });

  it('replaces the files of an earlier bundle, and no others', async () => {
    const outDir = await made(['origin-secret']);
    await writeFile(join(outDir, 'functions/origin-secret/old.txt'), '');
    await writeFile(join(outDir, 'functions/other.txt'), '');
    await bundle({ outDir, only: ['origin-secret'] });
    expect((await readdir(join(outDir, 'functions'))).sort()).toEqual(['origin-secret', 'other.txt']);
    expect(await readdir(join(outDir, 'functions/origin-secret'))).not.toContain('old.txt');
  });

  it('may be empty', async () => expect(await readdir(await made([]))).toEqual([]));

  it.each(['constructor', '../origin-secret', 'Origin-Secret', ''])('rejects the unknown name %j', async (name) => {
    await expect(bundle({ outDir: dist, only: ['origin-secret', name] })).rejects.toThrow(`Unknown bundle: ${name}`);
  });
});
