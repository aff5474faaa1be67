import type { Log } from '../../core/log/index.ts';
import type { State } from '../../core/state/index.ts';

/** Longer than a renewal may be late, short enough that nobody waits for a process that died. */
const LEASE_SECONDS = 60;
const RENEW_MILLISECONDS = 20_000;

/** The maintenance of this machine: in force from the first activity until it is over. */
export interface MaintenanceKeeper {
  /** Ends what an earlier process left that died, whatever its clock was: for the start, before any activity. */
  takeOver(): Promise<void>;
  /** Names what is going on. The first call takes the lease, so that a look that finds nothing new takes none. */
  enter(activity: string): Promise<void>;
  /** Ends it. Without an activity before it, does nothing. */
  leave(): Promise<void>;
}

/**
 * Keeps the lease renewed while an activity runs. The table's folder belongs to one process at a time, so a lease that
 * stands at the start is of one that died.
 */
export function createMaintenanceKeeper({ state, log }: { state: State; log: Log }): MaintenanceKeeper {
  const owner = 'this machine';
  let current: string | undefined;
  let timer: NodeJS.Timeout | undefined;

  const renew = async (activity: string): Promise<void> => {
    try {
      await state.takeMaintenance({ activity, owner, expiresAt: Math.floor(Date.now() / 1000) + LEASE_SECONDS });
    } catch (error) {
      log.warn('The maintenance lease could not be written', { error: String(error) });
    }
  };

  return {
    async takeOver() {
      await state
        .endMaintenance(owner)
        .catch((error) => log.warn('A maintenance lease may be left', { error: String(error) }));
    },
    async enter(activity) {
      if (activity === current) return;
      current = activity;
      timer ??= setInterval(() => current && void renew(current), RENEW_MILLISECONDS).unref();
      await renew(activity);
    },
    async leave() {
      if (current === undefined) return;
      current = undefined;
      clearInterval(timer);
      timer = undefined;
      await state.endMaintenance(owner);
    },
  };
}
