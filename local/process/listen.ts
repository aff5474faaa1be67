import type { Server } from 'node:net';

export interface Address {
  readonly host: string;
  /** 0: any free port. */
  readonly port: number;
  /** Pending connections. @default Node's */
  readonly backlog?: number;
}

/** @throws Error with a message for the operator when the address is taken or cannot be used */
export function listen(server: Server, { host, port, ...others }: Address): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      const reason = error.code === 'EADDRINUSE' ? 'is taken' : `cannot be used: ${error.message}`;
      reject(new Error(`The address ${host}:${port} ${reason}`, { cause: error }));
    });
    server.listen({ host, port, ...others }, resolve);
  });
}
