import { InvokeCommand, type LambdaClient } from '@aws-sdk/client-lambda';
import type { Canary, CanaryVerdict, FunctionLayers } from '../types.ts';

export interface CanaryOptions {
  readonly client: LambdaClient;
  readonly functionName: string;
  readonly layers: FunctionLayers;
}

/** The canary as a function: it is given the layer, asked once it carries it, and keeps it. */
export function createCanary({ client, functionName, layers }: CanaryOptions): Canary {
  return {
    async try(layerVersionArn, signal) {
      await layers.change(() => [layerVersionArn], signal);
      const invoke = new InvokeCommand({ FunctionName: functionName, Payload: '{}' });
      const { FunctionError, Payload } = await client.send(invoke, { abortSignal: signal });
      const text = Payload?.transformToString() ?? '';
      if (FunctionError) throw new Error(`The canary died: ${text.slice(0, 200)}`);
      return verdictIn(text);
    },
  };
}

function verdictIn(text: string): CanaryVerdict {
  const said = parse(text);
  if (said.ok === true && typeof said.version === 'string') return { ok: true, version: said.version };
  if (said.ok === false && typeof said.reason === 'string') return { ok: false, reason: said.reason.slice(0, 200) };
  throw new Error(`The canary says nothing that can be understood: ${text.slice(0, 200)}`);
}

function parse(text: string): Readonly<Record<string, unknown>> {
  try {
    return Object(JSON.parse(text));
  } catch {
    return {}; // as good as a verdict of another shape
  }
}
