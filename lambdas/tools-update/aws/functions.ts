import {
  CreateAliasCommand,
  DeleteProvisionedConcurrencyConfigCommand,
  GetAliasCommand,
  GetFunctionConfigurationCommand,
  InvokeCommand,
  type InvokeCommandInput,
  type LambdaClient,
  ProvisionedConcurrencyConfigNotFoundException,
  PublishVersionCommand,
  PutProvisionedConcurrencyConfigCommand,
  ResourceNotFoundException,
  ThrottleReason,
  TooManyRequestsException,
  UpdateAliasCommand,
  waitUntilPublishedVersionActive,
} from '@aws-sdk/client-lambda';
import type { CheckEvent } from '../check-release.ts';
import type { Canary, CanaryVerdict, FunctionLayers, LiveFunction } from '../types.ts';

export interface LiveFunctionOptions {
  readonly client: LambdaClient;
  readonly functionName: string;
  /** The layers of `$LATEST`. */
  readonly latest: FunctionLayers;
  /** Name of the alias that the HTTP API invokes. */
  readonly alias: string;
  /** Environments that Lambda keeps initialized for the alias. @default 0 */
  readonly provisioned?: number;
  /** @default 1 */
  readonly pollIntervalSeconds?: number;
}

/** Time in which a published version must become active. */
const ACTIVE_TIMEOUT_SECONDS = 60;

/**
 * A Lambda function behind an alias: versions are immutable, so that a change reaches clients only when the alias moves,
 * and neither a failed change nor a deployment of `$LATEST` affects them.
 */
export function createLiveFunction(options: LiveFunctionOptions): LiveFunction {
  const { client, functionName: FunctionName, latest, alias: Name, provisioned = 0, pollIntervalSeconds = 1 } = options;

  const readLiveVersion = () =>
    client.send(new GetAliasCommand({ FunctionName, Name })).then(({ FunctionVersion }) => FunctionVersion, unlessGone);

  return {
    async read() {
      const version = await readLiveVersion();
      if (version === undefined) return { version, layers: [] };
      const found = await client.send(new GetFunctionConfigurationCommand({ FunctionName, Qualifier: version }));
      return { version, layers: (found.Layers ?? []).flatMap(({ Arn }) => Arn ?? []) };
    },
    async publish(to, signal) {
      let layers: readonly string[] = [];
      await latest.change((before) => {
        layers = to(before);
        return layers;
      }, signal);
      const published = await client.send(new PublishVersionCommand({ FunctionName }), { abortSignal: signal });
      const { Version: version, Layers = [] } = published;
      if (!version) throw new Error('Lambda returned no function version');
      if (`${Layers.map(({ Arn }) => Arn)}` !== `${layers}`)
        throw new Error(`${FunctionName} was changed while version ${version} was published`);
      const delays = { minDelay: pollIntervalSeconds, maxDelay: pollIntervalSeconds * 5 };
      await waitUntilPublishedVersionActive(
        { client, maxWaitTime: ACTIVE_TIMEOUT_SECONDS, ...delays, abortSignal: signal },
        { FunctionName, Qualifier: version },
      );
      return version;
    },
    async check(version, signal, links) {
      const event: CheckEvent = { kind: 'check', links };
      const invocation = { FunctionName, Qualifier: version, Payload: JSON.stringify(event) };
      const answer = await invoke(client, invocation, signal).catch(unlessClosed);
      if (!answer) return undefined;
      return answer.hasFailed ? { ok: false, reason: answer.text.slice(0, 200) } : readVerdict(answer.text);
    },
    async switchTo(FunctionVersion) {
      if ((await readLiveVersion()) === undefined) {
        await client.send(new CreateAliasCommand({ FunctionName, Name, FunctionVersion }));
      } else {
        await client.send(new UpdateAliasCommand({ FunctionName, Name, FunctionVersion }));
      }
    },
    async provision() {
      const alias = { FunctionName, Qualifier: Name };
      if (provisioned === 0) {
        await client.send(new DeleteProvisionedConcurrencyConfigCommand(alias)).catch(unlessNotProvisioned);
        return;
      }
      const wanted = { ...alias, ProvisionedConcurrentExecutions: provisioned };
      await client.send(new PutProvisionedConcurrencyConfigCommand(wanted));
    },
  };
}

function unlessGone(error: unknown): undefined {
  if (!(error instanceof ResourceNotFoundException)) throw error;
}

function unlessClosed(error: unknown): undefined {
  const isClosed =
    error instanceof TooManyRequestsException &&
    error.Reason === ThrottleReason.ReservedFunctionConcurrentInvocationLimitExceeded;
  if (!isClosed) throw error;
}

function unlessNotProvisioned(error: unknown): undefined {
  const isGone =
    error instanceof ProvisionedConcurrencyConfigNotFoundException || error instanceof ResourceNotFoundException;
  if (!isGone) throw error;
}

export interface CanaryOptions {
  readonly client: LambdaClient;
  readonly functionName: string;
  readonly layers: FunctionLayers;
}

/** The canary function: attaches the layer to it and invokes it. The layer stays attached. */
export const createCanary = ({ client, functionName: FunctionName, layers }: CanaryOptions): Canary => ({
  async try(layerVersionArn, signal) {
    await layers.change(() => [layerVersionArn], signal);
    const { text, hasFailed } = await invoke(client, { FunctionName, Payload: '{}' }, signal);
    if (hasFailed) throw new Error(`Canary failed: ${text.slice(0, 200)}`);
    return readVerdict(text);
  },
});

async function invoke(client: LambdaClient, input: InvokeCommandInput, abortSignal: AbortSignal) {
  const { FunctionError, Payload } = await client.send(new InvokeCommand(input), { abortSignal });
  return { text: Payload?.transformToString() ?? '', hasFailed: FunctionError !== undefined };
}

/** Parses the payload of a canary's response. @throws Error when it is no verdict */
function readVerdict(text: string): CanaryVerdict {
  const verdict = parse(text);
  if (verdict.ok === true && typeof verdict.version === 'string') return { ok: true, version: verdict.version };
  if (verdict.ok === false && typeof verdict.reason === 'string')
    return { ok: false, reason: verdict.reason.slice(0, 200) };
  throw new Error(`Invalid response of the canary: ${text.slice(0, 200)}`);
}

function parse(text: string): Readonly<Record<string, unknown>> {
  try {
    return Object(JSON.parse(text));
  } catch {
    return {}; // reported as an invalid response
  }
}
