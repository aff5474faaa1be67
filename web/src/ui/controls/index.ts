export { CopyButton } from './copy-button.tsx';
export { Cover } from './cover.tsx';
export { moveFocusFromRow, moveFocusFromSection, useFocusFallback } from './focus.ts';
export { Icon, type IconName } from './icons.tsx';
export { NextTry } from './next-try.tsx';
export { Select } from './select.tsx';
export { useCountdown } from './use-countdown.ts';
export { type Lazy, useLazy } from './use-lazy.ts';
export { usePublishedHeight } from './use-published-height.ts';
