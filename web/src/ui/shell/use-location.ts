import { useCallback, useEffect } from 'preact/hooks';
import { linkFromLocation, shareableLocation, textFromLocation } from '../../lib/index.ts';
import type { Session } from '../session.ts';

export interface Navigation {
  readonly open: (link: string) => void;
  readonly close: () => void;
}

/** Brings a session to where an address of the page (`location.search`) leads. */
export function openLocation(session: Session, search: string): void {
  const link = linkFromLocation(search);
  if (link) session.reopen(link);
  else session.close(textFromLocation(search));
}

/** Keeps the address of the page and its link in step: each link has an address, and going back goes back. */
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
  const close = useCallback(() => {
    go(shareableLocation(undefined));
    session.close();
  }, [session]);
  return { open, close };
}

/** A click on a link that asks for another tab or window. */
export const opensElsewhere = ({ ctrlKey, metaKey, shiftKey, altKey }: MouseEvent): boolean =>
  ctrlKey || metaKey || shiftKey || altKey;

function go(address: string): void {
  if (address !== location.pathname + location.search) history.pushState(null, '', address);
}
