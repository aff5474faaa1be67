import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { vi } from 'vitest';
import { createState } from '../../core/state/create-state.ts';
import type { State } from '../../core/state/state.ts';
import { createTableClient, ensureTable } from '../../core/state/table.ts';
import { createInvoker, type Invoker } from '../../lambdas/runtime/invoke-async.ts';
import { startEmbeddedTable } from '../../local/embedded-table.ts';
import { startInvokeApi } from '../bundled/invoke-api.ts';

/** Another function as a test plays it: gets the event, and may throw what `startInvokeApi` knows. */
export type Played = (event: never) => Promise<unknown>;

/** Functions that call each other over Lambda's Invoke API, and the table they share. */
export interface InvokeWorld {
  readonly invoker: Invoker;
  readonly state: State;
  /** By name. */
  readonly functions: Map<string, Played>;
  close(): Promise<void>;
}

export async function startInvokeWorld(): Promise<InvokeWorld> {
  await using parts = new AsyncDisposableStack();
  const dir = await mkdtemp(join(tmpdir(), 'reelay-invoke-'));
  parts.defer(() => rm(dir, { recursive: true, force: true }));
  const table = await startEmbeddedTable({ dir });
  parts.defer(table.close);
  const client = createTableClient({ endpoint: table.endpoint });
  parts.defer(() => client.destroy());
  await ensureTable(client, 'reelay');

  const functions = new Map<string, Played>();
  const invokeApi = await startInvokeApi((name) => {
    const played = functions.get(name);
    return played && { invoke: (event) => played(event as never) };
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
