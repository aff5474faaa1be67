import type { RefObject } from 'preact';
import { useEffect, useState } from 'preact/hooks';

export interface MediaState {
  readonly isPaused: boolean;
  readonly isMuted: boolean;
  /** Whole seconds. */
  readonly seconds: number;
  /** NaN while unknown; Infinity for a stream without an end. */
  readonly durationSeconds: number;
  readonly speed: number;
}

const INITIAL: MediaState = { isPaused: true, isMuted: false, seconds: 0, durationSeconds: Number.NaN, speed: 1 };
const EVENTS = ['play', 'pause', 'ended', 'volumechange', 'timeupdate', 'durationchange', 'ratechange', 'emptied'];

/** The state of a media element; re-renders once per second of playback. */
export function useMediaState(media: RefObject<HTMLMediaElement | null>): MediaState {
  const [state, setState] = useState(INITIAL);
  useEffect(() => {
    const { current } = media;
    if (!current) return;
    const update = () =>
      setState((before) => {
        const { paused, muted, currentTime, duration, playbackRate } = current;
        const next = {
          isPaused: paused,
          isMuted: muted,
          seconds: Math.floor(currentTime),
          durationSeconds: duration,
          speed: playbackRate,
        };
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

/** Plays or pauses. Autoplay may be blocked; the controls remain. */
export function togglePlay(media: HTMLMediaElement | null): void {
  if (media?.paused) media.play().catch(() => undefined);
  else media?.pause();
}

/** Seeks by seconds, within what can be sought. */
export function seekBy(media: HTMLMediaElement | null, seconds: number): void {
  if (!media) return;
  const end = Number.isFinite(media.duration) ? media.duration : Number.POSITIVE_INFINITY;
  media.currentTime = Math.min(Math.max(media.currentTime + seconds, 0), end);
}

export async function toggleFullscreen(media: HTMLMediaElement | null): Promise<void> {
  if (document.fullscreenElement) await document.exitFullscreen();
  else if (media instanceof HTMLVideoElement) await media.requestFullscreen?.();
}

/** Picture in picture of a video, or back. Refused without a click, and before metadata is loaded. */
export async function togglePictureInPicture(media: HTMLMediaElement | null): Promise<void> {
  if (document.pictureInPictureElement) await document.exitPictureInPicture();
  else if (media instanceof HTMLVideoElement) await media.requestPictureInPicture().catch(() => undefined);
}
