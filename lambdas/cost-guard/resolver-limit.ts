import {
  DeleteFunctionConcurrencyCommand,
  GetFunctionConcurrencyCommand,
  type LambdaClient,
  PutFunctionConcurrencyCommand,
} from '@aws-sdk/client-lambda';
import type { Log } from '../../core/log/index.ts';

export interface ResolverLimitOptions {
  readonly lambda: LambdaClient;
  readonly functionName: string;
  /** Executions at once while the edge is open. */
  readonly limit: number;
  readonly log: Log;
}

/** The reserved concurrency of the resolver. */
export interface ResolverLimit {
  /** Makes it the limit, or 0 while closed. Does nothing where it is that already. */
  apply(isClosed: boolean): Promise<void>;
}

/**
 * Lambda leaves an account 100 unreserved executions. A new one has ten: its quota bounds the resolver instead, and it can be
 * closed nevertheless, because 0 reserves nothing.
 */
export function createResolverLimit({ lambda, functionName, limit, log }: ResolverLimitOptions): ResolverLimit {
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
      log.warn('The resolver is not closed: some of its environments are kept initialized');
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
      log.warn("The account's quota is too small to reserve executions of the resolver", { limit });
      await removeClosure(current);
    }
  };

  return { apply: async (isClosed) => (isClosed ? close : open)(await read()) };
}

const isRefusal = (error: unknown): boolean =>
  error instanceof Error && error.name === 'InvalidParameterValueException';
