/** `npm run verify -- https://instance.example [--link …]`: runs the contract suite against a running instance. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { formatFindings, hasProblem } from '../../core/findings/index.ts';
import { createPacedRequests } from '../../test/contract/paced-requests.ts';
import { UsageError } from '../command-line.ts';
import { parseOptions, readLinks, USAGE, type VerifyOptions } from './options.ts';
import { findingsOf, streamLinks } from './sites.ts';

/** The instance cannot be verified; the message says why. */
class NotVerifiable extends Error {
  readonly exitCode: number;

  constructor(exitCode: number, message: string) {
    super(message);
    this.exitCode = exitCode;
  }
}

type Requests = ReturnType<typeof createPacedRequests>;

const ROOT = resolve(import.meta.dirname, '../..');
/** Those with tests of any instance. */
const FILES = ['instance', 'app', 'http', 'openapi', 'failures'].map((name) => `test/contract/${name}.test.ts`);
const MAINTENANCE_POLL_MS = 5_000;
const MIN_TEST_MS = 180_000;

const say = (line: string) => process.stdout.write(`${line}\n`);

async function main(args: readonly string[]): Promise<number> {
  if (args.includes('--help')) {
    say(USAGE);
    return 0;
  }
  const options = parseOptions(args, process.env);
  const listed = options.linksFile === undefined ? [] : await readLinks(options.linksFile);
  const request = createPacedRequests(options.baseUrl, options);
  await awaitService(request, options);
  let status = await runSuite(options);
  if (listed.length > 0) {
    const findings = findingsOf(await streamLinks(request, listed));
    say(`\n${formatFindings(findings)}`);
    if (hasProblem(findings)) status = 1;
  }
  return status;
}

/** Waits for the end of maintenance. @throws NotVerifiable */
async function awaitService(request: Requests, { baseUrl, maxWaitMs }: VerifyOptions): Promise<void> {
  const endsAt = performance.now() + maxWaitMs;
  for (;;) {
    const { body } = await request('/api/App').catch((error) => {
      throw new NotVerifiable(3, `${baseUrl} does not answer: ${error.message || error.code}`);
    });
    const maintenance = readMaintenance(body);
    if (maintenance === undefined) break;
    const leftMs = endsAt - performance.now();
    if (leftMs <= 0) throw new NotVerifiable(1, `${baseUrl} is in maintenance: ${maintenance}`);
    await delay(Math.min(MAINTENANCE_POLL_MS, leftMs));
  }
  if ((await request('/api/App/requests')).status === 401)
    throw new NotVerifiable(2, `${baseUrl} is private: set REELAY_ACCESS_KEY to one of its access keys`);
}

/** Why the instance resolves nothing; undefined also for what is no answer of an instance, which the suite reports. */
function readMaintenance(body: Buffer): string | undefined {
  try {
    return JSON.parse(body.toString()).maintenance ?? undefined;
  } catch {
    return undefined;
  }
}

/** Runs the tests of any instance. @returns the exit status of vitest: 0 or 1 */
async function runSuite({ baseUrl, accessKey, links, maxWaitMs }: VerifyOptions): Promise<number> {
  const vitest = resolve(ROOT, 'node_modules/vitest/vitest.mjs');
  const args = [
    ...['run', '--project', 'integration', '--maxWorkers', '1', '--no-file-parallelism', '--reporter', 'tree'],
    ...['--tags-filter', 'any-instance', '--test-timeout', String(MIN_TEST_MS + maxWaitMs)],
  ];
  const suite = spawn(process.execPath, [vitest, ...args, ...FILES], {
    cwd: ROOT,
    stdio: ['ignore', 'inherit', 'inherit'],
    env: { ...process.env, REELAY_BASE_URL: baseUrl, REELAY_VERIFY: JSON.stringify({ accessKey, links, maxWaitMs }) },
  });
  const [code] = await once(suite, 'exit');
  return code === 0 ? 0 : 1;
}

try {
  process.exitCode = await main(process.argv.slice(2));
} catch (error) {
  if (!(error instanceof UsageError || error instanceof NotVerifiable)) throw error;
  process.stderr.write(`${error.message}\n${error instanceof UsageError ? `\n${USAGE}\n` : ''}`);
  process.exitCode = error instanceof UsageError ? 2 : error.exitCode;
}
