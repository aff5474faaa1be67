import { useEffect } from 'preact/hooks';

export interface NowPlaying {
  readonly title: string;
  readonly author: string | null;
  readonly coverUrl: string | null;
}

/** Shows what is playing in the system's media controls (Media Session API), while the component is mounted. */
export function useMediaSession({ title, author, coverUrl }: NowPlaying): void {
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
