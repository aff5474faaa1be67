import { toProblem } from '../../core/api/problem.ts';

/** Rejects with the Problem that a host answers a failure with. */
export const asProblem = <T>(work: Promise<T>): Promise<T> =>
  work.catch((error: unknown) => {
    throw toProblem(error);
  });
