import type { RefObject } from 'preact';
import { useEffect } from 'preact/hooks';
import { seekBy, toggleFullscreen, togglePlay } from './use-media-state.ts';

/** Steps of the arrow keys, and of J and L. */
export const SHORT_SECONDS = 5;
export const LONG_SECONDS = 10;
const TYPING = 'input:not([type=radio], [type=checkbox], [type=range]), textarea, select, [contenteditable]';
/** Elements with uses of their own for space and arrows. */
const INTERACTIVE = 'a, button, input, select, textarea, summary, [role=tab]';

/** Keys of the player, wherever the focus is except in a text field and in a dialog. `?`: calls `onHelp`. */
export function useShortcuts(media: RefObject<HTMLMediaElement | null>, canSeek: boolean, onHelp: () => void): void {
  useEffect(() => {
    const act = (event: KeyboardEvent) => {
      const { key, target, ctrlKey, metaKey, altKey, defaultPrevented } = event;
      if (ctrlKey || metaKey || altKey || defaultPrevented || document.querySelector('dialog:modal')) return;
      const element = target instanceof Element ? target : undefined;
      if (element?.closest(TYPING)) return;
      const action = key === '?' ? onHelp : actionOf(key, media.current, canSeek);
      const isOwnKey = key === ' ' || key.startsWith('Arrow');
      if (!action || (isOwnKey && element?.closest(INTERACTIVE))) return;
      // The media element has its own use for some of them.
      event.preventDefault();
      action();
    };
    // Before the media element, whose controls handle space and arrows themselves.
    addEventListener('keydown', act, { capture: true });
    return () => removeEventListener('keydown', act, { capture: true });
  }, [canSeek]);
}

function actionOf(key: string, media: HTMLMediaElement | null, canSeek: boolean): (() => void) | undefined {
  if (!media) return undefined;
  const seek = (seconds: number) => (canSeek ? () => seekBy(media, seconds) : undefined);
  switch (key.length === 1 ? key.toLowerCase() : key) {
    case ' ':
    case 'k':
      return () => togglePlay(media);
    case 'j':
      return seek(-LONG_SECONDS);
    case 'l':
      return seek(LONG_SECONDS);
    case 'ArrowLeft':
      return seek(-SHORT_SECONDS);
    case 'ArrowRight':
      return seek(SHORT_SECONDS);
    case 'm':
      return () => {
        media.muted = !media.muted;
      };
    case 'f':
      return media instanceof HTMLVideoElement ? () => void toggleFullscreen(media) : undefined;
    default:
      return undefined;
  }
}
