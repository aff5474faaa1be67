import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterFile } from '../../support/after-file.ts';

/** A server for one test file. @returns its base URL */
export async function serve(listener: RequestListener): Promise<string> {
  const server = createServer(listener);
  afterFile(() => {
    server.closeAllConnections();
    return new Promise((resolve) => void server.close(resolve));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
