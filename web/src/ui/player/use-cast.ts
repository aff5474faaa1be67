import type { RefObject } from 'preact';
import { useEffect, useState } from 'preact/hooks';

/** AirPlay of Safari versions without the Remote Playback API. */
interface AirPlayElement extends HTMLMediaElement {
  webkitShowPlaybackTargetPicker?(): void;
}
const AIRPLAY_EVENT = 'webkitplaybacktargetavailabilitychanged';

/** Opens the browser's list of devices to play on; undefined while it knows none, or where it cannot. */
export function useCast(media: RefObject<AirPlayElement | null>): (() => void) | undefined {
  const [isOffered, setOffered] = useState(false);
  useEffect(() => {
    const { current } = media;
    if (!current) return;
    const { remote } = current as Partial<HTMLMediaElement>;
    if (!remote) {
      const update = (event: Event) => setOffered('availability' in event && event.availability === 'available');
      current.addEventListener(AIRPLAY_EVENT, update);
      return () => current.removeEventListener(AIRPLAY_EVENT, update);
    }
    // Rejects where the browser does not look for devices by itself, as on slow machines.
    const watching = remote.watchAvailability(setOffered).catch(() => undefined);
    return () => {
      void watching.then((id) => remote.cancelWatchAvailability(id)).catch(() => undefined);
    };
  }, [media]);
  if (!isOffered) return undefined;
  return () => {
    const { current } = media;
    // Rejects when the visitor closes the list.
    if ((current as Partial<HTMLMediaElement> | null)?.remote) current?.remote.prompt().catch(() => undefined);
    else current?.webkitShowPlaybackTargetPicker?.();
  };
}
