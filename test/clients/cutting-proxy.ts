import { connect, createServer } from 'node:net';
import { closeAfterwards } from '../support/close-afterwards.ts';
import { listen } from '../support/listen.ts';

export interface CuttingProxyOptions {
  /** Bytes to the client after which connections are cut: the first that sends so many, then the next. Others stay whole. */
  readonly cutsAfter?: readonly number[];
  /** Stop sending instead, and keep the connection open. */
  readonly stalls?: boolean;
}

/**
 * A TCP proxy in front of a service until the test ends, whose connections end or stop as a network's do.
 * @param target origin of the service
 */
export async function startCuttingProxy(target: string, { cutsAfter = [], stalls = false }: CuttingProxyOptions = {}) {
  const cuts = [...cutsAfter];
  const server = createServer((client) => {
    let sent = 0;
    const upstream = connect(Number(new URL(target).port), '127.0.0.1');
    for (const socket of [client, upstream]) socket.on('error', () => undefined);
    client.once('close', () => upstream.destroy());
    if (!stalls) upstream.once('close', () => client.destroy());
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
  });
  const { url: baseUrl } = closeAfterwards(await listen(server));
  /** Cuts that have not taken place yet. */
  const cutsLeft = () => cuts.length;
  return { baseUrl, cutsLeft };
}
