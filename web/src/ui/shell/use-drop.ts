import { useEffect, useState } from 'preact/hooks';
import { linkFromTransfer } from '../../lib/index.ts';

/** Accepts links dropped anywhere on the page. @returns whether one is dragged over it */
export function useDrop(onLink: (link: string) => void): boolean {
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
      const link = linkFromTransfer(event.dataTransfer);
      if (!link) return;
      event.preventDefault();
      onLink(link);
    };
    addEventListener('dragover', hold);
    addEventListener('dragleave', leave);
    addEventListener('drop', drop);
    return () => {
      removeEventListener('dragover', hold);
      removeEventListener('dragleave', leave);
      removeEventListener('drop', drop);
    };
  }, [onLink]);
  return isOver;
}
