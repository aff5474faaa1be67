import type { StreamSession } from '../../sessions/index.ts';

/** The session of one entry within that of its archive. */
export interface EntrySession extends StreamSession {
  /** Closes what the entry has opened. */
  close(): void;
}

/** Creates sessions that close with their archive at the latest, so that sources of past entries are not kept. */
export function createEntrySessions(archive: StreamSession): () => EntrySession {
  const open = new Set<EntrySession>();
  archive.onClose(() => {
    for (const session of open) session.close();
  });

  return () => {
    const closed = new AbortController();
    const session: EntrySession = {
      client: archive.client,
      signal: closed.signal,
      onClose(callback) {
        if (closed.signal.aborted) callback();
        else closed.signal.addEventListener('abort', callback, { once: true });
      },
      // The archive is the stream that is counted.
      markStreaming: () => undefined,
      close() {
        open.delete(session);
        closed.abort(new Error('The archive no longer reads the entry'));
      },
    };
    open.add(session);
    if (archive.signal.aborted) session.close();
    return session;
  };
}
