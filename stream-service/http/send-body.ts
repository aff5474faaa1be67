import { readFile } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import { finished, type Readable } from 'node:stream';
import { releaseBuffer } from '@reelay/guarded-fetch';
import { createRoundRobin, type RoundRobin } from './round-robin.ts';

/** Bytes of one body collected per write: one large write wakes the client once. */
const MAX_CORKED_BYTES = 512 * 1024;
/** The same over all bodies: with a thousand of them, chunks are written as they arrive. */
const MAX_TOTAL_CORKED_BYTES = 16 * 1024 * 1024;

/** All bodies of this process: about 10 ms per turn of the event loop, and per body what a socket delivers in one turn. */
const ALL_BODIES = createRoundRobin({ turnBytes: 2 * 1024 * 1024, quantumBytes: 512 * 1024 });

/** Lets the bodies of other clients move little until a response other than a stream has been sent. */
export function giveWayTo(client: string, response: ServerResponse): void {
  response.once('close', ALL_BODIES.giveWayTo(client));
}

interface SendBodyOptions {
  /** Whose share of each turn is used. */
  readonly client: string;
  /** @default those of this process */
  readonly bodies?: RoundRobin;
}

/**
 * Sends a body after the head has been written. The response ends with the body, and is destroyed when the body fails;
 * the body is destroyed when the client disconnects.
 *
 * This function owns the chunks, and releases their memory as soon as the system has taken them: the garbage collector
 * would keep the chunks of slow clients for longer, about 100 MB for a thousand of them.
 */
export function sendBody(
  body: Readable,
  response: ServerResponse,
  { client, bodies = ALL_BODIES }: SendBodyOptions,
): void {
  const member = bodies.join(client);
  let corkedBytes = 0;
  /** For the round robin, whether or not the client accepts bytes. */
  let isWaiting = false;
  const flush = () => {
    if (corkedBytes === 0) return;
    corkedBytes = 0;
    // Uncorked, Node would pass each chunk and each line of the chunked coding to the system by itself.
    const { socket } = response;
    socket?.cork();
    response.uncork();
    socket?.uncork();
    if (response.writableLength > 0) body.pause();
  };
  const waitForTurn = () => {
    isWaiting = true;
    body.pause();
    member.wait(() => {
      isWaiting = false;
      if (response.writableLength === 0) body.resume();
    });
  };
  const onWritten = () => {
    if (isWaiting || !body.isPaused() || response.writableLength > 0) return;
    if (member.mayMove()) body.resume();
    else waitForTurn();
  };

  body.on('data', (chunk: Buffer) => {
    if (corkedBytes === 0) {
      response.cork();
      // Further chunks that are available now are read before this runs.
      setImmediate(flush);
    }
    corkedBytes += chunk.length;
    response.write(chunk, () => {
      releaseBuffer(chunk);
      onWritten();
    });
    if (corkedBytes >= Math.min(MAX_CORKED_BYTES, MAX_TOTAL_CORKED_BYTES / bodies.members())) flush();
    if (member.charge(chunk.length)) waitForTurn();
  });
  finished(body, { writable: false }, (error) => {
    member.leave();
    flush();
    if (error) response.destroy();
    else response.end();
  });
  finished(response, () => body.destroy());
}

interface StalledClientsOptions {
  /** How long a client may accept no byte. @default 60000 */
  readonly timeoutMs?: number;
}

/** Ends the streams of clients that accept no bytes: each holds a slot, buffers, and possibly an FFmpeg process. */
export interface StalledClients {
  /** Destroys the response once its client has accepted no byte for `timeoutMs` although bytes wait for it. */
  watch(response: ServerResponse): void;
  close(): void;
}

/** Longer than the pauses of a player that fills its buffer from time to time. A later request resumes with a range. */
const TIMEOUT_MS = 60_000;
const CHECKS_PER_TIMEOUT = 4;

interface Watched {
  /** Changes whenever the client accepts bytes. */
  position: string;
  acceptedAt: number;
}

/**
 * A slow client is not a stalled one: with megabytes in the buffer of its socket, a minute may pass between two writes.
 * The size of that buffer, which only Linux reports, shows whether the client accepts bytes meanwhile.
 */
export function createStalledClients({ timeoutMs = TIMEOUT_MS }: StalledClientsOptions = {}): StalledClients {
  const watched = new Map<ServerResponse, Watched>();
  let isChecking = false;

  const check = async () => {
    const blocked = [...watched].filter(([response]) => response.writableLength > 0);
    const unsent = blocked.length > 0 ? await readUnsentBytes() : new Map<string, number>();
    const now = performance.now();
    for (const [response, state] of watched) {
      const { socket, writableLength } = response;
      const queued = unsent.get(portsOf(socket?.localPort, socket?.remotePort)) ?? 0;
      const position = `${(socket?.bytesWritten ?? 0) - writableLength} ${queued}`;
      if (writableLength === 0 || position !== state.position) watched.set(response, { position, acceptedAt: now });
      else if (now - state.acceptedAt >= timeoutMs) response.destroy();
    }
  };
  const timer = setInterval(() => {
    if (isChecking || watched.size === 0) return;
    isChecking = true;
    void check().finally(() => {
      isChecking = false;
    });
  }, timeoutMs / CHECKS_PER_TIMEOUT).unref();

  return {
    watch(response) {
      watched.set(response, { position: '', acceptedAt: performance.now() });
      response.once('close', () => watched.delete(response));
    },
    close: () => clearInterval(timer),
  };
}

/** A line of /proc/net/tcp: local and remote address in hexadecimal, state, bytes not yet acknowledged. */
const CONNECTION = /^\s*\d+: [\dA-F]+:([\dA-F]{4}) [\dA-F]+:([\dA-F]{4}) [\dA-F]{2} ([\dA-F]{8}):/gm;

const portsOf = (localPort = 0, remotePort = 0): string => `${localPort}:${remotePort}`;

/**
 * Bytes in the send buffers of the system, by local and remote port. Connections of different clients with the same
 * ports are added up, which can only delay the detection. Empty where the system has no such table.
 */
async function readUnsentBytes(): Promise<Map<string, number>> {
  const bytes = new Map<string, number>();
  for (const path of ['/proc/net/tcp', '/proc/net/tcp6']) {
    const table = await readFile(path, 'latin1').catch(() => '');
    for (const [, local = '', remote = '', queued = ''] of table.matchAll(CONNECTION)) {
      const ports = portsOf(Number.parseInt(local, 16), Number.parseInt(remote, 16));
      bytes.set(ports, (bytes.get(ports) ?? 0) + Number.parseInt(queued, 16));
    }
  }
  return bytes;
}
