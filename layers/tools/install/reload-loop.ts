export interface ReloadLoopOptions {
  /** Undefined: never. */
  readonly intervalMs: number | undefined;
  readonly reload: () => Promise<void>;
  readonly onError: (error: unknown) => void;
}

/** Repeats `reload` until it is closed, skipping a turn while the one before still runs. Does not keep the process alive. */
export function startReloadLoop({ intervalMs, reload, onError }: ReloadLoopOptions): { close(): void } {
  let isRunning = false;
  const run = async () => {
    if (isRunning) return;
    isRunning = true;
    try {
      await reload();
    } catch (error) {
      onError(error);
    } finally {
      isRunning = false;
    }
  };
  const timer = intervalMs === undefined ? undefined : setInterval(run, intervalMs).unref();
  return { close: () => clearInterval(timer) };
}
