import { useEffect } from 'preact/hooks';
import type { Playback } from '../playback.ts';

/** Names what is playing in the system's media controls (Media Session API), while the component is mounted. */
export function useMediaSession({ title, author, coverUrl }: Playback): void {
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
}
