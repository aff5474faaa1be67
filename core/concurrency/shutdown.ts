/** Started components, closed in reverse order: a component is closed before those it depends on. */
export interface ShutdownStack {
  /** Registers a component to be closed. @returns the component */
  own<T extends { close(): Promise<void> }>(component: T): T;
  /**
   * Closes every component, even when closing one of them fails. Further calls wait for the same shutdown.
   * @throws AggregateError of all failures
   */
  close(): Promise<void>;
}

export function createShutdownStack(): ShutdownStack {
  const components: { close(): Promise<void> }[] = [];
  let closed: Promise<void> | undefined;
  const closeAll = async () => {
    const failures: unknown[] = [];
    for (const component of components.toReversed()) await component.close().catch((error) => failures.push(error));
    if (failures.length > 0) throw new AggregateError(failures, 'Shutdown failed');
  };
  return {
    own(component) {
      components.push(component);
      return component;
    },
    close: () => {
      closed ??= closeAll();
      return closed;
    },
  };
}
