import { createCipheriv, createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import type { SourceLimits } from '@reelay/source';
import { toStreamProblem } from '../../../core/api/problem.ts';
import { createEgress, type Egress } from '../../../core/egress/create-egress.ts';
import type { Resource, Track } from '../../../core/state/resource.ts';
import type { OpenSource } from '../../../stream-service/source/open-source.ts';
import {
  createSourceOpeners,
  type OpenSourceOptions,
  type SourceOpeners,
} from '../../../stream-service/source/open-source.ts';
import type { Fault } from '../../origin/faults.ts';
import { closeAfterwards } from '../../support/close-afterwards.ts';
import { closesOnce } from '../../support/listen.ts';
import { resourceOf, trackOf } from '../fixture.ts';

export type Handler = (request: IncomingMessage, response: ServerResponse) => void;

/** An HTTP upstream on a free port, and an egress that may reach it. It is closed after the test or file. */
export interface Upstream {
  readonly origin: string;
  readonly egress: Egress;
  /** Sets the handler of further requests. */
  use(handler: Handler): void;
  /** Opens sources with minimal delays between attempts. */
  reader(options?: Partial<OpenSourceOptions>): OpenSource;
  /** The same, with the functions that windows of live streams need. */
  openers(options?: Partial<OpenSourceOptions>): SourceOpeners;
  close(): Promise<void>;
}

export async function startUpstream(): Promise<Upstream> {
  let handler: Handler = (_request, response) => void response.writeHead(404).end();
  const server = createServer((request, response) => handler(request, response));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const egress = createEgress({ allow: [`127.0.0.1:${port}`] });
  const openers: Upstream['openers'] = (options = {}) =>
    createSourceOpeners({
      egress,
      refresh: async () => {
        throw new Error('Unexpected refresh');
      },
      ...options,
      limits: {
        initialBackoffMs: 1,
        maxBackoffMs: 2,
        maxRetryAfterMs: 5,
        // Long, so that a busy machine is not taken for a source that stalls, or whose table takes long.
        stallTimeoutMs: 10_000,
        maxTableWaitMs: 60_000,
        minReloadMs: 5,
        ...options.limits,
      },
    });
  return closeAfterwards({
    origin: `http://127.0.0.1:${port}`,
    egress,
    openers,
    use(next) {
      handler = next;
    },
    reader: (options) => openers(options).openSource,
    close: closesOnce(async () => {
      await egress.close();
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    }),
  });
}

/** Limits at which a source that stalls is noticed soon. */
export const limitsFor = (fault: Fault | undefined): Partial<SourceLimits> =>
  fault?.name === 'stall' ? { stallTimeoutMs: 250 } : {};

/** A track as resolving returns it. */
export const trackAt = (url: string, more: Partial<Track> = {}): Track =>
  trackOf('f', { url, video: null, audio: {}, ...more });

export const resourceWith = (track: Track, more: Partial<Resource> = {}): Resource => resourceOf([track], more);

/** Pseudo-random bytes, the same in every run. */
export function bytesOf(length: number, seed = 1): Buffer {
  const bytes = Buffer.alloc(length);
  let state = seed;
  for (let offset = 0; offset + 4 <= length; offset += 4) {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    bytes.writeUInt32LE(state, offset);
  }
  return bytes;
}

export const sha256 = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');

/** As the segments of HLS are encrypted. */
export function encryptAes128(bytes: Buffer, key: Buffer, iv: Buffer = Buffer.alloc(16)): Buffer {
  const cipher = createCipheriv('aes-128-cbc', key, iv);
  return Buffer.concat([cipher.update(bytes), cipher.final()]);
}

/** The digest of a stream, or how it failed. */
export const readAll = async (stream: Readable): Promise<string> =>
  buffer(stream).then(sha256, (error: unknown) => `broken ${toStreamProblem(error).details.status}`);
export const statusOf = (opening: Promise<unknown>): Promise<unknown> =>
  opening.then(
    () => 'opened',
    (error: unknown) => toStreamProblem(error).details.status,
  );
