import {
  DeleteFunctionConcurrencyCommand,
  GetFunctionConcurrencyCommand,
  type LambdaClient,
  PutFunctionConcurrencyCommand,
} from '@aws-sdk/client-lambda';
import type { Log } from '../../core/log/index.ts';

interface ConcurrencyLimitOptions {
  readonly lambda: LambdaClient;
  readonly functionName: string;
  /** Executions at once while the edge is open. */
  readonly limit: number;
  readonly log: Log;
}

/** Makes something what it is while the edge is closed, or open. Does nothing where it is that already. */
export type Limit = (isClosed: boolean) => Promise<void>;

/**
 * The reserved concurrency of a function: 0 while closed. Lambda requires that 100 executions of an account stay unreserved. A new account
 * has ten: its quota bounds the function instead, and the function can still be closed, because 0 reserves nothing.
 */
export function createConcurrencyLimit({ lambda, functionName, limit, log }: ConcurrencyLimitOptions): Limit {
  const FunctionName = functionName;
  let isRefused = false;

  /** @returns false where the account's quota does not permit it */
  const reserve = async (ReservedConcurrentExecutions: number): Promise<boolean> => {
    try {
      await lambda.send(new PutFunctionConcurrencyCommand({ FunctionName, ReservedConcurrentExecutions }));
      return true;
    } catch (error) {
      if (error instanceof Error && error.name === 'InvalidParameterValueException') return false;
      throw error;
    }
  };

  return async (isClosed) => {
    const wanted = isClosed ? 0 : limit;
    const found = await lambda.send(new GetFunctionConcurrencyCommand({ FunctionName }));
    const current = found.ReservedConcurrentExecutions;
    if (current === wanted || ((isClosed || !isRefused) && (await reserve(wanted)))) return;
    if (isClosed) {
      // Environments that are kept initialized need reserved executions. No request reaches them while the edge is closed.
      log.warn('The function is not closed: some of its environments are kept initialized', { functionName });
      return;
    }
    if (!isRefused) log.warn("The account's quota is too small to reserve executions", { functionName, limit });
    isRefused = true;
    if (current === 0) await lambda.send(new DeleteFunctionConcurrencyCommand({ FunctionName }));
  };
}

/** Executions that stay reserved while closed. */
export function createReservation(options: ConcurrencyLimitOptions): Limit {
  const limit = createConcurrencyLimit(options);
  return () => limit(false);
}
