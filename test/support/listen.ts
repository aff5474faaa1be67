import type { AddressInfo, Server, Socket } from 'node:net';

/** A server on a free port of loopback. */
export interface Listening {
  readonly port: number;
  /** `127.0.0.1:port` */
  readonly host: string;
  readonly url: string;
  /** Ends its connections too; once, however often it is called. */
  close(): Promise<void>;
}

/** Lets a server listen on a free port of loopback. */
export async function listen(server: Server, wanted = 0): Promise<Listening> {
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(wanted, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const host = `127.0.0.1:${port}`;
  const close = closesOnce(async () => {
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  });
  return { port, host, url: `http://${host}`, close };
}

/** Closes once, however often it is called: by a test, and after it. */
export function closesOnce(close: () => Promise<void>): () => Promise<void> {
  let closed: Promise<void> | undefined;
  return () => {
    closed ??= close();
    return closed;
  };
}
