import type { WaitOptions } from '../api/index.ts';
import type { Download, OpenSink } from '../download/index.ts';
import { createSubject, type Subject } from '../lib/index.ts';
import type { Choice, PlaylistFormat } from '../renditions/index.ts';

/** A choice that is known once its entry is resolved. */
export interface DeferredChoice {
  /** Shown until the file name is known. */
  readonly name: string;
  /** What another page resolves instead. */
  readonly link: string;
  readonly format: PlaylistFormat;
  readonly place?: { readonly number: number; readonly count: number };
  /** @throws ApiFailure, or the signal's reason */
  find(options: WaitOptions): Promise<Choice>;
}

/** The archive of a list. */
export interface ArchiveDownload {
  readonly url: string;
  readonly fileName: string;
  /** Places of the list. */
  readonly entryCount: number;
}

/** What the page observes of the downloads. */
export interface DownloadSubjects {
  /** Newest first; those of a playlist in their order. */
  readonly list: Subject<readonly Download[]>;
  /** Whether the download tray is expanded. */
  readonly isOpen: Subject<boolean>;
}

/** Everything else, loaded with the first result or download. */
export interface DownloadActions {
  /** Starts immediately. Call it in a click handler: the browser may ask for a location. */
  start(choice: Choice | ArchiveDownload): void;
  /** Starts after the downloads enqueued before. */
  enqueue(choice: Choice | DeferredChoice, sink: OpenSink): void;
  /** The latest download of a choice. */
  find(choice: Choice, list: readonly Download[]): Download | undefined;
  /** Cancels a download that has not ended, and removes it. */
  remove(download: Download): void;
  /** Moves a queued download before the previous one (-1) or behind the next one (1) that is queued too. */
  move(download: Download, offset: -1 | 1): void;
  /** Removes all that have ended. */
  clearEnded(): void;
  pauseAll(): void;
  resumeAll(): void;
  retryFailed(): void;
  /** Lists the downloads that an earlier page left, and continues those that need no user activation. */
  restore(): Promise<void>;
  /** Cancels and removes all that have not ended. */
  cancelAll(): void;
}

export interface Downloads extends DownloadSubjects, DownloadActions {
  /** Loads the actions, and restores what an earlier page left; before it, every action throws. */
  load(): Promise<void>;
}

/** Downloads of which only the state is there from the start: the start page does without the rest. */
export function createLazyDownloads(load: (subjects: DownloadSubjects) => Promise<DownloadActions>): Downloads {
  const list = createSubject<readonly Download[]>([]);
  // A phone's screen is too small to open it unasked.
  const isOpen = createSubject(globalThis.matchMedia?.('(min-width: 48rem)').matches ?? true);
  let actions: DownloadActions | undefined;
  let loading: Promise<void> | undefined;
  const loaded = (): DownloadActions => {
    if (!actions) throw new Error('The downloads are not loaded');
    return actions;
  };
  return {
    list,
    isOpen,
    load() {
      loading ??= load({ list, isOpen }).then(
        (created) => {
          actions = created;
          void created.restore();
        },
        (error) => {
          loading = undefined;
          throw error;
        },
      );
      return loading;
    },
    start: (choice) => loaded().start(choice),
    enqueue: (choice, sink) => loaded().enqueue(choice, sink),
    find: (choice, downloads) => loaded().find(choice, downloads),
    remove: (download) => loaded().remove(download),
    move: (download, offset) => loaded().move(download, offset),
    clearEnded: () => loaded().clearEnded(),
    pauseAll: () => loaded().pauseAll(),
    resumeAll: () => loaded().resumeAll(),
    retryFailed: () => loaded().retryFailed(),
    restore: () => loaded().restore(),
    cancelAll: () => loaded().cancelAll(),
  };
}
