import type { Api, WaitOptions } from '../api/index.ts';
import {
  createDeferredDownload,
  createDownload,
  createQueue,
  type Download,
  hasEnded,
  type OpenSink,
  openSink,
} from '../download/index.ts';
import { createSubject, type Observable } from '../lib/index.ts';
import type { Choice } from '../renditions/index.ts';

/** A choice that is known once its entry is resolved. */
export interface DeferredChoice {
  /** Shown until the file name is known. */
  readonly name: string;
  /** @throws ApiFailure, or the signal's reason */
  find(options: WaitOptions): Promise<Choice>;
}

export interface Downloads {
  /** Newest first; those of a playlist in their order. */
  readonly list: Observable<readonly Download[]>;
  /** Starts immediately. Call it in a click handler: the browser may ask for a location. */
  start(choice: Choice): void;
  /** Starts after the downloads enqueued before. */
  enqueue(choice: Choice | DeferredChoice, sink: OpenSink): void;
  /** Cancels a download that has not ended, and removes it. */
  remove(download: Download): void;
  /** Removes all that have ended. */
  clearEnded(): void;
}

/** Downloads of the page: single ones in parallel, those of playlists one at a time. */
export function createDownloads(api: Api): Downloads {
  const list = createSubject<readonly Download[]>([]);
  const queue = createQueue();

  const prepare = ({ rendition, fileName, sizeBytes }: Choice, sink: OpenSink): Download =>
    createDownload({
      url: api.streamUrl(rendition),
      fileName,
      openSink: sink,
      expectedBytes: sizeBytes,
    });

  function remove(download: Download): void {
    queue.remove(download);
    // A failed one too: it may have a partial file.
    download.cancel();
    list.set(list.get().filter((other) => other !== download));
  }

  return {
    list,
    start(choice) {
      const download = prepare(choice, openSink);
      list.set([download, ...list.get()]);
      void download.start();
    },
    enqueue(choice, sink) {
      const download =
        'find' in choice
          ? createDeferredDownload({
              name: choice.name,
              find: async (options) => prepare(await choice.find(options), sink),
            })
          : prepare(choice, sink);
      list.set([...list.get(), download]);
      queue.add(download);
    },
    remove,
    clearEnded: () =>
      list
        .get()
        .filter(({ state }) => hasEnded(state.get()))
        .forEach(remove),
  };
}
