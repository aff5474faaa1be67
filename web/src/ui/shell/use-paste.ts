import { useEffect } from 'preact/hooks';
import { linksFromTransfer } from '../../lib/index.ts';

/** Accepts links pasted anywhere on the page; an editable element handles its own paste. */
export function usePaste(onLinks: (links: readonly string[]) => void): void {
  useEffect(() => {
    const paste = (event: ClipboardEvent) => {
      const { target } = event;
      const isEditable = target instanceof Element && target.closest('input, textarea, select, [contenteditable]');
      if (isEditable || event.defaultPrevented) return;
      const links = linksFromTransfer(event.clipboardData);
      if (links.length === 0) return;
      event.preventDefault();
      onLinks(links);
    };
    addEventListener('paste', paste);
    return () => removeEventListener('paste', paste);
  }, [onLinks]);
}
