import { toProblem } from '../../core/api/problem.ts';

/** Rejects with the Problem that the host returns for the failure. */
export const asProblem = <T>(work: Promise<T>): Promise<T> =>
  work.catch((error: unknown) => {
    throw toProblem(error);
  });
