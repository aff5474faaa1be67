import { type Api, ApiFailure, resolveWhenAvailable } from '../../api/index.ts';
import {
  createDeferredDownload,
  createDownload,
  createQueue,
  type Download,
  type DownloadRecord,
  type DownloadState,
  type EntryFormat,
  hasEnded,
  hasFilePicker,
  type Journal,
  newId,
  type OpenSink,
  openSink,
  openWithoutPicker,
  sweepStorage,
} from '../../download/index.ts';
import { type Choice, choicesOf, PLAYLIST_FORMATS, selectForPlaylist } from '../../renditions/index.ts';
import { loadOffers } from '../conversions/index.ts';
import type { ArchiveDownload, DeferredChoice, DownloadActions, DownloadSubjects } from '../downloads-state.ts';
import type { FileNameStore } from '../file-name-store.ts';

/** Downloads of the page: single ones start immediately, those of playlists two at a time. */
export function createDownloads(
  { list }: Pick<DownloadSubjects, 'list'>,
  api: Api,
  journal: Journal,
  fileNames?: FileNameStore,
): DownloadActions {
  const queue = createQueue();
  const urls = new WeakMap<Download, string>();

  const prepare = (choice: Choice | ArchiveDownload, sink: OpenSink, id = newId()): Download => {
    if ('entryCount' in choice) return createDownload({ id, ...choice, openSink: sink });
    const { rendition, fileName, sizeBytes } = choice;
    const url = api.streamUrl(rendition, choice);
    const download = createDownload({ id, url, fileName, openSink: sink, expectedBytes: sizeBytes });
    urls.set(download, url);
    return download;
  };

  function remove(download: Download): void {
    queue.remove(download);
    // A failed one too: it may have a partial file.
    download.cancel();
    if (download.id) journal.delete(download.id);
    list.set(list.get().filter((other) => other !== download));
  }

  const save = (download: Download) => {
    const record = download.record();
    if (record) journal.put(record);
    else if (download.id) journal.delete(download.id);
  };
  const add = (download: Download, { isLast = false } = {}) => {
    let last: string | undefined;
    download.state.subscribe(({ phase, canResume }) => {
      // At each change of phase, not of progress.
      const current = `${phase} ${canResume}`;
      if (current !== last) save(download);
      last = current;
    });
    list.set(isLast ? [...list.get(), download] : [download, ...list.get()]);
    save(download);
  };

  function enqueue(choice: Choice | DeferredChoice, sink: OpenSink, id = newId()): void {
    const download = 'find' in choice ? defer(choice, sink, id) : prepare(choice, sink, id);
    add(download, { isLast: true });
    queue.add(download);
  }

  function defer({ name, link, format, place, find }: DeferredChoice, sink: OpenSink, id: string): Download {
    const download = createDeferredDownload({
      id,
      name,
      record: { id, url: link, fileName: name, entry: { format, place }, isQueued: true },
      find: async (options) => {
        const found = prepare(await find(options), sink, id);
        urls.set(download, urls.get(found) ?? '');
        return found;
      },
    });
    return download;
  }

  /** An entry that an earlier page had not resolved. */
  const deferredFrom = (
    { url: link, fileName: name }: DownloadRecord,
    { format, place }: EntryFormat,
  ): DeferredChoice => {
    const known = PLAYLIST_FORMATS.find((one) => one === format) ?? 'recommended';
    return {
      name,
      link,
      format: known,
      place,
      async find(options) {
        const { mediaItems } = await resolveWhenAvailable(api, link, options);
        const choiceOptions = { place, pattern: fileNames?.pattern.get(), offers: await loadOffers(api) };
        const choice = mediaItems[0] && selectForPlaylist(choicesOf(mediaItems[0], choiceOptions), known);
        if (!choice) throw new ApiFailure('not-found');
        return choice;
      },
    };
  };

  const inPhase = (...phases: DownloadState['phase'][]) =>
    list.get().filter(({ state }) => phases.includes(state.get().phase));

  return {
    start(choice) {
      const download = prepare(choice, openSink);
      add(download);
      void download.start();
    },
    enqueue,
    find: (choice, downloads) => {
      const url = api.streamUrl(choice.rendition, choice);
      return downloads.find((download) => urls.get(download) === url);
    },
    remove,
    move(download, offset) {
      const order = [...list.get()];
      const queued = order.filter(isQueued);
      const other = queued[queued.indexOf(download) + offset];
      if (!isQueued(download) || !other) return;
      const from = order.indexOf(download);
      const to = order.indexOf(other);
      order[from] = other;
      order[to] = download;
      list.set(order);
      queue.sort(order);
    },
    clearEnded: () =>
      list
        .get()
        .filter(({ state }) => hasEnded(state.get()))
        .forEach(remove),
    pauseAll: () => inPhase('running', 'waiting').forEach((download) => void download.pause()),
    resumeAll: () => inPhase('paused').forEach((download) => void download.resume()),
    retryFailed: () =>
      inPhase('failed').forEach((download) => {
        if (download.state.get().canRetry) download.resume();
      }),
    async restore() {
      void sweepStorage(journal.ids());
      for (const record of await journal.claim()) {
        const { id, url, fileName, expectedBytes, entryCount, entry, isQueued, isStored, isPaused } = record;
        if (entry) {
          enqueue(deferredFrom(record, entry), openWithoutPicker, id);
          continue;
        }
        const canStart = isStored || !hasFilePicker();
        const openFile = canStart || isQueued ? openWithoutPicker : openSink;
        const common = { id, url, fileName, expectedBytes, entryCount, openSink: openFile };
        const download = createDownload(isQueued ? common : { ...common, resumeFrom: record });
        urls.set(download, url);
        add(download, { isLast: true });
        if (isQueued) queue.add(download);
        else if (canStart && !isPaused) download.resume();
      }
    },
    cancelAll: () => inPhase('ready', 'waiting', 'running', 'paused').forEach(remove),
  };
}

const isQueued = ({ state }: Download): boolean => state.get().phase === 'ready';
