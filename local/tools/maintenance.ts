import type { Log } from '../../core/log/index.ts';
import type { State } from '../../core/state/index.ts';

/** Longer than a renewal may be delayed, short enough to expire soon after a crash. */
const LEASE_SECONDS = 60;
const RENEW_INTERVAL_MS = 20_000;

/** The maintenance lease of this machine: held from the first activity until `leave`. */
interface MaintenanceKeeper {
  /** Ends a lease left by a crashed process, whatever its expiry. To be called at the start, before any activity. */
  takeOver(): Promise<void>;
  /** Sets the activity. The first call takes the lease, so that an update check without a result takes none. */
  enter(activity: string): Promise<void>;
  /** Ends the lease; does nothing without one. */
  leave(): Promise<void>;
}

/**
 * Renews the lease while an activity runs. The table's folder is locked by one process, so a lease found at the start
 * belongs to a crashed one.
 */
export function createMaintenanceKeeper({ state, log }: { state: State; log: Log }): MaintenanceKeeper {
  const owner = 'this machine';
  let current: string | undefined;
  let timer: NodeJS.Timeout | undefined;

  const renew = async (activity: string): Promise<void> => {
    try {
      await state.takeMaintenance({ activity, owner, expiresAt: Math.floor(Date.now() / 1000) + LEASE_SECONDS });
    } catch (error) {
      log.warn('Writing maintenance lease failed', { error });
    }
  };

  // It expires by itself.
  const end = () =>
    state.endMaintenance(owner).catch((error) => log.warn('Ending maintenance lease failed', { error }));

  return {
    takeOver: end,
    async enter(activity) {
      if (activity === current) return;
      current = activity;
      timer ??= setInterval(() => current && void renew(current), RENEW_INTERVAL_MS).unref();
      await renew(activity);
    },
    async leave() {
      if (current === undefined) return;
      current = undefined;
      clearInterval(timer);
      timer = undefined;
      await end();
    },
  };
}
