import { afterAll, afterEach, beforeAll, expect, vi } from 'vitest';
import { runningFfmpegs } from '../../stream-service/ffmpeg/run-ffmpeg.ts';
import type { Fault } from '../origin/faults.ts';
import { sendRequest } from '../support/request.ts';
import { type Arming, type Item, ROUTES, type Route } from './media-fixture.ts';
import { type Outcome, outcomeOf } from './outcome.ts';
import { type ServiceFixture, startServiceFixture } from './service-fixture.ts';

/** `times` of a permanent fault. */
export const ALWAYS = Number.POSITIVE_INFINITY;

/** A fault with the outcome on each route. */
export type Row = readonly [
  name: string,
  fault: Fault,
  outcomes: Readonly<Partial<Record<Route, Outcome>>>,
  arming?: Arming,
];

interface Cell {
  readonly name: string;
  readonly route: Route;
  readonly outcome: Outcome;
  readonly fault: Fault;
  readonly arming?: Arming;
}

/** One cell per route that a row has an outcome for. */
export const cells = (rows: readonly Row[]): Cell[] =>
  rows.flatMap(([name, fault, outcomes, arming]) =>
    ROUTES.flatMap((route) => {
      const outcome = outcomes[route];
      return outcome ? [{ name, route, outcome, fault, ...(arming && { arming }) }] : [];
    }),
  );

export const everywhere = (outcome: Outcome) => ({
  Media: outcome,
  mp3: outcome,
  Combined: outcome,
  Pair: outcome,
  HLS: outcome,
});
export const onFiles = (outcome: Outcome) => ({ Media: outcome, mp3: outcome, Combined: outcome, Pair: outcome });

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
    /** The outcome of a stream whose source fails from the start. */
    async fromTheStart(item: Item, { fault, arming }: Pick<Cell, 'fault' | 'arming'>): Promise<string> {
      const right = await rightOf(item);
      const url = await there().stream(item);
      there().site.arm(fault, arming);
      return outcomeOf(url, { right });
    },
    /** The outcome of a stream whose source fails after the first bytes. */
    async inTheMiddle(item: Item, { fault, arming }: Pick<Cell, 'fault' | 'arming'>): Promise<string> {
      const right = await rightOf(item);
      const url = await there().stream(item);
      return outcomeOf(url, { right, onFirstBytes: () => there().site.arm(fault, arming) });
    },
  };
}

/** Sockets, servers, pipes and processes, without timers and file system requests, which are short-lived. */
const openHandles = () => process.getActiveResourcesInfo().filter((name) => /^(TCP|Pipe|Process)/.test(name)).length;
