import { setTimeout as delay } from 'node:timers/promises';
import { type CheckGroup, NotApplicable } from './check.ts';
import {
  accessChecks,
  instanceChecks,
  linkChecks,
  pageChecks,
  protocolChecks,
  readInstance,
  refusalChecks,
  siteChecks,
} from './checks/index.ts';
import { type Client, createClient, LimitReached, type Limits } from './client.ts';

/** The outcome of one check. */
export interface CheckResult {
  readonly group: string;
  readonly title: string;
  readonly outcome: 'ok' | 'failed' | 'skipped';
  /** Why it failed or was skipped, or a remark. */
  readonly detail?: string;
  readonly seconds: number;
}

/** The outcome of a run. */
export interface Verification {
  readonly baseUrl: string;
  readonly results: readonly CheckResult[];
  readonly requests: number;
  readonly bytes: number;
  readonly seconds: number;
}

/** The instance is private, and the access key is missing or not one of its own. */
export class NotAdmitted extends Error {
  override readonly name = 'NotAdmitted';
}

/** The instance does not answer at all. */
export class Unreachable extends Error {
  override readonly name = 'Unreachable';
}

export interface VerifyInput {
  readonly baseUrl: string;
  readonly links: readonly string[];
  /** Links that are resolved, and of which the stream is begun, by site. @default none */
  readonly sites?: ReadonlyMap<string, readonly string[]>;
  readonly maxWaitMs: number;
  readonly accessKey?: string;
  /** Called after each check. */
  readonly onResult?: (result: CheckResult) => void;
  /** Replaces bounds of the run. */
  readonly limits?: Partial<Limits>;
}

const MAX_REQUESTS = 200;
const MAX_REQUESTS_PER_LINK = 150;
/** Two, each of which may be refused several times until Retry-After is over. */
const MAX_REQUESTS_PER_LISTED_LINK = 10;
const MAX_BYTES_PER_LISTED_LINK = 4_500_000;
const MAX_BYTES = 32_000_000;
/** Below the throttle of the profile `hobby`: ten requests a second, two resolves a second after a burst of ten. */
const REMOTE_INTERVAL_MS = 250;
/** Above the 29 s that a resolve may take. */
const TIMEOUT_MS = 35_000;
const MAINTENANCE_POLL_MS = 5_000;

/**
 * Runs every check, one after another.
 * @throws Unreachable when the first request gets no response
 * @throws NotAdmitted
 */
export async function verify({
  baseUrl,
  links,
  sites = new Map(),
  maxWaitMs,
  accessKey,
  onResult,
  limits,
}: VerifyInput): Promise<Verification> {
  const startedAt = performance.now();
  const isLoopback = /^(localhost|127\.|\[::1\])/.test(new URL(baseUrl).hostname);
  const listed = [...sites.values()].flat().length;
  const client = createClient(baseUrl, {
    maxRequests: MAX_REQUESTS + MAX_REQUESTS_PER_LINK * links.length + MAX_REQUESTS_PER_LISTED_LINK * listed,
    maxBytes: MAX_BYTES * (1 + links.length) + MAX_BYTES_PER_LISTED_LINK * listed,
    maxWaitMs,
    intervalMs: isLoopback ? 0 : REMOTE_INTERVAL_MS,
    timeoutMs: TIMEOUT_MS,
    accessKey,
    ...limits,
  });
  const groups: readonly CheckGroup[] = [
    ...[instanceChecks, protocolChecks, refusalChecks, pageChecks],
    ...(accessKey ? [accessChecks] : []),
    ...links.map((link) => linkChecks(link)),
    ...Array.from(sites, ([site, linksOfSite]) => siteChecks(site, linksOfSite)),
  ];
  const results: CheckResult[] = [];
  const report = (result: CheckResult) => {
    results.push(result);
    onResult?.(result);
  };
  try {
    await reach(client);
    await awaitEndOfMaintenance(client, maxWaitMs);
    await admit(client);
    let limit: LimitReached | undefined;
    for (const { name, checks } of groups) {
      for (const { title, run } of checks) {
        if (limit) {
          report({ group: name, title, outcome: 'skipped', detail: limit.message, seconds: 0 });
          continue;
        }
        const checkStartedAt = performance.now();
        const result = await outcomeOf(() => run(client));
        if (result.error instanceof LimitReached) limit = result.error;
        const seconds = (performance.now() - checkStartedAt) / 1_000;
        report({ group: name, title, outcome: result.outcome, detail: result.detail, seconds });
      }
    }
    if (links.length === 0 && listed === 0) {
      const detail = 'name one with --link';
      report({ group: 'links', title: 'resolves a link and streams it', outcome: 'skipped', detail, seconds: 0 });
    }
  } finally {
    await client.close();
  }
  const { requests, bytes } = client.usage;
  return { baseUrl, results, requests, bytes, seconds: (performance.now() - startedAt) / 1_000 };
}

async function outcomeOf(run: () => Promise<unknown>) {
  try {
    const remark = await run();
    return { outcome: 'ok', detail: typeof remark === 'string' ? remark : undefined } as const;
  } catch (error) {
    const detail = error instanceof Error ? describe(error) : String(error);
    return { outcome: error instanceof NotApplicable ? 'skipped' : 'failed', detail, error } as const;
  }
}

/** The first line of an assertion says what was wrong; the code of a broken connection says how it broke. */
function describe(error: Error): string {
  const { code } = error as { code?: unknown };
  const [line = ''] = error.message.split('\n');
  return typeof code === 'string' && code !== 'ERR_ASSERTION' ? `${line || error.name} (${code})` : line || error.name;
}

/** @throws Unreachable */
async function reach(client: Client): Promise<void> {
  try {
    await client.request('/api/App', { isRefusalExpected: true });
  } catch (error) {
    throw new Unreachable(
      `${client.baseUrl} does not answer: ${error instanceof Error ? describe(error) : String(error)}`,
    );
  }
}

/** @throws NotAdmitted */
async function admit(client: Client): Promise<void> {
  const { status } = await client.request('/api/App/requests', { isRefusalExpected: true });
  if (status === 401)
    throw new NotAdmitted(`${client.baseUrl} is private: set REELAY_ACCESS_KEY to one of its access keys`);
}

/** Maintenance fails the first check if it does not end in time. */
async function awaitEndOfMaintenance(client: Client, maxWaitMs: number): Promise<void> {
  const deadline = performance.now() + maxWaitMs;
  while (performance.now() < deadline) {
    const { maintenance } = await readInstance(client).catch(() => ({ maintenance: null }));
    if (maintenance === null || maintenance === undefined) return;
    await delay(Math.min(MAINTENANCE_POLL_MS, deadline - performance.now()));
  }
}
