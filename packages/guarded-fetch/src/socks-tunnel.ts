import { lookup } from 'node:dns';
import type { Socket } from 'node:net';
import { Readable } from 'node:stream';
import { SocksClient } from 'socks';
import { bareHost, type Destination } from './address-guard.ts';
import { UpstreamError } from './errors.ts';
import type { OutgoingRoutes } from './outgoing-routes.ts';
import { openSocket } from './socket.ts';

/** The proxy cannot be reached, rejects the credentials or does not speak SOCKS5: not a failure of the destination. */
class SocksProxyError extends UpstreamError {}

/** RFC 1928 §4: the length of a name is one octet. */
const MAX_NAME_BYTES = 255;

/** Opens a tunnel as `openSocksTunnel` does, and reports whether the proxy works. */
export async function openRouteTunnel(
  routes: Pick<OutgoingRoutes, 'reportFailure' | 'reportSuccess'>,
  { proxy, destination, timeoutMs }: { proxy: URL; destination: Destination; timeoutMs: number },
): Promise<Socket> {
  try {
    const socket = await openSocksTunnel(proxy, destination, timeoutMs);
    routes.reportSuccess(proxy);
    return socket;
  } catch (error) {
    if (error instanceof SocksProxyError) routes.reportFailure(proxy);
    throw error;
  }
}

/**
 * Opens a TCP connection through a SOCKS5 proxy (RFC 1928), which resolves the name. The socket is paused: a listener
 * of 'data' has to call `resume`.
 * @param proxy `socks5://`, with credentials for RFC 1929 where the proxy requires them
 * @param timeoutMs for the connection to the proxy, and again for the handshake
 * @throws SocksProxyError when the proxy itself failed; UpstreamError otherwise. They contain neither the address nor the
 * credentials of the proxy
 */
export async function openSocksTunnel(proxy: URL, destination: Destination, timeoutMs: number): Promise<Socket> {
  const host = bareHost(destination.hostname);
  if (Buffer.byteLength(host) > MAX_NAME_BYTES) throw new UpstreamError('The host name is too long for a SOCKS proxy');
  const proxyHost = { host: bareHost(proxy.hostname), port: Number(proxy.port) };
  const socket = await openSocket({ ...proxyHost, lookup }, timeoutMs).catch(() => {
    throw new SocksProxyError('Connection to the SOCKS proxy failed');
  });
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
    // Octets of the replies that precede the one to the request: method (RFC 1928 §3) and status (RFC 1929 §2).
    const isAccepted = socket.bytesRead >= (proxy.username || proxy.password ? 4 : 2);
    throw toTunnelError(error, isAccepted);
  }
  await keepEarlyData(socket);
  if (socket.destroyed || socket.readableEnded) throw new UpstreamError('The SOCKS proxy closed the connection');
  return socket;
}

/**
 * Data that arrives together with the last bytes of the handshake is emitted by `socks` as one event, one turn of the
 * event loop after its promise settles, with the socket resumed. Unshifts that data, so that the user of the socket
 * reads it.
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

/** Standard wording for the messages of `socks`: those of a failure of the proxy, and those of a refused request. */
const PROXY_REASONS: readonly (readonly [RegExp, string])[] = [
  [/authentication failed|no accepted authentication/i, 'The SOCKS proxy rejected the credentials'],
  [/invalid|unknown/i, 'The SOCKS proxy sent an invalid response'],
];
const REQUEST_REASONS: readonly (readonly [RegExp, string])[] = [
  [/ - NotAllowed$/i, 'The SOCKS proxy does not allow the destination'],
  [/ - (Network|Host)Unreachable$/i, 'The destination is unreachable from the SOCKS proxy'],
  [/ - ConnectionRefused$/i, 'The destination refused the connection of the SOCKS proxy'],
  [/rejected connection/i, 'The SOCKS proxy did not connect to the destination'],
];

/**
 * The error of `socks` is not attached as the cause: it contains the credentials.
 * @param isAccepted whether the proxy has accepted the client: what fails later may fail because of the destination
 */
function toTunnelError(error: unknown, isAccepted: boolean): UpstreamError {
  const message = error instanceof Error ? error.message : '';
  const find = (reasons: typeof PROXY_REASONS) => reasons.find(([pattern]) => pattern.test(message))?.[1];
  const refused = find(REQUEST_REASONS);
  if (refused) return new UpstreamError(refused);
  const broken = find(PROXY_REASONS);
  if (broken) return new SocksProxyError(broken);
  const reason = /timed out/i.test(message)
    ? 'The SOCKS proxy did not respond in time'
    : 'The SOCKS proxy closed the connection';
  return isAccepted ? new UpstreamError(reason) : new SocksProxyError(reason);
}
