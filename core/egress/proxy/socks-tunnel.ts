import { lookup } from 'node:dns';
import type { Socket } from 'node:net';
import { Readable } from 'node:stream';
import { SocksClient } from 'socks';
import { UpstreamError } from '../../errors/index.ts';
import { bareHost, type Destination, openSocket } from '../guard/index.ts';

/** RFC 1928 §4: the length of a name is one octet. */
const MAX_NAME_BYTES = 255;

/**
 * Opens a TCP connection through a SOCKS5 proxy (RFC 1928), which resolves the name. The socket is paused: a user of its 'data' events calls
 * `resume`.
 * @param proxy `socks5://`, with credentials for RFC 1929 where the proxy requires them
 * @param timeoutMs for the connection to the proxy, and again for the handshake
 * @throws UpstreamError that contains neither the address nor the credentials of the proxy
 */
export async function openSocksTunnel(proxy: URL, destination: Destination, timeoutMs: number): Promise<Socket> {
  const host = bareHost(destination.hostname);
  if (Buffer.byteLength(host) > MAX_NAME_BYTES) throw new UpstreamError('The host name is too long for a SOCKS proxy');
  const proxyHost = { host: bareHost(proxy.hostname), port: Number(proxy.port) };
  const socket = await openSocket({ ...proxyHost, lookup }, timeoutMs).catch(() => {
    throw new UpstreamError('Connection to the SOCKS proxy failed');
  });
  // Between the handshake and its user, the socket has no other listener.
  socket.on('error', ignore);
  try {
    await SocksClient.createConnection({
      proxy: {
        ...proxyHost,
        type: 5,
        userId: decodeURIComponent(proxy.username),
        password: decodeURIComponent(proxy.password),
      },
      command: 'connect',
      destination: { host, port: destination.port },
      existing_socket: socket,
      timeout: timeoutMs,
    });
  } catch (error) {
    socket.destroy();
    // Not attached as the cause: it contains the credentials.
    throw new UpstreamError(describeFailure(error));
  }
  await keepEarlyData(socket);
  if (socket.destroyed || socket.readableEnded) throw new UpstreamError('The SOCKS proxy closed the connection');
  return socket;
}

/**
 * The client emits what the destination has sent with the last bytes of the handshake as one event, a turn of the event loop
 * after it settles, and resumes the socket: this puts the data back until the user of the socket reads.
 */
async function keepEarlyData(socket: Socket): Promise<void> {
  const early: Buffer[] = [];
  const keep = (chunk: Buffer) => void early.push(chunk);
  socket.on('data', keep);
  await new Promise((resolve) => setImmediate(resolve));
  socket.off('data', keep);
  // Not `pause` of the socket, which stops the reads of the handle while the stream still waits for one.
  Readable.prototype.pause.call(socket);
  if (early.length > 0) socket.unshift(Buffer.concat(early));
}

/** Standard wording for the messages of `socks`. */
const REASONS: readonly (readonly [RegExp, string])[] = [
  [/authentication failed|no accepted authentication/i, 'The SOCKS proxy rejected the credentials'],
  [/timed out/i, 'The SOCKS proxy did not respond in time'],
  [/socket closed/i, 'The SOCKS proxy closed the connection'],
  [/rejected.* - NotAllowed$/i, 'The SOCKS proxy does not allow the destination'],
  [/rejected.* - (Network|Host)Unreachable$/i, 'The destination is unreachable from the SOCKS proxy'],
  [/rejected.* - ConnectionRefused$/i, 'The destination refused the connection of the SOCKS proxy'],
  [/rejected/i, 'The SOCKS proxy did not connect to the destination'],
  [/invalid|unknown/i, 'The SOCKS proxy sent an invalid response'],
];

function describeFailure(error: unknown): string {
  const message = error instanceof Error ? error.message : '';
  return REASONS.find(([pattern]) => pattern.test(message))?.[1] ?? 'The connection to the SOCKS proxy failed';
}

/** Errors after the handshake are the user's to handle. */
const ignore = () => undefined;
