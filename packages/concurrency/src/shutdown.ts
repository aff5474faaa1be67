/**
 * Started components, closed in reverse order: a component is closed before those it depends on. `AsyncDisposableStack`
 * is not used: it needs Node 24 (one-machine hosts run on Node 22 too), and its second disposal does not wait for the
 * first.
 */
export interface ShutdownStack {
  /** Registers a component to be closed. @returns the component */
  own<T extends { close(): void | Promise<void> }>(component: T): T;
  /** Registers a step of the shutdown. */
  defer(close: () => void | Promise<void>): void;
  /**
   * Closes every component, even when closing one of them fails. Further calls wait for the same shutdown.
   * @throws AggregateError of all failures
   */
  close(): Promise<void>;
}

export function createShutdownStack(): ShutdownStack {
  const steps: (() => void | Promise<void>)[] = [];
  let closed: Promise<void> | undefined;
  const closeAll = async () => {
    const failures: unknown[] = [];
    for (const step of steps.toReversed()) {
      try {
        await step();
      } catch (error) {
        failures.push(error);
      }
    }
    if (failures.length > 0) throw new AggregateError(failures, 'Shutdown failed');
  };
  return {
    own(component) {
      steps.push(() => component.close());
      return component;
    },
    defer: (close) => void steps.push(close),
    close: () => {
      closed ??= closeAll();
      return closed;
    },
  };
}

/** Starts components that depend on each other. On a failure, the components registered so far are closed. */
export async function startWithShutdown<T>(start: (shutdown: ShutdownStack) => Promise<T>): Promise<T> {
  const shutdown = createShutdownStack();
  try {
    return await start(shutdown);
  } catch (error) {
    await shutdown.close();
    throw error;
  }
}
