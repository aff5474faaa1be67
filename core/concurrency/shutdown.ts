/** What was started, ended in the opposite order: nothing outlives what it stands on. */
export interface ShutdownStack {
  own<T extends { close(): Promise<void> }>(part: T): T;
  /** Ends every part, also when one of them fails to. Calling it again waits for the same end. */
  close(): Promise<void>;
}

export function createShutdownStack(): ShutdownStack {
  const parts: { close(): Promise<void> }[] = [];
  let closed: Promise<void> | undefined;
  const closeAll = async () => {
    const failures: unknown[] = [];
    for (const part of parts.toReversed()) await part.close().catch((error) => failures.push(error));
    if (failures.length > 0) throw new AggregateError(failures, 'Not everything ended well');
  };
  return {
    own(part) {
      parts.push(part);
      return part;
    },
    close: () => {
      closed ??= closeAll();
      return closed;
    },
  };
}
