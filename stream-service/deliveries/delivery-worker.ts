import { randomUUID } from 'node:crypto';
import pLimit from 'p-limit';
import { type DeliveryOrder, type DeliveryReport, toProblem } from '../../core/api/index.ts';
import { waitAtMost } from '../../core/concurrency/index.ts';
import type { Egress } from '../../core/egress/index.ts';
import { CapacityExceeded, ClientLimitExceeded } from '../../core/errors/index.ts';
import type { Log } from '../../core/log/index.ts';
import type { DeliverySlots, State, StoredDelivery } from '../../core/state/index.ts';
import { isAtLimit } from '../outputs/index.ts';
import type { StreamSession, StreamSessions } from '../sessions/index.ts';
import { createSender, type Destination, type SendRequest } from './destination.ts';
import { type Delivery, type RunDeps, runDelivery } from './run-delivery.ts';
import { createS3 } from './s3.ts';
import type { Sealing } from './sealing.ts';
import { createWebDav } from './webdav.ts';
import { sendWebhook } from './webhook.ts';

/** What a host says about the deliveries that it makes. */
export interface DeliverySettings {
  readonly egress: Pick<Egress, 'request'>;
  /** How many are sent at once. */
  readonly maxDeliveries: number;
  /** Secrets that only the instance knows: those of its access keys. */
  readonly secrets: readonly string[];
  /**
   * Names this process among those with the same table. A process that takes the place of one that has ended may have its
   * name, and then continues at once.
   */
  readonly owner: string;
  /** Milliseconds. @default 120000 */
  readonly stallTimeoutMs?: number;
  /** Milliseconds before something is repeated the first time. @default 1000 */
  readonly pauseMs?: number;
}

export interface DeliveriesOptions extends DeliverySettings, Pick<RunDeps, 'outputs' | 'resolve' | 'segments'> {
  readonly state: DeliverySlots & Pick<State, 'getResource' | 'touchResource'>;
  readonly sessions: Pick<StreamSessions, 'openDetached'>;
  readonly log: Log;
}

/** A delivery that this process sends. */
export interface DeliveryWorker {
  readonly client: string;
  readonly report: DeliveryReport;
  /** Settles when nothing of it runs any more; false: something is left to be done. Never rejects. */
  readonly ended: Promise<boolean>;
  cancel(): void;
  /** Stops at the next part, at the latest after so many seconds. */
  stop(seconds: number): Promise<void>;
}

export interface WorkerOptions extends DeliveriesOptions {
  readonly pauseMs: number;
  readonly sealing: Sealing;
  /** Renews the lease. False: another process has it. */
  readonly renew: () => Promise<boolean>;
}

/** After so many seconds without a renewal another process may send the delivery. */
export const LEASE_SECONDS = 60;
const RENEWAL_MS = LEASE_SECONDS * 250;
const REFUSED_TO_STOP = new Error('The process ends');
const CANCELLED = new Error('The delivery was cancelled');
const TAKEN = new Error('Another process sends the delivery');

/** Sends a delivery as one stream of its client. Undefined: there is no room for a stream now. */
export function startDelivery(
  slot: number,
  stored: StoredDelivery,
  options: WorkerOptions,
): DeliveryWorker | undefined {
  const { sessions, state, sealing, renew, egress, stallTimeoutMs, pauseMs, log } = options;
  const { id, client } = stored;
  const hard = new AbortController();
  const stop = new AbortController();
  const cancelled = new AbortController();
  const report = { ...(stored.report as DeliveryReport) };
  const delivery = readDelivery();

  let opened: { readonly session: StreamSession; readonly close: () => void };
  try {
    opened = sessions.openDetached(client, () => report.bytes);
  } catch (error) {
    if (error instanceof CapacityExceeded || error instanceof ClientLimitExceeded) return undefined;
    throw error;
  }

  function readDelivery(): Delivery | undefined {
    try {
      return { ...(sealing.open(stored.sealed ?? '', stored) as Omit<Delivery, 'report'>), report };
    } catch (error) {
      log.warn('Delivery cannot be decrypted: its access key was removed', { id, error });
      return undefined;
    }
  }

  const writer = randomUUID();
  const saving = pLimit(1);
  /** @throws Error, also when another process has saved it meanwhile */
  const save = (isOver = false): Promise<void> =>
    saving(async () => {
      hard.signal.throwIfAborted();
      const { order, cursor } = delivery ?? {};
      const sealed = isOver || !order ? undefined : sealing.seal({ order, cursor }, stored);
      if (!(await state.putDelivery(slot, { id, client, writer, report, sealed }, stored))) hard.abort(TAKEN);
      hard.signal.throwIfAborted();
    });
  /** What cannot be stored must not go on: it continues from what is stored. */
  const saveOrEnd = () =>
    save().catch((error) => {
      hard.abort(error);
      throw error;
    });

  const stopWith = (reason: Error) => {
    stop.abort(reason);
    // Its sources: a part that is on its way to the destination is not one of them.
    opened.close();
  };
  const cancel = () => {
    stopWith(CANCELLED);
    cancelled.abort(CANCELLED);
  };
  /** On the monotonic clock. */
  let renewedAt = performance.now();
  const renewal = setInterval(async () => {
    try {
      const startedAt = performance.now();
      if (!(await renew())) return hard.abort(TAKEN);
      renewedAt = startedAt;
      if ((await state.getCancelledDelivery(slot)) === id) cancel();
      await save();
    } catch (error) {
      log.warn('Delivery could not be saved', { id, error });
      // Before another process begins.
      if (performance.now() - renewedAt + RENEWAL_MS >= LEASE_SECONDS * 1000) hard.abort(error);
    }
  }, RENEWAL_MS);

  const send = createSender({ egress, stallTimeoutMs, pauseMs, signal: hard.signal });

  /** @returns false when it is to be continued, by this process or another one */
  const deliver = async ({ order, cursor }: Delivery): Promise<boolean> => {
    let destination: Destination | undefined;
    try {
      destination = destinationOf(order, send);
      report.state = 'running';
      await saveOrEnd();
      if ((await state.getCancelledDelivery(slot)) === id) throw CANCELLED;
      const signals = { stop: stop.signal, cancelled: cancelled.signal };
      const running = { ...options, session: opened.session, destination, save: saveOrEnd, ...signals };
      await runDelivery({ order, report, cursor }, running);
      const hasFailed = report.failed.length > 0 && report.completed + report.skipped === 0;
      Object.assign(report, { state: hasFailed ? 'failed' : 'done' });
    } catch (error) {
      hard.signal.throwIfAborted();
      const isCancelled = error === CANCELLED || stop.signal.reason === CANCELLED;
      const isWaiting = stop.signal.aborted || opened.session.signal.aborted || isAtLimit(error);
      if (!isCancelled && isWaiting) return false;
      log.info('Delivery ended early', { id, error });
      if (cursor.upload)
        await destination
          ?.discard(cursor.upload)
          .catch((cause) => log.warn('An unfinished file is left behind', { id, error: cause }));
      cursor.upload = undefined;
      Object.assign(
        report,
        isCancelled ? { state: 'cancelled' } : { state: 'failed', problem: toProblem(error).details },
      );
    }
    report.current = null;
    return true;
  };

  const run = async (what: Delivery): Promise<boolean> => {
    const { order } = what;
    const hasEnded = report.state !== 'waiting' && report.state !== 'running';
    if (!hasEnded && !(await deliver(what))) {
      report.state = 'waiting';
      await save();
      return false;
    }
    await save();
    if (order.webhook)
      await sendWebhook(order.webhook, report, send).catch((error) => {
        if (hard.signal.aborted) throw error;
        log.warn('The webhook of a delivery failed', { id, error });
      });
    await save(true);
    return true;
  };

  const lost = async () => {
    Object.assign(report, { state: 'failed', problem: toProblem(new Error('Not readable')).details });
    await save(true);
    return true;
  };
  const ended = (delivery ? run(delivery) : lost())
    .catch((error) => {
      log.warn('Delivery stopped', { id, error });
      return false;
    })
    .finally(() => {
      clearInterval(renewal);
      opened.close();
      hard.abort(REFUSED_TO_STOP);
    });

  return {
    client,
    report,
    ended,
    cancel,
    async stop(seconds) {
      stopWith(REFUSED_TO_STOP);
      await waitAtMost(ended, seconds * 1000);
      hard.abort(REFUSED_TO_STOP);
      await ended;
    },
  };
}

const destinationOf = ({ to }: DeliveryOrder, send: SendRequest): Destination =>
  to.kind === 's3' ? createS3(to, send) : createWebDav(to, send);
