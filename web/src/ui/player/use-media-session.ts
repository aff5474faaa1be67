import type { RefObject } from 'preact';
import { useEffect } from 'preact/hooks';
import type { Playback } from '../playback.ts';
import { seekBy } from './use-media-state.ts';

const SEEK_SECONDS = 10;

/** Connects a media element with the system's media controls (Media Session API), while the component is mounted. */
export function useMediaSession(
  { title, author, coverUrl }: Playback,
  media: RefObject<HTMLMediaElement | null>,
  canSeek: boolean,
): void {
  useEffect(() => {
    const { mediaSession } = navigator;
    if (!mediaSession) return;
    mediaSession.metadata = new MediaMetadata({
      title,
      artist: author ?? '',
      artwork: coverUrl ? [{ src: coverUrl }] : [],
    });
    return () => {
      mediaSession.metadata = null;
    };
  }, [title, author, coverUrl]);

  useEffect(() => {
    const { mediaSession } = navigator;
    const { current } = media;
    if (!mediaSession || !current) return;
    const seek: [MediaSessionAction, MediaSessionActionHandler][] = [
      ['seekbackward', ({ seekOffset }) => seekBy(current, -(seekOffset ?? SEEK_SECONDS))],
      ['seekforward', ({ seekOffset }) => seekBy(current, seekOffset ?? SEEK_SECONDS)],
      [
        'seekto',
        ({ seekTime }) => {
          current.currentTime = seekTime ?? 0;
        },
      ],
    ];
    const handlers: [MediaSessionAction, MediaSessionActionHandler][] = [
      ['play', () => void current.play().catch(() => undefined)],
      ['pause', () => current.pause()],
      ...(canSeek ? seek : []),
    ];
    for (const [action, handler] of handlers) setHandler(mediaSession, action, handler);
    const tellPosition = () => {
      const { duration, currentTime: position, playbackRate } = current;
      if (Number.isFinite(duration) && position <= duration)
        mediaSession.setPositionState?.({ duration, position, playbackRate });
    };
    const events = ['durationchange', 'seeked', 'ratechange', 'play'];
    for (const event of events) current.addEventListener(event, tellPosition);
    return () => {
      for (const [action] of handlers) setHandler(mediaSession, action, null);
      for (const event of events) current.removeEventListener(event, tellPosition);
      mediaSession.setPositionState?.();
    };
  }, [canSeek]);
}

/** Browsers throw a TypeError for actions that they do not know. */
function setHandler(session: MediaSession, action: MediaSessionAction, handler: MediaSessionActionHandler | null) {
  try {
    session.setActionHandler(action, handler);
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
  }
}
