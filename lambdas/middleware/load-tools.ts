import type { MiddlewareObj } from '@middy/core';
import { waitAtMost } from '../../core/concurrency/index.ts';
import type { LayeredTools } from '../runtime/index.ts';

/** After this a handler runs without tools, and answers that the instance is in maintenance. */
const LOAD_TIMEOUT_MS = 15_000;

/** Loads the tools of the layer before the handler runs: the attempt at start may have failed or still be under way. */
export const loadTools = (tools: Pick<LayeredTools, 'load'>, timeoutMs = LOAD_TIMEOUT_MS): MiddlewareObj => ({
  before: () => waitAtMost(tools.load(), timeoutMs),
});
