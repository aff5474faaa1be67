import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

/** A deployed function. */
export type BundledFunction = Awaited<ReturnType<typeof startFunction>>;

/** An error that the function threw. */
export class FunctionFailed extends Error {
  override readonly name = 'FunctionFailed';
  readonly failure: Readonly<{ errorType: string; errorMessage: string }>;

  constructor(failure: FunctionFailed['failure']) {
    super(`${failure.errorType}: ${failure.errorMessage}`);
    this.failure = failure;
  }
}

interface Reply {
  readonly ready?: true;
  readonly id?: number;
  readonly result?: string;
  readonly failure?: FunctionFailed['failure'];
}

const HOST = join(import.meta.dirname, 'function-host.ts');
/** The longest timeout of an API function in the stack. */
const TIMEOUT_MS = 29_000;

/**
 * Starts a bundle with exactly these environment variables.
 * @param path of `index.mjs`
 * @throws Error with its output when it cannot be loaded
 */
export async function startFunction(path: string, name: string, env: NodeJS.ProcessEnv) {
  const child = fork(HOST, [path], {
    env: { ...env, AWS_LAMBDA_FUNCTION_NAME: name, POWERTOOLS_SERVICE_NAME: name },
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  });
  const lines: string[] = [];
  for (const output of [child.stdout, child.stderr]) {
    if (output) createInterface(output).on('line', (line) => lines.push(line));
  }
  const waiting = new Map<number, PromiseWithResolvers<unknown>>();
  const ready = Promise.withResolvers<void>();
  const ended = once(child, 'close').then(() => {
    const error = new Error(`${name} ended: ${lines.join('\n')}`);
    ready.reject(error);
    for (const { reject } of waiting.values()) reject(error);
  });
  child.on('message', ({ ready: isReady, id = 0, result, failure }: Reply) => {
    if (isReady) return ready.resolve();
    const { resolve, reject } = waiting.get(id) ?? {};
    waiting.delete(id);
    if (failure) reject?.(new FunctionFailed(failure));
    else resolve?.(JSON.parse(result ?? 'null'));
  });
  let count = 0;
  const close = async () => {
    if (child.exitCode === null && child.signalCode === null) child.kill('SIGKILL');
    await ended;
  };
  try {
    await ready.promise;
  } catch (error) {
    await close();
    throw error;
  }
  return {
    /** Returns the response, serialized as by Lambda. @throws FunctionFailed when the function threw */
    invoke(event: unknown): Promise<unknown> {
      count += 1;
      const answer = Promise.withResolvers<unknown>();
      waiting.set(count, answer);
      const context = { awsRequestId: `request-${count}`, functionName: name, functionVersion: '$LATEST' };
      child.send({ id: count, event, context, deadline: Date.now() + TIMEOUT_MS });
      return answer.promise;
    },
    /** The log so far; complete once closed. */
    lines: lines as readonly string[],
    close,
  };
}
