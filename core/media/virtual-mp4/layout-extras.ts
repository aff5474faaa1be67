import type { TimedText } from '../timed-text/index.ts';

/** What a layout has besides the tracks of its sources. */
export interface LayoutExtras {
  /** `udta`. */
  readonly tags?: Buffer;
  /** As a third track. */
  readonly text?: TimedText;
}
