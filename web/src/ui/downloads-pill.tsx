import { useEffect, useState } from 'preact/hooks';
import type { Download } from '../lib/download.ts';
import { useObservable, usePage } from './context.ts';
import { hasEnded } from './downloads-state.ts';
import { Icon } from './icons.tsx';

/** Tells of running downloads while their list is out of view, and leads to it. */
export const DownloadsPill = ({ heading }: { readonly heading: HTMLElement | null }) => {
  const { texts, downloads } = usePage();
  const list = useObservable(downloads.list);
  const running = useRunning(list);
  const isInView = useInView(heading);
  if (isInView || running === 0) return null;
  return (
    <button type="button" class="button primary pill" onClick={() => heading?.focus()}>
      <Icon name="download" />
      {texts.t('downloads.running', { count: running })}
    </button>
  );
};

/** How many have not ended. */
function useRunning(list: readonly Download[]): number {
  const count = () => list.filter((download) => !hasEnded(download)).length;
  const [running, setRunning] = useState(count);
  useEffect(() => {
    const look = () => setRunning(count());
    look();
    const endings = list.map(({ state }) => state.subscribe(look));
    return () => {
      for (const end of endings) end();
    };
  }, [list]);
  return running;
}

function useInView(element: HTMLElement | null): boolean {
  const [isInView, setInView] = useState(true);
  useEffect(() => {
    if (!element) return;
    const observer = new IntersectionObserver(([entry]) => setInView(entry?.isIntersecting ?? true));
    observer.observe(element);
    return () => observer.disconnect();
  }, [element]);
  return isInView;
}
