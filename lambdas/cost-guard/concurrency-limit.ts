import {
  DeleteFunctionConcurrencyCommand,
  GetFunctionConcurrencyCommand,
  type LambdaClient,
  PutFunctionConcurrencyCommand,
} from '@aws-sdk/client-lambda';
import type { Log } from '../../core/log/index.ts';

export interface ConcurrencyLimitOptions {
  readonly lambda: LambdaClient;
  readonly functionName: string;
  /** Executions at once while the edge is open. */
  readonly limit: number;
  readonly log: Log;
}

/** The reserved concurrency of a function. */
export interface ConcurrencyLimit {
  /** Makes it the limit, or 0 while closed. Does nothing where it is that already. */
  apply(isClosed: boolean): Promise<void>;
}

/**
 * Lambda leaves an account 100 unreserved executions. A new one has ten: its quota bounds the function instead, and it can be
 * closed nevertheless, because 0 reserves nothing.
 */
export function createConcurrencyLimit({
  lambda,
  functionName,
  limit,
  log,
}: ConcurrencyLimitOptions): ConcurrencyLimit {
  const FunctionName = functionName;
  let isRefused = false;

  const reserve = (ReservedConcurrentExecutions: number) =>
    lambda.send(new PutFunctionConcurrencyCommand({ FunctionName, ReservedConcurrentExecutions }));
  const read = async () =>
    (await lambda.send(new GetFunctionConcurrencyCommand({ FunctionName }))).ReservedConcurrentExecutions;
  const removeClosure = async (current: number | undefined) => {
    if (current === 0) await lambda.send(new DeleteFunctionConcurrencyCommand({ FunctionName }));
  };

  const close = async (current: number | undefined) => {
    if (current === 0) return;
    await reserve(0).catch((error: unknown) => {
      // Environments that are kept initialized need executions. The edge is closed, and leads nobody to them.
      if (!isRefusal(error)) throw error;
      log.warn('The function is not closed: some of its environments are kept initialized', { functionName });
    });
  };
  const open = async (current: number | undefined) => {
    if (current === limit) return;
    if (isRefused) return removeClosure(current);
    try {
      await reserve(limit);
    } catch (error) {
      if (!isRefusal(error)) throw error;
      isRefused = true;
      log.warn("The account's quota is too small to reserve executions", { functionName, limit });
      await removeClosure(current);
    }
  };

  return { apply: async (isClosed) => (isClosed ? close : open)(await read()) };
}

const isRefusal = (error: unknown): boolean =>
  error instanceof Error && error.name === 'InvalidParameterValueException';
