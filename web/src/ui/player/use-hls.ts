import type { RefObject } from 'preact';
import { useEffect, useRef } from 'preact/hooks';

/** Whether the browser itself plays HLS. */
export const playsHls = (): boolean =>
  document.createElement('video').canPlayType('application/vnd.apple.mpegurl') !== '';

export interface HlsOptions {
  /** Another number loads it again. */
  readonly attempt: number;
  readonly onError: () => void;
}

/** Plays HLS by a library, while there is a URL. */
export function useHls(
  media: RefObject<HTMLMediaElement | null>,
  url: string | undefined,
  { attempt, onError }: HlsOptions,
): void {
  const fail = useRef(onError);
  fail.current = onError;
  useEffect(() => {
    if (!url) return;
    let playing: { destroy(): void } | undefined;
    let isLeft = false;
    const play = async () => {
      const { default: Hls } = await import('hls.js');
      const { current } = media;
      if (isLeft || !current) return;
      // The Content-Security-Policy allows no workers.
      const hls = new Hls({ enableWorker: false, startPosition: current.currentTime || -1 });
      playing = hls;
      hls.on(Hls.Events.ERROR, (_, { fatal }) => fatal && fail.current());
      hls.loadSource(url);
      hls.attachMedia(current);
    };
    play().catch(() => fail.current());
    return () => {
      isLeft = true;
      playing?.destroy();
    };
  }, [media, url, attempt]);
}
