import {
  CreateAliasCommand,
  DeleteProvisionedConcurrencyConfigCommand,
  GetAliasCommand,
  GetFunctionConfigurationCommand,
  InvokeCommand,
  type LambdaClient,
  ProvisionedConcurrencyConfigNotFoundException,
  PublishVersionCommand,
  PutProvisionedConcurrencyConfigCommand,
  ResourceNotFoundException,
  UpdateAliasCommand,
  waitUntilPublishedVersionActive,
} from '@aws-sdk/client-lambda';
import type { CheckEvent } from '../check-resolver.ts';
import type { FunctionLayers, LiveFunction } from '../types.ts';
import { verdictIn } from './canary.ts';

export interface LiveFunctionOptions {
  readonly client: LambdaClient;
  readonly functionName: string;
  /** Of `$LATEST`. */
  readonly latest: FunctionLayers;
  /** Name of the alias that the HTTP API invokes. */
  readonly alias: string;
  /** Environments that Lambda keeps initialized for the alias. @default 0 */
  readonly provisioned?: number;
  /** @default 1 */
  readonly pollIntervalSeconds?: number;
}

/** For a published version to become active. */
const ACTIVE_TIMEOUT_SECONDS = 60;

/**
 * A Lambda function behind an alias: versions are immutable, so that a change reaches clients only when the alias moves,
 * and neither a failed change nor a deployment of `$LATEST` affects them.
 */
export function createLiveFunction(options: LiveFunctionOptions): LiveFunction {
  const { client, functionName: FunctionName, latest, alias: Name, provisioned = 0, pollIntervalSeconds = 1 } = options;

  const live = () =>
    client.send(new GetAliasCommand({ FunctionName, Name })).then(({ FunctionVersion }) => FunctionVersion, unlessGone);

  return {
    async read() {
      const version = await live();
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
      const invoke = new InvokeCommand({ FunctionName, Qualifier: version, Payload: JSON.stringify(event) });
      const { FunctionError, Payload } = await client.send(invoke, { abortSignal: signal });
      const text = Payload?.transformToString() ?? '';
      return FunctionError ? { ok: false, reason: text.slice(0, 200) } : verdictIn(text);
    },
    async switchTo(FunctionVersion) {
      if ((await live()) === undefined) {
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

function unlessNotProvisioned(error: unknown): undefined {
  const isGone =
    error instanceof ProvisionedConcurrencyConfigNotFoundException || error instanceof ResourceNotFoundException;
  if (!isGone) throw error;
}
