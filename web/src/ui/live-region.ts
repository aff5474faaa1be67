import { createSubject, type Subject } from '../lib/index.ts';

/** Time for a screen reader to notice the empty text, milliseconds. */
const GAP = 100;

/** Text of a live region. Screen readers announce changes only, so a repeated text is cleared first. */
export function createLiveRegion(): Subject<string> {
  const said = createSubject('');
  let again: ReturnType<typeof setTimeout> | undefined;
  return {
    ...said,
    set(text) {
      clearTimeout(again);
      if (text !== said.get()) return said.set(text);
      said.set('');
      again = setTimeout(() => said.set(text), GAP);
    },
  };
}
