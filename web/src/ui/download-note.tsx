import { useObservable, usePage } from './context.ts';
import { Button } from './controls.tsx';
import { failureText, streamFailureText } from './failure-text.ts';
import { NextTry } from './next-try.tsx';

interface DownloadNoteProps {
  readonly url: string | undefined;
  /** The link of the item, whose site some failures name. */
  readonly link?: string | null;
}

/** The state of a download. Always rendered, because screen readers announce only changes of an existing live region. */
export const DownloadNote = ({ url, link }: DownloadNoteProps) => {
  const { t, texts, downloads } = usePage();
  const state = useObservable(downloads.states).get(url ?? '');
  const waiting = state?.phase === 'opening' ? state.waiting : undefined;
  const failure = state?.phase === 'failed' ? state.failure : undefined;
  const wordsOf = url && URL.parse(url)?.pathname.endsWith('/api/Get') ? failureText : streamFailureText;
  const words = failure && wordsOf(texts, failure, link ?? undefined);
  return (
    <div class="download-note">
      <p role="status">
        {state?.phase === 'opening' && t(waiting ? `waiting.${waiting.reason}` : 'downloads.connecting')}
        {words && (
          <span class="error-text">
            {words.title}. {words.what}
          </span>
        )}
        {state?.phase === 'started' && t('downloads.started')}
      </p>
      {waiting && (
        <p>
          <NextTry waiting={waiting} />{' '}
          <Button onClick={() => url && downloads.cancel(url)}>{t('action.cancel')}</Button>
        </p>
      )}
    </div>
  );
};
