import { createSubject, type Subject } from '../lib/index.ts';

/** Time for a screen reader to notice the empty text. */
const GAP_MS = 100;

/** Text of a live region. Screen readers announce changes only, so a repeated text is cleared first. */
export function createLiveRegion(): Subject<string> {
  const announced = createSubject('');
  let timer: ReturnType<typeof setTimeout> | undefined;
  return {
    ...announced,
    set(text) {
      clearTimeout(timer);
      if (text !== announced.get()) return announced.set(text);
      announced.set('');
      timer = setTimeout(() => announced.set(text), GAP_MS);
    },
  };
}
