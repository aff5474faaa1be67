import { vi } from 'vitest';
import type { State } from '../../core/state/state.ts';
import { createInvoker, type Invoker } from '../../lambdas/invoker.ts';
import { startInvokeApi } from '../bundled/invoke-api.ts';
import { openTemporaryState } from '../support/temporary-state.ts';

/** A fake function. It may throw the errors that `startInvokeApi` exports. */
type FakeFunction = (event: never) => Promise<unknown>;

/** Fake functions that invoke each other through Lambda's Invoke API, and the table they share. */
interface InvokeFixture {
  readonly invoker: Invoker;
  readonly state: State;
  /** By name. */
  readonly functions: Map<string, FakeFunction>;
  close(): Promise<void>;
}

export async function startInvokeFixture(): Promise<InvokeFixture> {
  await using parts = new AsyncDisposableStack();
  const table = await openTemporaryState();
  parts.defer(table.close);

  const functions = new Map<string, FakeFunction>();
  const invokeApi = await startInvokeApi((name) => {
    const found = functions.get(name);
    return found && { invoke: (event) => found(event as never) };
  });
  parts.defer(invokeApi.close);
  const environment = {
    AWS_REGION: 'eu-central-1',
    AWS_ACCESS_KEY_ID: 'test',
    AWS_SECRET_ACCESS_KEY: 'test',
    AWS_ENDPOINT_URL_LAMBDA: invokeApi.endpoint,
  };
  for (const [name, value] of Object.entries(environment)) vi.stubEnv(name, value);
  parts.defer(() => void vi.unstubAllEnvs());

  const ending = parts.move();
  return {
    invoker: createInvoker(),
    state: table.state,
    functions,
    close: () => ending.disposeAsync(),
  };
}
