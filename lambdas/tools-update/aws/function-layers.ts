import { setTimeout as sleep } from 'node:timers/promises';
import {
  GetFunctionConfigurationCommand,
  type LambdaClient,
  UpdateFunctionConfigurationCommand,
  waitUntilFunctionUpdatedV2,
} from '@aws-sdk/client-lambda';
import type { FunctionLayers } from '../types.ts';

export interface FunctionLayersOptions {
  readonly client: LambdaClient;
  /** Name or ARN. */
  readonly functionName: string;
  /** Time in which a change must take effect. @default 120 */
  readonly timeoutSeconds?: number;
  /** @default 1 */
  readonly pollIntervalSeconds?: number;
}

/** Errors of a concurrent change of the function. */
const CONFLICTS = new Set(['ResourceConflictException', 'PreconditionFailedException']);
const MAX_ATTEMPTS = 5;

/** The layers of a Lambda function, changed with optimistic locking (RevisionId). */
export function createFunctionLayers(options: FunctionLayersOptions): FunctionLayers {
  const { client, functionName: FunctionName, timeoutSeconds = 120, pollIntervalSeconds = 1 } = options;

  const readSettled = async (abortSignal?: AbortSignal) => {
    const delays = { minDelay: pollIntervalSeconds, maxDelay: pollIntervalSeconds * 5 };
    const bounds = { client, maxWaitTime: timeoutSeconds, ...delays, abortSignal };
    await waitUntilFunctionUpdatedV2(bounds, { FunctionName }).catch((error: Error) => {
      // A failed change is reported below, with its reason.
      if (!error.message.includes('"FAILURE"')) throw error;
    });
    const found = await client.send(new GetFunctionConfigurationCommand({ FunctionName }), { abortSignal });
    return {
      layers: (found.Layers ?? []).flatMap(({ Arn }) => Arn ?? []),
      inForce: found.LastUpdateStatus !== 'Failed',
      reason: found.LastUpdateStatusReason ?? 'no reason given',
      revision: found.RevisionId,
    };
  };

  /** @returns false on a concurrent change */
  const send = async (layers: readonly string[], RevisionId: string | undefined): Promise<boolean> => {
    try {
      const input = { FunctionName, Layers: [...layers], RevisionId };
      await client.send(new UpdateFunctionConfigurationCommand(input));
      return true;
    } catch (error) {
      if (error instanceof Error && CONFLICTS.has(error.name)) return false;
      throw error;
    }
  };

  return {
    read: () => readSettled(),
    async change(to, signal) {
      for (let attempt = 1; ; attempt++) {
        const { layers, inForce, revision } = await readSettled(signal);
        const next = to(layers);
        if (inForce && next.length === layers.length && next.every((layer, index) => layer === layers[index])) return;
        if (await send(next, revision)) break;
        if (attempt === MAX_ATTEMPTS) throw new Error(`${FunctionName} was changed concurrently ${MAX_ATTEMPTS} times`);
        await sleep(pollIntervalSeconds * 1000 * attempt, undefined, { signal });
      }
      const { inForce, reason } = await readSettled(signal);
      if (!inForce) throw new Error(`${FunctionName} did not take its new layers: ${reason}`);
    },
  };
}
