import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { vi } from 'vitest';
import { createState } from '../../core/state/create-state.ts';
import type { State } from '../../core/state/state.ts';
import { createTableClient, ensureTable } from '../../core/state/table.ts';
import { createInvoker, type Invoker } from '../../lambdas/runtime/invoker.ts';
import { startEmbeddedTable } from '../../local/embedded-table.ts';
import { startInvokeApi } from '../bundled/invoke-api.ts';

/** A fake function. It may throw the errors that `startInvokeApi` exports. */
export type FakeFunction = (event: never) => Promise<unknown>;

/** Fake functions that invoke each other through Lambda's Invoke API, and the table they share. */
export interface InvokeFixture {
  readonly invoker: Invoker;
  readonly state: State;
  /** By name. */
  readonly functions: Map<string, FakeFunction>;
  close(): Promise<void>;
}

export async function startInvokeFixture(): Promise<InvokeFixture> {
  await using parts = new AsyncDisposableStack();
  const dir = await mkdtemp(join(tmpdir(), 'reelay-invoke-'));
  parts.defer(() => rm(dir, { recursive: true, force: true }));
  const table = await startEmbeddedTable({ dir });
  parts.defer(table.close);
  const client = createTableClient({ endpoint: table.endpoint });
  parts.defer(() => client.destroy());
  await ensureTable(client, 'reelay');

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
    state: createState({ client, tableName: 'reelay' }),
    functions,
    close: () => ending.disposeAsync(),
  };
}
