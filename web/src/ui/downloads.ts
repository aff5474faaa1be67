import { type Api, type ApiFailure, untilStreamable, type Waiting } from '../api/index.ts';
import type { History, HistoryItem } from '../history.ts';
import type { Choice } from '../renditions/index.ts';
import { createSubject, type Observable } from '../store.ts';
import { toFailure } from './session.ts';

/** State of a download until the browser takes over and shows progress itself. */
type DownloadState =
  /** The instance is asked whether it can send the file. */
  | { readonly phase: 'opening'; readonly waiting?: Waiting }
  /** The browser downloads it. */
  | { readonly phase: 'started' }
  | { readonly phase: 'failed'; readonly failure: ApiFailure };

export interface Downloads {
  /** The latest download of each URL. */
  readonly states: Observable<ReadonlyMap<string, DownloadState>>;
  urlOf(choice: Choice): string;
  /**
   * Hands a file over to the browser once the instance can send it. Never rejects.
   * @param item listed with it in the history; without a link it is not
   * @param addressOf maps the URL after redirects to the one that the browser downloads; by default the original URL
   */
  start(url: string, item?: HistoryItem, addressOf?: (found: string) => string): Promise<void>;
  /** Stops waiting for a file that is being opened. */
  cancel(url: string): void;
}

interface DownloadsOptions {
  readonly api: Api;
  readonly history: History;
  /** @default a link with the attribute `download` */
  readonly handOver?: (url: string) => void;
  /** @default one byte of the stream is requested */
  readonly untilReady?: typeof untilStreamable;
}

/** Downloads by the browser. The page requests one byte before, because a browser does not explain why a download fails. */
export function createDownloads({
  api,
  history,
  handOver = downloadWithBrowser,
  untilReady = untilStreamable,
}: DownloadsOptions): Downloads {
  const states = createSubject<ReadonlyMap<string, DownloadState>>(new Map());
  const opening = new Map<string, AbortController>();
  const show = (url: string, state: DownloadState | undefined) => {
    const next = new Map(states.get());
    if (state) next.set(url, state);
    else next.delete(url);
    states.set(next);
  };
  return {
    states,
    urlOf(choice) {
      const { title, label, container, rendition, chapter, lastSeconds } = choice;
      const whole = label === container ? title : `${title} (${label.replace(/[()]/g, '').replaceAll(':', '-')})`;
      // The service names a chapter by its title, and the last minutes by their time.
      const name = (chapter ?? lastSeconds) === undefined ? whole : undefined;
      return api.streamUrl(rendition, { ...choice, name });
    },
    async start(url, item, addressOf = () => url) {
      if (opening.has(url)) return;
      const asking = new AbortController();
      const { signal } = asking;
      opening.set(url, asking);
      show(url, { phase: 'opening' });
      try {
        const onWaiting = (waiting: Waiting) => signal.aborted || show(url, { phase: 'opening', waiting });
        const found = await untilReady(url, { signal, onWaiting });
        signal.throwIfAborted();
        opening.delete(url);
        handOver(addressOf(found));
        show(url, { phase: 'started' });
        if (item) history.add(item, { fileUrl: url });
      } catch (error) {
        if (signal.aborted) return;
        opening.delete(url);
        show(url, { phase: 'failed', failure: toFailure(error) });
      }
    },
    cancel(url) {
      opening.get(url)?.abort();
      if (opening.delete(url)) show(url, undefined);
    },
  };
}

function downloadWithBrowser(url: string): void {
  const link = document.createElement('a');
  link.href = url;
  // The service names the file.
  link.download = '';
  link.rel = 'noopener';
  link.hidden = true;
  document.body.append(link);
  link.click();
  link.remove();
}
