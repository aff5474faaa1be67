import type { RefObject } from 'preact';
import { useEffect, useState } from 'preact/hooks';

export interface MediaState {
  readonly isPaused: boolean;
  /** Whole seconds. */
  readonly seconds: number;
  /** NaN while unknown; Infinity for a stream without an end. */
  readonly durationSeconds: number;
}

const INITIAL: MediaState = { isPaused: true, seconds: 0, durationSeconds: Number.NaN };
const EVENTS = ['play', 'pause', 'ended', 'timeupdate', 'durationchange', 'emptied'];

/** The state of a media element; re-renders once per second of playback. */
export function useMediaState(media: RefObject<HTMLMediaElement | null>): MediaState {
  const [state, setState] = useState(INITIAL);
  useEffect(() => {
    const { current } = media;
    if (!current) return;
    const update = () =>
      setState((before) => {
        const { paused, currentTime, duration } = current;
        const next = { isPaused: paused, seconds: Math.floor(currentTime), durationSeconds: duration };
        const isSame = (Object.keys(next) as (keyof MediaState)[]).every((key) => Object.is(next[key], before[key]));
        return isSame ? before : next;
      });
    for (const event of EVENTS) current.addEventListener(event, update);
    return () => {
      for (const event of EVENTS) current.removeEventListener(event, update);
    };
  }, [media]);
  return state;
}
