import { createSubject, type Subject } from '../lib/index.ts';

/** Long enough for a screen reader to notice that a text is gone, milliseconds. */
const GAP = 100;

/** What a screen reader is told next. It hears changes alone: what is said twice goes away in between. */
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
