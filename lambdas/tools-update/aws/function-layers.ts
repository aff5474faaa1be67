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
  /** Seconds for a change to come into force. @default 120 */
  readonly timeoutSeconds?: number;
  /** Seconds between two looks. @default 1 */
  readonly pollIntervalSeconds?: number;
}

/** Somebody else changed the function meanwhile, or is about to. */
const CONFLICTS = new Set(['ResourceConflictException', 'PreconditionFailedException']);
const ATTEMPTS = 5;

/** The layers of a Lambda function, changed one change at a time. */
export function createFunctionLayers(options: FunctionLayersOptions): FunctionLayers {
  const {
    client,
    functionName: FunctionName,
    timeoutSeconds: patience = 120,
    pollIntervalSeconds: interval = 1,
  } = options;

  const settled = async (abortSignal?: AbortSignal) => {
    const delays = { minDelay: interval, maxDelay: interval * 5 };
    const bounds = { client, maxWaitTime: patience, ...delays, ...(abortSignal && { abortSignal }) };
    await waitUntilFunctionUpdatedV2(bounds, { FunctionName }).catch((error: Error) => {
      // That a change failed is told by what is read next, with its reason.
      if (!error.message.includes('"FAILURE"')) throw error;
    });
    const found = await client.send(new GetFunctionConfigurationCommand({ FunctionName }), { abortSignal });
    return {
      layers: (found.Layers ?? []).flatMap(({ Arn }) => Arn ?? []),
      inForce: found.LastUpdateStatus !== 'Failed',
      reason: found.LastUpdateStatusReason ?? 'it does not say why',
      revision: found.RevisionId,
    };
  };

  /** False when somebody else was faster. */
  const send = async (layers: readonly string[], RevisionId: string | undefined): Promise<boolean> => {
    try {
      const input = { FunctionName, Layers: [...layers], ...(RevisionId && { RevisionId }) };
      await client.send(new UpdateFunctionConfigurationCommand(input));
      return true;
    } catch (error) {
      if (error instanceof Error && CONFLICTS.has(error.name)) return false;
      throw error;
    }
  };

  return {
    read: () => settled(),
    async change(to, signal) {
      for (let attempt = 1; ; attempt++) {
        const { layers, inForce, revision } = await settled(signal);
        const next = to(layers);
        if (inForce && next.length === layers.length && next.every((layer, index) => layer === layers[index])) return;
        if (await send(next, revision)) break;
        if (attempt === ATTEMPTS) throw new Error(`${FunctionName} is changed by somebody else all the time`);
        await sleep(interval * 1000 * attempt, undefined, { signal });
      }
      const { inForce, reason } = await settled(signal);
      if (!inForce) throw new Error(`${FunctionName} did not take its new layers: ${reason}`);
    },
  };
}
