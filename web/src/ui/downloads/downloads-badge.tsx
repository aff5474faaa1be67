import { useEffect, useState } from 'preact/hooks';
import { usePage } from '../context.ts';
import { Icon } from '../controls/index.ts';

export interface DownloadsPillProps {
  /** Number of downloads that have not ended. */
  readonly running: number;
  readonly heading: HTMLElement | null;
}

/** Links to the download list while it is out of view. */
export const DownloadsBadge = ({ running, heading }: DownloadsPillProps) => {
  const { texts } = usePage();
  const isInView = useInView(heading);
  if (isInView || running === 0) return null;
  return (
    <button type="button" class="button primary downloads-badge" onClick={() => heading?.focus()}>
      <Icon name="download" />
      {texts.t('downloads.running', { count: running })}
    </button>
  );
};

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
