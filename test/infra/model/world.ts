import type { StoredItem } from '../../../core/state/storage.ts';

/** A template as far as the model reads it. */
export interface ModelTemplate {
  readonly Resources: Readonly<
    Record<string, { readonly Type: string; readonly Properties?: Readonly<Record<string, unknown>> }>
  >;
}

/** A resource that exists. */
export interface ModelResource {
  readonly key: string;
  readonly logicalId: string;
  readonly type: string;
  /** The value of `Ref`. */
  physicalId: string;
  /** As last applied, with intrinsic functions resolved. */
  properties: Readonly<Record<string, unknown>>;
  /** What a custom resource answered. */
  attributes: Readonly<Record<string, string>>;
}

/** A Lambda function beyond its properties: what CloudFormation does not manage. */
export interface ModelFunction {
  layers: readonly string[];
  revision: number;
  /** Configuration by version number, from 1. */
  versions: { layers: readonly string[]; properties: Readonly<Record<string, unknown>> }[];
  /** Version by alias. */
  aliases: Record<string, string>;
  /** Provisioned environments by alias. */
  provisioned: Record<string, number>;
}

/** A task of ECS. */
interface ModelTask {
  readonly taskArn: string;
  readonly taskDefinitionArn: string;
  readonly cluster: string;
  readonly subnets: readonly string[];
  readonly securityGroups: readonly string[];
  readonly startedBy: string;
  desiredStatus: 'RUNNING' | 'STOPPED';
  lastStatus: 'RUNNING' | 'STOPPED';
}

/** What a deployment has changed so far, for its rollback. */
interface DeploymentProgress {
  readonly former: StackState;
  readonly template: ModelTemplate;
  /** Logical ids in the order of their changes. */
  readonly touched: { readonly id: string; readonly kind: 'created' | 'changed' | 'replaced' }[];
}

/** A stack: its template, and the key of the resource behind each logical id. */
export interface StackState {
  readonly template: ModelTemplate;
  readonly resources: Record<string, string>;
}

/** One account and region as plain data. */
export interface World {
  resources: Record<string, ModelResource>;
  functions: Record<string, ModelFunction>;
  /** Objects by bucket. */
  buckets: Record<string, Record<string, { body: string; sha256: string }>>;
  layers: { arn: string; name: string; number: number; description: string; sha256: string }[];
  /** Items of each table by key. */
  tables: Record<string, Record<string, StoredItem>>;
  keyValueStores: Record<string, Record<string, string>>;
  tasks: ModelTask[];
  /** Of services whose count was set beside CloudFormation. */
  desiredCounts: Record<string, number>;
  /** The newest release of yt-dlp; undefined: releases are unreachable. */
  newestRelease: string | undefined;
  /** Whether the cost guard keeps the resolver closed. */
  isClosed: boolean;
  stack: StackState;
  progress: DeploymentProgress | undefined;
  /** Of generated ids. */
  counter: number;
}

export const EMPTY_STACK: StackState = { template: { Resources: {} }, resources: {} };

export const createWorld = (newestRelease: string | undefined): World => ({
  resources: {},
  functions: {},
  buckets: {},
  layers: [],
  tables: {},
  keyValueStores: {},
  tasks: [],
  desiredCounts: {},
  newestRelease,
  isClosed: false,
  stack: EMPTY_STACK,
  progress: undefined,
  counter: 0,
});

/** A copy that changes independently. Templates, properties and versions of functions never change: both worlds share them. */
export function copyWorld(world: World): World {
  const copies = <T extends object>(all: Readonly<Record<string, T>>) =>
    Object.fromEntries(Object.entries(all).map(([key, value]) => [key, { ...value }]));
  const { stack, progress } = world;
  return {
    ...world,
    resources: copies(world.resources),
    functions: Object.fromEntries(
      Object.entries(world.functions).map(([key, { versions, aliases, provisioned, ...rest }]) => [
        key,
        { ...rest, versions: [...versions], aliases: { ...aliases }, provisioned: { ...provisioned } },
      ]),
    ),
    buckets: copies(world.buckets),
    layers: [...world.layers],
    tables: structuredClone(world.tables),
    keyValueStores: copies(world.keyValueStores),
    desiredCounts: { ...world.desiredCounts },
    tasks: world.tasks.map((task) => ({ ...task })),
    stack: { ...stack, resources: { ...stack.resources } },
    progress: progress && { ...progress, touched: [...progress.touched] },
  };
}

const texts = new WeakMap<object, string>();
const ids = new WeakMap<object, readonly string[]>();

/** The JSON of properties, which is computed once: they never change. */
export function jsonOf(properties: object): string {
  const text = texts.get(properties) ?? JSON.stringify(properties);
  texts.set(properties, text);
  return text;
}

/** Ids of resources among properties, found once. */
export function idsIn(properties: object): readonly string[] {
  const found = ids.get(properties) ?? jsonOf(properties).match(/\w+~\d+\./g) ?? [];
  ids.set(properties, found);
  return found;
}

/** The resource whose `Ref` or ARN is this value. @throws Error when none exists */
export function findResource({ resources }: World, type: string, reference: unknown): ModelResource {
  const text = String(reference);
  const found = Object.values(resources).find(
    (resource) => resource.type === type && text.includes(resource.physicalId),
  );
  if (!found) throw new Error(`No ${type} ${text}`);
  return found;
}

/** Whether a value contains the id of a resource. Ids end in a delimiter, so that none is the beginning of another. */
export const refersTo = (value: unknown, { physicalId }: ModelResource): boolean =>
  (typeof value === 'object' && value ? jsonOf(value) : String(value)).includes(
    JSON.stringify(physicalId).slice(1, -1),
  );
