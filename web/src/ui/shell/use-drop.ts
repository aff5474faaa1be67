import { useEffect, useState } from 'preact/hooks';
import { linksFromTransfer } from '../../lib/index.ts';

/** Accepts links dropped anywhere on the page. @returns whether one is dragged over it */
export function useDrop(onLinks: (links: readonly string[]) => void): boolean {
  const [isOver, setOver] = useState(false);
  useEffect(() => {
    const hold = (event: DragEvent) => {
      if (!event.dataTransfer?.types.some((type) => type === 'text/uri-list' || type === 'text/plain')) return;
      event.preventDefault();
      setOver(true);
    };
    const leave = (event: DragEvent) => {
      // dragleave also fires between elements: only leaving the window counts.
      if (!event.relatedTarget) setOver(false);
    };
    const drop = (event: DragEvent) => {
      setOver(false);
      const links = linksFromTransfer(event.dataTransfer);
      if (links.length === 0) return;
      event.preventDefault();
      onLinks(links);
    };
    addEventListener('dragover', hold);
    addEventListener('dragleave', leave);
    addEventListener('drop', drop);
    return () => {
      removeEventListener('dragover', hold);
      removeEventListener('dragleave', leave);
      removeEventListener('drop', drop);
    };
  }, [onLinks]);
  return isOver;
}
