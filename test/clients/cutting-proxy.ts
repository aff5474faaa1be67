import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** A TCP proxy in front of a service, whose connections end or stop as a network's do. */
interface CuttingProxy {
  readonly baseUrl: string;
  /** Cuts that have not taken place yet. */
  readonly cutsLeft: number;
  close(): Promise<void>;
}

export interface CuttingProxyOptions {
  /** Bytes to the client after which connections are cut: the first that sends so many, then the next. Others stay whole. */
  readonly cutsAfter?: readonly number[];
  /** Stop sending instead, and keep the connection open. */
  readonly stalls?: boolean;
}

/** @param target origin of the service */
export async function startCuttingProxy(
  target: string,
  { cutsAfter = [], stalls = false }: CuttingProxyOptions = {},
): Promise<CuttingProxy> {
  const sockets = new Set<Socket>();
  const cuts = [...cutsAfter];
  const server = createServer((client) => {
    let sent = 0;
    const upstream = connect(Number(new URL(target).port), '127.0.0.1');
    for (const [socket, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(socket);
      socket.on('error', () => undefined);
      socket.once('close', () => {
        sockets.delete(socket);
        if (!stalls || socket === client) other.destroy();
      });
    }
    client.on('data', (chunk) => void upstream.write(chunk));
    upstream.on('data', (chunk) => {
      const [cut = Number.POSITIVE_INFINITY] = cuts;
      client.write(chunk.subarray(0, Math.max(cut - sent, 0)));
      sent += chunk.length;
      if (sent < cut) return;
      cuts.shift();
      upstream.pause();
      // After what was sent: a reset would take bytes back that the client has not read yet.
      if (!stalls) client.end();
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    get cutsLeft() {
      return cuts.length;
    },
    async close() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}
