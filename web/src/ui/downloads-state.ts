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

/** A choice that can be made only once its entry is looked up. */
export interface DeferredChoice {
  /** What stands in the list of downloads until then. */
  readonly name: string;
  /** @throws ApiFailure, or the signal's reason */
  find(options: WaitOptions): Promise<Choice>;
}

export interface Downloads {
  /** Newest first; those of a list in the order in which they are taken. */
  readonly list: Observable<readonly Download[]>;
  /** Takes one at once. To be called inside a click: the browser may ask where to. */
  start(choice: Choice): void;
  /** Takes it after those that were enqueued before. */
  enqueue(choice: Choice | DeferredChoice, sink: OpenSink): void;
  /** Cancels one if it has not ended, and forgets it. */
  remove(download: Download): void;
  /** Forgets all that have ended. */
  clearEnded(): void;
}

/** Downloads of the page: single ones side by side, those of a list one after another. */
export function createDownloads(api: Api): Downloads {
  const list = createSubject<readonly Download[]>([]);
  const queue = createQueue();

  const prepare = ({ rendition, fileName, sizeBytes }: Choice, sink: OpenSink): Download =>
    createDownload({
      url: api.streamUrl(rendition),
      fileName,
      openSink: sink,
      ...(sizeBytes !== undefined && { expectedBytes: sizeBytes }),
    });

  function remove(download: Download): void {
    queue.remove(download);
    // One that failed too: it may have kept a part of its file for another try.
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
