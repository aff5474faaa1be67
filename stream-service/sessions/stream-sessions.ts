import type { ServerResponse } from 'node:http';
import ipaddr from 'ipaddr.js';
import type { Admission } from './admission.ts';
import type { StreamObserver } from './stream-observer.ts';

/** One client being sent one stream, until the response is over or the client has left. */
export interface StreamSession {
  /** Aborts when it is over, however it ended. */
  readonly signal: AbortSignal;
  /** Does something when it is over; now if it is already. */
  onClose(act: () => void): void;
  /** The answer is a stream, about to be sent: nothing else counts as one. */
  markStreaming(): void;
}

/** Every stream being sent. */
export interface StreamSessions {
  /**
   * Takes a place for the stream that `response` will carry.
   * @param address of the client
   * @throws Problem 503, 429
   */
  open(address: string, response: ServerResponse): StreamSession;
  /** Lets nobody in, waits for those inside, and breaks what is left after `seconds`. */
  drain(seconds: number): Promise<void>;
}

export function createStreamSessions(
  admission: Pick<Admission, 'acquireStream' | 'drain'>,
  meter: StreamObserver,
): StreamSessions {
  const responses = new Set<ServerResponse>();

  return {
    open(address, response) {
      const over = new AbortController();
      const visit: StreamSession = {
        signal: over.signal,
        onClose(act) {
          if (over.signal.aborted) act();
          else over.signal.addEventListener('abort', act, { once: true });
        },
        markStreaming() {
          // The connection may have carried other answers before this one, and the response forgets it in the end.
          const { socket } = response;
          const before = socket?.bytesWritten ?? 0;
          visit.onClose(meter.onStreamStart(() => (socket?.bytesWritten ?? before) - before));
        },
      };
      const release = admission.acquireStream(clientOf(address));
      responses.add(response);
      const end = () => over.abort(new Error('The response is over'));
      if (response.destroyed) end();
      else response.once('close', end);
      visit.onClose(() => {
        responses.delete(response);
        release();
      });
      return visit;
    },
    async drain(seconds) {
      const breakAll = () => {
        for (const response of responses) response.destroy();
      };
      const timer = setTimeout(breakAll, seconds * 1000);
      await admission.drain();
      clearTimeout(timer);
    },
  };
}

/** IPv6 clients have a network of their own to choose addresses from (RFC 6177): the /64 is the client. */
const IPV6_CLIENT_BYTES = 8;

/** What counts as one client. A connection that is gone already has no address. */
export function clientOf(address = ''): string {
  if (!ipaddr.isValid(address)) return address;
  const parsed = ipaddr.process(address);
  return parsed.kind() === 'ipv4'
    ? parsed.toString()
    : Buffer.from(parsed.toByteArray().slice(0, IPV6_CLIENT_BYTES)).toString('hex');
}
