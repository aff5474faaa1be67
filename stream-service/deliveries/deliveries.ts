import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import pLimit from 'p-limit';
import type { DeliveryOrder, DeliveryReport } from '../../core/api/index.ts';
import { CapacityExceeded, ClientLimitExceeded, NotFound } from '../../core/errors/index.ts';
import { DELIVERY_SLOTS, type StoredDelivery } from '../../core/state/index.ts';
import { type DeliveriesOptions, type DeliveryWorker, LEASE_SECONDS, startDelivery } from './delivery-worker.ts';
import { PAUSE_MS } from './destination.ts';
import { createSealing } from './sealing.ts';

/** Deliveries of a private instance. Its clients are access keys. */
export interface Deliveries {
  /**
   * Stores an order, which is sent as soon as there is room for it.
   * @returns its id
   * @throws CapacityExceeded, ClientLimitExceeded
   */
  add(order: DeliveryOrder, client: string): Promise<string>;
  /**
   * The report now and after each change, until the delivery has ended; `undefined` once in a while without a change.
   * @throws NotFound when the client has no such delivery
   */
  watch(id: string, client: string, signal: AbortSignal): Promise<AsyncGenerator<DeliveryReport | undefined>>;
  /** @throws NotFound when the client has no such delivery */
  cancel(id: string, client: string): Promise<void>;
  /** Stops at the next part of each, at the latest after so many seconds. What is not done continues in the next process. */
  stop(seconds: number): Promise<void>;
}

/** Of one access key: half of the slots stay for others. */
const MAX_PER_CLIENT = DELIVERY_SLOTS / 2;
const RETRY_SECONDS = 60;
/** Between looks at the table, for deliveries whose process has ended. */
const SCAN_MS = 60_000;
/** The same while one waits that this process may send. */
const WAITING_SCAN_MS = 2_000;
const WATCH_MS = 250;
/** The table is read by watchers of what another process sends. */
const WATCH_TABLE_MS = 2_000;
/** Proxies end a response without a byte after a minute. */
const IDLE_MS = 15_000;
const ID = /^(\d)-[\w-]{22}$/;

const isOver = (delivery: StoredDelivery): boolean => delivery.sealed === undefined;
const hasEnded = (report: DeliveryReport): boolean => report.state !== 'waiting' && report.state !== 'running';
const emptyReport = (id: string): DeliveryReport => ({
  ...{ id, state: 'waiting', total: 0, completed: 0, skipped: 0, current: null, bytes: 0, failed: [] },
});

export function createDeliveries(options: DeliveriesOptions): Deliveries {
  const { state, owner, maxDeliveries, pauseMs = PAUSE_MS, log } = options;
  const sealing = createSealing(options.secrets);
  /** Those that this process sends, by slot. */
  const workers = new Map<number, DeliveryWorker>();
  /** Of one key: a place stays for others, if there are any, whose storage is not as slow. */
  const maxPerKey = options.secrets.length > 1 ? Math.max(1, maxDeliveries - 1) : maxDeliveries;
  /** Ids that are to end, by slot. */
  const cancelled = new Map<number, string>();
  /** When those that stopped because of the instance itself may begin again, by slot. Epoch milliseconds. */
  const resting = new Map<number, number>();
  /** One after the other: each counts those of its key. */
  const adding = pLimit(1);
  const finishing = new Set<Promise<void>>();
  let isStopped = false;
  let woken = new AbortController();
  const wake = () => woken.abort();

  const slots = Array.from({ length: DELIVERY_SLOTS }, (_, slot) => slot);
  const acquire = (slot: number, seconds = LEASE_SECONDS) =>
    state.acquireDelivery(slot, { owner, expiresAt: Math.floor(Date.now() / 1000) + seconds });

  /** Starts what waits, as far as there is room. @returns whether something waits still */
  const scan = async (): Promise<boolean> => {
    let isWaiting = false;
    for (const slot of slots) {
      if (isStopped) return false;
      if (workers.has(slot)) continue;
      if ((resting.get(slot) ?? 0) > Date.now()) {
        isWaiting = true;
        continue;
      }
      const seen = await state.getDelivery(slot);
      if (!seen || isOver(seen)) continue;
      const ofKey = [...workers.values()].filter(({ client }) => client === seen.client).length;
      const hasRoom = workers.size < maxDeliveries && ofKey < maxPerKey;
      // One that only ends needs no room.
      if (!hasRoom && cancelled.get(slot) !== seen.id) {
        isWaiting = true;
        continue;
      }
      if (!(await acquire(slot))) continue;
      // It may have ended before the lease was acquired.
      const stored = await state.getDelivery(slot);
      const isLeft = stored && !isOver(stored);
      const worker =
        isLeft && startDelivery(slot, stored, { ...options, pauseMs, sealing, renew: () => acquire(slot) });
      // Another process need not wait until the lease expires.
      const release = () => acquire(slot, 0).catch(() => undefined);
      if (!worker) {
        await release();
        isWaiting ||= isLeft === true;
        continue;
      }
      workers.set(slot, worker);
      cancelled.delete(slot);
      const finish = worker.ended.then(async (isEnd) => {
        await release();
        workers.delete(slot);
        finishing.delete(finish);
        // One that waits needs room for a conversion; what ended another one may last.
        const restMs = worker.report.state === 'waiting' ? WAITING_SCAN_MS : SCAN_MS;
        if (!isEnd) resting.set(slot, Date.now() + restMs);
        wake();
      });
      finishing.add(finish);
    }
    return isWaiting;
  };

  const scanRepeatedly = async () => {
    while (!isStopped) {
      woken = new AbortController();
      const isWaiting = await scan().catch((error) => log.warn('Deliveries could not be read', { error }));
      const delayMs = isWaiting ? WAITING_SCAN_MS : SCAN_MS;
      await sleep(delayMs, undefined, { signal: woken.signal, ref: false }).catch(() => undefined);
    }
  };
  const scanning = scanRepeatedly();

  const find = async (id: string, client: string) => {
    const slot = Number(ID.exec(id)?.[1] ?? Number.NaN);
    const stored = Number.isNaN(slot) ? undefined : await state.getDelivery(slot);
    if (stored?.id !== id || stored.client !== client) throw new NotFound('No such delivery');
    return { slot, stored };
  };
  const workerOf = (slot: number, id: string) => {
    const worker = workers.get(slot);
    return worker?.report.id === id ? worker : undefined;
  };

  async function* reportsOf(slot: number, id: string, signal: AbortSignal) {
    let last = '';
    let lastAt = Date.now();
    for (;;) {
      const worker = workerOf(slot, id);
      const stored = worker ? undefined : await state.getDelivery(slot);
      // The slot has been given to another one since.
      if (!worker && stored?.id !== id) return;
      // The report of a worker changes while a watcher is slow.
      const report = worker?.report ?? (stored?.report as DeliveryReport);
      const [text, isEnd] = [JSON.stringify(report), hasEnded(report)];
      if (text !== last || Date.now() - lastAt > IDLE_MS) {
        yield text === last ? undefined : (JSON.parse(text) as DeliveryReport);
        [last, lastAt] = [text, Date.now()];
      }
      if (isEnd) return;
      await sleep(worker ? WATCH_MS : WATCH_TABLE_MS, undefined, { signal });
    }
  }

  const add = async (order: DeliveryOrder, client: string): Promise<string> => {
    if (isStopped) throw new CapacityExceeded('The instance shuts down');
    const found = await Promise.all(slots.map((slot) => state.getDelivery(slot)));
    const own = found.filter((stored) => stored && !isOver(stored) && stored.client === client);
    if (own.length >= MAX_PER_CLIENT) throw new ClientLimitExceeded('Too many deliveries', RETRY_SECONDS);
    // The reports of those that have ended are kept for as long as there are other slots.
    const rank = (slot: number) => (found[slot] === undefined ? 0 : 1);
    const name = randomBytes(16).toString('base64url');
    for (const slot of slots.toSorted((a, b) => rank(a) - rank(b))) {
      const stored = found[slot];
      if ((stored && !isOver(stored)) || workers.has(slot)) continue;
      const id = `${slot}-${name}`;
      const report = emptyReport(id);
      const sealed = sealing.seal({ order, cursor: { next: 0 } }, { id, client });
      if (!(await state.takeDelivery(slot, { id, client, report, sealed }))) continue;
      wake();
      return id;
    }
    throw new CapacityExceeded('The queue of deliveries is full', RETRY_SECONDS);
  };

  return {
    add: (order, client) => adding(() => add(order, client)),
    async watch(id, client, signal) {
      const { slot } = await find(id, client);
      return reportsOf(slot, id, signal);
    },
    async cancel(id, client) {
      const { slot, stored } = await find(id, client);
      if (isOver(stored)) return;
      await state.cancelDelivery(slot, id);
      const worker = workerOf(slot, id);
      if (worker) return worker.cancel();
      cancelled.set(slot, id);
      wake();
    },
    async stop(seconds) {
      isStopped = true;
      wake();
      await scanning;
      await Promise.all([...workers.values()].map((worker) => worker.stop(seconds)));
      await Promise.all(finishing);
    },
  };
}
