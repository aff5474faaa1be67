import type { IncomingMessage } from 'node:http';
import { readClient } from '../../core/http/index.ts';

/** The client of a request, in the form of `clientOf`. */
export const clientOfRequest = ({ socket, headers }: IncomingMessage, trustedProxies: number): string =>
  readClient({
    remoteAddress: socket.remoteAddress,
    forwardedFor: headers['x-forwarded-for']?.toString(),
    trustedProxies,
  });
