/**
 * `npm run dev -- trace-files`: lists the source files that a resolve and a stream cross, by V8 coverage. A file counts when one of its
 * functions runs between request and response, for each of several links: what other work runs meanwhile differs. Periodic work
 * does not run, since intervals are mocked. Module evaluation ends before, and entry files (`index.ts`) have no functions.
 * `--list` prints the files, `--json` their characters of code.
 */

import { mkdtemp, rm } from 'node:fs/promises';
import { type Profiler, Session } from 'node:inspector/promises';
import { tmpdir } from 'node:os';
import { join, relative, resolve } from 'node:path';
import { mock } from 'node:test';
import { fileURLToPath } from 'node:url';
import type { ResourceInformation } from '../clients/reelay-client/src/index.ts';
import { readSettings } from '../core/config/index.ts';
import { startService } from '../local/service/service.ts';
import { startOrigin } from '../test/origin/server.ts';
import { codeOfFiles } from '../test/structure/code-size.ts';

const ROOT = resolve(import.meta.dirname, '..');
/** What runs in AWS: a resolve is a function, a stream a task. The host of one machine (local/) is not counted. */
const RESOLVE_FOLDERS = /^(?:core|packages|lambdas|layers)\//;
const STREAM_FOLDERS = /^(?:core|packages|stream-service)\//;
const SEPARATE_TRACKS = '/site/watch/demo';
const LINKS = 3;

/** Module evaluation is the unnamed function that starts at offset 0. */
const isExecuted = ({ functionName, ranges: [range] }: Profiler.FunctionCoverage) =>
  range !== undefined && range.count > 0 && (functionName !== '' || range.startOffset > 0);

const inspector = new Session();
inspector.connect();
await inspector.post('Profiler.enable');
await inspector.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });

/** @returns files with a function that ran since the last call, relative to the repository */
async function takeFiles(folders: RegExp): Promise<string[]> {
  const { result } = await inspector.post('Profiler.takePreciseCoverage');
  return result
    .filter(({ url, functions }) => url.startsWith('file:') && functions.some(isExecuted))
    .map(({ url }) => relative(ROOT, fileURLToPath(url)))
    .filter((file) => folders.test(file))
    .sort();
}

/** By operation: the files that every request so far has crossed. */
const crossed = new Map<string, readonly string[]>();
function record(operation: string, status: number, files: readonly string[]): void {
  if (status !== 200) throw new Error(`${operation} answered ${status}`);
  const before = crossed.get(operation) ?? files;
  crossed.set(
    operation,
    before.filter((file) => files.includes(file)),
  );
}

mock.timers.enable({ apis: ['setInterval'] });
const dataDir = await mkdtemp(join(tmpdir(), 'reelay-trace-'));
const origin = await startOrigin({ port: 0 });
const service = await startService({
  settings: {
    ...readSettings({ ...process.env, HOST: '127.0.0.1', TOOLS_UPDATE_HOURS: '0', EGRESS_ALLOW: origin.host }),
    port: 0,
    dataDir,
  },
  pluginDirs: [join(ROOT, 'test/origin/plugin')],
  hasPage: false,
});
try {
  await service.ready;
  for (let link = 0; link < LINKS; link++) {
    await takeFiles(RESOLVE_FOLDERS);
    const url = encodeURIComponent(`${origin.url(SEPARATE_TRACKS)}?link=${link}`);
    const response = await fetch(`${service.baseUrl}/api/Fetch/GetResource?url=${url}`);
    const { mediaItems } = (await response.json()) as ResourceInformation;
    record('GetResource', response.status, await takeFiles(RESOLVE_FOLDERS));

    const [item] = mediaItems;
    const stream = async (operation: string, key: string | null | undefined) => {
      await takeFiles(STREAM_FOLDERS);
      const { status, body } = await fetch(`${service.baseUrl}/api/Stream/${operation}/${key}`);
      for await (const _ of body ?? []);
      record(operation, status, await takeFiles(STREAM_FOLDERS));
    };
    await stream('Media', item?.audio?.bestQualityKey);
    await stream('Combined', item?.video?.bestQualityKey);
  }
  const sizes = Object.fromEntries([...crossed].map(([operation, files]) => [operation, codeOfFiles(files)]));
  if (process.argv.includes('--json')) process.stdout.write(`${JSON.stringify(sizes)}\n`);
  else {
    for (const [operation, files] of crossed) {
      process.stdout.write(`${operation}: ${sizes[operation]} characters of code in ${files.length} files\n`);
      if (process.argv.includes('--list')) process.stdout.write(files.map((file) => `  ${file}\n`).join(''));
    }
  }
} finally {
  await service.close();
  await origin.close();
  await rm(dataDir, { recursive: true, force: true });
}
