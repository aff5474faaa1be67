export { bookmarklet } from './bookmarklet.ts';
export { createFormat, type Format } from './format.ts';
export { createHistory, type History, type HistoryEntry, type HistoryItem } from './history.ts';
export {
  isTooLong,
  linkFromText,
  linksFromLocation,
  linksFromText,
  linksFromTransfer,
  pagePath,
  shareableLocation,
  textFromLocation,
} from './incoming.ts';
export { createSubject, type Observable, type Subject } from './observable.ts';
export { openLocalStore, readStored, readStoredJson, type Store, store } from './store.ts';
export {
  createTexts,
  LOCALE_NAMES,
  LOCALES,
  type Locale,
  loadFirstTexts,
  loadTexts,
  type TextKey,
  type Texts,
  wantedLocales,
} from './texts.ts';
export { createTtlCache } from './ttl-cache.ts';
