import { useCallback, useEffect } from 'preact/hooks';
import {
  batchLocation,
  linkFromLocation,
  linksFromLocation,
  shareableLocation,
  textFromLocation,
} from '../../lib/index.ts';
import { preferenceFromQuality } from '../../renditions/index.ts';
import type { Page } from '../context.ts';

type Opener = Pick<Page, 'session' | 'formats'>;

export interface Navigation {
  readonly open: (link: string) => void;
  /** Opens a link that may have been resolved a moment ago. */
  readonly reopen: (link: string) => void;
  /** Opens one link, or several as a batch. */
  readonly openAll: (links: readonly string[]) => void;
  readonly close: () => void;
}

/** Opens the link in `location.search`, with the format that `quality` names. */
export function openLocation({ session, formats }: Opener, search: string): void {
  formats.setForLink(preferenceFromQuality(new URLSearchParams(search).get('quality')));
  const links = linksFromLocation(search);
  const link = linkFromLocation(search);
  if (links.length > 1) session.openAll(links);
  else if (link) session.reopen(link);
  else session.close(textFromLocation(search));
}

/** Synchronizes the page's address and the session, so that each link has an address and back navigation works. */
export function useLocation({ session, formats }: Opener): Navigation {
  useEffect(() => {
    const goBack = () => openLocation({ session, formats }, location.search);
    addEventListener('popstate', goBack);
    return () => removeEventListener('popstate', goBack);
  }, [session]);

  const open = useCallback(
    (link: string) => {
      go(shareableLocation(link));
      formats.setForLink(undefined);
      session.open(link);
    },
    [session],
  );
  const reopen = useCallback(
    (link: string) => {
      go(shareableLocation(link));
      session.reopen(link);
    },
    [session],
  );
  const openAll = useCallback(
    (links: readonly string[]) => {
      const [first] = links;
      if (links.length === 1 && first) return open(first);
      go(batchLocation(links));
      session.openAll(links);
    },
    [session, open],
  );
  const close = useCallback(() => {
    go(shareableLocation(undefined));
    session.close();
  }, [session]);
  return { open, reopen, openAll, close };
}

/** Whether a click opens another tab or window. */
export const opensElsewhere = ({ ctrlKey, metaKey, shiftKey, altKey }: MouseEvent): boolean =>
  ctrlKey || metaKey || shiftKey || altKey;

function go(address: string): void {
  if (address !== location.pathname + location.search) history.pushState(null, '', address);
}
