import { useEffect } from 'preact/hooks';
import { linksFromLocation, textFromLocation } from '../../lib/index.ts';
import { preferenceFromQuality } from '../../renditions/index.ts';
import type { Page } from '../context.ts';

type Opener = Pick<Page, 'session' | 'formats'>;

/**
 * Opens the link in `location.search`, with the format that `quality` names.
 * @param isReturn whether a recent result is shown again
 */
export function openLocation({ session, formats }: Opener, search: string, isReturn = false): void {
  formats.setForLink(preferenceFromQuality(new URLSearchParams(search).get('quality')));
  const links = linksFromLocation(search);
  const [link] = links;
  if (links.length > 1) session.openAll(links);
  else if (!link) session.close(textFromLocation(search));
  else if (isReturn) session.reopen(link);
  else session.open(link);
}

/** Frames after which a result that is shown again has its height. */
const FRAMES_OF_RESULT = 3;

/**
 * Opens the addresses of this page without loading it again, and leaves history and scroll positions to the browser. One
 * without the Navigation API (Baseline 2026) loads the page at each address.
 */
export function useLocation(opener: Opener): void {
  useEffect(() => {
    const open = (event: NavigateEvent) => {
      const { pathname, search } = new URL(event.destination.url);
      const isOwn = event.canIntercept && pathname === location.pathname;
      if (!isOwn || event.hashChange || event.navigationType === 'reload') return;
      const handler = async () => {
        openLocation(opener, search, event.navigationType === 'traverse');
        for (let frame = 0; frame < FRAMES_OF_RESULT; frame++) await new Promise(requestAnimationFrame);
      };
      // The focus stays in the field.
      event.intercept({ handler, focusReset: 'manual' });
    };
    window.navigation?.addEventListener('navigate', open);
    return () => window.navigation?.removeEventListener('navigate', open);
  }, []);
}
