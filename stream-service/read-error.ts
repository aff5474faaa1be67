import { toProblem } from '../core/api/index.ts';
import { UpstreamError } from '../core/errors/index.ts';

/**
 * The error of a representation that failed before its first byte. One of no known class comes from FFmpeg or a parser
 * reading what the source sent: an `UpstreamError`, with it as the cause.
 */
export const toReadError = (error: unknown): unknown =>
  toProblem(error).details.status === 500 ? new UpstreamError('The source could not be read', { cause: error }) : error;
