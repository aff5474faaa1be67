import {
  CapacityExceeded,
  ClientDisconnected,
  ClientLimitExceeded,
  EgressRefused,
  InMaintenance,
  NotDeliverable,
  NotFound,
  StateUnavailable,
  StorageFull,
  UpstreamError,
  UrlExpired,
} from '../errors/index.ts';
import { Problem, problems } from './problem.ts';

/** The Problem (RFC 9457) that a failure is answered with. An error of no known class is a 500 that keeps it as the cause. */
export function toProblem(error: unknown): Problem {
  if (error instanceof Problem) return error;
  if (error instanceof NotFound || error instanceof EgressRefused) return problems.notFound(error);
  if (error instanceof UrlExpired) return error.gone ? problems.notFound(error) : problems.fetchFailed(error);
  if (error instanceof NotDeliverable) return problems.notDeliverable(error.detail, error);
  if (error instanceof UpstreamError || error instanceof StateUnavailable || isTimeout(error))
    return problems.fetchFailed(error);
  if (error instanceof StorageFull) return problems.storageFull(error);
  if (error instanceof InMaintenance) return problems.maintenance(error.activity);
  if (error instanceof CapacityExceeded) return problems.noCapacity(error.retryAfterSeconds);
  if (error instanceof ClientLimitExceeded) return problems.tooManyRequests(error.retryAfterSeconds);
  if (error instanceof ClientDisconnected) return problems.clientDisconnected();
  return problems.internal(error);
}

/** For a stream, whose contract knows no 415: media that cannot be delivered after all is a failed fetch. */
export function toStreamProblem(error: unknown): Problem {
  const problem = toProblem(error);
  return problem.details.status === 415 ? problems.fetchFailed(error) : problem;
}

const isTimeout = (error: unknown): boolean => error instanceof DOMException && error.name === 'TimeoutError';
