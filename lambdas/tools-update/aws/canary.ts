import { InvokeCommand, type LambdaClient } from '@aws-sdk/client-lambda';
import type { Canary, CanaryVerdict, FunctionLayers } from '../types.ts';

export interface CanaryOptions {
  readonly client: LambdaClient;
  readonly functionName: string;
  readonly layers: FunctionLayers;
}

/** The canary function: attaches the layer to it and invokes it. The layer stays attached. */
export function createCanary({ client, functionName, layers }: CanaryOptions): Canary {
  return {
    async try(layerVersionArn, signal) {
      await layers.change(() => [layerVersionArn], signal);
      const invoke = new InvokeCommand({ FunctionName: functionName, Payload: '{}' });
      const { FunctionError, Payload } = await client.send(invoke, { abortSignal: signal });
      const text = Payload?.transformToString() ?? '';
      if (FunctionError) throw new Error(`Canary failed: ${text.slice(0, 200)}`);
      return verdictIn(text);
    },
  };
}

/** Parses the payload of a canary's response. @throws Error when it is no verdict */
export function verdictIn(text: string): CanaryVerdict {
  const verdict = parse(text);
  const mode = verdict.mode === 'process-per-link' ? verdict.mode : undefined;
  if (verdict.ok === true && typeof verdict.version === 'string')
    return { ok: true, version: verdict.version, ...(mode && { mode }) };
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
