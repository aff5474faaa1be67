import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, vi } from 'vitest';

/**
 * A server instead of an AWS service, with credentials for it, in each test of a `describe` block.
 * @param variable that names the endpoint to the SDK
 */
export function useFakeEndpoint(
  variable: 'AWS_ENDPOINT_URL' | `AWS_ENDPOINT_URL_${string}`,
  listener: RequestListener,
): void {
  const server = createServer(listener);
  beforeEach(async () => {
    await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
    vi.stubEnv(variable, `http://127.0.0.1:${(server.address() as AddressInfo).port}`);
    vi.stubEnv('AWS_ACCESS_KEY_ID', 'an-id');
    vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'a-secret');
  });
  afterEach(async () => {
    vi.unstubAllEnvs();
    server.closeAllConnections();
    await new Promise((closed) => server.close(closed));
  });
}
