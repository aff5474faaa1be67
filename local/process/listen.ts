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
          : `Port ${port} is taken: set ${variable}=${await findFreePort(host, port)}`,
      { cause: error },
    );
  }
}

const MAX_PORT = 65_535;
/** Beyond these the system chooses one. */
const MAX_TRIED_PORTS = 20;

/** The next free port after one that is taken. */
async function findFreePort(host: string, taken: number): Promise<number> {
  for (let port = taken + 1; port <= Math.min(taken + MAX_TRIED_PORTS, MAX_PORT); port++) {
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
