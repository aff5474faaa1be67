import '../../styles/tray.css';
import { useId, useRef } from 'preact/hooks';
import { useObservable, usePage } from '../context.ts';
import { Icon, type IconName, moveFocusFromSection, usePublishedHeight } from '../controls/index.ts';
import { DownloadRow } from './download-row.tsx';
import { type Totals, useTotals } from './use-totals.ts';

/** Docked to the edge of the window until the downloads are cleared. */
export const Tray = () => {
  const { texts, downloads } = usePage();
  const { t } = texts;
  const list = useObservable(downloads.list);
  const isOpen = useObservable(downloads.isOpen);
  const totals = useTotals(list);
  const tray = useRef<HTMLElement>(null);
  const heading = useRef<HTMLHeadingElement>(null);
  const listId = useId();
  usePublishedHeight(tray, '--tray');
  const clear = () => {
    downloads.clearEnded();
    // The button disappears, and with the last download the heading.
    if (downloads.list.get().length > 0) heading.current?.focus();
    else moveFocusFromSection(heading.current);
  };
  const hasUnended = totals.ended < list.length;
  return (
    <section class="tray" aria-labelledby="downloads" ref={tray}>
      <div class="tray-head">
        <div class="tray-title">
          <h2 id="downloads" ref={heading} tabIndex={-1}>
            {t('downloads.title')}
          </h2>
          <p class={totals.failed > 0 ? 'tray-summary failed' : 'tray-summary'}>
            <Summary totals={totals} />
          </p>
        </div>
        <button
          type="button"
          class="button plain small square"
          aria-expanded={isOpen}
          aria-controls={listId}
          aria-label={t(isOpen ? 'downloads.collapse' : 'downloads.expand')}
          onClick={() => downloads.isOpen.set(!isOpen)}
        >
          <Icon name={isOpen ? 'all' : 'less'} />
        </button>
      </div>
      {!isOpen && hasUnended && <progress aria-label={t('downloads.title')} max={1} value={totals.share} />}
      <div class="tray-body" id={listId} hidden={!isOpen}>
        <ul>
          {list.map((download) => (
            <DownloadRow key={keyOf(download)} download={download} onRemove={() => downloads.remove(download)} />
          ))}
        </ul>
        <div class="tray-actions">
          {list.length > 1 && totals.running > 0 && (
            <TrayButton icon="pause" text={t('downloads.pauseAll')} onClick={downloads.pauseAll} />
          )}
          {list.length > 1 && totals.paused > 0 && (
            <TrayButton icon="play" text={t('downloads.resumeAll')} onClick={downloads.resumeAll} />
          )}
          {list.length > 1 && totals.failed > 0 && (
            <TrayButton icon="retry" text={t('downloads.retryFailed')} onClick={downloads.retryFailed} />
          )}
          {list.length > 1 && hasUnended && (
            <TrayButton icon="close" text={t('downloads.cancelAll')} onClick={downloads.cancelAll} />
          )}
          {totals.ended > 0 && <TrayButton icon="check" text={t('downloads.clear')} onClick={clear} />}
        </div>
      </div>
    </section>
  );
};

const Summary = ({ totals }: { readonly totals: Totals }) => {
  const { t } = usePage().texts;
  const { running, queued, paused, failed } = totals;
  const parts = [
    running > 0 && t('downloads.running', { count: running }),
    queued > 0 && t('downloads.queued', { count: queued }),
    paused > 0 && t('downloads.pausedCount', { count: paused }),
    failed > 0 && t('downloads.failedCount', { count: failed }),
  ].filter(Boolean);
  return <>{parts.length > 0 ? parts.join(' · ') : t('downloads.allDone')}</>;
};

interface TrayButtonProps {
  readonly icon: IconName;
  readonly text: string;
  readonly onClick: () => void;
}

const TrayButton = ({ icon, text, onClick }: TrayButtonProps) => (
  <button type="button" class="button plain small" onClick={onClick}>
    <Icon name={icon} />
    {text}
  </button>
);

const keys = new WeakMap<object, number>();
let lastKey = 0;

/** File names are not unique. */
function keyOf(download: object): number {
  const key = keys.get(download) ?? ++lastKey;
  keys.set(download, key);
  return key;
}
