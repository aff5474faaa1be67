import type { RefObject } from 'preact';
import { useEffect } from 'preact/hooks';
import { linksFromTransfer } from '../../lib/index.ts';

const EDITABLE = 'input, textarea, select, [contenteditable]';

/** Accepts links pasted or dropped anywhere on the page, and the key `/`, which focuses the field. */
export function useIncoming(
  field: RefObject<HTMLInputElement | null>,
  onLinks: (links: readonly string[]) => void,
): void {
  useEffect(() => {
    const ended = new AbortController();
    const on = <K extends keyof WindowEventMap>(type: K, listener: (event: WindowEventMap[K]) => void) =>
      addEventListener(type, listener, { signal: ended.signal });
    /** Within another editable element, which handles its own input. */
    const isElsewhere = ({ target }: Event) =>
      target !== field.current && target instanceof Element && target.closest(EDITABLE) !== null;
    const take = (event: Event, data: DataTransfer | null) => {
      const links = linksFromTransfer(data);
      if (links.length === 0) return;
      event.preventDefault();
      onLinks(links);
    };
    const showDrop = (isOver: boolean) => document.body.classList.toggle('dropping', isOver);

    on('keydown', (event) => {
      const { key, target, ctrlKey, metaKey, altKey } = event;
      if (key !== '/' || target === field.current || isElsewhere(event) || ctrlKey || metaKey || altKey) return;
      event.preventDefault();
      field.current?.focus();
      field.current?.select();
    });
    on('paste', (event) => isElsewhere(event) || take(event, event.clipboardData));
    on('dragover', (event) => {
      if (!event.dataTransfer?.types.some((type) => type === 'text/uri-list' || type === 'text/plain')) return;
      event.preventDefault();
      showDrop(true);
    });
    // dragleave also fires between elements: only leaving the window counts.
    on('dragleave', ({ relatedTarget }) => {
      if (!relatedTarget) showDrop(false);
    });
    on('drop', (event) => {
      showDrop(false);
      take(event, event.dataTransfer);
    });
    return () => ended.abort();
  }, []);
}
