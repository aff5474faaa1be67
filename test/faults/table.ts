import { afterAll, afterEach, beforeAll, expect, vi } from 'vitest';
import { runningFfmpegs } from '../../stream-service/ffmpeg/run-ffmpeg.ts';
import type { Fault } from '../origin/faults.ts';
import { sendRequest } from '../support/request.ts';
import { type Arming, type Item, ROUTES, type Route } from './media-fixture.ts';
import { type Outcome, outcomeOf } from './outcome.ts';
import { type ServiceFixture, startServiceFixture } from './service-fixture.ts';

/** `times` of a permanent fault. */
export const ALWAYS = Number.POSITIVE_INFINITY;

type Outcomes = Readonly<Partial<Record<Route, Outcome>>>;

/** Before the first request of a stream, or after the first bytes of one that is mostly unread. */
type From = 'start' | 'middle';

/** A fault with the outcome on each route. */
export type Row = readonly [
  name: string,
  fault: Fault,
  outcomes: Readonly<Partial<Record<From, Outcomes>>>,
  arming?: Arming,
];

interface Cell {
  readonly name: string;
  readonly from: From;
  readonly route: Route;
  readonly outcome: Outcome;
  readonly fault: Fault;
  readonly arming?: Arming;
}

/** One cell per time and route that a row has an outcome for. */
export const cells = (rows: readonly Row[]): Cell[] =>
  rows.flatMap(([name, fault, outcomes, arming]) =>
    (['start', 'middle'] as const).flatMap((from) =>
      ROUTES.flatMap((route) => {
        const outcome = outcomes[from]?.[route];
        return outcome ? [{ name, from, route, outcome, fault, ...(arming && { arming }) }] : [];
      }),
    ),
  );

export const onFiles = (outcome: Outcome): Outcomes => ({
  Media: outcome,
  mp3: outcome,
  Combined: outcome,
  Pair: outcome,
});
export const everywhere = (outcome: Outcome): Outcomes => ({ ...onFiles(outcome), HLS: outcome });

/** The fixture of one test file. Fails a test that leaves streams, and a file that leaves any handle open. */
export function useServiceFixture() {
  const rights = new Map<Item, Promise<Buffer>>();
  let fixture: ServiceFixture | undefined;
  let handlesBefore = 0;
  const there = () => fixture ?? expect.fail('The fixture is there only while tests run');

  beforeAll(async () => {
    handlesBefore = openHandles();
    fixture = await startServiceFixture();
  });
  afterEach(async () => {
    there().site.disarm();
    await expect.poll(runningFfmpegs).toBe(0);
    await expect.poll(() => there().origin.requests.filter(({ state }) => state === 'open')).toEqual([]);
  });
  afterAll(async () => {
    await there().close();
    expect(there().origin.connections).toBe(0);
    // Not `expect.poll`, which is for tests alone.
    await vi.waitUntil(() => openHandles() <= handlesBefore, { timeout: 30_000 });
  });

  /** The bytes of a stream without faults. */
  const rightOf = (item: Item): Promise<Buffer> => {
    const right =
      rights.get(item) ??
      there()
        .stream(item)
        .then(async (url) => (await sendRequest(url)).body);
    rights.set(item, right);
    return right;
  };

  return {
    there,
    rightOf,
    /** The outcome of a stream whose source fails. */
    async outcomeOfCell({ from, route, fault, arming }: Omit<Cell, 'name' | 'outcome'>): Promise<string> {
      const item: Item = `${route}-${from === 'start' ? 'short' : 'long'}`;
      const right = await rightOf(item);
      const url = await there().stream(item);
      const arm = () => there().site.arm(fault, arming);
      if (from === 'start') arm();
      return outcomeOf(url, { right, ...(from === 'middle' && { onFirstBytes: arm }) });
    },
  };
}

/** Sockets, servers, pipes and processes, without timers and file system requests, which are short-lived. */
export const openHandles = () =>
  process.getActiveResourcesInfo().filter((name) => /^(TCP|Pipe|Process)/.test(name)).length;
