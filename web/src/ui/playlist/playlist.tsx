import { type Entry, isPending, useEntries, useRetainedState } from './entries.ts';
import {
  formatNumbers,
  isListed,
  matches,
  type PlaylistRow,
  rowsOfPlaylist,
  useEntryFiles,
  useIncrementalCount,
  usePickedEntries,
} from './playlist-rows.ts';
import '../../styles/playlist.css';
import type { ComponentChildren } from 'preact';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { ArchiveProgress, ResolvedLink } from '../../api/index.ts';
import { shareableLocation } from '../../links.ts';
import { usePage } from '../context.ts';
import { CopyButton, Icon } from '../controls.tsx';
import { Cover } from '../cover.tsx';
import { DownloadNote } from '../download-note.tsx';
import { askable, selectionOf, useSignedUrls } from '../signed-urls.ts';
import { type EntryActions, PlaylistEntry, UnavailableRow } from './playlist-entry.tsx';
import { FORMATS, type PlaylistFormat, PlaylistToolbar } from './playlist-toolbar.tsx';

interface PlaylistProps {
  readonly resource: ResolvedLink;
  /** The list's link; absent for links entered together, whose files have no numbers. */
  readonly link?: string;
}

/** Shorter lists need no filter. */
const MIN_FILTERED_ENTRIES = 10;

/** A playlist: select entries and download them, or expand one. */
export const Playlist = ({ resource, link }: PlaylistProps) => {
  const { t, formats, downloads, primaryAction } = usePage();
  const isBatch = link === undefined;
  const title = resource.title ?? t(isBatch ? 'batch.title' : 'item.untitled');
  const entries = useEntries(resource, link);
  const [format, setFormat] = useRetainedState<PlaylistFormat>(resource, 'format', () => 'recommended');
  const [filter, setFilter] = useState('');
  const words = filter.trim();
  const { offset = 0 } = resource.counts ?? {};
  const rows = rowsOfPlaylist(entries.all, { ...resource.counts, known: entries.unavailable });
  const listed = rows.filter(isListed);
  const shown = listed.flatMap(({ index, entry }) => (words === '' || matches(entry, words) ? index : []));
  const visible = new Set(shown);
  const selection = usePickedEntries(resource, entries.all.length, shown);
  const { picked } = selection;
  // A ZIP may have what failed here: the server tries it again.
  const isOff = ({ failure }: Entry) => isBatch && failure !== undefined;
  const pickedRows = listed.filter(({ index, entry }) => picked.has(index) && !isOff(entry));
  const rowCount = useIncrementalCount(rows.length);
  const count = isBatch ? undefined : offset + rows.length;
  const remembered = formats.get();
  const preference = useMemo(() => {
    const wished = { ...remembered, ...FORMATS[format] };
    return isBatch ? wished : askable(wished);
  }, [remembered, format]);
  const files = useEntryFiles(entries, { preference, listed, count });

  const urlOf = useSignedUrls(link ?? '');
  const wanted = selectionOf(preference);
  const isWhole = pickedRows.length === listed.length;
  const page = offset > 0 && { offset: String(offset) };
  const chosen = {
    ...wanted,
    ...page,
    ...(!isWhole && { entries: formatNumbers(pickedRows.map(({ number }) => number)) }),
  };
  const zip = link && pickedRows.length > 1 ? urlOf('Get', { ...chosen, format: 'zip' }) : undefined;
  const archive = useArchiveProgress();
  const download = async () => {
    const { title: name, author, coverUrl } = resource;
    if (zip && link) return downloads.start(zip, { link, title: name, author, coverUrl }, archive.follow);
    // One after the other, because an instance limits the concurrent streams of a client.
    for (const { index } of pickedRows) await files.download(index);
  };
  useEffect(() => {
    primaryAction.current = () => pickedRows.length > 0 && void download();
    return () => {
      primaryAction.current = undefined;
    };
  });
  const actions = useRef({} as EntryActions).current;
  Object.assign(actions, {
    pick: selection.pick,
    download: files.download,
    lookUp: entries.lookUp,
    stop: entries.stop,
    see: entries.see,
  });

  const mayMiss = pickedRows.some(({ entry }) => entry.failure !== undefined || isPending(entry));
  return (
    <article aria-label={title}>
      <PlaylistHead resource={resource} title={title} rows={rows} link={link} />
      {listed.length >= MIN_FILTERED_ENTRIES && (
        <input
          type="search"
          class="text-field filter"
          value={filter}
          placeholder={t('list.filter')}
          aria-label={t('list.filter')}
          autoComplete="off"
          enterKeyHint="done"
          onInput={({ currentTarget }) => setFilter(currentTarget.value)}
        />
      )}
      {rows.length === 0 ? (
        <p>{t('list.none')}</p>
      ) : (
        <div class="panel">
          <PlaylistToolbar
            pickedCount={pickedRows.length}
            mayMiss={zip !== undefined && mayMiss}
            sizeBytes={rowCount < rows.length ? undefined : files.bytesOf(pickedRows)}
            allPicked={listed.every(({ index, entry }) => !visible.has(index) || picked.has(index) || isOff(entry))}
            format={format}
            onPickAll={selection.pickAll}
            onFormat={setFormat}
            onDownload={() => void download()}
          >
            {link && (
              <PlaylistLinks
                title={title}
                metalink={pickedRows.length > 0 ? urlOf('Feed', { ...chosen, format: 'metalink' }) : undefined}
                m3u8={urlOf('Feed', { ...wanted, ...page, format: 'm3u8' })}
                podcast={urlOf('Feed', {})}
              />
            )}
          </PlaylistToolbar>
          <DownloadNote url={zip} link={link} />
          {archive.progress && <ArchiveNote {...archive.progress} />}
          <ol>
            {rows.slice(0, rowCount).map((row) =>
              // Rows that do not match are hidden rather than removed: rendering them again at once would take too long.
              isListed(row) ? (
                <PlaylistEntry
                  key={row.index}
                  {...row}
                  choice={files.choiceOf(row)}
                  count={count}
                  url={files.urls.get(row.index)}
                  isPicked={picked.has(row.index) && !isOff(row.entry)}
                  isOff={isOff(row.entry)}
                  isHidden={!visible.has(row.index)}
                  actions={actions}
                />
              ) : (
                <UnavailableRow key={`gone ${row.number}`} {...row} isHidden={words !== ''} />
              ),
            )}
          </ol>
          {words !== '' && shown.length === 0 && (
            <p class="entry" role="status">
              {t('list.noMatch')}
            </p>
          )}
        </div>
      )}
      <PageLinks resource={resource} link={link} />
    </article>
  );
};

/** The progress of a ZIP, and which entries it lacks. */
const ArchiveNote = ({ state, total, completed, skipped, missingEntries }: ArchiveProgress) => {
  const { t } = usePage();
  return (
    <div class="download-note">
      {state === 'building' && <p>{t('list.zipped', { count: completed, total })}</p>}
      <p role="status">
        {state === 'failed' && t('list.zipEnded')} {skipped > 0 && t('list.zipMisses', { count: skipped })}
      </p>
      {missingEntries && (
        <ul>
          {missingEntries.map((title, index) => (
            <li key={index} dir="auto">
              {title}
            </li>
          ))}
        </ul>
      )}
    </div>
  );
};

interface PlaylistHeadProps {
  readonly resource: ResolvedLink;
  readonly title: string;
  readonly rows: readonly PlaylistRow[];
  /** Absent for links entered together, without a cover. */
  readonly link: string | undefined;
}

/** Title, author and counts of a playlist. */
const PlaylistHead = ({ resource, title, rows, link }: PlaylistHeadProps) => {
  const { t } = usePage();
  const { author, coverUrl, counts } = resource;
  const isBatch = link === undefined;
  const listed = rows.filter(isListed);
  const [count, placeCount] = [listed.length, rows.length];
  const { offset = 0, next, total = 0 } = counts ?? {};
  const last = offset + placeCount;
  const range = { first: offset + 1, last, count: total > last ? total : `${last}${next ? '+' : ''}` };
  return (
    <div class={isBatch ? 'playlist-head batch' : 'playlist-head'}>
      {!isBatch && <Cover url={coverUrl ?? listed.find(({ entry }) => entry.item.coverUrl)?.entry.item.coverUrl} />}
      <div>
        <h2 dir="auto">{title}</h2>
        <p class="byline">
          {author && <bdi>{author}</bdi>}
          <span>{next || offset ? t(offset ? 'list.range' : 'list.first', range) : t('list.count', { count })}</span>
        </p>
        {/* A line also without a note, which may come and go: no layout shift. */}
        <p class="muted section-note">
          {placeCount > count && t('list.unavailableCount', { count: placeCount - count })}
        </p>
        <PageLinks resource={resource} link={link} />
      </div>
    </div>
  );
};

/** Links to the other pages of a list. */
const PageLinks = ({ resource: { counts }, link }: Pick<PlaylistHeadProps, 'resource' | 'link'>) => {
  const { t } = usePage();
  const { offset = 0, next = 0, total = Number.POSITIVE_INFINITY } = counts ?? {};
  if (!link || (offset === 0 && next === 0)) return null;
  return (
    <p class="row">
      {offset > 0 && (
        <a class="button small" href={shareableLocation([link])}>
          {t('list.start')}
        </a>
      )}
      {next > 0 && (
        <a class="button small" href={shareableLocation([link], undefined, undefined, next)}>
          {t('list.next', { count: Math.min(next - offset, total - next) })}
        </a>
      )}
    </p>
  );
};

interface PlaylistLinksProps {
  readonly title: string;
  /** The selected entries for download managers; absent without a selection. */
  readonly metalink: string | undefined;
  /** The whole list, for players. */
  readonly m3u8: string;
  /** The whole list as a podcast. */
  readonly podcast: string;
}

/** Alternatives to the ZIP: the selected entries as separate files, and the whole list for players and as a podcast. */
const PlaylistLinks = ({ title, metalink, m3u8, podcast }: PlaylistLinksProps) => {
  const { t } = usePage();
  return (
    <>
      {metalink && (
        <Way what={t('list.metalink')}>
          <a class="button plain small" href={metalink} download={`${title}.meta4`}>
            <Icon name="download" />
            {t('list.separate')}
          </a>
        </Way>
      )}
      <Way what={t('list.player.what')}>
        <a class="button plain small" href={m3u8} download={`${title}.m3u8`}>
          <Icon name="play" />
          {t('list.player')}
        </a>
      </Way>
      <Way what={t('list.feed.what')}>
        <CopyButton text={podcast} label={t('list.feed')} />
      </Way>
    </>
  );
};

const Way = ({ what, children }: { readonly what: string; readonly children: ComponentChildren }) => (
  <p class="row way">
    {children}
    <small class="muted">{what}</small>
  </p>
);

/** The progress of the last ZIP of a list, while the list is shown. */
function useArchiveProgress() {
  const { api } = usePage();
  const [progress, setProgress] = useState<ArchiveProgress>();
  const events = useRef<EventSource>(undefined);
  useEffect(() => () => events.current?.close(), []);
  return {
    progress,
    /** Begins to watch the archive at an address. Returns the address that reports on it. */
    follow(address: string): string {
      events.current?.close();
      setProgress(undefined);
      const url = URL.parse(address);
      if (!url?.pathname.includes('/Stream/Archive/')) return address;
      // `randomUUID` needs HTTPS.
      const id = crypto.getRandomValues(new Uint32Array(4)).join('-');
      const source = new EventSource(`${api.base}/api/Stream/Archive/Progress/${id}`);
      source.onmessage = ({ data }) => {
        const next: ArchiveProgress = JSON.parse(data);
        setProgress(next);
        if (next.state !== 'building') source.close();
      };
      events.current = source;
      url.searchParams.set('jobId', id);
      return url.href;
    },
  };
}
