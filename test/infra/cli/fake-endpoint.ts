import { createServer, type RequestListener } from 'node:http';
import { afterEach, beforeEach, vi } from 'vitest';
import { closeAfterwards } from '../../support/close-afterwards.ts';
import { listen } from '../../support/listen.ts';

/**
 * A server instead of an AWS service, with credentials for it, in each test of a `describe` block.
 * @param variable that names the endpoint to the SDK
 */
export function useFakeEndpoint(
  variable: 'AWS_ENDPOINT_URL' | `AWS_ENDPOINT_URL_${string}`,
  listener: RequestListener,
): void {
  beforeEach(async () => {
    vi.stubEnv(variable, closeAfterwards(await listen(createServer(listener))).url);
    vi.stubEnv('AWS_ACCESS_KEY_ID', 'an-id');
    vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'a-secret');
  });
  afterEach(() => vi.unstubAllEnvs());
}
