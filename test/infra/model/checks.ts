import { expect } from 'vitest';
import { silentLog } from '../../../core/log/index.ts';
import { createGetAppInfo } from '../../../lambdas/api/get-app-info.ts';
import { routeOperations } from '../../../lambdas/http-handler.ts';
import { createHostService, createHostStore } from '../../../lambdas/stream-host/host.ts';
import { createOnHostEvent, createPublicName, HOST_KEY } from '../../../lambdas/stream-host/register.ts';
import type { Pointer } from '../../../lambdas/tools-update/archive.ts';
import { eventOf } from '../../lambdas/fakes.ts';
import type { ScriptedClients } from './scripted-aws.ts';
import { isBalanced, tasksOfService } from './service-tasks.ts';
import { environmentOf, stateOf } from './tools-fixture.ts';
import { findResource, idsIn, type ModelResource, type World } from './world.ts';

/** What a stack delivers. */
export interface StackStatus {
  /** Version of yt-dlp that clients are told; undefined: in maintenance. */
  readonly tools: string | undefined;
  readonly streamHost: 'service' | 'on demand';
}

const resourcesOf = ({ resources }: World, type: string): ModelResource[] =>
  Object.values(resources).filter((resource) => resource.type === type);

const serviceFunction = (world: World, name: string): ModelResource | undefined =>
  resourcesOf(world, 'AWS::Lambda::Function').find(({ properties }) => properties.Description === `Reelay ${name}`);

/** The pointer that stream tasks follow. */
function pointerOf(world: World): Pointer | undefined {
  const bucket = Object.values(world.buckets).find((objects) => objects['current.json']);
  return bucket?.['current.json'] && JSON.parse(bucket['current.json'].body);
}

/** Asserts that everything agrees, and that nothing is left of other deployments. */
export async function expectWorkingStack(world: World, clients: ScriptedClients): Promise<StackStatus> {
  expectNoLeftovers(world);
  const secret = originSecretOf(world);
  const tools = await expectTools(world, secret);
  expectAccessKeys(world);
  const streamHost = await expectStreamHost(world, clients);
  return { tools, streamHost };
}

/** Asserts that the account is as empty as before the first deployment. */
export function expectNothing(world: World): void {
  const { resources, functions, buckets, layers, tables, tasks, keyValueStores } = world;
  expect({ resources, functions, buckets, layers, tables, keyValueStores }).toEqual({
    resources: {},
    functions: {},
    buckets: {},
    layers: [],
    tables: {},
    keyValueStores: {},
  });
  expect(tasks.filter(({ lastStatus }) => lastStatus === 'RUNNING')).toEqual([]);
}

function expectNoLeftovers({ resources, stack }: World): void {
  expect(Object.keys(resources).sort()).toEqual(Object.values(stack.resources).sort());
  expect(Object.keys(stack.resources).sort()).toEqual(Object.keys(stack.template.Resources).sort());
  const known = physicalIds(resources);
  for (const { logicalId, properties } of Object.values(resources)) expectReferences(logicalId, properties, known);
}

const physicalIds = (resources: World['resources']) =>
  new Set(Object.values(resources).map(({ physicalId }) => physicalId));

/** Every id among the properties belongs to a resource that exists. */
function expectReferences(name: string, properties: object, known: ReadonlySet<string>): void {
  for (const id of idsIn(properties)) if (!known.has(id)) expect.fail(`${name} refers to ${id}, which does not exist`);
}

function originSecretOf(world: World): string {
  const [distribution] = resourcesOf(world, 'AWS::CloudFront::Distribution');
  const [, secret = ''] =
    /"x-reelay-origin","HeaderValue":"([^"]+)"/.exec(JSON.stringify(distribution?.properties)) ?? [];
  expect(secret).not.toBe('');
  return secret;
}

/** Resolver, pointer and X-Tools agree. @returns the version */
async function expectTools(world: World, secret: string): Promise<string | undefined> {
  const resolver = serviceFunction(world, 'get-resource');
  const { aliases, versions, provisioned } = world.functions[resolver?.key ?? ''] ?? {};
  const live = versions?.[Number(aliases?.live) - 1];
  if (!resolver || !live) return expect.fail('No version of the resolver is live');
  expectReferences('The live resolver', live.properties, physicalIds(world.resources));
  const layerFunction = serviceFunction(world, 'tools-layer');
  const wanted = Number(layerFunction && environmentOf(layerFunction).RESOLVER_PROVISIONED);
  expect(provisioned).toEqual(wanted > 0 ? { live: wanted } : {});
  const accepted = (properties: object) => environmentOf({ properties: { ...properties } }).ORIGIN_SECRET?.split(',');
  expect(accepted(live.properties)).toContain(secret);
  const behaviour = ({
    Code,
    Handler,
    Runtime,
    Architectures,
    Timeout,
    MemorySize,
  }: Readonly<Record<string, unknown>>) => ({
    Code,
    Handler,
    Runtime,
    Architectures,
    Timeout,
    MemorySize,
  });
  expect(behaviour(live.properties)).toEqual(behaviour(resolver.properties));
  const withoutSecret = (properties: object) => ({
    ...environmentOf({ properties: { ...properties } }),
    ORIGIN_SECRET: '',
  });
  expect(withoutSecret(live.properties)).toEqual(withoutSecret(resolver.properties));

  const pointer = pointerOf(world);
  expect(live.layers).toEqual(pointer ? [pointer.layerVersionArn] : []);
  if (pointer) {
    const layer = world.layers.find(({ arn }) => arn === pointer.layerVersionArn);
    expect(layer?.description).toContain(`yt-dlp ${pointer.version} of`);
    const archives = Object.values(world.buckets).flatMap((objects) => Object.keys(objects));
    expect(archives).toContain(pointer.key);
  }
  const appInfo = serviceFunction(world, 'api');
  const variables = appInfo && environmentOf(appInfo);
  const options = {
    state: stateOf(() => world, variables?.TABLE_NAME),
    originSecret: variables?.ORIGIN_SECRET,
    version: '1',
    environment: 'Production',
    origins: [],
    log: silentLog,
  };
  const handler = routeOperations({ GetAppInfo: createGetAppInfo(options) }, options);
  const answer = await handler(eventOf('/api/App', { headers: { 'x-reelay-origin': secret } }), {} as never);
  expect(answer.statusCode).toBe(200);
  const [, version] = /yt-dlp="([^"]+)"/.exec(String(answer.headers?.['x-tools'])) ?? [];
  expect(version).toBe(pointer?.version);
  expect(JSON.parse(String(answer.body)).maintenance).toBe(version ? null : 'Fetching tools');
  return version;
}

/** The edge function of a private instance reads a store with the hashes of its keys. */
function expectAccessKeys(world: World): void {
  if (resourcesOf(world, 'Custom::AccessKeys').length === 0) return;
  const [association] = resourcesOf(world, 'AWS::CloudFront::Function').flatMap(
    ({ properties }) => Object(properties.FunctionConfig).KeyValueStoreAssociations ?? [],
  ) as { KeyValueStoreARN: string }[];
  const store = findResource(world, 'AWS::CloudFront::KeyValueStore', association?.KeyValueStoreARN);
  const names = Object.keys(world.keyValueStores[store.key] ?? {});
  expect(names.filter((name) => name.startsWith('access-'))).toHaveLength(1);
}

async function expectStreamHost(world: World, clients: ScriptedClients): Promise<StackStatus['streamHost']> {
  const [service, ...others] = resourcesOf(world, 'AWS::ECS::Service');
  expect(others).toEqual([]);
  if (service && isBalanced(service)) {
    const tasks = tasksOfService(world, service);
    expect(tasks.length).toBeGreaterThan(0);
    for (const { taskDefinitionArn } of tasks) expectTask(world, taskDefinitionArn);
    expect(world.tasks.filter(({ lastStatus }) => lastStatus === 'RUNNING')).toEqual(tasks);
    return 'service';
  }
  await startHost(world, clients);
  return 'on demand';
}

/** A task reads the table and the bucket of the stack. */
function expectTask(world: World, taskDefinition: string): void {
  const { properties } = findResource(world, 'AWS::ECS::TaskDefinition', taskDefinition);
  const [container] = properties.ContainerDefinitions as [{ Environment: { Name: string; Value: string }[] }];
  expectDependencies(world, (name) => container.Environment.find(({ Name }) => Name === name)?.Value);
}

/** The table and the bucket that the stream service reads exist, and the bucket has the pointer of the stack. */
function expectDependencies(world: World, value: (name: string) => string | undefined): void {
  findResource(world, 'AWS::DynamoDB::GlobalTable', value('TABLE_NAME'));
  const { key } = findResource(world, 'AWS::S3::Bucket', value('TOOLS_BUCKET'));
  expect(Boolean(world.buckets[key]?.['current.json'])).toBe(pointerOf(world) !== undefined);
}

/** Wakes the on-demand stream host by the function of the stack, whose task then ends as idle, and wakes it again. */
export async function startHost(world: World, { ecs, ec2, keyValueStore }: ScriptedClients): Promise<void> {
  const found = serviceFunction(world, 'wake');
  const {
    CLUSTER = '',
    SERVICE = '',
    SECURITY_GROUP = '',
    KEY_VALUE_STORE_ARN = '',
  } = found ? environmentOf(found) : expect.fail('No function wake');
  const service = createHostService({ ecs, cluster: CLUSTER, service: SERVICE });
  const tell = createOnHostEvent({
    service,
    store: createHostStore({ client: keyValueStore, storeArn: KEY_VALUE_STORE_ARN, key: HOST_KEY }),
    publicName: createPublicName(ec2, SECURITY_GROUP),
    log: silentLog,
  });
  const secret = 'a-secret';
  await service.wake();
  await tell({ kind: 'serving', macAddress: '02:01', secret });
  await tell({ kind: 'leaving', secret, isIdle: true });
  expect(world.tasks).toEqual([]);
  expect(await service.wake()).toBe('woken');
  await tell({ kind: 'serving', macAddress: '02:02', secret });
  expect(world.tasks).toHaveLength(1);
  for (const { taskDefinitionArn, securityGroups } of world.tasks) {
    expectTask(world, taskDefinitionArn);
    expect(securityGroups).toEqual([SECURITY_GROUP]);
  }
  const [store] = Object.values(world.keyValueStores);
  expect(store?.host?.split('|')[0]).toBe('02-02.compute.example');
}
