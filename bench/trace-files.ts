/**
 * `npm run trace-files`: lists the source files that one resolve and one stream cross, by V8 coverage. A file counts when
 * one of its functions runs between request and response. Excluded are module evaluation, which ends before, entry files
 * (`index.ts`), which have no functions, and functions that also run without requests: timers and pings of the worker.
 */

import { mkdtemp, rm } from 'node:fs/promises';
import { type Profiler, Session } from 'node:inspector/promises';
import { tmpdir } from 'node:os';
import { join, relative, resolve } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { readSettings } from '../core/config/index.ts';
import type { ResourceInformation } from '../lambdas/api/index.ts';
import { startService } from '../local/service.ts';
import { startOrigin } from '../test/origin/server.ts';

const ROOT = resolve(import.meta.dirname, '..');
/** What runs in AWS too. The host of one machine (local/) is not counted. */
const COUNTED = /^(core|lambdas|layers|stream-service)\//;
const SEPARATE_TRACKS = '/site/watch/demo';

/** Module evaluation is the unnamed function that starts at offset 0. */
const isExecuted = ({ functionName, ranges: [range] }: Profiler.FunctionCoverage) =>
  range !== undefined && range.count > 0 && (functionName !== '' || range.startOffset > 0);

const inspector = new Session();
inspector.connect();
await inspector.post('Profiler.enable');
await inspector.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });

/** Functions of periodic work, as `url offset`. */
const periodic = new Set<string>();
/** Longer than the interval of the periodic work that may fall into the run: stalled clients are checked every 15 s. */
const IDLE_MS = 16_000;

/** @returns the functions that ran since the last call: the offset of each, by the URL of its file */
async function takeFunctions(): Promise<[url: string, id: string][]> {
  const { result } = await inspector.post('Profiler.takePreciseCoverage');
  return result.flatMap(({ url, functions }) =>
    functions.filter(isExecuted).map(({ ranges }): [string, string] => [url, `${url} ${ranges[0]?.startOffset}`]),
  );
}

/** @returns files with a function that ran since the last call, relative to the repository */
async function takeFiles(): Promise<string[]> {
  const files = (await takeFunctions())
    .filter(([url, id]) => url.startsWith('file:') && !periodic.has(id))
    .map(([url]) => relative(ROOT, fileURLToPath(url)));
  return [...new Set(files)].filter((file) => COUNTED.test(file)).sort();
}

const isVerbose = process.argv.includes('--list');
function report(title: string, files: readonly string[]): void {
  const folders = Map.groupBy(files, (file) => file.split('/')[0] ?? '');
  const counts = [...folders].map(([folder, { length }]) => `${folder} ${length}`).join(', ');
  process.stdout.write(`${title}: ${files.length} files (${counts})\n`);
  if (isVerbose) process.stdout.write(files.map((file) => `  ${file}\n`).join(''));
}

const dataDir = await mkdtemp(join(tmpdir(), 'reelay-trace-'));
const origin = await startOrigin({ port: 0 });
const service = await startService({
  settings: {
    ...readSettings({ ...process.env, HOST: '127.0.0.1', TOOLS_UPDATE_HOURS: '0', EGRESS_ALLOW: origin.host }),
    port: 0,
    dataDir,
  },
  pluginDirs: [join(ROOT, 'test/origin/plugin')],
});
try {
  await service.ready;
  await takeFiles();
  await setTimeout(IDLE_MS);
  for (const [, id] of await takeFunctions()) periodic.add(id);
  const link = encodeURIComponent(origin.url(SEPARATE_TRACKS));
  const response = await fetch(`${service.baseUrl}/api/Fetch/GetResource?url=${link}`);
  const { mediaItems } = (await response.json()) as ResourceInformation;
  report('GetResource', await takeFiles());

  const [item] = mediaItems;
  const stream = async (title: string, path: string) => {
    await takeFiles();
    const { status, body } = await fetch(`${service.baseUrl}/api/Stream/${path}`);
    for await (const _ of body ?? []);
    report(`${title} (${status})`, await takeFiles());
  };
  await stream('Media', `Media/${item?.audio?.bestQualityKey}`);
  await stream('Combined', `Combined/${item?.video?.bestQualityKey}`);
} finally {
  await service.close();
  await origin.close();
  await rm(dataDir, { recursive: true, force: true });
}
