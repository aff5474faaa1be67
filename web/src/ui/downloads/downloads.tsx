import { useEffect, useState } from 'preact/hooks';
import { hasEnded } from '../../download/index.ts';
import { useObservable, usePage } from '../context.ts';
import { moveFocusFromSection } from '../controls/index.ts';
import { DownloadRow } from './download-row.tsx';
import { DownloadsBadge } from './downloads-badge.tsx';
import { useRunning } from './use-running.ts';

/** All downloads of the page, for any link. */
export const DownloadList = () => {
  const { texts, downloads } = usePage();
  const list = useObservable(downloads.list);
  const running = useRunning(list);
  const [heading, setHeading] = useState<HTMLElement | null>(null);
  const clear = () => {
    downloads.clearEnded();
    // The button disappears, and with the last download the heading.
    if (downloads.list.get().length > 0) heading?.focus();
    else moveFocusFromSection(heading);
  };
  useLeaveGuard();
  if (list.length === 0) return null;
  return (
    <section class="section" aria-labelledby="downloads">
      <div class="section-head">
        <h2 id="downloads" ref={setHeading} tabIndex={-1}>
          {texts.t('downloads.title')}
        </h2>
        {running < list.length && (
          <button type="button" class="button plain small" onClick={clear}>
            {texts.t('downloads.clear')}
          </button>
        )}
      </div>
      <ul class="panel">
        {list.map((download) => (
          <DownloadRow key={keyOf(download)} download={download} onRemove={() => downloads.remove(download)} />
        ))}
      </ul>
      <DownloadsBadge running={running} heading={heading} />
    </section>
  );
};

const keys = new WeakMap<object, number>();
let lastKey = 0;

/** File names are not unique. */
function keyOf(download: object): number {
  const key = keys.get(download) ?? ++lastKey;
  keys.set(download, key);
  return key;
}

/** Asks for confirmation before a page with running downloads is closed. */
function useLeaveGuard(): void {
  const { downloads } = usePage();
  useEffect(() => {
    const guard = (event: BeforeUnloadEvent) => {
      if (downloads.list.get().some(({ state }) => !hasEnded(state.get()))) event.preventDefault();
    };
    addEventListener('beforeunload', guard);
    return () => removeEventListener('beforeunload', guard);
  }, [downloads]);
}
