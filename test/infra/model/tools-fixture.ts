import { createHash } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { silentLog } from '../../../core/log/index.ts';
import { createState } from '../../../core/state/create-state.ts';
import type { StateStorage, StoredItem } from '../../../core/state/storage.ts';
import { createArchive } from '../../../lambdas/tools-update/archive.ts';
import type { ToolsUpdate } from '../../../lambdas/tools-update/create-tools-update.ts';
import { readToolsEnvironment } from '../../../lambdas/tools-update/create-tools-update.ts';
import { createCanary, createLiveFunction } from '../../../lambdas/tools-update/functions.ts';
import { createLayers } from '../../../lambdas/tools-update/layers.ts';
import type { Releases } from '../../../packages/yt-dlp-worker/src/yt-dlp/releases.ts';
import type { ScriptedClients } from './scripted-aws.ts';
import { findResource, type World } from './world.ts';

export type Environment = Readonly<Record<string, string>>;

/** The environment of a function of the stack. */
export const environmentOf = ({
  properties,
}: {
  readonly properties: Readonly<Record<string, unknown>>;
}): Environment => (properties.Environment as { Variables: Environment }).Variables;

/** The state over a table of the world. */
export const stateOf = (current: () => World, tableName: string | undefined) =>
  createState({ storage: createWorldStorage(current, tableName ?? ''), log: silentLog });

/** What the functions of the tools update work with, over the world. */
export function createToolsFixture(
  current: () => World,
  { lambda, s3 }: ScriptedClients,
  variables: Environment,
): ToolsUpdate {
  const environment = readToolsEnvironment(variables);
  const none = () => undefined;
  return {
    ...environment,
    releases: createWorldReleases(current),
    layers: createLayers({ ...environment, client: lambda }),
    archive: createArchive({ ...environment, client: s3 }),
    canary: createCanary({ client: lambda, functionName: environment.canaryFunction }),
    resolver: createLiveFunction({
      client: lambda,
      functionName: environment.resolverFunction,
      alias: 'live',
      provisioned: environment.provisioned,
    }),
    state: stateOf(current, environment.tableName),
    scratchDir: tmpdir(),
    metrics: { updateFailed: none, missing: none, maintained: none, age: none },
    onStep: none,
    log: silentLog,
    leaseSeconds: undefined,
  };
}

const createWorldReleases = (current: () => World): Releases => {
  const requireReachable = () => {
    const { newestRelease } = current();
    if (newestRelease === undefined) throw new Error('Unreachable');
    return newestRelease;
  };
  return {
    findNewest: async () => requireReachable(),
    async fetch(tag, asset, path) {
      requireReachable();
      const body = `${tag} ${asset}`;
      await writeFile(path, body);
      return { sha256: createHash('sha256').update(body).digest('hex'), bytes: body.length };
    },
  };
};

function createWorldStorage(current: () => World, tableName: string): StateStorage {
  const items = () => {
    const world = current();
    const { key } = findResource(world, 'AWS::DynamoDB::GlobalTable', tableName);
    world.tables[key] ??= {};
    return world.tables[key];
  };
  const unused = async (): Promise<never> => {
    throw new Error('Not used by deployments');
  };
  const put = async (item: StoredItem) => {
    items()[item.pk] = item;
  };
  return {
    get: async (pk) => items()[pk],
    put,
    async putIf(item, { expiredAt, owners = [] }) {
      const found = items()[item.pk];
      const isExpired = expiredAt !== undefined && (found?.expiresAt ?? Infinity) <= expiredAt;
      if (found && !isExpired && !owners.includes(found.owner ?? '')) return false;
      await put(item);
      return true;
    },
    async deleteOwned(pk, owner) {
      if (items()[pk]?.owner === owner) delete items()[pk];
    },
    extend: unused,
    annotate: unused,
    add: unused,
    addRequest: unused,
    countRequests: unused,
    requireSpace: unused,
  };
}
