import type { Log } from '../../core/log/index.ts';
import { HostUnavailable } from './host-unavailable.ts';
import type { WakeHost } from './wake-host.ts';
import type { WakePlan } from './wake-plan.ts';

/** Sent by the functions that expect a stream soon: keys have just been issued, or a deployed host is outdated. */
export interface WakeAheadEvent {
  readonly kind: 'ahead';
}

export const WAKE_AHEAD: WakeAheadEvent = { kind: 'ahead' };

export interface WakeOnEventOptions {
  readonly wakeHost: WakeHost;
  readonly log: Log;
}

/**
 * Starts a stream host ahead of the first stream, where none runs.
 * @throws Error when AWS fails for another reason than a passing lack of capacity: the stream would wake the host itself
 */
export const createWakeOnEvent =
  ({ wakeHost, log }: WakeOnEventOptions) =>
  async (_event: WakeAheadEvent): Promise<{ readonly woken: WakePlan['kind'] | 'refused' }> => {
    try {
      return { woken: (await wakeHost()).kind };
    } catch (error) {
      if (!(error instanceof HostUnavailable)) throw error;
      log.warn('Stream host unavailable', { error });
      return { woken: 'refused' };
    }
  };
