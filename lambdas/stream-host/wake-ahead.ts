import type { Log } from '../../core/log/index.ts';
import type { Handler } from '../middleware/index.ts';
import type { Invoker } from '../runtime/index.ts';
import type { AheadEvent } from './wake.ts';

export interface WakingAheadOptions {
  readonly wakeFunction: string;
  readonly invoker: Pick<Invoker, 'tell'>;
  readonly log: Log;
}

/** Milliseconds for which one telling is enough: a task takes about that long to start. */
const ENOUGH_FOR = 30_000;
/** Milliseconds that an answer waits for it. */
const PATIENCE = 2_000;

/** Wakes the stream host after each success: whoever was given keys is about to use one. Its failure costs nothing. */
export function wakingAhead(handler: Handler, { wakeFunction, invoker, log }: WakingAheadOptions): Handler {
  const event: AheadEvent = { kind: 'ahead' };
  let toldUntil = 0;
  return async (request, context) => {
    const result = await handler(request, context);
    if (result.statusCode === 200 && performance.now() >= toldUntil) {
      toldUntil = performance.now() + ENOUGH_FOR;
      await invoker.tell(wakeFunction, event, AbortSignal.timeout(PATIENCE)).catch((error) => {
        toldUntil = 0;
        log.warn('The stream host could not be woken ahead', { error: String(error) });
      });
    }
    return result;
  };
}
