import { useEffect, useRef, useState } from 'preact/hooks';
import { type HistoryEntry, shareableLocation } from '../../lib/index.ts';
import { useObservable, usePage } from '../context.ts';
import { CopyButton, Cover, Icon, moveFocusFromRow, moveFocusFromSection } from '../controls/index.ts';
import { opensElsewhere } from './use-location.ts';

/** Recent links of this device, and what was downloaded of them. */
export const HistoryList = ({ onOpen }: { readonly onOpen: (link: string) => void }) => {
  const { texts, history } = usePage();
  const { t } = texts;
  const entries = useObservable(history.entries);
  const section = useRef<HTMLElement>(null);
  const [cleared, setCleared] = useState<readonly HistoryEntry[]>([]);
  const clear = () => {
    setCleared(entries);
    history.clear();
  };
  const undo = () => {
    history.restore(cleared);
    setCleared([]);
  };
  if (entries.length === 0) return cleared.length > 0 ? <Cleared onUndo={undo} /> : null;
  return (
    <section class="section" aria-labelledby="history" ref={section}>
      <div class="row section-head">
        <div>
          <h2 id="history">{t('history.title')}</h2>
          <p class="muted section-note">{t('history.note')}</p>
        </div>
        <button type="button" class="button plain small" onClick={clear}>
          {t('history.clear')}
        </button>
      </div>
      <ul class="history">
        {entries.map((entry) => (
          <HistoryRow key={entry.link} entry={entry} onOpen={() => onOpen(entry.link)} />
        ))}
      </ul>
    </section>
  );
};

/** Until the visitor leaves the start page. */
const Cleared = ({ onUndo }: { readonly onUndo: () => void }) => {
  const { t } = usePage().texts;
  const button = useRef<HTMLButtonElement>(null);
  // The button that was clicked is gone.
  useEffect(() => button.current?.focus(), []);
  const undo = () => {
    moveFocusFromSection(button.current);
    onUndo();
  };
  return (
    <p class="section">
      {t('history.cleared')}{' '}
      <button type="button" class="button plain small" ref={button} onClick={undo}>
        {t('history.undo')}
      </button>
    </p>
  );
};

const HistoryRow = ({ entry, onOpen }: { readonly entry: HistoryEntry; readonly onOpen: () => void }) => {
  const { texts, format, history } = usePage();
  const { t } = texts;
  const title = entry.title ?? entry.link;
  const open = (event: MouseEvent) => {
    if (opensElsewhere(event)) return;
    event.preventDefault();
    onOpen();
  };
  const row = useRef<HTMLLIElement>(null);
  const forget = () => {
    moveFocusFromRow(row.current);
    history.remove(entry.link);
  };
  return (
    <li class="history-entry" ref={row} tabIndex={-1}>
      <Cover url={entry.coverUrl} isSmall />
      <div>
        <h3>
          <a class="history-link" dir="auto" href={shareableLocation(entry.link)} onClick={open}>
            {title}
          </a>
        </h3>
        <p>
          {entry.author && (
            <>
              <bdi>{entry.author}</bdi>
              {' · '}
            </>
          )}
          {format.ago(entry.at, Date.now())}
        </p>
      </div>
      <div class="history-actions">
        <DownloadAgain entry={entry} onOpen={onOpen} />
        <CopyButton text={entry.link} name={t('history.copy', { title })} />
        <button
          type="button"
          class="button plain small square"
          aria-label={t('history.remove', { title })}
          onClick={forget}
        >
          <Icon name="close" />
        </button>
      </div>
    </li>
  );
};

/** Downloads the same file; the preselected format once its address has expired. */
const DownloadAgain = ({ entry, onOpen }: { readonly entry: HistoryEntry; readonly onOpen: () => void }) => {
  const { texts, api, downloads, startsDownload } = usePage();
  const { file } = entry;
  const state = useObservable(downloads.states).get(file?.url ?? '');
  if (!file?.url.startsWith(`${api.base}/api/`)) return null;
  const start = async () => {
    await downloads.start(file, entry);
    if (downloads.states.get().get(file.url)?.phase !== 'failed') return;
    startsDownload.current = entry.link;
    onOpen();
  };
  const name = texts.t('history.again', { title: entry.title ?? entry.link });
  return (
    <button
      type="button"
      class="button plain small square"
      aria-label={name}
      title={name}
      aria-disabled={state?.phase === 'opening'}
      onClick={() => void start()}
    >
      <Icon name={state?.phase === 'started' ? 'check' : 'download'} />
    </button>
  );
};
