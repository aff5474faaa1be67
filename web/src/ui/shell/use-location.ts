import { useCallback, useEffect } from 'preact/hooks';
import {
  batchLocation,
  linkFromLocation,
  linksFromLocation,
  shareableLocation,
  textFromLocation,
} from '../../lib/index.ts';
import type { Session } from '../session.ts';

export interface Navigation {
  readonly open: (link: string) => void;
  /** Opens one link, or several as a batch. */
  readonly openAll: (links: readonly string[]) => void;
  readonly close: () => void;
}

/** Opens the link in `location.search`. */
export function openLocation(session: Session, search: string): void {
  const links = linksFromLocation(search);
  const link = linkFromLocation(search);
  if (links.length > 1) session.openAll(links);
  else if (link) session.reopen(link);
  else session.close(textFromLocation(search));
}

/** Synchronizes the page's address and the session, so that each link has an address and back navigation works. */
export function useLocation(session: Session): Navigation {
  useEffect(() => {
    const goBack = () => openLocation(session, location.search);
    addEventListener('popstate', goBack);
    return () => removeEventListener('popstate', goBack);
  }, [session]);

  const open = useCallback(
    (link: string) => {
      go(shareableLocation(link));
      session.open(link);
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
  return { open, openAll, close };
}

/** Whether a click opens another tab or window. */
export const opensElsewhere = ({ ctrlKey, metaKey, shiftKey, altKey }: MouseEvent): boolean =>
  ctrlKey || metaKey || shiftKey || altKey;

function go(address: string): void {
  if (address !== location.pathname + location.search) history.pushState(null, '', address);
}
