import {
  LambdaClient,
  ProvisionedConcurrencyConfigNotFoundException,
  ResourceNotFoundException,
  ThrottleReason,
  TooManyRequestsException,
} from '@aws-sdk/client-lambda';
import { S3Client } from '@aws-sdk/client-s3';
import { afterAll, vi } from 'vitest';

/** A function, as far as its layers are concerned. */
interface LambdaFunction {
  layers: readonly string[];
  revision: number;
  status: 'Successful' | 'Failed';
  /** How often a change is still read as in progress. */
  looks: number;
  /** Layers by version, from 1. */
  readonly versions: (readonly string[])[];
  live?: string;
  provisioned?: number;
}

/** How calls of one name fail, from its `nth` call on. */
export interface Fault {
  readonly name: string;
  readonly nth: number;
  readonly error: { readonly status: number; readonly type: string } | 'killed';
  /** @default all */
  readonly times?: number;
  /** Whether the call has its effect all the same. */
  readonly isLate?: boolean;
}

/** Lambda and S3 in memory, with the calls of one run. */
export interface Account {
  readonly functions: Record<'resolver' | 'canary', LambdaFunction>;
  layers: { LayerVersionArn: string; Version: number; Description: string; CodeSha256: string }[];
  readonly objects: Record<string, { readonly body: string; readonly sha256: string }>;
  /** Every call since the last `begin`, in order. */
  readonly calls: string[];
  fault: Fault | undefined;
  /** How the next changes of a function end. */
  readonly changes: Partial<Record<string, { readonly status: LambdaFunction['status']; readonly looks: number }>>;
  /** What functions answer instead of the release in their layers. */
  readonly verdicts: Partial<Record<string, { readonly payload: string; readonly dies?: boolean }>>;
  /** Why no execution of the resolver may start. */
  throttledBy?: ThrottleReason;
  /** Called before the revision of a changed resolver is compared. */
  beforeChange?: () => void;
  publishedDigest?: string;
  /** Whether canary links fail with a version of yt-dlp. @default never */
  failsLinks?: (version: string) => boolean;
  /** Canary links of each check. */
  readonly links: (readonly string[])[];
  /** A new run: its calls are counted from here on. */
  begin(fault?: Fault): void;
  /** Performs a call, unless it fails. */
  act<T>(name: string, effect: () => T): Promise<Awaited<T>>;
}

const LAYER = 'arn:aws:lambda:eu-west-1:123456789012:layer';
export const OTHER_LAYERS = [`${LAYER}:insights:1`, `${LAYER}:secrets:1`] as const;

export function createAccount(): Account {
  const functionWith = (layers: readonly string[]): LambdaFunction => ({
    layers,
    revision: 1,
    status: 'Successful',
    looks: 0,
    versions: [],
  });
  let counts: Record<string, number> = {};
  let [failed, isDead] = [0, false];
  const account: Account = {
    functions: { resolver: functionWith(OTHER_LAYERS), canary: functionWith([]) },
    layers: [],
    objects: {},
    calls: [],
    fault: undefined,
    changes: {},
    verdicts: {},
    links: [],
    begin(fault) {
      account.calls.length = 0;
      account.fault = fault;
      [counts, failed, isDead] = [{}, 0, false];
    },
    async act(name, effect) {
      if (isDead) throw new Error('killed');
      const { fault } = account;
      const nth = (counts[name] ?? 0) + 1;
      if (name !== fault?.name || nth < fault.nth || failed >= (fault.times ?? Infinity)) {
        counts[name] = nth;
        account.calls.push(name);
        return (await effect()) as never;
      }
      failed += 1;
      if (fault.isLate) await effect();
      isDead = fault.error === 'killed';
      if (fault.error === 'killed') throw new Error('killed');
      throw failure(fault.error.type, fault.error.status);
    },
  };
  return account;
}

const failure = (name: string, httpStatusCode = 400) =>
  Object.assign(new Error(name), { name, $metadata: { httpStatusCode } });
const message = (text: string) => ({ message: text, Message: text, $metadata: { httpStatusCode: 404 } });

/** The parameters of all operations that are called. */
interface Input {
  readonly FunctionName: string;
  readonly FunctionVersion: string;
  readonly Qualifier?: string;
  readonly VersionNumber: number;
  readonly Layers: string[];
  readonly RevisionId?: string;
  readonly Description: string;
  readonly Content: { readonly S3Key: string };
  readonly Key: string;
  readonly Body: unknown;
  readonly Payload: string;
  readonly ChecksumSHA256?: string;
  readonly ProvisionedConcurrentExecutions: number;
}

const functionOf = ({ functions }: Account, { FunctionName }: Input) => functions[FunctionName as 'resolver'];
const toLayers = (arns: readonly string[] = []) => arns.map((Arn) => ({ Arn }));

function invoke(account: Account, { FunctionName, Qualifier, Payload }: Input) {
  if (account.throttledBy && FunctionName === 'resolver')
    throw new TooManyRequestsException({ ...message('Rate exceeded'), Reason: account.throttledBy });
  const links: readonly string[] = Qualifier ? JSON.parse(Payload).links : [];
  if (Qualifier) account.links.push(links);
  const { versions, layers } = account.functions[FunctionName as 'resolver'];
  const used = Qualifier ? versions[Number(Qualifier) - 1] : layers;
  const layer = account.layers.find(({ LayerVersionArn }) => used?.includes(LayerVersionArn));
  const version = layer?.Description.split(' ')[1];
  const reason = version ? 'a canary link does not resolve' : 'the layer has no yt-dlp';
  const works = version && !(links.length > 0 && account.failsLinks?.(version));
  const { payload, dies = false } = account.verdicts[FunctionName] ?? {
    payload: JSON.stringify(
      works ? { ok: true, version, sites: { count: 2, names: [version] } } : { ok: false, reason },
    ),
  };
  return { Payload: { transformToString: () => payload }, FunctionError: dies ? 'Unhandled' : undefined };
}

function change(account: Account, input: Input): void {
  const found = functionOf(account, input);
  if (input.FunctionName === 'resolver') account.beforeChange?.();
  if (input.RevisionId !== undefined && input.RevisionId !== String(found.revision))
    throw failure('PreconditionFailedException', 412);
  Object.assign(found, { status: 'Successful', looks: 0, ...account.changes[input.FunctionName] });
  delete account.changes[input.FunctionName];
  Object.assign(found, { layers: input.Layers, revision: found.revision + 1 });
}

function moveAlias(account: Account, input: Input): void {
  functionOf(account, input).live = input.FunctionVersion;
}

function find(account: Account, { Key }: Input) {
  const { body, sha256 } = account.objects[Key] ?? {};
  if (body === undefined) throw failure('NoSuchKey', 404);
  return { Body: { transformToString: async () => body }, ContentLength: body.length, ChecksumSHA256: sha256 };
}

const OPERATIONS: Readonly<Record<string, (account: Account, input: Input) => unknown>> = {
  ListLayerVersions: ({ layers }) => ({ LayerVersions: layers }),
  PublishLayerVersion: (account, { Description, Content }) => {
    const { sha256 = '' } = account.objects[Content.S3Key] ?? {};
    const Version = account.functions.canary.revision * 100 + account.layers.length;
    const CodeSha256 = account.publishedDigest ?? sha256;
    const layer = { LayerVersionArn: `${LAYER}:tools:${Version}`, Version, Description, CodeSha256 };
    account.layers.push(layer);
    return { ...layer, Content: { CodeSha256 } };
  },
  DeleteLayerVersion: (account, { VersionNumber }) => {
    account.layers = account.layers.filter(({ Version }) => Version !== VersionNumber);
  },
  GetFunctionConfiguration: (account, input) => {
    const { layers, versions, revision, status, ...found } = functionOf(account, input);
    if (input.Qualifier) return { State: 'Active', Layers: toLayers(versions[Number(input.Qualifier) - 1]) };
    functionOf(account, input).looks = Math.max(0, found.looks - 1);
    return {
      State: 'Active',
      Layers: toLayers(layers),
      RevisionId: String(revision),
      LastUpdateStatus: found.looks > 0 ? 'InProgress' : status,
      LastUpdateStatusReason: 'The layer cannot be mounted',
    };
  },
  UpdateFunctionConfiguration: change,
  PublishVersion: (account, input) => {
    const { versions, layers } = functionOf(account, input);
    if (`${versions.at(-1)}` !== `${layers}`) versions.push(layers);
    return { Version: String(versions.length), Layers: toLayers(layers) };
  },
  GetAlias: (account, input) => {
    const { live } = functionOf(account, input);
    if (live === undefined) throw new ResourceNotFoundException(message('no alias'));
    return { FunctionVersion: live };
  },
  CreateAlias: moveAlias,
  UpdateAlias: moveAlias,
  PutProvisionedConcurrencyConfig: (account, input) => {
    functionOf(account, input).provisioned = input.ProvisionedConcurrentExecutions;
  },
  DeleteProvisionedConcurrencyConfig: (account, input) => {
    const found = functionOf(account, input);
    if (found.provisioned === undefined) throw new ProvisionedConcurrencyConfigNotFoundException(message('none'));
    found.provisioned = undefined;
  },
  Invoke: invoke,
  GetObject: find,
  HeadObject: find,
  PutObject: ({ objects }, { Key, Body, ChecksumSHA256 = '' }) => {
    objects[Key] = { body: String(Body), sha256: ChecksumSHA256 };
  },
  ListObjectsV2: ({ objects }) => ({
    Contents: Object.keys(objects).flatMap((Key) => (Key.startsWith('releases/') ? [{ Key }] : [])),
  }),
  DeleteObject: ({ objects }, { Key }) => {
    delete objects[Key];
  },
};

/** Both clients have the same stack of middleware, with types of their own. */
type Scriptable = Pick<LambdaClient, 'middlewareStack' | 'send'>;

/** Answers the SDK clients of this process below their retries, which do not wait. @param current the account at the time of a call */
export function useAccount(current: () => Account): void {
  const { setTimeout } = globalThis;
  vi.spyOn(globalThis, 'setTimeout').mockImplementation(((work: () => void) => setTimeout(work, 0)) as never);
  const known = new WeakSet<object>();
  for (const { prototype } of [LambdaClient, S3Client] as unknown as { prototype: Scriptable }[]) {
    const { send } = prototype;
    vi.spyOn(prototype, 'send').mockImplementation(function (this: Scriptable, ...args: never[]) {
      if (!known.has(this)) script(this, current);
      known.add(this);
      return (send as (...all: never[]) => never).apply(this, args);
    } as never);
  }
  afterAll(() => vi.restoreAllMocks());
}

function script({ middlewareStack }: Scriptable, current: () => Account): void {
  middlewareStack.addRelativeTo(
    (_: unknown, { commandName = '' }: { commandName?: string }) =>
      async ({ input }: { input: unknown }): Promise<never> => {
        const name = commandName.replace(/Command$/, '');
        const account = current();
        const answer = await account.act(name, () => OPERATIONS[name]?.(account, input as Input));
        return { output: { $metadata: {}, ...Object(answer) }, response: {} } as never;
      },
    { relation: 'after', toMiddleware: 'retryMiddleware', name: 'account' },
  );
}

export const CLOSED = ThrottleReason.ReservedFunctionConcurrentInvocationLimitExceeded;
