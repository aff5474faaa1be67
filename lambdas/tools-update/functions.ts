import { setTimeout as sleep } from 'node:timers/promises';
import {
  CreateAliasCommand,
  DeleteProvisionedConcurrencyConfigCommand,
  type FunctionConfiguration,
  GetAliasCommand,
  GetFunctionConfigurationCommand,
  InvokeCommand,
  type LambdaClient,
  PublishVersionCommand,
  PutProvisionedConcurrencyConfigCommand,
  ThrottleReason,
  TooManyRequestsException,
  UpdateAliasCommand,
  UpdateFunctionConfigurationCommand,
} from '@aws-sdk/client-lambda';
import { withRetries } from '@reelay/concurrency';
import Type from 'typebox';
import { Value } from 'typebox/value';
import { KNOWN_SITES } from './archive.ts';
import type { CheckEvent, Verdict } from './check-release.ts';

interface FunctionOptions {
  readonly client: LambdaClient;
  /** Name or ARN. */
  readonly functionName: string;
  /** Between reads of a function that changes. @default 1 */
  readonly pollIntervalSeconds?: number;
}

/** Errors of a concurrent change of the function. */
const CONFLICTS = new Set(['ResourceConflictException', 'PreconditionFailedException']);
const MAX_RETRIES = 4;

/** The canary function: attaches a layer to it and invokes it. The layer stays attached. @throws Error when there is no verdict */
export function createCanary(options: FunctionOptions) {
  const { changeLayers, invoke } = createFunction(options);
  return async (layerVersionArn: string, signal: AbortSignal): Promise<Verdict> => {
    await changeLayers(() => [layerVersionArn], signal);
    const { text, hasFailed } = await invoke({}, signal);
    if (hasFailed) throw new Error(`Canary failed: ${text.slice(0, 200)}`);
    return readVerdict(text);
  };
}

interface LiveFunctionOptions extends FunctionOptions {
  /** Name of the alias that the HTTP API invokes. */
  readonly alias: string;
  /** Environments that Lambda keeps initialized for the alias. @default 0 */
  readonly provisioned?: number;
}

/**
 * A Lambda function behind an alias: versions are immutable, so that a change reaches clients only when the alias moves,
 * and neither a failed change nor a deployment of `$LATEST` affects them.
 */
export function createLiveFunction({ alias: Name, provisioned = 0, ...options }: LiveFunctionOptions) {
  const { client, functionName: FunctionName } = options;
  const { changeLayers, readSettled, invoke } = createFunction(options);

  const readLiveVersion = () =>
    client.send(new GetAliasCommand({ FunctionName, Name })).then(({ FunctionVersion }) => FunctionVersion, unlessGone);

  return {
    /** The version behind the alias and its layers; undefined and none while there is no alias. */
    async read(): Promise<{ readonly version: string | undefined; readonly layers: readonly string[] }> {
      const version = await readLiveVersion();
      if (version === undefined) return { version, layers: [] };
      const found = await client.send(new GetFunctionConfigurationCommand({ FunctionName, Qualifier: version }));
      return { version, layers: layersOf(found) };
    },
    /**
     * Changes the layers of `$LATEST` and publishes it as a version.
     * @throws Error when the change does not take effect
     */
    async publish(to: ChangeLayers, signal: AbortSignal): Promise<string> {
      const layers = await changeLayers(to, signal);
      const published = await client.send(new PublishVersionCommand({ FunctionName }), { abortSignal: signal });
      const { Version: version } = published;
      if (!version) throw new Error('Lambda returned no function version');
      if (`${layersOf(published)}` !== `${layers}`)
        throw new Error(`${FunctionName} was changed while version ${version} was published`);
      const { State, StateReason } = await readSettled(signal, version);
      if (State === 'Failed') throw new Error(`Version ${version} of ${FunctionName} failed: ${StateReason}`);
      return version;
    },
    /**
     * Invokes a version to learn whether it works.
     * @param links that it must resolve
     * @returns undefined while no execution of the function may start, as where the cost guard has closed it
     */
    async check(version: string, signal: AbortSignal, links: readonly string[]): Promise<Verdict | undefined> {
      const event: CheckEvent = { kind: 'check', links };
      const answer = await invoke(event, signal, version).catch(unlessClosed);
      if (!answer) return undefined;
      return answer.hasFailed ? { ok: false, reason: answer.text.slice(0, 200) } : readVerdict(answer.text);
    },
    /** Moves the alias; creates it if necessary. Lambda moves its provisioned environments with it. */
    async switchTo(FunctionVersion: string): Promise<void> {
      const alias = { FunctionName, Name, FunctionVersion };
      if ((await readLiveVersion()) === undefined) await client.send(new CreateAliasCommand(alias));
      else await client.send(new UpdateAliasCommand(alias));
    },
    /**
     * Requests the environments that Lambda keeps initialized for the alias, as many as this deployment wants.
     * @throws Error when Lambda refuses them: the account's concurrency is too low
     */
    async provision(): Promise<void> {
      const alias = { FunctionName, Qualifier: Name };
      if (provisioned === 0) {
        await client.send(new DeleteProvisionedConcurrencyConfigCommand(alias)).catch(unlessGone);
        return;
      }
      const wanted = { ...alias, ProvisionedConcurrentExecutions: provisioned };
      await client.send(new PutProvisionedConcurrencyConfigCommand(wanted));
    },
  };
}

type ChangeLayers = (before: readonly string[]) => readonly string[];

function createFunction({ client, functionName: FunctionName, pollIntervalSeconds = 1 }: FunctionOptions) {
  /** Waits for a change in progress, and for a version to become active. */
  const readSettled = async (signal: AbortSignal, Qualifier?: string): Promise<FunctionConfiguration> => {
    for (;;) {
      const read = new GetFunctionConfigurationCommand({ FunctionName, Qualifier });
      const found = await client.send(read, { abortSignal: signal });
      if (found.LastUpdateStatus !== 'InProgress' && found.State !== 'Pending') return found;
      await sleep(pollIntervalSeconds * 1000, undefined, { signal });
    }
  };

  return {
    readSettled,
    /**
     * Changes the layers, given the current ones, with optimistic locking (RevisionId), and waits until the change has taken effect.
     * @returns the new ones
     * @throws Error when it does not take effect
     */
    async changeLayers(to: ChangeLayers, signal: AbortSignal): Promise<readonly string[]> {
      const change = async () => {
        const { LastUpdateStatus, RevisionId, ...found } = await readSettled(signal);
        const Layers = [...to(layersOf(found))];
        if (LastUpdateStatus === 'Failed' || `${Layers}` !== `${layersOf(found)}`)
          await client.send(new UpdateFunctionConfigurationCommand({ FunctionName, Layers, RevisionId }));
        return Layers;
      };
      const isPassing = (error: unknown) => error instanceof Error && CONFLICTS.has(error.name);
      const pauseMs = pollIntervalSeconds * 1000;
      const layers = await withRetries(change, { isPassing, pauseMs, maxRetries: MAX_RETRIES, signal });
      const changed = await readSettled(signal);
      if (changed.LastUpdateStatus !== 'Failed') return layers;
      throw new Error(`${FunctionName} did not take its new layers: ${changed.LastUpdateStatusReason}`);
    },
    async invoke(event: unknown, abortSignal: AbortSignal, Qualifier?: string) {
      const invocation = new InvokeCommand({ FunctionName, Qualifier, Payload: JSON.stringify(event) });
      const { FunctionError, Payload } = await client.send(invocation, { abortSignal });
      return { text: Payload?.transformToString() ?? '', hasFailed: FunctionError !== undefined };
    },
  };
}

const layersOf = ({ Layers = [] }: FunctionConfiguration): string[] => Layers.flatMap(({ Arn }) => Arn ?? []);

const MISSING = new Set(['ResourceNotFoundException', 'ProvisionedConcurrencyConfigNotFoundException']);

function unlessGone(error: Error): undefined {
  if (!MISSING.has(error.name)) throw error;
}

function unlessClosed(error: unknown): undefined {
  const isClosed =
    error instanceof TooManyRequestsException &&
    error.Reason === ThrottleReason.ReservedFunctionConcurrentInvocationLimitExceeded;
  if (!isClosed) throw error;
}

const VERDICT = Type.Union([
  Type.Object({ ok: Type.Literal(true), version: Type.String(), sites: KNOWN_SITES }),
  Type.Object({ ok: Type.Literal(false), reason: Type.String() }),
]);

/** Parses the payload of a canary's response. @throws Error when it is no verdict */
function readVerdict(text: string): Verdict {
  try {
    return Value.Parse(VERDICT, JSON.parse(text));
  } catch (cause) {
    throw new Error(`Invalid response of the canary: ${text.slice(0, 200)}`, { cause });
  }
}
