import { useRef } from 'preact/hooks';
import type { HistoryEntry } from '../../history.ts';
import { shareableLocation } from '../../links.ts';
import { useObservable, usePage } from '../context.ts';
import { Button, CopyButton, Icon } from '../controls.tsx';
import { Cover } from '../cover.tsx';
import { moveFocusFromRow } from '../hooks.ts';

/** Recent links of this device, and what was downloaded of them. */
export const HistoryList = () => {
  const { t, history } = usePage();
  const entries = useObservable(history.entries);
  if (entries.length === 0) return null;
  const clear = () => {
    if (confirm(t('history.confirm'))) history.clear();
  };
  return (
    <section class="section" aria-labelledby="history">
      <div class="row section-head">
        <div>
          <h2 id="history">{t('history.title')}</h2>
          <p class="muted section-note">{t('history.note')}</p>
        </div>
        <Button onClick={clear}>{t('history.clear')}</Button>
      </div>
      <ul class="history">
        {entries.map((entry) => (
          <HistoryRow key={entry.link} entry={entry} />
        ))}
      </ul>
    </section>
  );
};

const HistoryRow = ({ entry }: { readonly entry: HistoryEntry }) => {
  const { t, format, history } = usePage();
  const title = entry.title ?? entry.link;
  const row = useRef<HTMLLIElement>(null);
  const forget = () => {
    moveFocusFromRow(row.current);
    history.remove(entry.link);
  };
  return (
    <li class="history-entry" ref={row} tabIndex={-1}>
      <Cover url={entry.coverUrl} link={entry.link} isSmall />
      <div>
        <h3>
          <a class="history-link" dir="auto" href={shareableLocation([entry.link])}>
            {title}
          </a>
        </h3>
        <p>
          {entry.author && <bdi>{entry.author}</bdi>}
          <span>{format.ago(entry.at, Date.now())}</span>
          {entry.fileUrl && (
            <span title={t('history.done')}>
              <Icon name="check" />
              <span class="visually-hidden">{t('history.done')}</span>
            </span>
          )}
        </p>
      </div>
      <div class="history-actions">
        <DownloadAgain entry={entry} />
        <CopyButton text={entry.link} name={t('history.copy', { title })} />
        <Button icon="close" name={t('history.remove', { title })} onClick={forget} />
      </div>
    </li>
  );
};

/** Downloads the same file; the preselected format once its address has expired. */
const DownloadAgain = ({ entry }: { readonly entry: HistoryEntry }) => {
  const { t, api, downloads, startsDownload } = usePage();
  const { fileUrl } = entry;
  const state = useObservable(downloads.states).get(fileUrl ?? '');
  if (!fileUrl?.startsWith(`${api.base}/api/`)) return null;
  const start = async () => {
    await downloads.start(fileUrl, entry);
    if (downloads.states.get().get(fileUrl)?.phase !== 'failed') return;
    startsDownload.current = entry.link;
    // Without the Navigation API the page is loaded again, so the request stands in the address.
    location.assign(shareableLocation([entry.link]) + (window.navigation ? '' : '#download'));
  };
  const name = t('history.again', { title: entry.title ?? entry.link });
  return (
    <Button
      icon={state?.phase === 'started' ? 'check' : 'download'}
      name={name}
      aria-disabled={state?.phase === 'opening'}
      onClick={() => void start()}
    />
  );
};
