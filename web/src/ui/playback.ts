import type { ClipTimes } from '../api/index.ts';
import { createSubject, type Subject } from '../lib/index.ts';
import type { Choice } from '../renditions/index.ts';

/** What is being played. */
export interface Playback {
  readonly choice: Choice;
  readonly title: string;
  readonly author: string | null;
  readonly coverUrl: string | null;
  /** The page it is from. */
  readonly link: string | null;
  /** Position to start at. */
  readonly startSeconds?: number;
  /** The part that is to be downloaded, once it is being selected. */
  readonly clip?: ClipTimes;
}

/** The one player of the page. It outlives the result that started it. */
export interface PlaybackState {
  readonly current: Subject<Playback | undefined>;
  /** Where the player is shown; undefined: in the mini player. */
  readonly stage: Subject<HTMLElement | undefined>;
  /** The element that plays. */
  readonly media: { current: HTMLMediaElement | null };
}

export const createPlayback = (): PlaybackState => ({
  current: createSubject<Playback | undefined>(undefined),
  stage: createSubject<HTMLElement | undefined>(undefined),
  media: { current: null },
});
