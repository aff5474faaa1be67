import { once } from 'node:events';
import { createServer, type Server } from 'node:net';

export interface Address {
  readonly host: string;
  /** 0: any free port. */
  readonly port: number;
  /** The setting that changes the port, for the message when it is taken. */
  readonly variable?: string;
  /** Pending connections. @default Node's */
  readonly backlog?: number;
}

/** @throws Error with a message for the operator when the address is taken or cannot be used */
export async function listen(server: Server, { variable, ...address }: Address): Promise<void> {
  const { host, port } = address;
  const listening = once(server, 'listening');
  server.listen(address);
  try {
    await listening;
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    throw new Error(
      code !== 'EADDRINUSE'
        ? `The address ${host}:${port} cannot be used: ${message}`
        : variable === undefined
          ? `The address ${host}:${port} is taken`
          : `Port ${port} is taken: set ${variable}=${await findFreePort(host, port + 1)}`,
      { cause: error },
    );
  }
}

const MAX_PORT = 65_535;
/** Beyond these the system chooses one. */
const MAX_TRIED_PORTS = 20;

/** @returns this port or the next one that is free; 0, for any, where the next ones are taken */
export async function findFreePort(host: string, first: number): Promise<number> {
  for (let port = first; port < Math.min(first + MAX_TRIED_PORTS, MAX_PORT + 1); port++) {
    const server = createServer();
    try {
      await listen(server, { host, port });
      return port;
    } catch {
      // The next one.
    } finally {
      server.close();
    }
  }
  return 0;
}
